"""Boxes and questions to test structures with, and their answers by plain NumPy.

Everything is made from a NumPy generator, so a seed in a test's name makes the world again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from boxwood import index

EVERYWHERE = [index.UniformGrid, index.SpatialHash, index.KDTree, index.SweepAndPrune, index.BVH]
BY_DIMENSION = {2: [*EVERYWHERE, index.Quadtree], 3: [*EVERYWHERE, index.Octree]}
KINDS = [(structure, dimension) for dimension, structures in BY_DIMENSION.items() for structure in structures]
NAMES = [f"{structure.__name__}-{dimension}D" for structure, dimension in KINDS]


def uniform(rng, n, dimension):
    return rng.uniform(-50, 50, (n, dimension))


def clustered(rng, n, dimension):
    return rng.uniform(-50, 50, (8, dimension))[rng.integers(0, 8, n)] + rng.normal(size=(n, dimension))


def linear(rng, n, dimension):
    return rng.uniform(-50, 50, (n, 1)) * np.ones(dimension) + rng.normal(size=(n, dimension)) * 0.1


def lattice(rng, n, dimension):
    """Small whole numbers: boxes that touch, lie in each other and are the same, many of them without size."""
    return rng.integers(-4, 5, (n, dimension)).astype(float)


DISTRIBUTIONS = {kind.__name__: kind for kind in (uniform, clustered, linear)}


class World(NamedTuple):
    lower: np.ndarray
    upper: np.ndarray


def world(kind, seed, n, dimension, dtype):
    """Boxes about places of that kind, a few of them large."""
    rng = np.random.default_rng(seed)
    if kind == "lattice":
        center, half = lattice(rng, n, dimension), rng.integers(0, 2, (n, dimension)) * 0.5
    else:
        center = DISTRIBUTIONS[kind](rng, n, dimension)
        half = rng.uniform(0, 1, (n, dimension))
        half[rng.random(n) < 0.01] *= 30
        half[rng.random(n) < 0.1] = 0
    return World((center - half).astype(dtype), (center + half).astype(dtype))


class Questions(NamedTuple):
    lower: np.ndarray
    upper: np.ndarray
    radius: np.ndarray
    planes: np.ndarray  # (n, k, d + 1)
    directions: np.ndarray

    @property
    def points(self):
        return self.lower


def questions(kind, seed, n, dimension, dtype):
    rng = np.random.default_rng([seed, 1])
    if kind == "lattice":
        lower = lattice(rng, n, dimension) / 2
        upper, radius = lower + rng.integers(0, 3, (n, dimension)) / 2, rng.integers(0, 4, n) / 2
        directions = rng.integers(-1, 2, (n, dimension)).astype(float)
        normals = rng.integers(-1, 2, (n, 3, dimension)).astype(float)
    else:
        lower = DISTRIBUTIONS[kind](np.random.default_rng(seed), n, dimension) + rng.normal(size=(n, dimension)) * 2
        upper, radius = lower + rng.exponential(1, (n, dimension)), rng.exponential(2, n)
        lower[: n // 20] += 1000  # where nothing is
        upper[: n // 20] += 1000
        directions = rng.normal(size=(n, dimension)) * 10.0 ** rng.uniform(-3, 3, (n, 1))
        directions[::4] = np.eye(dimension)[rng.integers(0, dimension, len(directions[::4]))]
        normals = rng.normal(size=(n, 3, dimension))
    directions[~directions.any(axis=1)] = 1
    normals[~normals.any(axis=2)] = 1
    offsets = -(normals * lower[:, None]).sum(axis=2) + 2
    planes = np.concatenate([normals, offsets[:, :, None]], axis=2)
    return Questions(*(array.astype(dtype) for array in (lower, upper, radius, planes, directions)))


def ask_all(structure, asked, k=4):
    """Every answer that a structure gives, as arrays by name."""
    answers = {}
    for name, ragged in (
        ("box", structure.query_box(asked.lower, asked.upper)),
        ("sphere", structure.query_sphere(asked.points, asked.radius)),
        ("frustum", structure.query_frustum(asked.planes)),
    ):
        answers[f"{name} splits"], answers[f"{name} ids"] = ragged.splits, ragged.ids
    for name, hits in (
        ("ray", structure.raycast(asked.points, asked.directions)),
        ("bounded ray", structure.raycast(asked.points, asked.directions, t_min=-0.5, t_max=asked.radius)),
    ):
        answers[f"{name} t"], answers[f"{name} ids"], answers[f"{name} uvs"] = hits.t_hit, hits.primitive_ids, hits.uvs
    for name, nearest in (
        ("nearest", structure.nearest(asked.points, k)),
        ("near", structure.nearest(asked.points, max_distance=1.0)),
    ):
        answers[f"{name} distances"], answers[f"{name} ids"] = nearest.distances, nearest.ids
    answers["pairs"] = structure.pairs()
    return answers


def assert_same(answers, wanted):
    assert answers.keys() == wanted.keys()
    for name, array in answers.items():
        assert array.dtype == wanted[name].dtype, name
        np.testing.assert_array_equal(array, wanted[name], err_msg=name, strict=True)


# Plain NumPy


def wide(array):
    return np.asarray(array, np.float64)


def distances_by_numpy(boxes, points):
    """(points, boxes), as shown in the dtype of both."""
    lower, upper, points = wide(boxes.lower), wide(boxes.upper), wide(points)[:, None]
    gap = np.maximum(np.maximum(lower - points, points - upper), 0)
    square = sum(gap[..., axis] * gap[..., axis] for axis in range(gap.shape[-1]))
    return np.sqrt(square).astype(boxes.lower.dtype)


def overlaps_by_numpy(boxes, lower, upper):
    return ((boxes.lower <= upper[:, None]) & (lower[:, None] <= boxes.upper)).all(axis=2)


def entries_by_numpy(boxes, origins, directions, t_min, t_max):
    """(rays, boxes): t, inf for a miss."""
    origins, directions, dtype = wide(origins)[:, None], wide(directions)[:, None], boxes.lower.dtype
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = (wide(boxes.lower) - origins) / directions, (wide(boxes.upper) - origins) / directions
    near, far = np.minimum(low, high), np.maximum(low, high)
    still = np.broadcast_to(directions == 0, near.shape)
    inside = (boxes.lower <= origins) & (origins <= boxes.upper)
    near = np.where(still, np.where(inside, -np.inf, np.inf), near).max(axis=2)
    far = np.where(still, np.where(inside, np.inf, -np.inf), far).min(axis=2)
    with np.errstate(over="ignore"):
        enter = np.maximum(near.astype(dtype), t_min)
        met = (near <= far) & (far.astype(dtype) >= t_min) & (enter <= np.reshape(t_max, (-1, 1)))
    return np.where(met & np.isfinite(enter), enter, np.inf).astype(dtype)


def frustums_by_numpy(boxes, planes):
    planes = wide(planes)[:, :, None]
    corner = np.where(planes[..., :-1] >= 0, wide(boxes.upper), wide(boxes.lower))
    products = planes[..., :-1] * corner
    value = sum(products[..., axis] for axis in range(products.shape[-1])) + planes[..., -1]
    return (value >= 0).all(axis=1)


def all_by_numpy(boxes, asked, k=4):
    answers = {}
    for name, met in (
        ("box", overlaps_by_numpy(boxes, asked.lower, asked.upper)),
        ("sphere", distances_by_numpy(boxes, asked.points) <= asked.radius[:, None]),
        ("frustum", frustums_by_numpy(boxes, asked.planes)),
    ):
        answers[f"{name} splits"] = np.concatenate([[0], np.cumsum(met.sum(axis=1))])
        answers[f"{name} ids"] = np.nonzero(met)[1]
    for name, t_min, t_max in (("ray", 0.0, np.inf), ("bounded ray", -0.5, asked.radius)):
        t = entries_by_numpy(boxes, asked.points, asked.directions, boxes.lower.dtype.type(t_min), t_max)
        answers[f"{name} t"] = t.min(axis=1)
        answers[f"{name} ids"] = np.where(np.isinf(t.min(axis=1)), -1, t.argmin(axis=1))
        answers[f"{name} uvs"] = np.full((len(t), 2), np.nan, t.dtype)
    distances = distances_by_numpy(boxes, asked.points)
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    answers["nearest distances"] = np.take_along_axis(distances, order, axis=1)
    answers["nearest ids"] = order
    near = distances.min(axis=1, keepdims=True)
    answers["near distances"] = np.where(near <= 1, near, np.inf).astype(near.dtype)
    answers["near ids"] = np.where(near <= 1, order[:, :1], -1)
    pairs = np.argwhere(overlaps_by_numpy(boxes, boxes.lower, boxes.upper))
    answers["pairs"] = pairs[pairs[:, 0] < pairs[:, 1]]
    return answers
