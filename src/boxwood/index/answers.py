"""The loop over a batch: each question of it walks a structure, and its answer is written down.

A batch is a NamedTuple of arrays, those that ask and those that are filled. Answers of any length are kept chunk by
chunk; a chunk that finds more than it has room for is asked again with enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._jit import generic, kernel
from .._threads import run_chunks
from ..query.sort_ids import sort_ids
from . import arguments
from .questions import LARGEST, Box, Frustum, Near, Ray, Sphere, box_at, square_beyond, square_within
from .walk import walk

ROOM = 8
"""Ids per question that a chunk has room for at first."""
CHUNK = 4096


class Boxes(NamedTuple):
    found: np.ndarray  # (room,) int64
    used: np.ndarray  # (2,) int64: ids found, those without room among them; and before this question
    counts: np.ndarray  # (n,) int64: of each question
    boxes: np.ndarray  # (n, 6)


class Spheres(NamedTuple):
    found: np.ndarray
    used: np.ndarray
    counts: np.ndarray
    centers: np.ndarray  # (n, 3)
    radii: np.ndarray  # (n,)
    single: bool


class Frustums(NamedTuple):
    found: np.ndarray
    used: np.ndarray
    counts: np.ndarray
    planes: np.ndarray  # (n, k, 4)


class Own(NamedTuple):
    """The boxes of the structure's own objects, each against those with greater ids."""

    found: np.ndarray
    used: np.ndarray
    counts: np.ndarray
    boxes: np.ndarray
    ids: np.ndarray
    rows: np.ndarray  # (n,) which to ask


class Rays(NamedTuple):
    origins: np.ndarray  # (n, 3)
    directions: np.ndarray  # (n, 3)
    t_min: np.ndarray  # (n,)
    single: bool
    t_hit: np.ndarray  # (n,): so far; before the first, the largest that counts
    hit: np.ndarray  # (n,) int64


class Points(NamedTuple):
    points: np.ndarray  # (n, 3)
    single: bool
    distances: np.ndarray  # (n, k): so far, rising; beyond the last found, the largest that counts
    nearest: np.ndarray  # (n, k) int64


@generic
def question_at(batch, row):
    """One question of a batch."""


@question_at.implemented_for(Boxes)
def _(batch, row):
    return Box(box_at(batch.boxes, row), np.int64(-1))


@question_at.implemented_for(Spheres)
def _(batch, row):
    centers, radius = batch.centers, batch.radii[row]
    center = centers[row, 0], centers[row, 1], centers[row, 2]
    return Sphere(center, radius, square_within(radius), square_beyond(radius), batch.single)


@question_at.implemented_for(Frustums)
def _(batch, row):
    return Frustum(row)


@question_at.implemented_for(Own)
def _(batch, row):
    own = batch.rows[row]
    return Box(box_at(batch.boxes, own), batch.ids[own])


@question_at.implemented_for(Rays)
def _(batch, row):
    origins, directions = batch.origins, batch.directions
    origin = origins[row, 0], origins[row, 1], origins[row, 2]
    direction = directions[row, 0], directions[row, 1], directions[row, 2]
    return Ray(origin, direction, batch.t_min[row], batch.single, row)


@question_at.implemented_for(Points)
def _(batch, row):
    points = batch.points
    return Near((points[row, 0], points[row, 1], points[row, 2]), batch.single, row)


@generic
def finish(question, batch, row):
    """Finish the answer of this question."""


def count_and_sort(question, batch, row):
    used, first = batch.used[0], batch.used[1]
    batch.used[1] = used
    batch.counts[row] = used - first
    if used <= batch.found.shape[0]:
        sort_ids(batch.found, first, used)


finish.implemented_for(Box)(count_and_sort)
finish.implemented_for(Sphere)(count_and_sort)
finish.implemented_for(Frustum)(count_and_sort)


def leave_it(question, batch, row):
    pass


finish.implemented_for(Ray)(leave_it)
finish.implemented_for(Near)(leave_it)


@kernel
def answer(structure, boxes, ids, depth, batch, begin, end):
    """Answer the questions from begin to end."""
    stack, keys = np.empty(depth, np.int64), np.empty(depth, np.float64)
    for row in range(begin, end):
        question = question_at(batch, row)
        walk(structure, boxes, ids, question, batch, stack, keys)
        finish(question, batch, row)


def found_by(
    held: tuple[Any, ...], asked: Callable[..., Any], count: int, **work: Any
) -> tuple[NDArray[Any], NDArray[Any]]:
    """How many objects each question meets, and their ids.

    `held` is what kernels need of a structure; `asked(found, used, counts)` makes the batch; `run_chunks` takes `work`.
    """
    counts = np.empty(count, np.int64)
    per_question = ROOM

    def find(begin: int, end: int) -> NDArray[np.int64]:
        nonlocal per_question
        room = per_question * (end - begin)
        while True:
            found, used = np.empty(room, np.int64), np.zeros(2, np.int64)
            answer(*held, asked(found, used, counts), begin, end)
            room = int(used[0])
            if room <= len(found):
                return found[:room]
            per_question = max(per_question, -(-room // (end - begin)))  # for the chunks to come

    parts = run_chunks(find, count, chunk=CHUNK, **work)
    return counts, np.concatenate([np.empty(0, np.int64), *parts])


def first_entered(held: tuple[Any, ...], rays: arguments.Rays, **work: Any) -> tuple[NDArray[Any], ...]:
    """t (n,), inf for a miss, and id (n,), -1 for a miss."""
    t_max = rays.t_max.copy()
    batch = Rays(rays.origins, rays.directions, rays.t_min, rays.single, t_max, np.full(len(t_max), -1))
    run_chunks(lambda begin, end: answer(*held, batch, begin, end), len(t_max), chunk=CHUNK, **work)
    batch.t_hit[batch.hit < 0] = np.inf
    return batch.t_hit, batch.hit


def nearest_of(
    held: tuple[Any, ...], points: arguments.Batch, reaches: NDArray[np.float64], k: int, **work: Any
) -> tuple[NDArray[Any], ...]:
    """Distances (n, k), inf where there are fewer than k, and ids (n, k), -1 where there are fewer."""
    count = len(points.rows)
    distances, nearest = np.empty((count, k)), np.full((count, k), -1)
    distances[:] = np.minimum(reaches, LARGEST)[:, None]
    batch = Points(points.rows, points.single, distances, nearest)
    run_chunks(lambda begin, end: answer(*held, batch, begin, end), count, chunk=CHUNK, **work)
    distances[nearest < 0] = np.inf
    return distances, nearest
