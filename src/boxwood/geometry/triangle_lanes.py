"""A triangle against the four of a block: which of them it surely does not meet, by boxes and by planes.

Two triangles have nothing in common when all corners of one lie on one side of the other's plane. Here a side counts
only beyond all that rounding can do, so that what is left out is left out for certain; the rest is decided exactly
elsewhere.
"""

from __future__ import annotations

import numpy as np

from .._jit import inline
from .._simd import less, less_equal, maximum, minimum, splat4

f8 = np.float64

DOUBT = 2.0**-49
"""Times the magnitudes in a plane's side of a point: more than its dozen roundings in float64 can do."""


@inline
def size(x):
    """The absolute values of the lanes."""
    return maximum(x, splat4(f8(0.0)) - x)


@inline
def least(a, b, c):
    return minimum(minimum(a, b), c)


@inline
def most(a, b, c):
    return maximum(maximum(a, b), c)


@inline
def boxes_of(a, b, c):
    """Lower and upper corners of the boxes of four triangles."""
    return (
        (least(a[0], b[0], c[0]), least(a[1], b[1], c[1]), least(a[2], b[2], c[2])),
        (most(a[0], b[0], c[0]), most(a[1], b[1], c[1]), most(a[2], b[2], c[2])),
    )


@inline
def boxes_meet(lower, upper, p, q, r, reach):
    """The lanes whose boxes come within reach of the box of a triangle."""
    x, y, z = (p[0], q[0], r[0]), (p[1], q[1], r[1]), (p[2], q[2], r[2])
    return (
        less_equal(lower[0], splat4(max(max(x[0], x[1]), x[2]) + reach))
        & less_equal(splat4(min(min(x[0], x[1]), x[2]) - reach), upper[0])
        & less_equal(lower[1], splat4(max(max(y[0], y[1]), y[2]) + reach))
        & less_equal(splat4(min(min(y[0], y[1]), y[2]) - reach), upper[1])
        & less_equal(lower[2], splat4(max(max(z[0], z[1]), z[2]) + reach))
        & less_equal(splat4(min(min(z[0], z[1]), z[2]) - reach), upper[2])
    )


@inline
def plane(p, q, r):
    """A normal of the plane through three points, and for each component the magnitudes in it."""
    ux, uy, uz = q[0] - p[0], q[1] - p[1], q[2] - p[2]
    vx, vy, vz = r[0] - p[0], r[1] - p[1], r[2] - p[2]
    return (
        (uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx),
        (
            abs(uy * vz) + abs(uz * vy),
            abs(uz * vx) + abs(ux * vz),
            abs(ux * vy) + abs(uy * vx),
        ),
    )


@inline
def sides(p, normal, weight, v):
    """On which side of a plane through p the points v lie: bits of those above, and of those below for sure."""
    x, y, z = v[0] - splat4(p[0]), v[1] - splat4(p[1]), v[2] - splat4(p[2])
    side = x * splat4(normal[0]) + y * splat4(normal[1]) + z * splat4(normal[2])
    doubt = size(x) * splat4(weight[0]) + size(y) * splat4(weight[1]) + size(z) * splat4(weight[2])
    doubt = doubt * splat4(DOUBT)
    return less(doubt, side), less(side, splat4(f8(0.0)) - doubt)


@inline
def sides_of_planes(a, b, c, p):
    """Likewise on which side of the planes of four triangles one point lies."""
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    x, y, z = splat4(p[0]) - a[0], splat4(p[1]) - a[1], splat4(p[2]) - a[2]
    side = x * (uy * vz - uz * vy) + y * (uz * vx - ux * vz) + z * (ux * vy - uy * vx)
    doubt = (
        size(x) * (size(uy * vz) + size(uz * vy))
        + size(y) * (size(uz * vx) + size(ux * vz))
        + size(z) * (size(ux * vy) + size(uy * vx))
    ) * splat4(DOUBT)
    return less(doubt, side), less(side, splat4(f8(0.0)) - doubt)
