"""The first hit of each ray: the smallest t, and of equal ones the smallest id."""

from __future__ import annotations

from functools import partial

import numpy as np

from .engine import answer
from .question import CLOSEST, unanswered
from .ray_batch import run


def closest_hit(tree, rays, *, cull=None, threads=None, progress=None, counters=None) -> tuple[np.ndarray, ...]:
    """t_hit (n,), primitive_ids (n,) int64 and uvs (n, 2) of each ray's first hit; inf, -1 and nan for none."""
    question = unanswered(CLOSEST, rays)
    run(partial(answer, question), tree, rays, cull, threads, progress, counters)
    if counters is not None:
        counters.add(hits=np.count_nonzero(question.primitive_ids >= 0))
    return question.t_hit, question.primitive_ids, question.uvs
