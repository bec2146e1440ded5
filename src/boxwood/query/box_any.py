"""Whether each ray meets any box at all: it is done at the first it meets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .box_cast import accept, begin_row, end_row, nothing_more


class AnyBox(NamedTuple):
    occluded: np.ndarray  # (n,) bool


@begin_row.implemented_for(AnyBox)
def _(question, r):
    question.occluded[r] = False


@accept.implemented_for(AnyBox)
def _(question, r, t, name, most):
    question.occluded[r] = True
    return nothing_more()


@end_row.implemented_for(AnyBox)
def _(question, r):
    return 0


def any_box(run, count, counters=None) -> np.ndarray:
    """(n,) bool: whether each ray meets a box in its range, as `run` of `box_cast` finds it."""
    question = AnyBox(np.empty(count, np.bool_))
    run(lambda answer, begin, end: answer(question))
    if counters is not None:
        counters.add(hits=np.count_nonzero(question.occluded))
    return question.occluded
