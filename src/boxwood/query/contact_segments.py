"""What two triangles that meet have in common, as a segment, for all pairs that were found."""

from __future__ import annotations

import numpy as np

from .._jit import inline, kernel
from .._threads import run_chunks
from ..geometry.box import index
from ..geometry.placement import SCALE, moved
from ..geometry.predicates import EXPANSION_ROOM
from ..geometry.triangle_distance import nearest_points
from ..geometry.triangle_segment import MOST_CORNERS, segment_of
from ..layout import FRAME_SCALE
from .contacts import NEAR

f8 = np.float64

CHUNK = 4096


@inline
def placed_corner(vertices, face, corner, scale, moves, row):
    """A corner of a face, scaled as blocks are and then moved."""
    place = 3 * np.intp(face[corner])
    x, y, z = vertices[index(place)] * scale, vertices[index(place + 1)] * scale, vertices[index(place + 2)] * scale
    return moved(moves, row, f8(x), f8(y), f8(z))


@kernel
def fill_segments(
    vertices, faces, scale, moves, others, other_faces, other_scale, other_moves, passages, found, rows, begin, end,
    segments,
):  # fmt: skip
    """The segments of the pairs begin to end, in the world, from the first row of segments on."""
    factor, other_factor = vertices.dtype.type(scale), others.dtype.type(other_scale)
    points, room = np.empty((MOST_CORNERS, 3), np.float64), np.empty(EXPANSION_ROOM, np.float64)
    for i in range(begin, end):
        face, other, row = faces[found[i, 0]], other_faces[found[i, 1]], rows[i]
        p = placed_corner(vertices, face, 0, factor, moves, row)
        q = placed_corner(vertices, face, 1, factor, moves, row)
        r = placed_corner(vertices, face, 2, factor, moves, row)
        a = placed_corner(others, other, 0, other_factor, other_moves, row)
        b = placed_corner(others, other, 1, other_factor, other_moves, row)
        c = placed_corner(others, other, 2, other_factor, other_moves, row)
        if found[i, 2] == NEAR:
            _, one, two = nearest_points(p, q, r, a, b, c)
        else:
            x, y, z, u, v, w = segment_of(p, q, r, a, b, c, points, room)
            one, two = (x, y, z), (u, v, w)
        size = 1.0 / passages[row, SCALE]
        for axis in range(3):
            segments[i - begin, 0, axis], segments[i - begin, 1, axis] = one[axis] * size, two[axis] * size


def contact_segments(first, second, relation, contacts, dtype=f8, threads=None) -> np.ndarray:
    """(m, 2, 3), of two `solids.Solid`; computed in float64 and rounded a chunk at a time."""
    segments = np.empty((len(contacts.found), 2, 3), dtype)
    vertices, faces, tree = first
    others, other_faces, other_tree = second

    def fill(begin, end):
        part = segments[begin:end] if dtype == f8 else np.empty((end - begin, 2, 3))
        fill_segments(
            vertices.reshape(-1), faces, tree.frame[FRAME_SCALE], relation.moves,
            others.reshape(-1), other_faces, other_tree.frame[FRAME_SCALE], relation.other_moves,
            relation.forth, contacts.found, contacts.rows, begin, end, part,
        )  # fmt: skip
        if dtype != f8:
            segments[begin:end] = part

    run_chunks(fill, len(segments), chunk=CHUNK, threads=threads)
    return segments
