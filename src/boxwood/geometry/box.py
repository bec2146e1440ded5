"""Boxes in the form of records: eight float32, the lower corner negated, so that one `maximum` merges two."""

from __future__ import annotations

import numpy as np

from .._jit import inline
from .._simd import splat8

f4 = np.float32

index = np.uintp
"""Makes an index unsigned: to signed ones Numba adds code for negative indices, a third more instructions."""


@inline
def empty_box():
    return splat8(f4(-np.inf))


@inline
def cost_of(boxes, place):
    """What it costs a ray to meet the box stored there: half its surface area."""
    x = boxes[index(place + 4)] + boxes[index(place)]
    y = boxes[index(place + 5)] + boxes[index(place + 1)]
    z = boxes[index(place + 6)] + boxes[index(place + 2)]
    return x * y + y * z + z * x


@inline
def centroid(records, place, axis):
    """Twice the centre of the box stored there, on one axis."""
    return records[index(place + 4 + axis)] - records[index(place + axis)]


@inline
def rounded_up(x):
    """A float32 that is not below the float64 x, and at most two above it: adding costs less than comparing."""
    return f4(x + abs(x) * 2.0**-23 + 1e-44)
