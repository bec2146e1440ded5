"""The first hit of each ray: the smallest t, and of equal ones the smallest id."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from .._simd import number_like
from .flight import KEPT, MOST, TOTAL, U, V, accept, fly, half_open, land
from .ray_batch import run


class ClosestHit(NamedTuple):
    t_hit: np.ndarray  # (n,)
    primitive_ids: np.ndarray  # (n,) int64
    uvs: np.ndarray  # (n, 2)


def unanswered(rays):
    """The question with room for the answers of these rays."""
    count, dtype = len(rays.origins), rays.origins.dtype
    return ClosestHit(np.empty(count, dtype), np.empty(count, np.int64), np.empty((count, 2), dtype))


@half_open.implemented_for(ClosestHit)
def _(question):
    return False


@accept.implemented_for(ClosestHit)
def _(question, flight, base, ids, place, t, crossing, lane):
    best = flight.places[base + KEPT]
    if best < 0 or t < flight.rays[base + MOST] or ids[place] < ids[best]:
        flight.places[base + KEPT] = place
        flight.rays[base + MOST] = t
        flight.rays[base + U] = crossing[8 + lane]
        flight.rays[base + V] = crossing[12 + lane]
        flight.rays[base + TOTAL] = crossing[16 + lane]
    return False


@land.implemented_for(ClosestHit)
def _(question, flight, base, ids, r):
    place, t = flight.places[base + KEPT], flight.rays[base + MOST]
    if place < 0:
        question.primitive_ids[r] = -1
        question.t_hit[r] = number_like(t, np.inf)
        question.uvs[r, 0] = number_like(t, np.nan)
        question.uvs[r, 1] = number_like(t, np.nan)
    else:
        question.primitive_ids[r] = ids[place]
        question.t_hit[r] = t
        question.uvs[r, 0] = flight.rays[base + U] / flight.rays[base + TOTAL]
        question.uvs[r, 1] = flight.rays[base + V] / flight.rays[base + TOTAL]


def closest_hit(tree, rays, *, cull=None, threads=None, progress=None, counters=None) -> tuple[np.ndarray, ...]:
    """t_hit (n,), primitive_ids (n,) int64 and uvs (n, 2) of each ray's first hit; inf, -1 and nan for none."""
    question = unanswered(rays)
    run(partial(fly, question), tree, rays, cull, threads, progress, counters)
    if counters is not None:
        counters.add(hits=np.count_nonzero(question.primitive_ids >= 0))
    return tuple(question)
