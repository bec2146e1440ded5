"""From triangles to records: the tree's own space, and each triangle's box in it.

A box is rounded outward in float32, relative to the tree's centre, so that it stays tight for a mesh far from
the origin. Triangles without area, decided exactly, get no record: nothing can hit them.
"""

from __future__ import annotations

import numpy as np

from .._jit import inline, kernel
from .._threads import run_chunks
from ..geometry.box import index, rounded_up
from ..geometry.predicates import EXPANSION_ROOM, collinear
from ..layout import FRAME_CENTER, FRAME_DEPTH, FRAME_SCALE, FRAME_SIZE, RECORD_FLOATS

f4 = np.float32
f8 = np.float64

CHUNK = 65536

EXPONENTS = {np.dtype(np.float32): (-127, 120), np.dtype(np.float64): (-1023, 1000)}
"""Of the scale, so that neither it, nor its inverse, nor a scaled coordinate overflows."""


def bounds_of(vertices, threads=None) -> tuple[np.ndarray, np.ndarray]:
    """The least and the greatest coordinates of points (n, d), float64 (d,); zeros for none."""
    few = vertices.shape[1]
    if len(vertices) == 0:
        return np.zeros(few), np.zeros(few)
    wide = 64  # rows taken as one, because NumPy is slow along rows of three

    def work(begin, end):
        even = begin + (end - begin) // wide * wide
        rows = vertices[begin:even].reshape(-1, few * wide)
        parts = [vertices[even:end]]
        if even > begin:
            parts += [rows.min(axis=0).reshape(wide, few), rows.max(axis=0).reshape(wide, few)]
        left = np.concatenate(parts)
        return left.min(axis=0), left.max(axis=0)

    lower, upper = zip(*run_chunks(work, len(vertices), chunk=4 * CHUNK, threads=threads), strict=True)
    return np.min(lower, axis=0).astype(np.float64), np.max(upper, axis=0).astype(np.float64)


def make_frame(lower, upper, dtype):
    """The frame of a tree within these bounds; its depth is not yet known."""
    frame = np.zeros(FRAME_SIZE)
    radius = float((upper * 0.5 - lower * 0.5).max())
    largest = float(np.abs([lower, upper]).max())
    least, most = EXPONENTS[dtype]
    most -= max(int(np.frexp(largest)[1]), 0)
    frame[FRAME_SCALE] = 2.0 ** min(max(-int(np.frexp(radius)[1]), least), most)
    frame[FRAME_CENTER : FRAME_CENTER + 3] = (lower * 0.5 + upper * 0.5) * frame[FRAME_SCALE]
    frame[FRAME_DEPTH] = 1.0
    return frame


def make_records(vertices, faces, frame, threads=None):
    """Records (k * 8,) float32 of the triangles that have an area, in order of id, with their ids in place 3."""
    records = np.empty(len(faces) * RECORD_FLOATS, np.float32)
    ids = records.view(np.int32)
    mesh = vertices.reshape(-1), faces.reshape(-1), frame
    limits = np.finfo(vertices.dtype)
    small, tiny = 32 * limits.eps, limits.tiny / limits.eps

    def fill(begin, end):
        return fill_records(*mesh, small, tiny, records, ids, begin, end)

    if sum(run_chunks(fill, len(faces), chunk=CHUNK, threads=threads)) == 0:
        return records
    rows = np.flatnonzero(ids[3::RECORD_FLOATS] < 0)

    def decide(begin, end):
        keep_areas(*mesh, ids, rows, begin, end)

    run_chunks(decide, len(rows), chunk=4096, threads=threads)
    return records.reshape(-1, RECORD_FLOATS)[ids[3::RECORD_FLOATS] >= 0].reshape(-1)


@inline
def put(records, place, a, b, c, center):
    """One axis of the box of three corners."""
    low, high = a if a < b else b, b if a < b else a
    records[index(place)] = rounded_up(center - f8(low if low < c else c))
    records[index(place + 4)] = rounded_up(f8(high if high > c else c) - center)


@kernel
def fill_records(vertices, faces, frame, small, tiny, records, ids, begin, end):
    """Fill the records of faces begin to end; how many may have no area, which get no id.

    A face has an area for sure when twice its area, summed over the axes, exceeds `small` of the product of two
    edges and `tiny`: more than rounding can do in the dtype of the vertices.
    """
    dtype = vertices.dtype.type
    scale, small, tiny = dtype(frame[FRAME_SCALE]), dtype(small), dtype(tiny)
    cx, cy, cz = frame[FRAME_CENTER], frame[FRAME_CENTER + 1], frame[FRAME_CENTER + 2]
    doubtful = 0
    for i in range(begin, end):
        a = 3 * np.intp(faces[index(3 * i)])
        b = 3 * np.intp(faces[index(3 * i + 1)])
        c = 3 * np.intp(faces[index(3 * i + 2)])
        px, py, pz = vertices[index(a)] * scale, vertices[index(a + 1)] * scale, vertices[index(a + 2)] * scale
        qx, qy, qz = vertices[index(b)] * scale, vertices[index(b + 1)] * scale, vertices[index(b + 2)] * scale
        rx, ry, rz = vertices[index(c)] * scale, vertices[index(c + 1)] * scale, vertices[index(c + 2)] * scale
        place = i * RECORD_FLOATS
        put(records, place, px, qx, rx, cx)
        put(records, place + 1, py, qy, ry, cy)
        put(records, place + 2, pz, qz, rz, cz)
        ux, uy, uz = qx - px, qy - py, qz - pz
        vx, vy, vz = rx - px, ry - py, rz - pz
        area = abs(uy * vz - uz * vy) + abs(uz * vx - ux * vz) + abs(ux * vy - uy * vx)
        sure = area > small * ((abs(ux) + abs(uy) + abs(uz)) * (abs(vx) + abs(vy) + abs(vz))) + tiny
        ids[index(place + 3)] = i if sure else -1
        records[index(place + 7)] = f4(0)
        doubtful += 0 if sure else 1
    return doubtful


@kernel
def keep_areas(vertices, faces, frame, ids, rows, begin, end):
    """Give their ids back to those of the doubtful faces that have an area after all."""
    scale = vertices.dtype.type(frame[FRAME_SCALE])
    room = np.empty(EXPANSION_ROOM, np.float64)
    for i in range(begin, end):
        face = rows[i]
        a = corner(vertices, faces[3 * face], scale)
        b = corner(vertices, faces[3 * face + 1], scale)
        c = corner(vertices, faces[3 * face + 2], scale)
        if not collinear(a, b, c, room):
            ids[face * RECORD_FLOATS + 3] = face


@inline
def corner(vertices, vertex, scale):
    """A vertex as blocks hold it, as float64."""
    place = 3 * np.intp(vertex)
    return f8(vertices[place] * scale), f8(vertices[place + 1] * scale), f8(vertices[place + 2] * scale)
