"""How often each ray crosses the surface, an edge or a vertex counting for one of its faces only.

So the number of crossings of a closed mesh has the right parity whatever the ray meets.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from .engine import answer
from .question import COUNT, unanswered
from .ray_batch import run


def hit_count(tree, rays, *, cull=None, threads=None, progress=None, counters=None) -> np.ndarray:
    """(n,) int64: how often each ray crosses the surface in its range."""
    question = unanswered(COUNT, rays)
    run(partial(answer, question), tree, rays, cull, threads, progress, counters)
    if counters is not None:
        counters.add(hits=int(question.numbers.sum()))
    return question.numbers
