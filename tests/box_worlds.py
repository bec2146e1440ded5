"""Boxes and questions to test with: sets of every awkward kind, and boxes, points and rays that touch them exactly.

Everything is made from a NumPy generator, so a seed in a test's name makes the world again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

import boxwood as bw

DTYPES = (np.float32, np.float64)
DIMENSIONS = (2, 3)

# Kinds: lower and upper (n, d), float64 of order one.


def uniform(rng, n, d):
    lower = rng.uniform(-1, 1, (n, d))
    return lower, lower + rng.uniform(0, 0.3, (n, d))


def clustered(rng, n, d):
    centers = rng.uniform(-1, 1, (3, d))
    lower = centers[rng.integers(0, 3, n)] + rng.normal(size=(n, d)) * 0.05
    return lower, lower + 10.0 ** rng.uniform(-4, 0, (n, 1)) * rng.uniform(0, 1, (n, d))


def line(rng, n, d):
    lower = rng.uniform(-1, 1, (n, 1)) * np.ones(d)
    return lower, lower + rng.uniform(0, 0.01, (n, d))


def points(rng, n, d):
    lower = rng.uniform(-1, 1, (n, d))
    return lower, lower


def flat(rng, n, d):
    """Each without extent on some axes."""
    lower = rng.uniform(-1, 1, (n, d))
    return lower, lower + rng.uniform(0, 0.5, (n, d)) * rng.integers(0, 2, (n, d))


def duplicates(rng, n, d):
    lower, upper = uniform(rng, max(n // 8, 1), d)
    which = rng.integers(0, len(lower), n)
    return lower[which], upper[which]


def one_place(rng, n, d):
    place = rng.uniform(-1, 1, (1, d)).repeat(n, axis=0)
    return place, place


def grid(rng, n, d):
    """Small integers: most boxes touch others exactly, and all distances are met many times."""
    lower = rng.integers(-3, 4, (n, d)).astype(float)
    return lower, lower + rng.integers(0, 3, (n, d))


def nested(rng, n, d):
    middle, size = rng.uniform(-0.1, 0.1, (n, d)), rng.uniform(0, 1, (n, 1)) * np.ones(d)
    return middle - size, middle + size


KINDS = {
    kind.__name__: kind
    for kind in (uniform, clustered, line, points, flat, duplicates, one_place, grid, nested)
}  # fmt: skip


class World(NamedTuple):
    lower: np.ndarray
    upper: np.ndarray

    @property
    def tree(self):
        if self.lower is self.upper:
            return bw.BoxTree.from_points(self.lower)
        return bw.BoxTree(self.lower, self.upper)

    @property
    def dtype(self):
        return self.lower.dtype

    @property
    def dimension(self):
        return self.lower.shape[1]


def make(kind, seed, n, dimension, dtype, *, scale=1.0, offset=0.0):
    lower, upper = KINDS[kind](np.random.default_rng(seed), n, dimension)
    low = (lower * scale + offset).astype(dtype)
    return World(low, low if upper is lower else np.maximum((upper * scale + offset).astype(dtype), low))


def extent(world):
    """The length of the set's bounds on the longest axis, or 1."""
    if len(world.lower) == 0:
        return 1.0
    lower, upper = world.lower.min(axis=0), world.upper.max(axis=0)
    return float((upper.astype(float) - lower).max()) or 1.0


def places(world, rng, n):
    """Points (n, d): corners of boxes, and anywhere in and around the set."""
    size = extent(world)
    if len(world.lower) == 0:
        return rng.uniform(-1, 1, (n, world.dimension)).astype(world.dtype)
    which = rng.integers(0, len(world.lower), n)
    corners = np.where(rng.random((n, world.dimension)) < 0.5, world.lower[which], world.upper[which])
    corners = corners.astype(float)
    corners[n // 2 :] += rng.uniform(-1, 1, (n - n // 2, world.dimension)) * size
    return corners.astype(world.dtype)


def boxes(world, seed, n):
    """Lower and upper corners of boxes to ask about."""
    rng = np.random.default_rng([seed, 1])
    one, other = places(world, rng, n), places(world, rng, n)
    other = np.where(rng.random((n, 1)) < 0.3, one, other)
    other = np.where(rng.random((n, 1)) < 0.3, (one + extent(world) * 0.1).astype(world.dtype), other)
    return np.minimum(one, other), np.maximum(one, other)


def spheres(world, seed, n):
    """Centres and radii, some of which reach exactly to a corner, some of radius 0."""
    rng = np.random.default_rng([seed, 2])
    center, corner = places(world, rng, n), places(world, rng, n)
    radius = np.sqrt(np.sum((center.astype(float) - corner) ** 2, axis=1)) * rng.choice([0, 0.1, 0.5, 1], n)
    return center, radius


def planes(world, seed, n, k):
    """Planes (n, k, d + 1), many through corners of boxes, many along axes."""
    rng = np.random.default_rng([seed, 3])
    normals = rng.normal(size=(n, k, world.dimension))
    straight = rng.random((n, k)) < 0.5
    axes = np.eye(world.dimension)[rng.integers(0, world.dimension, (n, k))] * rng.choice([-1, 1, 2], (n, k, 1))
    normals = np.where(straight[..., None], axes, normals)
    through = places(world, rng, n * k).reshape(n, k, world.dimension).astype(float)
    return np.concatenate([normals, -np.sum(normals * through, axis=-1, keepdims=True)], axis=-1)


def rays(world, seed, n):
    """Origins and directions; many along axes and edges, many from inside, all lengths of directions."""
    rng = np.random.default_rng([seed, 4])
    origins, targets = places(world, rng, n), places(world, rng, n)
    directions = (targets.astype(float) - origins) / extent(world)
    along = rng.random((n, world.dimension)) < 0.4
    directions = np.where(along, 0, directions)
    directions[~directions.any(axis=1)] = np.eye(world.dimension)[0]
    directions *= rng.choice([1e-3, 1, 1e3], (n, 1))
    return origins, directions.astype(world.dtype)


# For hypothesis


@st.composite
def worlds(draw, largest=60, *, near=False):
    """A set of any kind, dimension, dtype and size, at any place."""
    dtype = draw(st.sampled_from(DTYPES))
    scale = draw(st.sampled_from([1.0, 1e-3, 1e6]))
    offset = 0.0 if near else draw(st.sampled_from([0.0, 0.0, -1e3, 1e9, -1e9]))
    return make(
        draw(st.sampled_from(sorted(KINDS))),
        draw(st.integers(0, 2**16)),
        draw(st.integers(0, largest)),
        draw(st.sampled_from(DIMENSIONS)),
        dtype,
        scale=scale,
        offset=offset,
    )
