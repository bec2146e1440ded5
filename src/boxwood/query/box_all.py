"""Every box that each ray meets, sorted by t and id.

Rays are taken one after the other, so a chunk of them writes its hits ray by ray. A chunk that has more hits than it
has room for is cast again with enough.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .box_cast import accept, begin_row, end_row

ROOM = 4
"""Hits per ray that a chunk has room for at first."""


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
        return
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


def all_boxes(run, count, dtype, counters=None) -> tuple[np.ndarray, ...]:
    """Splits (n + 1,), ray ids (m,), t_hit (m,) and primitive_ids (m,), as `run` of `box_cast` finds them."""
    numbers = np.zeros(count, np.int64)
    parts = {}

    def question(room):
        return AllBoxes(numbers, np.zeros(1, np.int64), np.empty(room), np.empty(room, np.int64))

    def ask(answer, begin, end):
        hits = question(ROOM * (end - begin))
        answer(hits)
        used = int(hits.used[0])
        if used > len(hits.t_hit):
            hits = question(used)
            answer(hits, None)
        parts[begin] = hits.t_hit[:used].astype(dtype), hits.primitive_ids[:used]

    run(ask)
    chunks = [parts[begin] for begin in sorted(parts)] or [(np.empty(0, dtype), np.empty(0, np.int64))]
    t_hit, primitive_ids = (np.concatenate(arrays) for arrays in zip(*chunks, strict=True))
    splits = np.concatenate([[0], np.cumsum(numbers)])
    if counters is not None:
        counters.add(hits=len(t_hit))
    return splits, np.repeat(np.arange(count), numbers), t_hit, primitive_ids
