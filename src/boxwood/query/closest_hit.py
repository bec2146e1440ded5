"""The first hit of each ray: the smallest t, and of equal ones the smallest id."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import inline, kernel
from .._simd import first_bit
from ..descend import Stack, count_primitives, next_leaf, observed, stack_size, start
from ..geometry.ray import frame_of, high_of, limit_of, low_of, make_ready
from ..geometry.ray_triangle import cross_block, settle
from ..layout import BLOCK_FLOATS, BLOCK_SIZE, BLOCKS_OF_LEAF, FRAME_DEPTH
from .ray_batch import run

f8 = np.float64


class Hit(NamedTuple):
    """The best hit so far: where it lies (block * 4 + lane, or -1), its t, and the weights of vertices 1 and 2."""

    place: int
    t: float
    u: float
    v: float
    total: float


@inline
def closest_in_leaf(ray, blocks, ids, leaf, sides, low, t_min, best, crossing, counts):
    """The best hit so far, after the triangles of one leaf."""
    first = leaf // BLOCKS_OF_LEAF
    for index in range(first, first + leaf % BLOCKS_OF_LEAF):
        block = np.intp(index) * BLOCK_FLOATS
        count_primitives(counts, ids, np.intp(index) * BLOCK_SIZE)
        hits, in_doubt = cross_block(ray.shear, blocks, block, sides, low, high_of(ray, best.t), crossing)
        while hits != 0:
            lane = first_bit(hits)
            hits &= hits - np.uint32(1)
            hit, t = settle(ray, blocks, block, lane, sides, in_doubt, False, crossing)
            place = np.intp(index) * BLOCK_SIZE + lane
            if hit and t >= t_min and is_better(t, place, best, ids):
                best = Hit(place, t, crossing[8 + lane], crossing[12 + lane], crossing[16 + lane])
    return best


@inline
def is_better(t, place, best, ids):
    return t < best.t or (t == best.t and (best.place < 0 or ids[place] < ids[best.place]))


@kernel
def closest_hits(
    nodes, codes, blocks, ids, frame, origins, directions, t_min, t_max, sides, counts, begin, end,
    t_hit, primitive_ids, uvs
):
    space = frame_of(frame)
    size = stack_size(np.intp(frame[FRAME_DEPTH]))
    stack = Stack(np.empty(size, np.int32), np.empty(size + 8, np.float32))
    crossing, axes = np.empty(20, origins.dtype), np.empty(9, origins.dtype)
    nan, inf = axes.dtype.type(np.nan), axes.dtype.type(np.inf)
    step_min = 1 if t_min.shape[0] > 1 else 0
    step_max = 1 if t_max.shape[0] > 1 else 0
    for r in range(begin, end):
        least = t_min[r * step_min]
        best = Hit(np.intp(-1), t_max[r * step_max], nan, nan, nan)
        origin = (origins[r, 0], origins[r, 1], origins[r, 2])
        direction = (directions[r, 0], directions[r, 1], directions[r, 2])
        ray, reachable = make_ready(space, origin, direction, least, axes)
        query = observed(counts, ray.box)
        low = low_of(ray, least)
        top = start(stack, 0) if reachable else 0
        leaf, top = next_leaf(query, nodes, codes, stack, top, limit_of(ray, best.t))
        while leaf >= 0:
            best = closest_in_leaf(ray, blocks, ids, leaf, sides, low, least, best, crossing, counts)
            leaf, top = next_leaf(query, nodes, codes, stack, top, limit_of(ray, best.t))
        primitive_ids[r] = ids[best.place] if best.place >= 0 else -1
        t_hit[r] = best.t if best.place >= 0 else inf
        uvs[r, 0] = best.u / best.total
        uvs[r, 1] = best.v / best.total


def closest_hit(tree, rays, *, cull=None, threads=None, progress=None, counters=None):
    """t_hit (n,), primitive_ids (n,) int64 and uvs (n, 2) of each ray's first hit; inf, -1 and nan for none."""
    count, dtype = len(rays.origins), rays.origins.dtype
    t_hit = np.empty(count, dtype)
    primitive_ids = np.empty(count, np.int64)
    uvs = np.empty((count, 2), dtype)

    def work(begin, end, sides, counts):
        closest_hits(*tree.arrays, *rays[:4], sides, counts, begin, end, t_hit, primitive_ids, uvs)

    run(tree, rays, cull, threads, progress, counters, work)
    if counters is not None:
        counters.add(hits=np.count_nonzero(primitive_ids >= 0))
    return t_hit, primitive_ids, uvs
