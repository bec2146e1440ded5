"""Every crossing of each ray with the surface, sorted by t and id: by the rule of `hit_count`, which asks first.

Counting before writing costs a second walk, but every hit goes straight to its place, however many there are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import inline
from .flight import KEPT, RAY, accept, fly, half_open, land
from .hit_count import hit_count
from .ray_batch import run


class AllHits(NamedTuple):
    splits: np.ndarray  # (n + 1,) int64: where the hits of each ray go
    ray_ids: np.ndarray  # (m,) int64
    t_hit: np.ndarray  # (m,)
    primitive_ids: np.ndarray  # (m,) int64
    uvs: np.ndarray  # (m, 2)


@half_open.implemented_for(AllHits)
def _(question):
    return True


@accept.implemented_for(AllHits)
def _(question, flight, base, ids, place, t, crossing, lane):
    flight.places[base + KEPT] += 1
    row = question.splits[flight.places[base + RAY]] + flight.places[base + KEPT]
    question.ray_ids[row] = flight.places[base + RAY]
    question.t_hit[row] = t
    question.primitive_ids[row] = ids[place]
    question.uvs[row, 0] = crossing[8 + lane] / crossing[16 + lane]
    question.uvs[row, 1] = crossing[12 + lane] / crossing[16 + lane]
    return False


@land.implemented_for(AllHits)
def _(question, flight, base, ids, r):
    sort_hits(question, question.splits[r], question.splits[r + 1])


@inline
def sort_hits(hits, first, last):
    """By t, then by id: Shell's method, quick for the few hits of most rays and never slow for many."""
    gap = 1
    while gap < (last - first) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(first + gap, last):
            t, face, u, v = hits.t_hit[i], hits.primitive_ids[i], hits.uvs[i, 0], hits.uvs[i, 1]
            j = i
            while j >= first + gap:
                before = hits.t_hit[j - gap]
                if before < t or (before == t and hits.primitive_ids[j - gap] < face):
                    break
                hits.t_hit[j], hits.primitive_ids[j] = before, hits.primitive_ids[j - gap]
                hits.uvs[j, 0], hits.uvs[j, 1] = hits.uvs[j - gap, 0], hits.uvs[j - gap, 1]
                j -= gap
            hits.t_hit[j], hits.primitive_ids[j], hits.uvs[j, 0], hits.uvs[j, 1] = t, face, u, v
        gap //= 3


def all_hits(tree, rays, *, cull=None, threads=None, progress=None, counters=None) -> tuple[np.ndarray, ...]:
    """Splits (n + 1,), ray ids (m,), t_hit (m,), primitive_ids (m,) and uvs (m, 2) of all hits, by ray, t and id."""
    count, dtype = len(rays.origins), rays.origins.dtype
    numbers = hit_count(tree, rays, cull=cull, threads=threads, progress=_half(progress, 0), counters=counters)
    splits = np.zeros(count + 1, np.int64)
    np.cumsum(numbers, out=splits[1:])
    total = int(splits[-1])
    ray_ids, primitive_ids = np.empty(total, np.int64), np.empty(total, np.int64)
    question = AllHits(splits, ray_ids, np.empty(total, dtype), primitive_ids, np.empty((total, 2), dtype))
    run(fly, question, tree, rays, cull, threads, _half(progress, 1), None)
    return tuple(question)


def _half(progress, which):
    """Reports each of the two walks as half of the work."""
    if progress is None:
        return None
    return lambda done, total: progress((done + which * total) // 2, total)
