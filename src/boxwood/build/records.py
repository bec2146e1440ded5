"""From triangles to records: the tree's own space, and each triangle's box in it.

A box is rounded outward in float32, relative to the tree's centre, so that it stays tight for a mesh far from
the origin. Triangles without area, decided exactly, get no record: nothing can hit them.
"""

from __future__ import annotations

import numpy as np

from .._jit import inline, kernel
from .._threads import run_chunks
from ..geometry.predicates import collinear
from ..layout import FRAME_CENTER, FRAME_DEPTH, FRAME_SCALE, FRAME_SIZE, RECORD_FLOATS

f4 = np.float32
f8 = np.float64


def make_frame(vertices):
    """The frame of the tree of these vertices; its depth is not yet known."""
    frame = np.zeros(FRAME_SIZE)
    frame[FRAME_SCALE] = 1.0
    if len(vertices) == 0:
        return frame
    lower = vertices.min(axis=0).astype(np.float64)
    upper = vertices.max(axis=0).astype(np.float64)
    radius = float((upper * 0.5 - lower * 0.5).max())
    exponent = -np.frexp(radius)[1] if radius > 0.0 else 0
    most = 120 if vertices.dtype == np.float32 else 1000  # so that scaling cannot overflow
    frame[FRAME_SCALE] = 2.0 ** min(max(int(exponent), -most), most)
    frame[FRAME_CENTER : FRAME_CENTER + 3] = (lower * 0.5 + upper * 0.5) * frame[FRAME_SCALE]
    frame[FRAME_DEPTH] = 1.0
    return frame


def make_records(vertices, faces, frame, threads=None):
    """Records (k * 8,) float32 of the triangles that have an area, in order of id, with their ids in place 3."""
    records = np.empty(len(faces) * RECORD_FLOATS, np.float32)
    ids = records.view(np.int32)

    def work(begin, end):
        return fill_records(vertices, faces, frame, records, ids, begin, end)

    degenerate = sum(run_chunks(work, len(faces), chunk=65536, threads=threads))
    if degenerate:
        rows = records.reshape(-1, RECORD_FLOATS)
        records = rows[ids.reshape(-1, RECORD_FLOATS)[:, 3] >= 0].reshape(-1)
    return records


@inline
def rounded_down(x):
    """The largest float32 that is not above the float64 x."""
    y = f4(x)
    return y if f8(y) <= x else np.nextafter(y, f4(-np.inf))


@kernel
def fill_records(vertices, faces, frame, records, ids, begin, end):
    """Fill the records of faces begin to end; how many of them have no area."""
    scale = frame[FRAME_SCALE]
    expansion = np.empty(12, np.float64)
    degenerate = 0
    for i in range(begin, end):
        a, b, c = faces[i, 0], faces[i, 1], faces[i, 2]
        p = scaled(vertices, a, scale)
        q = scaled(vertices, b, scale)
        r = scaled(vertices, c, scale)
        place = i * RECORD_FLOATS
        for axis in range(3):
            center = frame[FRAME_CENTER + axis]
            records[place + axis] = -rounded_down(min(p[axis], q[axis], r[axis]) - center)
            records[place + 4 + axis] = -rounded_down(center - max(p[axis], q[axis], r[axis]))
        records[place + 7] = f4(0)
        if collinear(p, q, r, expansion):
            ids[place + 3] = -1
            degenerate += 1
        else:
            ids[place + 3] = i
    return degenerate


@inline
def scaled(vertices, vertex, scale):
    """A vertex as blocks hold it, as float64."""
    dtype = vertices.dtype.type
    return (
        f8(dtype(f8(vertices[vertex, 0]) * scale)),
        f8(dtype(f8(vertices[vertex, 1]) * scale)),
        f8(dtype(f8(vertices[vertex, 2]) * scale)),
    )
