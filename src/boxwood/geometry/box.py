"""Boxes in the form of records: eight float32, the lower corner negated, so that one `maximum` merges two."""

from __future__ import annotations

import numpy as np

from .._jit import inline
from .._simd import splat8

f4 = np.float32


@inline
def empty_box():
    return splat8(f4(-np.inf))


@inline
def cost_of(boxes, place):
    """What it costs a ray to meet the box stored there: half its surface area."""
    x = boxes[place + 4] + boxes[place]
    y = boxes[place + 5] + boxes[place + 1]
    z = boxes[place + 6] + boxes[place + 2]
    return x * y + y * z + z * x


@inline
def centroid(records, place, axis):
    """Twice the centre of the box stored there, on one axis."""
    return records[place + 4 + axis] - records[place + axis]
