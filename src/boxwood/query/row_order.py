"""In which order to take the questions of a batch: along a space-filling curve, so that one finds in the cache what the
one before it needed. Answers go back to the places of their questions.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from .._threads import run_chunks
from ..build.linear import sorted_keys
from ..geometry.point_box import NEAR
from ..layout import FRAME_CENTER, FRAME_SCALE, RECORD_FLOATS

FEW = 512
"""Rows that are not worth sorting."""

BITS = 7
"""Of the code on each axis: two passes of the radix sort."""

CHUNK = 65536


@kernel
def fill_centers(lower, upper, frame, farthest, records, begin, end):
    """Records without extent where the centres of boxes are in the tree's space, held within a cube."""
    scale = frame[FRAME_SCALE]
    for r in range(begin, end):
        place = r * RECORD_FLOATS
        for axis in range(3):
            middle = lower[r, axis] * 0.5 + upper[r, axis] * 0.5
            x = np.float32(max(min(middle * scale - frame[FRAME_CENTER + axis], farthest), -farthest))
            records[place + axis], records[place + 4 + axis] = -x, x


def rows_in_order(lower, upper, tree, threads=None):
    """(n,) int64: the rows of boxes, or of points given twice, along a curve through the tree's space."""
    count = len(lower)
    if count < FEW:
        return np.arange(count)
    records = np.zeros(count * RECORD_FLOATS, np.float32)

    def fill(begin, end):
        fill_centers(lower, upper, tree.frame, NEAR / 3, records, begin, end)

    run_chunks(fill, count, chunk=CHUNK, threads=threads)
    index_bits = max(count - 1, 1).bit_length()
    keys = sorted_keys(records, np.full(3, NEAR / 3), BITS, index_bits, threads)
    return keys & (2**index_bits - 1)
