"""Every crossing of each ray with the surface, each once: an edge or a vertex counts for one of its faces only.

So the number of crossings of a closed mesh has the right parity whatever the ray meets. The number of hits is
not known beforehand: a chunk of rays fills rows until they are full, gets room for more, and goes on.
"""

from __future__ import annotations

import numpy as np

from .._jit import inline, kernel
from .._simd import first_bit
from ..descend import Stack, count_primitives, next_leaf_unordered, observed, stack_size, start
from ..geometry.ray import frame_of, high_of, limit_of, low_of, make_ready
from ..geometry.ray_triangle import cross_block, settle
from ..layout import BLOCK_FLOATS, BLOCK_SIZE, BLOCKS_OF_LEAF, FRAME_DEPTH
from .ray_batch import run

ROWS_AT_FIRST = 4
"""Hits per ray that a chunk has room for at the beginning."""


@inline
def crossings_of_leaf(ray, blocks, ids, leaf, sides, low, high, t_min, t_max, crossing, counts, used, rows, row_ids):
    """Write the hits in a leaf to the rows from `used` on, as long as there is room; `used` after all of them."""
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
                if used < row_ids.shape[0]:
                    rows[used, 0] = t
                    rows[used, 1] = crossing[8 + lane] / crossing[16 + lane]
                    rows[used, 2] = crossing[12 + lane] / crossing[16 + lane]
                    row_ids[used] = ids[np.intp(index) * BLOCK_SIZE + lane]
                used += 1
    return used


@inline
def sort_rows(rows, row_ids, first, last):
    """By t, then by id: Shell's method, quick for the few hits of most rays and never slow for many."""
    gap = 1
    while gap < (last - first) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(first + gap, last):
            t, u, v, face = rows[i, 0], rows[i, 1], rows[i, 2], row_ids[i]
            j = i
            while j >= first + gap:
                before = rows[j - gap, 0]
                if before < t or (before == t and row_ids[j - gap] < face):
                    break
                rows[j, 0], rows[j, 1], rows[j, 2] = before, rows[j - gap, 1], rows[j - gap, 2]
                row_ids[j] = row_ids[j - gap]
                j -= gap
            rows[j, 0], rows[j, 1], rows[j, 2] = t, u, v
            row_ids[j] = face
        gap //= 3


@kernel
def every_hit(
    nodes, codes, blocks, ids, frame, origins, directions, t_min, t_max, sides, counts, begin, end,
    used, rows, row_ids, hit_counts
):  # fmt: skip
    """Fill rows with the hits of rays from `begin` on; the first ray for which there was no room, and rows used."""
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
        first = used
        top = start(stack, 0) if reachable else 0
        leaf, top = next_leaf_unordered(query, nodes, codes, stack, top, limit)
        while leaf >= 0:
            used = crossings_of_leaf(
                ray, blocks, ids, leaf, sides, low, high, least, most, crossing, counts, used, rows, row_ids
            )
            leaf, top = next_leaf_unordered(query, nodes, codes, stack, top, limit)
        if used > row_ids.shape[0]:
            return r, first
        sort_rows(rows, row_ids, first, used)
        hit_counts[r] = used - first
    return end, used


def all_hits(tree, rays, *, cull=None, threads=None, progress=None, counters=None):
    """Splits (n + 1,), ray ids (m,), t_hit (m,), primitive_ids (m,) and uvs (m, 2) of all hits, by ray, t and id."""
    count, dtype = len(rays.origins), rays.origins.dtype
    hit_counts = np.empty(count, np.int64)

    def work(begin, end, sides, counts):
        used, room = 0, ROWS_AT_FIRST * (end - begin)
        rows, row_ids = np.empty((room, 3), dtype), np.empty(room, np.int64)
        while begin < end:
            begin, used = every_hit(
                *tree.arrays, *rays[:4], sides, counts, begin, end, used, rows, row_ids, hit_counts
            )  # fmt: skip
            if begin < end:
                more = len(row_ids) + room
                rows = np.concatenate([rows[:used], np.empty((more, 3), dtype)])
                row_ids = np.concatenate([row_ids[:used], np.empty(more, np.int64)])
        return rows[:used], row_ids[:used]

    parts = run(tree, rays, cull, threads, progress, counters, work)
    rows = np.concatenate([part[0] for part in parts]) if parts else np.empty((0, 3), dtype)
    primitive_ids = np.concatenate([part[1] for part in parts]) if parts else np.empty(0, np.int64)
    splits = np.concatenate([[0], np.cumsum(hit_counts)])
    if counters is not None:
        counters.add(hits=len(primitive_ids))
    ray_ids = np.repeat(np.arange(count), hit_counts)
    return splits, ray_ids, rows[:, 0].copy(), primitive_ids, rows[:, 1:].copy()
