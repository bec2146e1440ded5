"""Whether each ray hits anything at all: it is done at the first hit it meets."""

from __future__ import annotations

from functools import partial

import numpy as np

from .engine import answer
from .question import ANY, unanswered
from .ray_batch import run


def any_hit(tree, rays, *, cull=None, threads=None, progress=None, counters=None) -> np.ndarray:
    """(n,) bool: whether each ray hits anything in its range."""
    question = unanswered(ANY, rays)
    run(partial(answer, question), tree, rays, cull, threads, progress, counters)
    if counters is not None:
        counters.add(hits=np.count_nonzero(question.occluded))
    return question.occluded
