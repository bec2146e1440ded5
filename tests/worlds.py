"""Meshes and rays to test with: soups of triangles of every awkward kind, closed meshes, and rays aimed at them.

Everything is made from a NumPy generator, so a seed in a test's name makes the world again. Coordinates are
float64 of order one; tests scale, shift and round them to the dtype they want.
"""

from __future__ import annotations

import os
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

import boxwood as bw

INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
DTYPES = (np.float32, np.float64)
AXES = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 0, 0], [0, -1, 0], [0, 0, -1]], float)


def some(compiled, interpreted):
    """How many: compiled kernels are a thousand times faster than interpreted ones."""
    return interpreted if INTERPRETED else compiled


# Soups: (n, 3, 3) corners of triangles that have nothing to do with each other.


def uniform(rng, n):
    return rng.uniform(-1, 1, (n, 1, 3)) + rng.uniform(-0.3, 0.3, (n, 3, 3))


def clustered(rng, n):
    centers = rng.uniform(-1, 1, (3, 3))
    return centers[rng.integers(0, 3, n)][:, None] + rng.normal(size=(n, 3, 3)) * 10.0 ** rng.uniform(-4, -1, (n, 1, 1))


def line(rng, n):
    return rng.uniform(-1, 1, (n, 1, 3)) * [1, 0, 0] + rng.normal(size=(n, 3, 3)) * 0.05


def slivers(rng, n):
    """Long and thin, some so thin that rounding cannot tell them from a segment."""
    along = rng.normal(size=(n, 1, 3)) * rng.uniform(-1, 1, (n, 3, 1))
    return rng.uniform(-1, 1, (n, 1, 3)) + along + rng.normal(size=(n, 3, 3)) * 10.0 ** rng.uniform(-9, -2, (n, 1, 1))


def edge_on(rng, n):
    """Nearly in planes of constant x, so that rays along y or z hardly see them and t is hard to tell."""
    corners = rng.uniform(-1, 1, (n, 3, 3))
    corners[:, :, 0] = rng.uniform(-1, 1, (n, 1)) + rng.normal(size=(n, 3)) * 1e-7
    return corners


def coplanar(rng, n):
    return rng.uniform(-1, 1, (n, 3, 3)) * [1, 1, 0] + [0, 0, 0.25]


def duplicates(rng, n):
    """A few triangles, each several times, with the corners in any order."""
    few = rng.uniform(-1, 1, (max(n // 8, 1), 3, 3))
    order = rng.permuted(np.tile(np.arange(3), (n, 1)), axis=1)
    return np.take_along_axis(few[rng.integers(0, len(few), n)], order[:, :, None], axis=1)


def grid(rng, n):
    """Small integers: many triangles without area, and rays that run exactly along edges and in planes."""
    return rng.integers(-2, 3, (n, 3, 3)).astype(float)


def many_scales(rng, n):
    """Some triangles are tiny beside the others, so that products of their edges vanish in float32."""
    return rng.normal(size=(n, 3, 3)) * 10.0 ** rng.uniform(-30, 0, (n, 1, 1))


def no_area(rng, n):
    """Half of them points and segments, the others as usual."""
    corners = uniform(rng, n)
    corners[::4, 1] = corners[::4, 0]
    corners[1::4, 2] = (corners[1::4, 0] + corners[1::4, 1]) / 2
    return corners


SOUPS = {
    kind.__name__: kind
    for kind in (
        uniform, clustered, line, slivers, edge_on, coplanar, duplicates, grid, many_scales, no_area,
    )
}  # fmt: skip


def faces_of(corners):
    return np.arange(3 * len(corners)).reshape(-1, 3)


def soup_mesh(kind, seed, n, dtype, *, scale=1.0, offset=0.0):
    corners = SOUPS[kind](np.random.default_rng(seed), n) * scale + offset
    return bw.Mesh(corners.reshape(-1, 3).astype(dtype), faces_of(corners))


class Batch(NamedTuple):
    origins: np.ndarray
    directions: np.ndarray


def aimed_rays(mesh, seed, n, dtype, *, distance=2.0):
    """At vertices, edges and insides of the mesh's faces; along axes, along edges, and anywhere; some at nothing.

    `distance` is how far away they begin, in radii of the mesh. Directions have lengths from 1e-3 to 1e3.
    """
    rng = np.random.default_rng([seed, 1])
    corners = mesh.vertices[mesh.faces].astype(float)
    which = rng.integers(0, len(corners), n)
    weights = rng.dirichlet([1, 1, 1], n)
    place = rng.integers(0, 5, n)
    weights[place == 0] = [1, 0, 0]
    weights[place == 1] = [0.5, 0.5, 0]
    target = np.einsum("nk,nki->ni", weights, corners[which])
    target[place == 2] = mesh.bounds.mean(axis=0) + rng.uniform(-1, 1, ((place == 2).sum(), 3)) * radius_of(mesh)
    directions = rng.normal(size=(n, 3))
    way = rng.integers(0, 4, n)
    directions[way == 0] = AXES[rng.integers(0, 6, (way == 0).sum())]
    along = corners[which, 1] - corners[which, 0]
    directions[way == 1] = along[way == 1]
    largest = np.abs(directions).max(axis=1)
    directions[largest < 1e-20] = [0, 1, 0]
    directions /= np.abs(directions).max(axis=1, keepdims=True)
    origins = target - directions * radius_of(mesh) * distance * rng.uniform(0.1, 1, (n, 1))
    directions *= 10.0 ** rng.uniform(-3, 3, (n, 1))
    return Batch(origins.astype(dtype), directions.astype(dtype))


def radius_of(mesh):
    lower, upper = mesh.bounds.astype(float)
    return float((upper - lower).max()) / 2 or 1.0


# Closed meshes, wound outward: vertices (n, 3) float64, faces (m, 3).


def tetrahedron():
    vertices = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], float)
    return vertices, np.array([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]])


def cube():
    vertices = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return vertices, np.array([corners for a, b, c, d in quads for corners in ((a, b, c), (a, c, d))])


def icosphere(level):
    """A sphere of 8 * 4**level faces, by halving the edges of an octahedron."""
    vertices = [tuple(axis) for axis in AXES]
    faces = [(0, 1, 2), (1, 3, 2), (3, 4, 2), (4, 0, 2), (1, 0, 5), (3, 1, 5), (4, 3, 5), (0, 4, 5)]
    for _ in range(level):
        middles, finer = {}, []

        def middle(a, b, middles=middles):
            key = (min(a, b), max(a, b))
            if key not in middles:
                point = np.add(vertices[a], vertices[b])
                middles[key] = len(vertices)
                vertices.append(tuple(point / np.linalg.norm(point)))
            return middles[key]

        for a, b, c in faces:
            ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
            finer += [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
        faces = finer
    return np.array(vertices), np.array(faces)


def torus(around=16, across=8):
    u, v = np.meshgrid(np.arange(around) * 2 * np.pi / around, np.arange(across) * 2 * np.pi / across, indexing="ij")
    ring = 1 + 0.4 * np.cos(v)
    vertices = np.stack([ring * np.cos(u), ring * np.sin(u), 0.4 * np.sin(v)], axis=-1).reshape(-1, 3)
    faces = []
    for i in range(around):
        for j in range(across):
            a, b = i * across + j, (i + 1) % around * across + j
            c, d = (i + 1) % around * across + (j + 1) % across, i * across + (j + 1) % across
            faces += [(a, b, c), (a, c, d)]
    return vertices, np.array(faces)


def block(n=3):
    """The surface of a cube of n * n * n voxels on integer coordinates: all edges are along axes and diagonals."""
    index, faces = {}, []
    for axis in range(3):
        for side in (0, n):
            for i in range(n):
                for j in range(n):
                    corners = []
                    for di, dj in ((0, 0), (1, 0), (1, 1), (0, 1)):
                        point = [0, 0, 0]
                        point[axis], point[(axis + 1) % 3], point[(axis + 2) % 3] = side, i + di, j + dj
                        corners.append(index.setdefault(tuple(point), len(index)))
                    a, b, c, d = corners if side else corners[::-1]
                    faces += [(a, b, c), (a, c, d)]
    return np.array(list(index), float), np.array(faces)


CLOSED = {
    "tetrahedron": tetrahedron,
    "cube": cube,
    "octahedron": lambda: icosphere(0),
    "sphere": lambda: icosphere(2),
    "torus": torus,
    "block": block,
}


def closed_mesh(name, dtype, *, noise=0.0, offset=0.0, seed=0):
    """A closed mesh, its vertices moved about; neighbours share vertices, so it stays closed in any dtype."""
    vertices, faces = CLOSED[name]()
    vertices = vertices + noise * np.random.default_rng(seed).normal(size=vertices.shape) + offset
    return bw.Mesh(vertices.astype(dtype), faces)


def needles(mesh):
    """Faces whose three different corners lie on one line, exactly."""
    found = []
    for face, corners in enumerate(mesh.vertices[mesh.faces].tolist()):
        a, b, c = (tuple(map(Fraction, corner)) for corner in corners)
        u, v = [x - y for x, y in zip(b, a, strict=True)], [x - y for x, y in zip(c, a, strict=True)]
        if len({a, b, c}) == 3 and all(u[i] * v[i - 1] == u[i - 1] * v[i] for i in range(3)):
            found.append(face)
    return found


def landmarks(mesh):
    """Every vertex, the middle of every edge and of every face: where a mesh could leak. float64."""
    corners = mesh.vertices[mesh.faces].astype(float)
    edges = np.unique(np.sort(mesh.faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0)
    used = mesh.vertices[np.unique(mesh.faces)].astype(float)
    return np.concatenate([used, mesh.vertices[edges].astype(float).mean(axis=1), corners.mean(axis=1)])


# For hypothesis


@st.composite
def soups(draw, largest=40):
    """(kind, seed, number of faces) of a soup."""
    return draw(st.sampled_from(sorted(SOUPS))), draw(st.integers(0, 2**16)), draw(st.integers(1, largest))


# Answers


def everything(mesh, batch, **options):
    """All answers to the four questions, as one dictionary of arrays."""
    first = mesh.raycast(*batch, **options)
    every = mesh.raycast_all(*batch, **options)
    return {
        "t_hit": first.t_hit,
        "primitive_ids": first.primitive_ids,
        "uvs": first.uvs,
        "occluded": mesh.occluded(*batch, **options),
        "count": mesh.count_hits(*batch, **options),
        "all_splits": every.ray_splits,
        "all_t": every.t_hit,
        "all_ids": every.primitive_ids,
        "all_uvs": every.uvs,
    }


def answers_of_soup(kind, seed, n, dtype):
    """For another process, which makes the world again."""
    dtype = np.dtype(dtype).type
    mesh = soup_mesh(kind, seed, n, dtype)
    return everything(mesh, aimed_rays(mesh, seed, some(500, 50), dtype))


def assert_same(one, other):
    """Bit for bit, but that any nan is as good as another."""
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name, strict=True)
