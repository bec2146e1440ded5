"""Refines a closed mesh of polygons towards a smooth surface: each polygon becomes one quad per corner.

Every new point is a mean of old ones around it, so a step is a handful of sums over arrays.
Source: Catmull and Clark 1978, Recursively generated B-spline surfaces on arbitrary topological meshes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
Ids = NDArray[np.int64]


class Polygons(NamedTuple):
    """Loops of vertices, one after the other."""

    corners: Ids  # vertices of all loops
    sizes: Ids  # corners of each

    @staticmethod
    def of(loops: list[list[int]]) -> Polygons:
        return Polygons(np.concatenate([np.array(loop) for loop in loops]), np.array([len(loop) for loop in loops]))


def catmull_clark(vertices: Points, polygons: Polygons) -> tuple[Points, Polygons]:
    """One step over a closed mesh: old vertices first, then a point for each edge, then one for each polygon."""
    corners, sizes = polygons
    starts = np.cumsum(sizes) - sizes
    owner = np.repeat(np.arange(len(sizes)), sizes)
    following = np.arange(1, len(corners) + 1)
    following[starts + sizes - 1] = starts
    previous = np.empty_like(following)
    previous[following] = np.arange(len(corners))

    ends = np.sort(np.stack([corners, corners[following]], axis=1), axis=1)
    keys, edge = np.unique(ends[:, 0] * len(vertices) + ends[:, 1], return_inverse=True)
    sides = owner[np.argsort(edge, kind="stable")].reshape(-1, 2)  # closed: every edge has two polygons
    middle = (vertices[keys // len(vertices)] + vertices[keys % len(vertices)]) / 2
    center = np.add.reduceat(vertices[corners], starts) / sizes[:, None]

    edge_points = (middle + center[sides].mean(axis=1)) / 2
    around = np.bincount(corners)[:, None]  # as many edges as polygons
    moved = _sums(corners, center[owner] + 2 * middle[edge]) / around
    vertex_points = (moved + (around - 3) * vertices) / around
    count, edges = len(vertices), len(keys)
    quads = np.stack([corners, count + edge, count + edges + owner, count + edge[previous]], axis=1)
    points = np.concatenate([vertex_points, edge_points, center])
    return points, Polygons(quads.reshape(-1), np.full(len(quads), 4))


def triangles(polygons: Polygons) -> NDArray[Any]:
    """(m, 3): each polygon as a fan, in order."""
    corners, sizes = polygons
    starts = np.cumsum(sizes) - sizes
    first = np.repeat(starts, sizes - 2)
    step = np.arange(len(first)) - np.repeat(np.cumsum(sizes - 2) - (sizes - 2), sizes - 2)
    return np.stack([corners[first], corners[first + step + 1], corners[first + step + 2]], axis=1)


def _sums(into: Ids, rows: Points) -> Points:
    """Rows summed by the index that each goes into."""
    return np.stack([np.bincount(into, rows[:, axis]) for axis in range(3)], axis=1)
