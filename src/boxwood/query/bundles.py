"""One walk for the sixteen rays of a bundle, with the rays in the lanes of vectors.

Each node and each triangle is read once for all of them. A ray that misses a box is taken along: it cannot hit what is
in there, so that nothing need be known of which rays are where.
"""

from __future__ import annotations

import numpy as np

from .._jit import inline
from .._simd import first_bit, greatest_of, key_bound, load16
from ..descend import code_at, expand
from ..geometry.bundle_box import LANES, LEAST, LIMITS, MOST
from ..geometry.bundle_triangle import cross_triangle
from ..geometry.ray import limit_of
from ..geometry.ray_group import motion_of_lane, shear_of_lane
from ..geometry.ray_triangle import settle
from ..layout import BLOCK_FLOATS, BLOCK_SIZE, BLOCKS_OF_LEAF
from .question import accept, begin, furthest, half_open, land

f4 = np.float32


@inline
def walk(question, bundle, kept, stack, nodes, codes, blocks, ids, sides, crossing, r):
    """Answer the question for the rays of a bundle, of which r is the first."""
    for lane in range(LANES):
        begin(kept, lane, r + lane, bundle.rays[MOST + lane])
    limit = greatest_of(load16(bundle.boxes, LIMITS))
    bound = key_bound(limit)
    code, top = np.int32(0), np.intp(0)
    while True:
        if code >= 0:
            top = expand(bundle, None, nodes, stack, code, top, limit)
        elif meet(question, bundle, kept, blocks, ids, sides, np.intp(np.uint32(~code)), crossing):
            limit = greatest_of(load16(bundle.boxes, LIMITS))
            bound = key_bound(limit)
        while top > 0 and stack.keys[top] > bound:
            top -= 1
        if top == 0:
            break
        code = code_at(codes, stack, top)
        top -= 1
    for lane in range(LANES):
        land(question, kept, lane, ids)


@inline
def meet(question, bundle, kept, blocks, ids, sides, leaf, crossing):
    """Test the triangles of a leaf; whether any ray has come to know a nearer limit."""
    nearer = False
    first = leaf // BLOCKS_OF_LEAF
    for place in range(first * BLOCK_SIZE, (first + leaf % BLOCKS_OF_LEAF) * BLOCK_SIZE):
        block, i = place // BLOCK_SIZE * BLOCK_FLOATS, place % BLOCK_SIZE
        hits, in_doubt = cross_triangle(bundle, blocks, block + i, sides, crossing)
        while hits != 0:
            lane = first_bit(hits)
            hits = np.uint32(hits & (hits - np.uint32(1)))
            found = (
                crossing[lane], crossing[LANES + lane], crossing[2 * LANES + lane], crossing[3 * LANES + lane],
                crossing[4 * LANES + lane],
            )  # fmt: skip
            doubt = (in_doubt >> np.uint32(lane)) & np.uint32(1) != 0
            shear, motion = shear_of_lane(bundle, lane), motion_of_lane(bundle, lane)
            hit, t, weights = settle(shear, motion, blocks, block + i, sides, doubt, half_open(question), found)
            if hit and t >= bundle.rays[LEAST + lane] and t <= bundle.rays[MOST + lane]:
                nearer = True
                if accept(question, kept, lane, ids, place, t, weights):
                    bundle.rays[MOST + lane], bundle.boxes[LIMITS + lane] = -np.inf, f4(-np.inf)
                else:
                    most = furthest(kept, lane)
                    bundle.rays[MOST + lane], bundle.boxes[LIMITS + lane] = most, limit_of(motion, most)
    return nearer
