"""From boxes to records: the tree's own space, and each box in it, rounded outward.

Boxes in the plane become pillars (`layout`), so that builders need not know of it.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from .._threads import run_chunks
from ..geometry.box import index, rounded_up
from ..layout import FRAME_CENTER, FRAME_SCALE, PILLAR, RECORD_FLOATS
from .records import CHUNK, bounds_of, make_frame

f4 = np.float32
f8 = np.float64


def box_frame(lower, upper, threads=None):
    """The frame of a tree of these boxes, and the least and greatest coordinates, float64 (3,)."""
    bounds = np.zeros((2, 3))
    dimension = lower.shape[1]
    bounds[0, :dimension] = bounds_of(lower, threads)[0]
    bounds[1, :dimension] = bounds_of(upper, threads)[1]
    return make_frame(*bounds, np.dtype(np.float64)), bounds


def make_box_records(lower, upper, frame, threads=None):
    """Records (n * 8,) float32 of all boxes, in order of id."""
    records = np.empty(len(lower) * RECORD_FLOATS, np.float32)
    ids = records.view(np.int32)

    def fill(begin, end):
        fill_box_records(lower, upper, frame, records, ids, begin, end)

    run_chunks(fill, len(lower), chunk=CHUNK, threads=threads)
    return records


@kernel
def fill_box_records(lower, upper, frame, records, ids, begin, end):
    scale, dimension = frame[FRAME_SCALE], lower.shape[1]
    for i in range(begin, end):
        place = i * RECORD_FLOATS
        records[index(place + 2)] = records[index(place + 6)] = f4(PILLAR)
        for axis in range(dimension):
            center = frame[FRAME_CENTER + axis]
            records[index(place + axis)] = rounded_up(center - f8(lower[i, axis]) * scale)
            records[index(place + 4 + axis)] = rounded_up(f8(upper[i, axis]) * scale - center)
        ids[index(place + 3)] = i
        records[index(place + 7)] = f4(0)
