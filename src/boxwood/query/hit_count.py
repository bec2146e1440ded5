"""How often each ray crosses the surface, by the rule of `all_hits`, without keeping the hits."""

from __future__ import annotations

import numpy as np

from .._jit import inline, kernel
from .._simd import first_bit
from ..descend import Stack, count_primitives, next_leaf_unordered, observed, stack_size, start
from ..geometry.ray import frame_of, high_of, limit_of, low_of, make_ready
from ..geometry.ray_triangle import cross_block, settle
from ..layout import BLOCK_FLOATS, BLOCK_SIZE, BLOCKS_OF_LEAF, FRAME_DEPTH
from .ray_batch import run


@inline
def count_in_leaf(ray, blocks, ids, leaf, sides, low, high, t_min, t_max, crossing, counts):
    number = 0
    first = leaf // BLOCKS_OF_LEAF
    for index in range(first, first + leaf % BLOCKS_OF_LEAF):
        count_primitives(counts, ids, np.intp(index) * BLOCK_SIZE)
        block = np.intp(index) * BLOCK_FLOATS
        hits, in_doubt = cross_block(ray.shear, blocks, block, sides, low, high, crossing)
        while hits != 0:
            lane = first_bit(hits)
            hits &= hits - np.uint32(1)
            hit, t = settle(ray, blocks, block, lane, sides, in_doubt, True, crossing)
            if hit and t >= t_min and t <= t_max:
                number += 1
    return number


@kernel
def hit_counts(nodes, codes, blocks, ids, frame, origins, directions, t_min, t_max, sides, counts, begin, end, numbers):
    space = frame_of(frame)
    size = stack_size(np.intp(frame[FRAME_DEPTH]))
    stack = Stack(np.empty(size, np.int32), np.empty(size + 8, np.float32))
    crossing, axes = np.empty(20, origins.dtype), np.empty(9, origins.dtype)
    step_min = 1 if t_min.shape[0] > 1 else 0
    step_max = 1 if t_max.shape[0] > 1 else 0
    for r in range(begin, end):
        least, most = t_min[r * step_min], t_max[r * step_max]
        origin = (origins[r, 0], origins[r, 1], origins[r, 2])
        direction = (directions[r, 0], directions[r, 1], directions[r, 2])
        ray, reachable = make_ready(space, origin, direction, least, axes)
        query = observed(counts, ray.box)
        low, high, limit = low_of(ray, least), high_of(ray, most), limit_of(ray, most)
        number = 0
        top = start(stack, 0) if reachable else 0
        leaf, top = next_leaf_unordered(query, nodes, codes, stack, top, limit)
        while leaf >= 0:
            number += count_in_leaf(ray, blocks, ids, leaf, sides, low, high, least, most, crossing, counts)
            leaf, top = next_leaf_unordered(query, nodes, codes, stack, top, limit)
        numbers[r] = number


def hit_count(tree, rays, *, cull=None, threads=None, progress=None, counters=None):
    """(n,) int64: how often each ray crosses the surface in its range."""
    numbers = np.empty(len(rays.origins), np.int64)

    def work(begin, end, sides, counts):
        hit_counts(*tree.arrays, *rays[:4], sides, counts, begin, end, numbers)

    run(tree, rays, cull, threads, progress, counters, work)
    if counters is not None:
        counters.add(hits=int(numbers.sum()))
    return numbers
