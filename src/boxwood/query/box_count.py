"""How many boxes each ray meets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .box_cast import accept, begin_row, end_row


class BoxCount(NamedTuple):
    numbers: np.ndarray  # (n,) int64


@begin_row.implemented_for(BoxCount)
def _(question, r):
    question.numbers[r] = 0


@accept.implemented_for(BoxCount)
def _(question, r, t, name, most):
    question.numbers[r] += 1
    return most


@end_row.implemented_for(BoxCount)
def _(question, r):
    return 0


def box_count(run, count, counters=None) -> np.ndarray:
    """(n,) int64: how many boxes each ray meets in its range, as `run` of `box_cast` finds it."""
    question = BoxCount(np.empty(count, np.int64))
    run(lambda answer, begin, end: answer(question))
    if counters is not None:
        counters.add(hits=int(question.numbers.sum()))
    return question.numbers
