"""Pairs of triangles and tuples of points, row by row: how they lie to each other, exactly.

Rows whose coordinates are too large or too small for exact products are scaled by a power of two first, which
changes no answer.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import apart, inline, kernel
from .._simd import stay_apart
from .._threads import run_chunks
from ..geometry.predicates import EXPANSION_ROOM, LARGEST_2D, LARGEST_3D, SMALLEST_2D, SMALLEST_3D, orient2d, orient3d
from ..geometry.triangle_segment import MOST_CORNERS, segment_of
from ..geometry.triangle_triangle import DISJOINT, relation_of

CHUNK = 8192


@apart
def power_for(rows, begin, end, smallest, largest):
    """The power of two by which rows begin to end are to be multiplied, 0 if they may stay as they are."""
    stay_apart()
    low, high = np.inf, 0.0
    for i in range(begin, end):
        for k in range(rows.shape[1]):
            size = abs(rows[i, k])
            high = max(high, size)
            low = min(low, size if size > 0.0 else np.inf)
    if high == 0.0 or (low >= smallest and high <= largest):
        return 0
    return math.frexp(largest)[1] - 1 - math.frexp(high)[1]


@inline
def scaled(x, power):
    return x if power == 0 else math.ldexp(x, power)


@inline
def point_of(rows, i, power):
    return scaled(rows[i, 0], power), scaled(rows[i, 1], power), scaled(rows[i, 2], power)


@kernel
def find_relations(corners, begin, end, relations, segments):
    """Of pairs begin to end of triangles; the corners of one pair are six rows of `corners`."""
    room, points = np.empty(EXPANSION_ROOM, np.float64), np.empty((MOST_CORNERS, 3), np.float64)
    for i in range(begin, end):
        power = power_for(corners, 6 * i, 6 * i + 6, SMALLEST_3D, LARGEST_3D)
        p, q, r = (
            point_of(corners, 6 * i, power),
            point_of(corners, 6 * i + 1, power),
            point_of(corners, 6 * i + 2, power),
        )
        a, b = point_of(corners, 6 * i + 3, power), point_of(corners, 6 * i + 4, power)
        c = point_of(corners, 6 * i + 5, power)
        relation = relation_of(p, q, r, a, b, c, room)
        relations[i] = relation
        if relation != DISJOINT:
            x, y, z, u, v, w = segment_of(p, q, r, a, b, c, points, room)
            segments[i, 0, 0], segments[i, 0, 1], segments[i, 0, 2] = (
                scaled(x, -power),
                scaled(y, -power),
                scaled(z, -power),
            )
            segments[i, 1, 0], segments[i, 1, 1], segments[i, 1, 2] = (
                scaled(u, -power),
                scaled(v, -power),
                scaled(w, -power),
            )


@kernel
def find_turns(points, begin, end, signs):
    """orient2d of rows begin to end; the points of one are three rows of `points`."""
    room = np.empty(EXPANSION_ROOM, np.float64)
    for i in range(begin, end):
        n = power_for(points, 3 * i, 3 * i + 3, SMALLEST_2D, LARGEST_2D)
        ax, ay = scaled(points[3 * i, 0], n), scaled(points[3 * i, 1], n)
        bx, by = scaled(points[3 * i + 1, 0], n), scaled(points[3 * i + 1, 1], n)
        cx, cy = scaled(points[3 * i + 2, 0], n), scaled(points[3 * i + 2, 1], n)
        signs[i] = orient2d(ax, ay, bx, by, cx, cy, room)


@kernel
def find_sides(points, begin, end, signs):
    """orient3d likewise, of four rows each."""
    room = np.empty(EXPANSION_ROOM, np.float64)
    for i in range(begin, end):
        power = power_for(points, 4 * i, 4 * i + 4, SMALLEST_3D, LARGEST_3D)
        a, b = point_of(points, 4 * i, power), point_of(points, 4 * i + 1, power)
        c, d = point_of(points, 4 * i + 2, power), point_of(points, 4 * i + 3, power)
        signs[i] = orient3d(a, b, c, d, room)


def triangle_pairs(corners, *, threads=None, progress=None) -> tuple[np.ndarray, np.ndarray]:
    """Relations (n,) int8 and segments (n, 2, 3), nan where disjoint, of pairs of triangles (n, 6, 3) float64."""
    count = len(corners)
    rows = corners.reshape(-1, 3)
    relations, segments = np.empty(count, np.int8), np.full((count, 2, 3), np.nan)

    def work(begin, end):
        find_relations(rows, begin, end, relations, segments)

    run_chunks(work, count, chunk=CHUNK, threads=threads, progress=progress)
    return relations, segments


def orientations(points, *, threads=None) -> np.ndarray:
    """Signs (n,) int8 of three points of the plane each, (n, 3, 2), or of four of space, (n, 4, 3) float64."""
    find, rows = find_turns if points.shape[-1] == 2 else find_sides, points.reshape(-1, points.shape[-1])
    signs = np.empty(len(points), np.int8)

    def work(begin, end):
        find(rows, begin, end, signs)

    run_chunks(work, len(points), chunk=CHUNK, threads=threads)
    return signs
