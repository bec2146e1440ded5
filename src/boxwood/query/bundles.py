"""The engine of all questions: rays side by side that go the same way share one walk, sixteen at a time; others fly.

What a camera sends out, or the shadow rays from a surface to a light, visit nearly the same nodes in a row. Sixteen
such rays (`make_bundle` says which) take one walk that reads each node and each triangle once, with rays in the lanes
of the vectors. It made rays of a camera twice, and shadow rays three times, as fast as in flight.
"""

from __future__ import annotations

import numpy as np

from .._jit import inline, kernel
from .._simd import first_bit, greatest_of, key_bound, load16
from ..descend import Stack, code_at, expand, stack_size
from ..geometry.bundle_box import BOXES, LANES, LEAST, LIMITS, MOST, RAYS, Bundle
from ..geometry.bundle_triangle import cross_triangle
from ..geometry.ray import frame_of, limit_of
from ..geometry.ray_bundle import make_bundle, motion_of_lane, shear_of_lane
from ..geometry.ray_triangle import settle
from ..layout import BLOCK_FLOATS, BLOCK_SIZE, BLOCKS_OF_LEAF, FRAME_DEPTH
from .flight import fly
from .question import Kept, accept, begin, furthest, half_open, land

f4 = np.float32


@kernel
def answer(question, nodes, codes, blocks, ids, frame, origins, directions, t_min, t_max, sides, counts, begin, end):
    """Answer the question for the rays from begin to end.

    Where work is counted each ray walks by itself, so that counts do not depend on its neighbours.
    """
    space, dtype = frame_of(frame), origins.dtype
    size = stack_size(np.intp(frame[FRAME_DEPTH]))
    stack = Stack(np.empty(size, np.int32), np.empty(size, np.uint32))
    bundle = Bundle(np.empty(BOXES, np.float32), np.empty(RAYS, dtype), np.empty(LANES), np.empty(6, np.int64))
    kept = Kept(np.empty(4 * LANES, dtype), np.empty(2 * LANES, np.int64))
    crossing = np.empty(5 * LANES, dtype)
    alone = np.empty(end - begin, np.int64)
    number, r = 0, begin
    while r < end:
        together = counts.shape[0] == 0 and r + LANES <= end
        if together and make_bundle(bundle, space, origins, directions, t_min, t_max, r):
            walk(question, bundle, kept, stack, nodes, codes, blocks, ids, sides, crossing, r)
            r += LANES
        else:
            last = min(r + LANES, end)
            while r < last:
                alone[number] = r
                number += 1
                r += 1
    if number > 0:
        rays = origins, directions, t_min, t_max
        fly(question, nodes, codes, blocks, ids, frame, *rays, sides, counts, alone[:number])


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
