"""How often each ray crosses the surface, an edge or a vertex counting for one of its faces only.

So the number of crossings of a closed mesh has the right parity whatever the ray meets.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from .flight import KEPT, accept, fly, half_open, land
from .ray_batch import run


class HitCount(NamedTuple):
    numbers: np.ndarray  # (n,) int64


@half_open.implemented_for(HitCount)
def _(question):
    return True


@accept.implemented_for(HitCount)
def _(question, flight, base, ids, place, t, crossing, lane):
    flight.places[base + KEPT] += 1
    return False


@land.implemented_for(HitCount)
def _(question, flight, base, ids, r):
    question.numbers[r] = flight.places[base + KEPT] + 1


def hit_count(tree, rays, *, cull=None, threads=None, progress=None, counters=None) -> np.ndarray:
    """(n,) int64: how often each ray crosses the surface in its range."""
    question = HitCount(np.empty(len(rays.origins), np.int64))
    run(partial(fly, question), tree, rays, cull, threads, progress, counters)
    if counters is not None:
        counters.add(hits=int(question.numbers.sum()))
    return question.numbers
