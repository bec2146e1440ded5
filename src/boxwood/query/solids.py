"""How two solids lie to each other: by the contacts of their surfaces, and where those leave it open, by parity.

A surface that nowhere crosses another lies on one side of it, piece by piece. A point of a face is inside when a ray
from it crosses the other surface an odd number of times, which is decided exactly; a surface some edge of which has an
odd number of faces bounds nothing. Where faces lie in each other, both sides of them are looked at, so that it does
not matter how faces turn.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from .._arrays import rays
from .._jit import kernel
from .._threads import run_chunks
from .._transforms import Transforms
from ..build.choose import build_tree
from ..geometry.placement import SCALE
from ..geometry.predicates import EXPANSION_ROOM
from ..geometry.triangle_segment import MOST_CORNERS, common_corners
from ..geometry.triangle_triangle import COPLANAR
from ..layout import BLOCK_FLOATS, BLOCK_SIZE, FRAME_SCALE
from .all_hits import all_hits
from .contact_segments import placed_corner
from .contacts import contacts_unless_crossing
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


class Volume:
    """What a surface bounds."""

    def __init__(self, solid: Solid) -> None:
        self.solid, tree = solid, solid.tree
        corners = tree.blocks.reshape(-1, BLOCK_FLOATS // BLOCK_SIZE, BLOCK_SIZE)[:, 0]
        self.faces = np.sort(tree.ids[(tree.ids >= 0) & ~np.isnan(corners).reshape(-1)])  # those with an area
        self._closed: bool | None = None

    @property
    def closed(self) -> bool:
        """Whether each edge has an even number of faces; vertices at one place are one."""
        if self._closed is None:  # not functools.cached_property: in Python 3.11 all share a lock, which a fork copies
            self._closed = self._edges_pair()
        return self._closed

    def _edges_pair(self) -> bool:
        _, names = np.unique(self.solid.vertices, axis=0, return_inverse=True)
        corners = names.reshape(-1)[self.solid.faces[self.faces]].astype(np.int64)
        edges = np.sort(np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]]), axis=1)
        _, times = np.unique(edges[:, 0] * len(names) + edges[:, 1], return_counts=True)
        return not (times % 2).any()

    def holds(self, crossings) -> np.ndarray:
        """Of points that rays left, crossing the surface so often: which are inside."""
        odd = crossings % 2 > 0
        return odd if odd.any() and self.closed else np.zeros_like(odd)


def moved_solid(solid: Solid, placed: Transforms, threads=None) -> Solid:
    """With its vertices moved in float64, as the walk of two placed trees moves them."""
    if (placed.matrices == np.eye(3, 4)).all():
        return solid
    (m,) = placed.matrices
    x, y, z = solid.vertices.astype(np.float64).T
    with np.errstate(over="ignore", invalid="ignore"):
        vertices = np.stack([((row[0] * x + row[1] * y) + row[2] * z) + row[3] for row in m], axis=1)
    if not np.isfinite(vertices).all():
        raise ValueError("transform moves the mesh beyond the numbers")
    return Solid(vertices, solid.faces, build_tree(vertices, solid.faces, threads=threads))


def relation_of_solids(first: Solid, second: Solid, none: Transforms, threads=None, progress=None) -> Solids:
    """One of "disjoint", "touching", "crossing", "inside" (of the second) and "contains"; `none` moves nothing."""
    relation = pairing(first.tree.frame, second.tree.frame, none, none)
    contacts = contacts_unless_crossing(first.tree, second.tree, relation, threads=threads, progress=progress)
    if contacts is None:
        return "crossing"
    flat = contacts.found[contacts.found[:, 2] == COPLANAR, :2]
    one, two = Volume(first), Volume(second)
    inside, outside = sides(one, two, flat[:, 0], threads)
    within, without = sides(two, one, flat[:, 1], threads)
    shared, first_beyond, second_beyond = beside_flat(one, two, flat, relation, threads)
    # a face of one that is inside of the other has on its other side what is of the other alone
    first_beyond = first_beyond or outside or within
    second_beyond = second_beyond or without or inside
    if not (shared or inside or within):
        return "touching" if len(contacts.found) else "disjoint"
    if not first_beyond:
        return "inside"
    return "crossing" if second_beyond else "contains"


def sides(volume: Volume, other: Volume, lying, threads=None) -> tuple[bool, bool]:
    """Whether any face is inside of the other solid, and any outside; those that lie in its surface tell neither."""
    free = np.setdiff1d(volume.faces, lying)
    if len(free) == 0:
        return False, False
    corners = volume.solid.vertices[volume.solid.faces[free]].astype(np.float64)
    batch = rays(np.einsum("k,nkc->nc", WEIGHTS, corners), DIRECTION, 0.0, np.inf, np.dtype(np.float64))
    inside = other.holds(hit_count(other.solid.tree, batch, threads=threads))
    return bool(inside.any()), not inside.all()


def beside_flat(one: Volume, two: Volume, flat, relation, threads=None) -> tuple[bool, bool, bool]:
    """Whether beside any faces that lie in each other there is what both solids have, what only the first has, and
    what only the second has."""
    if len(flat) == 0:
        return False, False, False
    kept = np.unique(np.concatenate([np.unique(flat[:, k], return_index=True)[1] for k in (0, 1)]))
    pairs = flat[kept]
    middles = middles_of(one.solid, two.solid, pairs, relation, threads)
    corners = one.solid.vertices[one.solid.faces[pairs[:, 0]]].astype(np.float64)
    edges = corners[:, 1:] * 0.5 - corners[:, :1] * 0.5
    edges /= np.abs(edges).max(axis=2, keepdims=True)
    normals = np.cross(edges[:, 0], edges[:, 1])
    normals /= np.abs(normals).max(axis=1, keepdims=True)
    width = np.int64(len(two.solid.faces))
    known = flat[:, 0] * width + flat[:, 1]
    found = [False, False, False]
    for way in (normals, -normals):
        batch = rays(middles, way, 0.0, np.inf, np.dtype(np.float64))
        _, row, _, face, _ = all_hits(one.solid.tree, batch, threads=threads)
        ahead = ~np.isin(face * width + pairs[row, 1], known)
        mine = one.holds(np.bincount(row[ahead], minlength=len(pairs)))
        _, row, _, face, _ = all_hits(two.solid.tree, batch, threads=threads)
        ahead = ~np.isin(pairs[row, 0] * width + face, known)
        theirs = two.holds(np.bincount(row[ahead], minlength=len(pairs)))
        for k, there in enumerate((mine & theirs, mine & ~theirs, theirs & ~mine)):
            found[k] |= bool(there.any())
    return found[0], found[1], found[2]


def middles_of(first: Solid, second: Solid, pairs, relation, threads=None) -> np.ndarray:
    """(n, 3) float64: points inside of what two faces that lie in each other have in common."""
    middles = np.empty((len(pairs), 3))
    frame, other = first.tree.frame, second.tree.frame

    def fill(begin, end):
        fill_middles(
            first.vertices.reshape(-1), first.faces, frame[FRAME_SCALE], relation.moves,
            second.vertices.reshape(-1), second.faces, other[FRAME_SCALE], relation.other_moves,
            pairs, middles, begin, end,
        )  # fmt: skip

    run_chunks(fill, len(pairs), chunk=4096, threads=threads)
    return middles / relation.forth[0, SCALE]


@kernel
def fill_middles(
    vertices, faces, scale, moves, others, other_faces, other_scale, other_moves, pairs, middles, begin, end
):  # fmt: skip
    factor, other_factor = vertices.dtype.type(scale), others.dtype.type(other_scale)
    points, room = np.empty((MOST_CORNERS, 3), np.float64), np.empty(EXPANSION_ROOM, np.float64)
    for i in range(begin, end):
        face, other = faces[pairs[i, 0]], other_faces[pairs[i, 1]]
        p = placed_corner(vertices, face, 0, factor, moves, 0)
        q = placed_corner(vertices, face, 1, factor, moves, 0)
        r = placed_corner(vertices, face, 2, factor, moves, 0)
        a = placed_corner(others, other, 0, other_factor, other_moves, 0)
        b = placed_corner(others, other, 1, other_factor, other_moves, 0)
        c = placed_corner(others, other, 2, other_factor, other_moves, 0)
        number = common_corners(p, q, r, a, b, c, points, room)
        for axis in range(3):
            middles[i, axis] = 0.0
            for k in range(number):
                middles[i, axis] += points[k, axis] / number
