"""Every box that each ray meets, sorted by t and id.

Rays are taken one after the other, so a chunk of them writes its hits ray by ray. A chunk that has more hits than it
has room for is cast again with enough.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._threads import run_chunks
from .box_cast import accept, begin_row, end_row

ROOM = 4
"""Hits per ray that a chunk has room for at first."""

MOST_ROOM = 2**19
"""A chunk has at first room for at most so many hits, or twice those of a ray: it may stop before its end."""


class AllBoxes(NamedTuple):
    numbers: np.ndarray  # (n,) int64: hits of each ray
    used: np.ndarray  # (1,) int64: hits of the chunk, those without room among them
    t_hit: np.ndarray  # (room,) float64
    primitive_ids: np.ndarray  # (room,) int64


@begin_row.implemented_for(AllBoxes)
def _(question, r):
    question.numbers[r] = 0


@accept.implemented_for(AllBoxes)
def _(question, r, t, name, most):
    row = question.used[0]
    question.used[0] = row + 1
    question.numbers[r] += 1
    if row < question.t_hit.shape[0]:
        question.t_hit[row], question.primitive_ids[row] = t, name
    return most


@end_row.implemented_for(AllBoxes)
def _(question, r):
    """Sort by t, then by id: Shell's method, quick for the few hits of most rays and never slow for many."""
    t_hit, names = question.t_hit, question.primitive_ids
    last = question.used[0]
    first = last - question.numbers[r]
    if last > t_hit.shape[0]:
        return 8 * (last - first)
    gap = 1
    while gap < (last - first) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(first + gap, last):
            t, name, j = t_hit[i], names[i], i
            while j >= first + gap:
                before = t_hit[j - gap]
                if before < t or (before == t and names[j - gap] < name):
                    break
                t_hit[j], names[j] = before, names[j - gap]
                j -= gap
            t_hit[j], names[j] = t, name
        gap //= 3
    return 8 * (last - first)


def all_boxes(run, count, dtype, counters=None) -> tuple[np.ndarray, ...]:
    """Splits (n + 1,), ray ids (m,), t_hit (m,) and primitive_ids (m,), as `run` of `box_cast` finds them."""
    numbers = np.zeros(count, np.int64)
    parts = {}
    per_ray = ROOM

    def question(room):
        return AllBoxes(numbers, np.zeros(1, np.int64), np.empty(room), np.empty(room, np.int64))

    def ask(answer, begin, end):
        nonlocal per_ray
        hits = question(min(per_ray * (end - begin), max(MOST_ROOM, 2 * per_ray)))
        reached = answer(hits)
        used = int(hits.used[0])
        if used > len(hits.t_hit):
            hits = question(used)
            answer(hits, count=False)  # takes the same steps, and so comes as far
            per_ray = max(per_ray, -(-used * 5 // (4 * (reached - begin))))  # for the chunks to come
        parts[begin] = hits.t_hit[:used].astype(dtype), hits.primitive_ids[:used]
        return reached

    run(ask)
    splits = np.concatenate([[0], np.cumsum(numbers)])
    size = splits[-1]
    ray_ids, t_hit, primitive_ids = np.empty(size, np.int64), np.empty(size, dtype), np.empty(size, np.int64)
    begins = sorted(parts)

    def place(first, last):
        for part in range(first, last):
            begin, end = begins[part], begins[part + 1] if part + 1 < len(begins) else count
            where = slice(splits[begin], splits[end])
            t_hit[where], primitive_ids[where] = parts.pop(begin)
            ray_ids[where] = np.repeat(np.arange(begin, end), numbers[begin:end])

    run_chunks(place, len(begins), chunk=1, threads=1)
    if counters is not None:
        counters.add(hits=len(t_hit))
    return splits, ray_ids, t_hit, primitive_ids
