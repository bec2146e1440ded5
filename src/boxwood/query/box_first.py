"""The first box that each ray or moving box meets: the smallest t, and of equal ones the smallest id."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .box_cast import accept, begin_row, end_row


class FirstBox(NamedTuple):
    t_hit: np.ndarray  # (n,) float64
    primitive_ids: np.ndarray  # (n,) int64


@begin_row.implemented_for(FirstBox)
def _(question, r):
    question.t_hit[r], question.primitive_ids[r] = np.inf, -1


@accept.implemented_for(FirstBox)
def _(question, r, t, name, most):
    if t < question.t_hit[r] or (t == question.t_hit[r] and name < question.primitive_ids[r]):
        question.t_hit[r], question.primitive_ids[r] = t, name
    return question.t_hit[r]


@end_row.implemented_for(FirstBox)
def _(question, r):
    return 0


def first_box(run, count, dtype, counters=None) -> tuple[np.ndarray, np.ndarray]:
    """t_hit (n,) and primitive_ids (n,), as `run` of `box_cast` finds them; inf and -1 for none."""
    question = FirstBox(np.empty(count), np.empty(count, np.int64))
    run(lambda answer, begin, end: answer(question))
    if counters is not None:
        counters.add(hits=np.count_nonzero(question.primitive_ids >= 0))
    return question.t_hit.astype(dtype, copy=False), question.primitive_ids
