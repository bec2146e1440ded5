"""Two triangles in one plane, or on one line, exactly.

An axis along which the plane is not seen edge-on is dropped; what remains are convex sets in the plane, with an area or
without, and such sets are apart exactly where the line of an edge has one strictly on each side (separating axes).
"""

from __future__ import annotations

from .._jit import apart, inline
from .._simd import stay_apart
from .predicates import orient2d, side_of

DISJOINT, TOUCH, CROSS, COPLANAR = 0, 1, 2, 3
"""Relations of two triangles, as `relation_of` defines them; numbered as `Relation` is."""

NO_AXIS = -1
"""All points lie on one line, which is seen as one along every axis."""


@inline
def dropped(point, axis):
    """The point without one coordinate, turned so that a triangle has the sign of its normal's coordinate there."""
    if axis == 0:
        return point[1], point[2]
    if axis == 1:
        return point[2], point[0]
    return point[0], point[1]


@inline
def turn_of(p, q, r, axis, room):
    px, py = dropped(p, axis)
    qx, qy = dropped(q, axis)
    rx, ry = dropped(r, axis)
    return orient2d(px, py, qx, qy, rx, ry, room)


@apart
def axis_of(p, q, r, room):
    """An axis along which the triangle has an area, the one with the largest if rounding allows; NO_AXIS for none."""
    stay_apart()
    ux, uy, uz = q[0] - p[0], q[1] - p[1], q[2] - p[2]
    vx, vy, vz = r[0] - p[0], r[1] - p[1], r[2] - p[2]
    x, y, z = abs(uy * vz - uz * vy), abs(uz * vx - ux * vz), abs(ux * vy - uy * vx)
    best = 0 if x >= y and x >= z else 1 if y >= z else 2
    for step in range(3):
        axis = (best + step) % 3
        if turn_of(p, q, r, axis, room) != 0:
            return axis
    return NO_AXIS


@apart
def is_skew(p, q, r, a, b, c, room):
    """Whether two segments, each given by three points, are not in one plane."""
    stay_apart()
    for _ in range(3):
        for _ in range(3):
            if side_of(p, q, a, b, room) != 0:
                return True
            a, b, c = b, c, a
        p, q, r = q, r, p
    return False


@inline
def boxes_meet(p, q, r, a, b, c):
    """Whether the bounding boxes of three points each meet; if all six are on one line, whether their segments do."""
    for k in range(3):
        if max(p[k], q[k], r[k]) < min(a[k], b[k], c[k]) or max(a[k], b[k], c[k]) < min(p[k], q[k], r[k]):
            return False
    return True


@apart
def flat_relation(p, q, r, a, b, c, room):
    """Of two triangles, each of which is in every plane of the other: in one plane both, or segments or points."""
    stay_apart()
    axis, other = axis_of(p, q, r, room), axis_of(a, b, c, room)
    if axis != NO_AXIS and other != NO_AXIS:
        least = least_gap(p, q, r, a, b, c, axis, room)
        return COPLANAR if least > 0 else TOUCH if least == 0 else DISJOINT
    if axis != NO_AXIS or other != NO_AXIS:
        return DISJOINT if least_gap(p, q, r, a, b, c, max(axis, other), room) < 0 else TOUCH
    # What is apart along any axis is apart, and segments in one plane are so along one, unless all are on one line.
    if not boxes_meet(p, q, r, a, b, c) or is_skew(p, q, r, a, b, c, room):
        return DISJOINT
    for axis in range(3):
        if least_gap(p, q, r, a, b, c, axis, room) < 0:
            return DISJOINT
    return TOUCH


@apart
def least_gap(p, q, r, a, b, c, axis, room):
    """The least `gap` of all edges, as seen along the axis: -1 if there is a line between the two, 0 if there is only
    one that touches them, 1 if there is none."""
    stay_apart()
    px, py = dropped(p, axis)
    qx, qy = dropped(q, axis)
    rx, ry = dropped(r, axis)
    ax, ay = dropped(a, axis)
    bx, by = dropped(b, axis)
    cx, cy = dropped(c, axis)
    least = 1
    for edge in range(6):
        least = min(least, gap(px, py, qx, qy, rx, ry, ax, ay, bx, by, cx, cy, room))
        if least < 0:
            break
        px, py, qx, qy, rx, ry = qx, qy, rx, ry, px, py
        if edge == 2:
            px, py, qx, qy, rx, ry, ax, ay, bx, by, cx, cy = ax, ay, bx, by, cx, cy, px, py, qx, qy, rx, ry
    return least


@inline
def gap(px, py, qx, qy, rx, ry, ax, ay, bx, by, cx, cy, room):
    """How a, b, c lie to the edge p, q of a triangle p, q, r: 1 if some are on its inner side, or else 0 if some are on
    its line, or else -1. An edge of a segment has no inner side: both are outer, and 1 is for what is on both."""
    a, b = orient2d(px, py, qx, qy, ax, ay, room), orient2d(px, py, qx, qy, bx, by, room)
    c, inner = orient2d(px, py, qx, qy, cx, cy, room), orient2d(px, py, qx, qy, rx, ry, room)
    low, high = min(a, b, c), max(a, b, c)
    if inner > 0:
        return high
    if inner < 0:
        return -low
    return -1 if low == high != 0 else 1
