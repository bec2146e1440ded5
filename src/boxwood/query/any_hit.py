"""Whether each ray hits anything at all: it is done at the first hit it meets."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from .flight import KEPT, accept, fly, half_open, land
from .ray_batch import run


class AnyHit(NamedTuple):
    occluded: np.ndarray  # (n,) bool


@half_open.implemented_for(AnyHit)
def _(question):
    return False


@accept.implemented_for(AnyHit)
def _(question, flight, base, ids, place, t, crossing, lane):
    flight.places[base + KEPT] = place
    return True


@land.implemented_for(AnyHit)
def _(question, flight, base, ids, r):
    question.occluded[r] = flight.places[base + KEPT] >= 0


def any_hit(tree, rays, *, cull=None, threads=None, progress=None, counters=None) -> np.ndarray:
    """(n,) bool: whether each ray hits anything in its range."""
    question = AnyHit(np.empty(len(rays.origins), np.bool_))
    run(partial(fly, question), tree, rays, cull, threads, progress, counters)
    if counters is not None:
        counters.add(hits=np.count_nonzero(question.occluded))
    return question.occluded
