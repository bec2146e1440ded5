"""Scenes to test with, and their answers without any tree over instances: each is asked alone, in NumPy's moves.

`Model` holds beside a scene what was put into it. Rays are moved into each mesh's space and asked of that mesh, which
has oracles of its own; contacts are all pairs of faces, moved to the world.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

import boxwood as bw
from boxwood._transforms import transforms
from boxwood.query.triangle_pairs import triangle_pairs
from worlds import cube, soup_mesh, tetrahedron


def turn(rng):
    """A random rotation."""
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q *= np.sign(np.diag(r))
    if np.linalg.det(q) < 0:
        q[:, 0] *= -1
    return q


def some_transforms(rng, count, spread=2.0):
    """Of every kind: moved, turned, mirrored, scaled unequally, sheared, on a lattice, twice the same."""
    matrices = np.tile(np.eye(4), (count, 1, 1))
    for i in range(count):
        kind = rng.integers(0, 6)
        if kind == 1:
            matrices[i, :3, :3] = turn(rng) * rng.uniform(0.3, 1.5)
        elif kind == 2:
            matrices[i, :3, :3] = turn(rng) @ np.diag(rng.uniform(0.2, 1.5, 3)) @ np.diag([1, 1, -1])
        elif kind == 3:
            matrices[i, :3, :3] = np.eye(3)[rng.permutation(3)] * rng.choice([-1, 1], 3)
        elif kind == 4:
            matrices[i, :3, :3] += rng.uniform(-0.5, 0.5, (3, 3)) * [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
        matrices[i, :3, 3] = rng.uniform(-spread, spread, 3) if kind != 3 else rng.integers(-2, 3, 3)
        if kind == 5 and i:
            matrices[i] = matrices[rng.integers(0, i)]
    return matrices


def some_meshes(seed=0):
    """Closed and open, of both dtypes, one with many faces, one with faces without area, one empty, one only such."""
    vertices, faces = tetrahedron()
    return [
        bw.Mesh(vertices * 0.5, faces),
        bw.Mesh(np.float32(cube()[0] * 0.4), cube()[1]),
        soup_mesh("uniform", seed, 30, np.float32),
        soup_mesh("no_area", seed, 12, np.float64),
        bw.Mesh(np.zeros((0, 3)), np.zeros((0, 3), int)),
        bw.Mesh(np.zeros((4, 3)) + [0.1, 0, 0], [[0, 1, 2], [0, 0, 3]]),
    ]


class Model:
    """A scene, and beside it a dictionary of all that stands in it."""

    def __init__(self):
        self.scene = bw.Scene()
        self.held = {}

    def add(self, mesh, matrices, masks):
        ids = self.scene.add(mesh, matrices, masks)
        single = matrices.ndim == 2
        rows = [ids] if single else ids.tolist()
        unused = [i for i in range(len(rows) + len(self.held)) if i not in self.held]
        assert rows == unused[: len(rows)]
        masks = np.broadcast_to(masks, len(rows)).tolist()
        for one, matrix, mask in zip(rows, matrices.reshape(-1, 4, 4), masks, strict=True):
            self.held[one] = (mesh, matrix, mask & 0xFFFFFFFF)
        return ids

    def move(self, ids, matrices):
        self.scene.move(ids, matrices)
        for one, matrix in zip(np.ravel(ids).tolist(), np.broadcast_to(matrices, (np.size(ids), 4, 4)), strict=True):
            mesh, _, mask = self.held[one]
            self.held[one] = (mesh, matrix, mask)

    def remove(self, ids):
        self.scene.remove(ids)
        for one in np.ravel(ids).tolist():
            self.held.pop(one, None)

    def sorted(self):
        return sorted(self.held.items())


def random_model(seed, count, meshes=None, spread=2.0):
    rng = np.random.default_rng(seed)
    model = Model()
    meshes = some_meshes(seed) if meshes is None else meshes
    for mesh in meshes:
        masks = rng.choice([1, 2, 3, -1], count)
        model.add(mesh, some_transforms(rng, count, spread), masks)
    return model


# Rays


def moved_into(matrix, origins, directions):
    placed = transforms(matrix)
    inverse, shift = placed.inverses[0], placed.matrices[0, :, 3]
    x, y, z = (np.asarray(origins, float) - shift).T
    u, v, w = np.asarray(directions, float).T
    start = np.stack([(row[0] * x + row[1] * y) + row[2] * z for row in inverse], axis=1)
    return start, np.stack([(row[0] * u + row[1] * v) + row[2] * w for row in inverse], axis=1)


def every_hit(model, origins, directions, *, mask=0xFFFFFFFF, **options):
    """Rows (ray, t, instance, face, u, v), sorted."""
    rows = []
    for one, (mesh, matrix, own) in model.sorted():
        if own & mask:
            hits = mesh.raycast_all(*moved_into(matrix, origins, directions), **options)
            arrays = hits.ray_ids, hits.t_hit, hits.primitive_ids, *hits.uvs.T
            rows += [(ray, t, one, *rest) for ray, t, *rest in zip(*(a.tolist() for a in arrays), strict=True)]
    return sorted(rows)


def first_hits(model, origins, directions, *, mask=0xFFFFFFFF, **options):
    """For each ray (t, instance, face, u, v), of equal t the smallest ids; infinite t for none."""
    best = [(np.inf, -1, -1, np.nan, np.nan)] * len(origins)
    for one, (mesh, matrix, own) in model.sorted():
        if own & mask:
            hits = mesh.raycast(*moved_into(matrix, origins, directions), **options)
            for i in np.flatnonzero(hits.hit):
                best[i] = min(best[i], (hits.t_hit[i], one, hits.primitive_ids[i], *hits.uvs[i]))
    return best


# Contacts


def moved_corners(mesh, matrix):
    """The faces of a mesh that have an area, and their corners in the world, as documented."""
    faces = np.sort(mesh.tree.ids[mesh.tree.ids >= 0])
    x, y, z = mesh.vertices.astype(float).T
    points = np.stack([((m[0] * x + m[1] * y) + m[2] * z) + m[3] for m in matrix[:3]], axis=1)
    return faces, points[mesh.faces[faces]]


def contacts(first, second):
    """All rows (face, face, relation) of two (mesh, matrix)."""
    faces, corners = moved_corners(*first)
    others, other_corners = moved_corners(*second)
    if not len(faces) or not len(others):
        return []
    i, j = (grid.ravel() for grid in np.meshgrid(range(len(faces)), range(len(others)), indexing="ij"))
    relations, _ = triangle_pairs(np.concatenate([corners[i], other_corners[j]], axis=1))
    met = np.flatnonzero(relations)
    return list(zip(faces[i[met]].tolist(), others[j[met]].tolist(), relations[met].tolist(), strict=True))


def collisions(model):
    """{(i, j): rows} of all pairs of instances that meet."""
    found = {}
    for (i, one), (j, other) in combinations(model.sorted(), 2):
        if one[2] & other[2]:
            rows = contacts(one[:2], other[:2])
            if rows:
                found[i, j] = rows
    return found
