"""Two oracles for rays against triangles, which share no code with the package.

`exact_crossings` works with fractions and knows no rounding. `brute` is NumPy in the widest float there is, for
worlds that fractions are too slow for; it also says how near a decision is, so that a test knows which ones
rounding in the dtype under test may turn.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

Wide = np.longdouble  # float64 where the platform has nothing wider


class Crossing(NamedTuple):
    t: Fraction
    face: int
    weights: tuple[Fraction, Fraction]  # of the face's vertices 1 and 2
    on_edge: bool
    front: bool


def fractions(vector):
    return tuple(Fraction(float(x)) for x in vector)


def minus(a, b):
    return tuple(x - y for x, y in zip(a, b, strict=True))


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def exact_crossings(vertices, faces, origin, direction):
    """All crossings of the whole line with closed triangles, sorted by t and id; none with a triangle in a plane of it.

    Plane and edge test: the ray passes a, b, c all on the same side, or on, the three edges.
    """
    origin, direction = fractions(origin), fractions(direction)
    crossings = []
    for face, corners in enumerate(faces):
        a, b, c = (minus(fractions(vertices[corner]), origin) for corner in corners)
        normal = cross(minus(b, a), minus(c, a))
        facing = dot(normal, direction)
        if facing == 0:
            continue
        u, v, w = dot(direction, cross(c, b)), dot(direction, cross(a, c)), dot(direction, cross(b, a))
        if min(u, v, w) < 0 < max(u, v, w):
            continue
        total = u + v + w
        t = dot(normal, a) / facing
        crossings.append(Crossing(t, face, (v / total, w / total), 0 in (u, v, w), facing < 0))
    return sorted(crossings)


class Brute(NamedTuple):
    """Of each ray (rows) and each triangle (columns)."""

    hit: np.ndarray  # whether the line crosses the triangle
    t: np.ndarray
    margin: np.ndarray  # distance from the line to the nearest edge's line: less than rounding, and `hit` may be wrong
    condition: np.ndarray  # how much a rounding of the corners moves t: much, for a triangle that looks thin
    front: np.ndarray


def brute(vertices, faces, origins, directions):
    """Every ray against every triangle."""
    corners = np.asarray(vertices, Wide)[faces]
    starts, along = np.asarray(origins, Wide)[:, None], np.asarray(directions, Wide)[:, None]
    length = np.sqrt(np.sum(along * along, axis=-1))
    along = along / length[..., None]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[None]
    facing = np.sum(normal * along, axis=-1)
    corners = [corners[None, :, i] - starts for i in range(3)]
    # As the ray sees them: without what lies along it, so that distance takes no digits away.
    a, b, c = (corner - np.sum(corner * along, axis=-1)[..., None] * along for corner in corners)
    with np.errstate(all="ignore"):
        values, margins, sizes = zip(*(edge(along, p, q) for p, q in ((b, c), (c, a), (a, b))), strict=True)
        hit = ((np.minimum.reduce(values) >= 0) | (np.maximum.reduce(values) <= 0)) & (facing != 0)
        t = np.sum(normal * corners[0], axis=-1) / facing / length
        depths = [np.sum(corner * along, axis=-1) for corner in corners]
        depth = np.maximum.reduce(depths) - np.minimum.reduce(depths)
        condition = (1 + np.maximum.reduce(sizes) * depth / abs(facing)) / length
    condition = np.nan_to_num(condition, nan=np.inf, posinf=np.inf)
    return Brute(hit, t, np.nan_to_num(np.minimum.reduce(margins)), condition, facing < 0)


def edge(along, p, q):
    """On which side of the edge the ray passes; how far at least, this oracle's own rounding taken off; its length."""
    value = np.sum(along * np.cross(q - p, p), axis=-1)
    size = np.sqrt(np.sum((q - p) ** 2, axis=-1))
    noise = 32 * np.finfo(Wide).eps * (size + abs(p).max(axis=-1) + abs(q).max(axis=-1)) ** 2
    return value, np.maximum(abs(value) - noise, 0) / size, size
