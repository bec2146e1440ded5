"""Every crossing of each ray with the surface, sorted by t and id, by the rule of `hit_count`.

Rays are in flight together, so their hits come in any order: a chunk of rays writes them down as they come, and
then brings each to its ray's place. A chunk that has more hits than it has room for is cast again with enough.
"""

from __future__ import annotations

import numpy as np

from .._jit import inline, kernel
from .engine import answer
from .question import ALL, unanswered
from .ray_batch import run

ROOM = 3
"""Hits per ray that a chunk has room for at first."""


@kernel
def arrange(hits, begin, splits, t_hit, primitive_ids, uvs):
    """Copy the hits of a chunk to their rays' places, and sort those of each ray."""
    free = splits.copy()
    for row in range(hits.used[0]):
        ray = hits.ray_ids[row] - begin
        place = free[ray]
        free[ray] = place + 1
        t_hit[place], primitive_ids[place] = hits.t_hit[row], hits.primitive_ids[row]
        uvs[place, 0], uvs[place, 1] = hits.uvs[row, 0], hits.uvs[row, 1]
    for ray in range(splits.shape[0] - 1):
        sort_hits(t_hit, primitive_ids, uvs, splits[ray], splits[ray + 1])


@inline
def sort_hits(t_hit, primitive_ids, uvs, first, last):
    """By t, then by id: Shell's method, quick for the few hits of most rays and never slow for many."""
    gap = 1
    while gap < (last - first) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(first + gap, last):
            t, face, u, v = t_hit[i], primitive_ids[i], uvs[i, 0], uvs[i, 1]
            j = i
            while j >= first + gap:
                before = t_hit[j - gap]
                if before < t or (before == t and primitive_ids[j - gap] < face):
                    break
                t_hit[j], primitive_ids[j] = before, primitive_ids[j - gap]
                uvs[j, 0], uvs[j, 1] = uvs[j - gap, 0], uvs[j - gap, 1]
                j -= gap
            t_hit[j], primitive_ids[j], uvs[j, 0], uvs[j, 1] = t, face, u, v
        gap //= 3


def all_hits(tree, rays, *, cull=None, threads=None, progress=None, counters=None) -> tuple[np.ndarray, ...]:
    """Splits (n + 1,), ray ids (m,), t_hit (m,), primitive_ids (m,) and uvs (m, 2) of all hits, by ray, t and id."""
    count, dtype = len(rays.origins), rays.origins.dtype
    numbers = np.zeros(count, np.int64)
    parts = {}
    per_ray = ROOM

    def cast(*arguments):
        nonlocal per_ray
        *others, counts, begin, end = arguments
        room = per_ray * (end - begin)
        hits = unanswered(ALL, rays, room)._replace(numbers=numbers)
        answer(hits, *others, counts, begin, end)
        used = int(hits.used[0])
        if used > room:
            hits = unanswered(ALL, rays, used)._replace(numbers=numbers)
            answer(hits, *others, counts[:0], begin, end)
            per_ray = max(per_ray, -(-used // (end - begin)))  # for the chunks to come
        splits = np.concatenate([[0], np.cumsum(numbers[begin:end])])
        arranged = np.empty(used, dtype), np.empty(used, np.int64), np.empty((used, 2), dtype)
        arrange(hits, begin, splits, *arranged)
        parts[begin] = arranged

    run(cast, tree, rays, cull, threads, progress, counters)
    nothing = np.empty(0, dtype), np.empty(0, np.int64), np.empty((0, 2), dtype)
    chunks = [parts[begin] for begin in sorted(parts)] or [nothing]
    t_hit, primitive_ids, uvs = (np.concatenate(arrays) for arrays in zip(*chunks, strict=True))
    splits = np.concatenate([[0], np.cumsum(numbers)])
    if counters is not None:
        counters.add(hits=len(t_hit))
    return splits, np.repeat(np.arange(count), numbers), t_hit, primitive_ids, uvs
