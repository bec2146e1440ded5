"""A triangle against the four of a block: which of them it surely does not meet, by boxes and by planes.

Two triangles have nothing in common when all corners of one lie on one side of the other's plane. Here a side counts
only beyond all that rounding can do, so that what is left out is left out for certain; the rest is decided exactly
elsewhere.
"""

from __future__ import annotations

import numpy as np

from .._jit import inline
from .._simd import equal, less, less_equal, maximum, minimum, splat4, store
from .box import index

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
def keep_lanes(room, a, b, c):
    """Put the corners of four triangles and their boxes where single lanes are read: see `kept` and `boxes_meet`."""
    lower, upper = boxes_of(a, b, c)
    for axis in range(3):
        store(room, 4 * axis, a[axis])
        store(room, 12 + 4 * axis, b[axis])
        store(room, 24 + 4 * axis, c[axis])
        store(room, 36 + 4 * axis, lower[axis])
        store(room, 48 + 4 * axis, upper[axis])


LANES_ROOM = 60


@inline
def kept(room, place):
    """A corner of one triangle."""
    return room[index(place)], room[index(place + 4)], room[index(place + 8)]


@inline
def boxes_meet(lower, upper, room, lane, reach):
    """The lanes whose boxes come within reach of the box of a triangle that is kept."""
    low, high = kept(room, 36 + lane), kept(room, 48 + lane)
    return (
        less_equal(lower[0], splat4(high[0] + reach))
        & less_equal(splat4(low[0] - reach), upper[0])
        & less_equal(lower[1], splat4(high[1] + reach))
        & less_equal(splat4(low[1] - reach), upper[1])
        & less_equal(lower[2], splat4(high[2] + reach))
        & less_equal(splat4(low[2] - reach), upper[2])
    )


@inline
def equal_points(a, p):
    """The lanes of a that are at the point p."""
    return equal(a[0], splat4(p[0])) & equal(a[1], splat4(p[1])) & equal(a[2], splat4(p[2]))


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
def planes(a, b, c):
    """Of four triangles what `plane` tells of one."""
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    return (
        (uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx),
        (
            size(uy * vz) + size(uz * vy),
            size(uz * vx) + size(ux * vz),
            size(ux * vy) + size(uy * vx),
        ),
    )


@inline
def sides_of_planes(a, normal, weight, p):
    """Likewise on which side of planes through four points a the point p lies."""
    x, y, z = splat4(p[0]) - a[0], splat4(p[1]) - a[1], splat4(p[2]) - a[2]
    side = x * normal[0] + y * normal[1] + z * normal[2]
    doubt = (size(x) * weight[0] + size(y) * weight[1] + size(z) * weight[2]) * splat4(DOUBT)
    return less(doubt, side), less(side, splat4(f8(0.0)) - doubt)
