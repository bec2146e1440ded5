"""Solids that share parts of their surface, told to be touching though one was inside of the other; open sheets that
were inside of themselves; and a solid in the wall of a hollow one, around its cavity, said to be inside of it."""

from __future__ import annotations

import numpy as np
import pytest

import boxwood as bw

pytestmark = pytest.mark.small

SIDES = np.array([(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
TURNED = {"inside": "contains", "contains": "inside"}


def box(lower, upper, inward=False):
    lower, upper = np.broadcast_to(lower, 3).astype(float), np.broadcast_to(upper, 3)
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * (upper - lower) + lower
    faces = np.concatenate([SIDES[:, [0, 1, 2]], SIDES[:, [0, 2, 3]]])
    return corners[faces[:, ::-1] if inward else faces]


def bumped(triangles, height):
    """With a small pyramid on the middle of each triangle; the rest of it stays where it was."""
    found = []
    for a, b, c in triangles:
        middle = (a + b + c) / 3
        p, q, r = (middle * 0.5 + corner * 0.5 for corner in (a, b, c))
        normal = np.cross(b - a, c - a)
        top = middle + normal * height / np.abs(normal).max()
        ring = [(a, b, q), (a, q, p), (b, c, r), (b, r, q), (c, a, p), (c, p, r)]
        found += [*ring, (p, q, top), (q, r, top), (r, p, top)]
    return np.array(found)


def mesh(*triangles):
    corners = np.concatenate(triangles).reshape(-1, 3)
    return bw.Mesh(corners, np.arange(len(corners)).reshape(-1, 3))


CUBE = box(0, 4)
SHELL = box(0, 9), box(3, 6, inward=True)
SHEET = CUBE[:1]
CASES = {
    "turned inside out": ((CUBE,), (CUBE[:, ::-1],), "inside", "inside"),
    "bumps": ((CUBE,), (bumped(CUBE, 0.3),), "inside", "contains"),
    "dents": ((CUBE,), (bumped(CUBE, -0.3),), "contains", "inside"),
    "equal to one of two bodies": ((CUBE,), (CUBE, box(6, 7)), "inside", "contains"),
    "equal to one of two that touch": ((CUBE,), (CUBE, box([4, 0, 0], 7)), "inside", "contains"),
    "around a cavity": ((box(2, 7),), SHELL, "crossing", "crossing"),
    "fills a cavity": ((box(3, 6),), SHELL, "touching", "touching"),
    "a sheet and itself": ((SHEET,), (SHEET,), "touching", "touching"),
    "an open box and itself": ((CUBE[1:],), (CUBE[1:],), "touching", "touching"),
}


@pytest.mark.parametrize("case", CASES)
def test_solids_whose_faces_lie_in_each_other(case):
    first, second, *wanted = CASES[case]
    one, other = mesh(*first), mesh(*second)
    assert [one.relation(other), other.relation(one)] == wanted


def surface(cells, rng):
    """The faces between full and empty cells, each cut along either diagonal and turned either way."""
    corners = []
    cells = np.pad(cells, 1).astype(int)
    for axis in range(3):
        u, v = np.eye(3)[axis - 2], np.eye(3)[axis - 1]
        for place in np.argwhere(np.diff(cells, axis=axis)):
            corner = place + np.eye(3)[axis]
            ring = np.roll([corner, corner + u, corner + u + v, corner + v], rng.integers(4), axis=0)
            ring = ring[:: rng.choice([-1, 1])]
            corners += [ring[[0, 1, 2]], ring[[0, 2, 3]]]
    return np.array(corners)


def relation_of_cells(first, second):
    if not (first & second).any():
        return ("touching", "disjoint")
    if not (first & ~second).any():
        return ("inside",)
    return ("crossing",) if (second & ~first).any() else ("contains",)


def test_random_solids_of_cells():
    rng = np.random.default_rng(0)
    seen = set()
    for i in range(60):
        first, second = (rng.random((3, 3, 3)) < rng.choice([0.1, 0.3, 0.9]) for _ in range(2))
        first[1, 1, 1] = second[1, 1, 2] = True
        second = (second, second | first, second & first, second & ~first)[i % 4]
        second[0, 1, 2] |= not second.any()
        wanted = relation_of_cells(first, second)
        found = mesh(surface(first, rng)).relation(mesh(surface(second, rng)))
        assert found in wanted
        seen.add(found)
    assert seen >= {"touching", "crossing", "inside", "contains"}
