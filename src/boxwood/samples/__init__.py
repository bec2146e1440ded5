"""The mesh that boxwood brings along, so that there is something to look at without a file.

It is kept as the control mesh of a subdivision surface, 188 points, and refined to as many triangles as wanted.
Source: Spot, by Keenan Crane, in the public domain (README.md beside this file).
"""

from __future__ import annotations

from importlib import resources
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .subdivision import Polygons, catmull_clark, triangles

Ring: TypeAlias = tuple[float, float]  # radius, height

SIDES = 16  # of the plinth before it is refined to a circle
RADIUS, THICKNESS, BEVEL, BACK = 1.22, 0.14, 0.05, 0.16


def spot(levels: int = 5, *, plinth: bool = True) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Spot the cow: closed, as round as the levels are many, standing along z and looking along -y.

    Parameters
    ----------
    levels : int
        Each quadruples the triangles: 5 give 374,784 for the cow and 53,248 for the plinth.
    plinth : bool
        Whether it stands on a round one, a body of its own that catches its shadow.

    Returns
    -------
    vertices (n, 3) float32 and faces (m, 3) int32, counterclockwise seen from outside.
    """
    vertices, polygons = _control_mesh()
    for _ in range(levels):
        vertices, polygons = catmull_clark(vertices, polygons)
    faces = triangles(polygons)
    if plinth:
        below, polygons = _plinth(vertices[:, 2].min() - 1e-3)  # so close that no light falls between
        for _ in range(levels - 1):  # flat for the most part
            below, polygons = catmull_clark(below, polygons)
        faces = np.concatenate([faces, triangles(polygons) + len(vertices)])
        vertices = np.concatenate([vertices, below])
    return vertices.astype(np.float32), faces.astype(np.int32)


def _control_mesh() -> tuple[NDArray[np.float64], Polygons]:
    """The points and polygons of the file, turned upright."""
    text = resources.files(__package__).joinpath("spot.obj").read_text(encoding="ascii")
    rows = [line.split() for line in text.splitlines()]
    vertices = np.array([[float(number) for number in row[1:]] for row in rows if row[0] == "v"])
    loops = [[int(number) - 1 for number in row[1:]] for row in rows if row[0] == "f"]
    return vertices[:, [0, 2, 1]] * [-1, 1, 1], Polygons.of(loops)


def _plinth(top: float) -> tuple[NDArray[np.float64], Polygons]:
    """A bevelled disc below the height `top`: rings of points from the middle of its top to that of its bottom."""
    bottom = top - THICKNESS
    upper: list[Ring] = [(0.75, top), (RADIUS - BEVEL, top), (RADIUS, top), (RADIUS, top - BEVEL)]
    lower: list[Ring] = [(RADIUS, bottom + BEVEL), (RADIUS, bottom), (RADIUS - BEVEL, bottom)]
    turn = np.arange(SIDES) * (2 * np.pi / SIDES)
    vertices = [(r * np.cos(a), BACK + r * np.sin(a), z) for r, z in upper + lower for a in turn]
    rings = len(upper + lower)
    loops = [list(range(SIDES)), list(range(rings * SIDES - 1, (rings - 1) * SIDES - 1, -1))]
    for ring in range(rings - 1):
        for side in range(SIDES):
            a, b = ring * SIDES + side, ring * SIDES + (side + 1) % SIDES
            loops.append([a, a + SIDES, b + SIDES, b])
    return np.array(vertices), Polygons.of(loops)
