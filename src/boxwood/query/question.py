"""What each question about rays does with a hit, and what it writes down for a ray that is done.

One kernel answers them all and looks at `kind` only when a ray hits something or is done. A kernel for each would be
no faster, and the second to fourth question would compile for seconds each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import inline
from .._simd import number_like

CLOSEST, ANY, COUNT, ALL = range(4)


class Question(NamedTuple):
    """The kind, and arrays for the answers of n rays; those that a kind does not need are empty."""

    kind: int
    t_hit: np.ndarray  # (n,), or for ALL (room,), by hit
    primitive_ids: np.ndarray  # the same, int64
    uvs: np.ndarray  # the same, (..., 2)
    ray_ids: np.ndarray  # (room,) int64
    occluded: np.ndarray  # (n,) bool
    numbers: np.ndarray  # (n,) int64: hits of each ray
    used: np.ndarray  # (1,) int64: hits of all rays, those without room among them


def unanswered(kind, rays, room=0):
    """The question with room for the answers of these rays, and for ALL for so many hits."""
    count, dtype = len(rays.origins), rays.origins.dtype
    hits = {CLOSEST: count, ALL: room}.get(kind, 0)
    return Question(
        kind,
        np.empty(hits, dtype),
        np.empty(hits, np.int64),
        np.empty((hits, 2), dtype),
        np.empty(room, np.int64),
        np.empty(count if kind == ANY else 0, np.bool_),
        np.empty(count if kind == COUNT else 0, np.int64),
        np.zeros(1, np.int64),
    )


class Kept(NamedTuple):
    """What is known so far of the ray in each lane."""

    numbers: np.ndarray  # computing dtype, 4 a lane: the furthest t that counts; u, v and their total
    places: np.ndarray  # int64, 2 a lane: where the best hit lies (block * 4 + lane), or hits less one; which ray


MOST, U, V, TOTAL = range(4)
PLACE, RAY = range(2)


@inline
def begin(kept, lane, r, most):
    kept.numbers[4 * lane + MOST] = most
    kept.places[2 * lane + PLACE], kept.places[2 * lane + RAY] = -1, r


@inline
def furthest(kept, lane):
    """The furthest t that counts."""
    return kept.numbers[4 * lane + MOST]


@inline
def half_open(question):
    """Whether an edge belongs to one of its faces only, or to both."""
    return question.kind >= COUNT


@inline
def accept(question, kept, lane, ids, place, t, weights):
    """Take note of a hit at `place`, in range of the lane's ray; whether the ray is done.

    `weights` are those of the second and third vertex, and the sum of all three.
    """
    best = kept.places[2 * lane + PLACE]
    if question.kind == CLOSEST:
        if best < 0 or t < kept.numbers[4 * lane + MOST] or ids[place] < ids[best]:
            kept.places[2 * lane + PLACE] = place
            kept.numbers[4 * lane + MOST] = t
            kept.numbers[4 * lane + U], kept.numbers[4 * lane + V], kept.numbers[4 * lane + TOTAL] = weights
        return False
    kept.places[2 * lane + PLACE] = best + 1
    if question.kind == ALL:
        row = question.used[0]
        question.used[0] = row + 1
        if row < question.t_hit.shape[0]:
            question.ray_ids[row] = kept.places[2 * lane + RAY]
            question.t_hit[row] = t
            question.primitive_ids[row] = ids[place]
            question.uvs[row, 0] = weights[0] / weights[2]
            question.uvs[row, 1] = weights[1] / weights[2]
    return question.kind == ANY


@inline
def land(question, kept, lane, ids):
    """Write the answer of the lane's ray."""
    best, r = kept.places[2 * lane + PLACE], kept.places[2 * lane + RAY]
    if question.kind == ANY:
        question.occluded[r] = best >= 0
    elif question.kind != CLOSEST:
        question.numbers[r] = best + 1
    else:
        t, face = kept.numbers[4 * lane + MOST], np.int64(-1)
        u = v = number_like(t, np.nan)
        if best >= 0:
            face, total = np.int64(ids[best]), kept.numbers[4 * lane + TOTAL]
            u, v = kept.numbers[4 * lane + U] / total, kept.numbers[4 * lane + V] / total
        else:
            t = number_like(t, np.inf)
        question.t_hit[r], question.primitive_ids[r] = t, face
        question.uvs[r, 0], question.uvs[r, 1] = u, v
