"""Boxes to measure structures with, and what is asked about them.

Three distributions that favour different structures: an even spread, a few tight clusters, and a thin line through
space. All sizes follow from the distance between neighbours, so a scene of any number of objects is alike.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..index import KDTree

Floats = NDArray[np.float64]

WORLD = 1000.0
NEIGHBOURS = 4
"""About as many does a sphere reach."""
CLUSTERS = 10
SAMPLE = 500


class Scene(NamedTuple):
    """Boxes, and questions about them; everything is float64."""

    name: str
    lower: Floats  # (n, d)
    upper: Floats
    radius: float  # about NEIGHBOURS objects are nearer than that
    centers: Floats  # (m, d): where is asked, near objects
    directions: Floats  # (m, d)
    planes: Floats  # (m, k, d + 1): narrow views from the centers
    step: Floats  # (n, d): a small move

    @property
    def dimension(self) -> int:
        return int(self.lower.shape[1])


def uniform(rng: np.random.Generator, n: int, d: int) -> Floats:
    return rng.uniform(0, WORLD, (n, d))


def clustered(rng: np.random.Generator, n: int, d: int) -> Floats:
    centers = rng.uniform(0, WORLD, (CLUSTERS, d))
    return centers[rng.integers(0, CLUSTERS, n)] + rng.normal(size=(n, d)) * WORLD / 200


def linear(rng: np.random.Generator, n: int, d: int) -> Floats:
    return rng.uniform(0, WORLD, (n, 1)) * np.ones(d) + rng.normal(size=(n, d)) * WORLD / 1000


DISTRIBUTIONS = {kind.__name__: kind for kind in (uniform, clustered, linear)}


def scene(distribution: str, objects: int, dimension: int, asked: int, seed: int = 0) -> Scene:
    """A scene of one of the distributions; the boxes are half as large as the distance between neighbours."""
    points = DISTRIBUTIONS[distribution](np.random.default_rng([seed, objects]), objects, dimension)
    half = spacing(points, points, np.random.default_rng(seed)) / 4
    return scene_of(distribution, points - half, points + half, asked, seed)


def scene_of(name: str, lower: Floats, upper: Floats, asked: int, seed: int = 0) -> Scene:
    """The scene of these boxes, with questions near them."""
    rng = np.random.default_rng([seed, len(lower), 1])
    n, d = lower.shape
    middle = lower * 0.5 + upper * 0.5
    radius = spacing(lower, upper, rng)
    centers = middle[rng.integers(0, n, asked)] + rng.normal(size=(asked, d)) * radius * 0.5
    directions = rng.normal(size=(asked, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    step = rng.normal(size=(n, d)) * radius * 0.1
    return Scene(name, lower, upper, radius, centers, directions, views(centers, directions, 10 * radius), step)


def spacing(lower: Floats, upper: Floats, rng: np.random.Generator) -> float:
    """How far the NEIGHBOURS-th nearest is from the middle of a box, by the median; never 0."""
    n = len(lower)
    rows = rng.integers(0, n, min(n, SAMPLE))
    tree = KDTree(lower, upper)
    found = tree.nearest(lower[rows] * 0.5 + upper[rows] * 0.5, k=min(NEIGHBOURS + 1, n)).distances
    away = float(np.median(found[:, -1]))
    return away or float((upper.max(axis=0) - lower.min(axis=0)).max()) / n or 1.0


def views(eyes: Floats, ahead: Floats, far: float) -> Floats:
    """(m, k, d + 1): planes of views from these places in these directions, 30 degrees wide and so far."""
    d = eyes.shape[1]
    if d == 2:
        sides = [np.stack([-ahead[:, 1], ahead[:, 0]], axis=1)]
    else:
        axes = np.eye(3)[np.abs(ahead).argmin(axis=1)]
        first = np.cross(ahead, axes)
        first /= np.linalg.norm(first, axis=1, keepdims=True)
        sides = [first, np.cross(ahead, first)]
    slope = np.tan(np.radians(15))
    normals = [ahead, -ahead, *(ahead * slope + sign * side for side in sides for sign in (1, -1))]
    planes: list[Any] = []
    for i, normal in enumerate(normals):
        offset = -(normal * eyes).sum(axis=1) + (far if i == 1 else 0.0)
        planes.append(np.concatenate([normal, offset[:, None]], axis=1))
    return np.stack(planes, axis=1)
