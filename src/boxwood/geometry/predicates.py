"""Exact signs: sums of floating-point products without rounding (Shewchuk 1997).

A number is held as an expansion, a sum of float64 that do not overlap, so that its sign is that of the
largest part. Exact while no product overflows or falls below the normal range.
"""

from __future__ import annotations

from .._jit import apart, inline
from .._simd import product_error


@inline
def two_sum(a, b):
    """a + b rounded, and what the rounding took."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@inline
def grow(expansion, size, value):
    """Add one number to the expansion; its new size."""
    for i in range(size):
        value, expansion[i] = two_sum(value, expansion[i])
    expansion[size] = value
    return size + 1


@inline
def sign_of(expansion, size):
    for i in range(size - 1, -1, -1):
        if expansion[i] > 0.0:
            return 1
        if expansion[i] < 0.0:
            return -1
    return 0


@apart
def orientation(ax, ay, bx, by, cx, cy, expansion):
    """1 when a, b, c turn left, -1 when they turn right, 0 on one line, without error.

    `expansion` is room for 12 float64.
    """
    size = 0
    for p, q in ((ax, by), (-ax, cy), (-cx, by), (-ay, bx), (ay, cx), (cy, bx)):
        size = grow(expansion, size, product_error(p, q))
        size = grow(expansion, size, p * q)
    return sign_of(expansion, size)


@inline
def collinear(a, b, c, expansion):
    """Whether three points of space, as float64 tuples, lie on one line, without error."""
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    area = max(abs(uy * vz - uz * vy), abs(uz * vx - ux * vz), abs(ux * vy - uy * vx))
    if area > 4e-15 * max(abs(ux), abs(uy), abs(uz)) * max(abs(vx), abs(vy), abs(vz)):
        return False
    return (
        orientation(a[0], a[1], b[0], b[1], c[0], c[1], expansion) == 0
        and orientation(a[1], a[2], b[1], b[2], c[1], c[2], expansion) == 0
        and orientation(a[2], a[0], b[2], b[0], c[2], c[0], expansion) == 0
    )
