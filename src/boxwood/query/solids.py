"""How two solids lie to each other: by the contacts of their surfaces, and where those leave it open, by parity.

A surface that nowhere crosses another lies on one side of it, piece by piece. A point of a face is inside when a ray
from it crosses the other surface an odd number of times, which is decided exactly; a surface some edge of which has an
odd number of faces bounds nothing.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from .._arrays import rays
from .._transforms import Transforms
from ..build.choose import build_tree
from ..geometry.triangle_triangle import COPLANAR
from .contacts import A_CROSSING, placed_until
from .hit_count import hit_count
from .pairing import pairing

WEIGHTS = np.array([0.41, 0.33, 0.26])
"""Of a face's corners in the point that stands for it: no corner, edge or middle, where other surfaces often pass."""

DIRECTION = np.array([0.5377, 0.2812, 0.7949])


Solids: TypeAlias = Literal["disjoint", "touching", "crossing", "inside", "contains"]


class Solid(NamedTuple):
    vertices: np.ndarray
    faces: np.ndarray
    tree: Any  # TriangleTree; None where it is not built yet


def moved_solid(solid: Solid, placed: Transforms, threads=None) -> Solid:
    """With its vertices moved in float64, as the walk of two placed trees moves them."""
    if (placed.matrices == np.eye(3, 4)).all():
        return solid
    (m,) = placed.matrices
    x, y, z = solid.vertices.astype(np.float64).T
    vertices = np.stack([((row[0] * x + row[1] * y) + row[2] * z) + row[3] for row in m], axis=1)
    return Solid(vertices, solid.faces, build_tree(vertices, solid.faces, threads=threads))


def relation_of_solids(first: Solid, second: Solid, none: Transforms, threads=None, progress=None) -> Solids:
    """One of "disjoint", "touching", "crossing", "inside" (of the second) and "contains"; `none` moves nothing."""
    relation = pairing(first.tree.frame, second.tree.frame, none, none)
    crossing, contacts = placed_until(
        first.tree, second.tree, relation, A_CROSSING, threads=threads, progress=progress
    )
    if crossing[0]:
        return "crossing"
    flat = contacts.found[contacts.found[:, 2] == COPLANAR, :2]
    inside, outside = sides(first, second, flat[:, 0], threads)
    if inside and outside:
        return "crossing"
    if inside:
        return "inside"
    within, without = sides(second, first, flat[:, 1], threads)
    if within and without:
        return "crossing"
    if within:
        return "contains"
    if not outside and not without and same_side(first, second, flat):
        return "inside"
    return "touching" if len(contacts.found) else "disjoint"


def sides(solid: Solid, other: Solid, lying, threads=None) -> tuple[bool, bool]:
    """Whether any face is inside of the other solid, and any outside; those that lie in its surface tell neither."""
    free = np.zeros(len(solid.faces), bool)
    free[solid.tree.ids[solid.tree.ids >= 0]] = True
    free[lying] = False
    if not free.any():
        return False, False
    points = np.einsum("k,nkc->nc", WEIGHTS, solid.vertices[solid.faces[free]].astype(np.float64))
    batch = rays(points, DIRECTION, 0.0, np.inf, np.dtype(np.float64))
    odd = hit_count(other.tree, batch, threads=threads) % 2 > 0
    if odd.any() and not bounds_something(other):
        return False, True
    return bool(odd.any()), not odd.all()


def bounds_something(solid: Solid) -> bool:
    """Whether each edge has an even number of faces; vertices at one place are one."""
    faces = solid.faces[solid.tree.ids[solid.tree.ids >= 0]]
    _, names = np.unique(solid.vertices, axis=0, return_inverse=True)
    corners = names.reshape(-1)[faces].astype(np.int64)
    edges = np.sort(np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]]), axis=1)
    _, times = np.unique(edges[:, 0] * len(names) + edges[:, 1], return_counts=True)
    return not (times % 2).any()


def same_side(first: Solid, second: Solid, flat) -> bool:
    """Whether two faces that lie in each other have their fronts on the same side."""
    if len(flat) == 0:
        return False
    one, two = first.vertices[first.faces[flat[0, 0]]], second.vertices[second.faces[flat[0, 1]]]
    one, two = one.astype(np.float64), two.astype(np.float64)
    return bool(np.cross(one[1] - one[0], one[2] - one[0]) @ np.cross(two[1] - two[0], two[2] - two[0]) > 0)
