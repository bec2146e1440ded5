"""How far a point is from a box, as users are told: written once, for every set of boxes and every structure.

On each axis the distance is that to an interval; the root of the sum of squares is computed in float64, scaled where
squares would leave the numbers, and rounded to the dtype of the answer before it is compared with anything.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import apart, inline

TINY = 1e-280
"""Squares below may have lost digits."""
SCALE = 2.0**600


@inline
def shown(value, single):
    """The number as the user sees it."""
    return np.float64(np.float32(value)) if single else value


@inline
def gap(lower, upper, x):
    """From a number to an interval."""
    return max(max(lower - x, x - upper), 0.0)


@apart
def far_or_tiny(x, y, z, scale):
    """The length of a vector whose square is beyond the numbers; the scale is a power of two, so nothing is rounded."""
    x, y, z = x * scale, y * scale, z * scale
    return math.sqrt(x * x + y * y + z * z) / scale


@inline
def length(x, y, z, square):
    """Of a vector, and the square of its length as it is computed."""
    if square < TINY:
        return far_or_tiny(x, y, z, SCALE) if x + y + z > 0.0 else 0.0
    if square == np.inf:
        return far_or_tiny(x, y, z, 1.0 / SCALE)
    return math.sqrt(square)


@inline
def distance(low, high, x, y, z):
    """Of a point from a box."""
    dx, dy, dz = gap(low[0], high[0], x), gap(low[1], high[1], y), gap(low[2], high[2], z)
    return length(dx, dy, dz, dx * dx + dy * dy + dz * dz)


@inline
def surely_within(reach, scale, single):
    """A square, of lengths times the scale, whose root is not shown as more than `reach`; -1 when none is sure."""
    root = reach * scale
    square = root * root * (1.0 - (2.0**-22 if single else 2.0**-50))
    return min(square, 1.7e308) if square > TINY else -1.0


@inline
def surely_beyond(reach, scale, single):
    """No less than any square, of lengths times the scale, whose root is shown as `reach` or less; a number."""
    root = (reach + (1e-44 if single else 5e-324)) * scale
    return min(root * root * (1.0 + (2.0**-22 if single else 2.0**-50)) + 1e-290, 1.7e308)
