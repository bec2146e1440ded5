"""What a check or a reader of a format gives, and polygons cut into triangles.

A polygon becomes a fan around its first corner, as in trimesh. That is right for a convex one; where a fan turns back
on itself, or a polygon has too few corners, a note says so, for the user to hear of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ids: TypeAlias = NDArray[np.int64]
Vertices: TypeAlias = NDArray[np.float64]


class Told(NamedTuple):
    """What a file says it holds, to be compared with what trimesh makes of it; None where it does not say."""

    triangles: int | None = None
    polygons: Ids | None = None  # for each triangle, in trimesh's order, the polygon it is cut from
    parts: int | None = None  # placed meshes
    bodies: int | None = None  # different meshes
    data: bytes | None = None  # to be read instead
    notes: tuple[str, ...] = ()


class Surface(NamedTuple):
    """Polygons, cut into triangles."""

    vertices: Vertices
    faces: Ids
    polygons: Ids  # for each triangle, the polygon it is cut from
    objects: list[tuple[str, int]]  # name, and first polygon
    notes: tuple[str, ...]


def fan(corners: Ids, sizes: Ids) -> tuple[Ids, Ids]:
    """The triangles of polygons, whose corners follow one another, and the polygon that each triangle is cut from."""
    polygons = np.repeat(np.arange(len(sizes)), np.maximum(sizes - 2, 0))
    first = (np.cumsum(sizes) - sizes)[polygons]
    step = np.arange(len(polygons)) - np.searchsorted(polygons, polygons)
    return np.stack([corners[first], corners[first + step + 1], corners[first + step + 2]], axis=1), polygons


def folded(vertices: Vertices, faces: Ids, polygons: Ids) -> tuple[str, ...]:
    """A note if the fan of a polygon turns back on itself."""
    several = np.bincount(polygons)[polygons] > 1
    if not several.any():
        return ()
    inner = polygons[several]
    a, b, c = vertices[faces[several].T]
    with np.errstate(over="ignore", invalid="ignore"):
        normals = np.cross(b - a, c - a)
        total = np.stack([np.bincount(inner, weights) for weights in normals.T], axis=1)[inner]
        against = np.einsum("ij,ij->i", normals, total) < -1e-9 * np.einsum("ij,ij->i", total, total)
    bad = np.unique(inner[against])
    if not len(bad):
        return ()
    return (f"{counted(len(bad), 'face')} not convex (first: face {bad[0]}), whose triangles may cover another area",)


def too_few_corners(sizes: Ids, lines: Sequence[int] = ()) -> tuple[str, ...]:
    """A note if faces have fewer than three corners; `lines` are those of the faces in the file, where it has lines."""
    bad = np.flatnonzero(sizes < 3)
    if not len(bad):
        return ()
    first = f"line {lines[bad[0]]}" if lines else f"face {bad[0]}"
    return (f"left out {counted(len(bad), 'face')} of fewer than three corners (first: {first})",)


def counted(number: int, what: str) -> str:
    """`1 face`, `2 faces`."""
    plural = {"mesh": "meshes", "body": "bodies"}.get(what, what + "s")
    return f"{number} {what if number == 1 else plural}"
