"""Where two triangles meet: the ends of a segment, or the corners of a polygon for two in one plane.

Which edges the ends lie on is decided exactly, as for the relation; only then are places on them computed, from heights
over a plane that are sure to 42 bits at least. So a place is good wherever edge and plane do not nearly coincide, and
always a number: it is kept within the bounding boxes of both triangles.
"""

from __future__ import annotations

import math

from .._jit import apart, inline
from .._simd import stay_apart
from .predicates import exact_area, side_of, volume_of
from .triangle_triangle import arranged, ends_across
from .triangles_in_plane import NO_AXIS, axis_of, boxes_meet, dropped, turn_of

MOST_CORNERS = 6
"""Of the polygon that two triangles have in common."""


@apart
def segment_of(p, q, r, a, b, c, points, room):
    """The two ends, as six coordinates, of what two triangles that meet have in common; equal if that is a point.

    Where the triangles cross, the segment runs along the cross product of the normals of p, q, r and a, b, c (the sides
    from which they turn left). Of an area in common it is the two corners farthest apart. `points` is room for
    MOST_CORNERS points (MOST_CORNERS, 3).
    """
    stay_apart()
    sp, sq, sr = side_of(a, b, c, p, room), side_of(a, b, c, q, room), side_of(a, b, c, r, room)
    sa, sb, sc = side_of(p, q, r, a, room), side_of(p, q, r, b, room), side_of(p, q, r, c, room)
    low, high = p, p
    if sp == sq == sr and sa == sb == sc:
        number = common_corners(p, q, r, a, b, c, points, room)
        low, high = farthest(points, number, p)
    elif sp == sq == sr:
        u, v = ends_across(a, b, c, sa, sb, sc)
        low = place_on(u, v, p, q, r, room)
        high = low
    elif sa == sb == sc:
        u, v = ends_across(p, q, r, sp, sq, sr)
        low = place_on(u, v, a, b, c, room)
        high = low
    else:
        p, q, r, a, b, c, backward = arranged(p, q, r, a, b, c, sp, sq, sr, sa, sb, sc)
        # On the line of the planes p q comes before p r, and a c before a b. What they have in common goes from the
        # later of the two that come first to the earlier of the two others.
        if side_of(p, q, a, c, room) > 0:
            low = place_on(p, q, a, b, c, room)
        else:
            low = place_on(a, c, p, q, r, room)
        if side_of(p, r, a, b, room) < 0:
            high = place_on(p, r, a, b, c, room)
        else:
            high = place_on(a, b, p, q, r, room)
        if backward:
            low, high = high, low
    low, high = kept_in_boxes(low, p, q, r, a, b, c), kept_in_boxes(high, p, q, r, a, b, c)
    return low[0], low[1], low[2], high[0], high[1], high[2]


@inline
def kept_in_boxes(point, p, q, r, a, b, c):
    """The nearest point that is in the bounding boxes of both triangles, if they meet."""
    return (
        kept_within(point[0], p[0], q[0], r[0], a[0], b[0], c[0]),
        kept_within(point[1], p[1], q[1], r[1], a[1], b[1], c[1]),
        kept_within(point[2], p[2], q[2], r[2], a[2], b[2], c[2]),
    )


@inline
def kept_within(x, p, q, r, a, b, c):
    return min(max(x, min(p, q, r), min(a, b, c)), max(p, q, r), max(a, b, c))


@inline
def between(p, q, down, up):
    """Where between p and q a height is zero that is `down` at p and `up` at q, both as absolute values."""
    total = down + up
    if down <= up:
        part = down / total if total > 0.0 else 0.0
        return p[0] + (q[0] - p[0]) * part, p[1] + (q[1] - p[1]) * part, p[2] + (q[2] - p[2]) * part
    part = up / total
    return q[0] + (p[0] - q[0]) * part, q[1] + (p[1] - q[1]) * part, q[2] + (p[2] - q[2]) * part


@apart
def place_on(u, v, p, q, r, room):
    """Where the segment from u to v meets the plane of p, q and r; its ends are not on the same side."""
    stay_apart()
    return between(u, v, abs(volume_of(p, q, r, u, room)), abs(volume_of(p, q, r, v, room)))


@inline
def farthest(points, number, otherwise):
    """The two of the points that are farthest apart."""
    low, high, most = otherwise, otherwise, -1.0
    for i in range(number):
        for k in range(i, number):
            x, y, z = points[k, 0] - points[i, 0], points[k, 1] - points[i, 1], points[k, 2] - points[i, 2]
            distance = x * x + y * y + z * z
            if distance > most:
                low, high = (points[i, 0], points[i, 1], points[i, 2]), (points[k, 0], points[k, 1], points[k, 2])
                most = distance
    return low, high


@apart
def overlap_of(p, q, r, a, b, c, points, room):
    """The corners of the polygon that two triangles in one plane have in common, written to `points`; how many.

    They turn as p, q, r do. `points` is room for MOST_CORNERS points (MOST_CORNERS, 3).
    """
    stay_apart()
    number = common_corners(p, q, r, a, b, c, points, room)
    if number > 2:
        axis = axis_of(p, q, r, room)
        sort_around(points, number, axis, turn_of(p, q, r, axis, room), room)
    return number


@apart
def common_corners(p, q, r, a, b, c, points, room):
    """The same for any two triangles in one plane, with an area or without, in any order.

    They are the corners of each that lie in the other, and the crossings of edges; which these are is decided exactly.
    """
    stay_apart()
    axis = common_axis(p, q, r, a, b, c, room)
    number = 0
    for _ in range(3):
        if holds(a, b, c, p, axis, room):
            number = put(points, number, p)
        p, q, r = q, r, p
    for _ in range(3):
        if holds(p, q, r, a, axis, room):
            number = put(points, number, a)
        a, b, c = b, c, a
    for side in range(9):
        number = put_crossing(p, q, a, b, axis, points, number, room)
        a, b, c = b, c, a
        if side % 3 == 2:
            p, q, r = q, r, p
    return number


@apart
def common_axis(p, q, r, a, b, c, room):
    """An axis along which the plane of the six points is not seen edge-on; NO_AXIS if they are on one line."""
    stay_apart()
    axis = max(axis_of(p, q, r, room), axis_of(a, b, c, room))
    for _ in range(3):  # two segments: some point of one is not on the line of the other, unless both are one line
        for _ in range(3):
            if axis == NO_AXIS:
                axis = max(axis_of(p, q, a, room), axis_of(p, a, b, room))
            a, b, c = b, c, a
        p, q, r = q, r, p
    return axis


@apart
def holds(p, q, r, point, axis, room):
    """Whether a closed triangle, segment or point has this point of its plane in it."""
    stay_apart()
    if not boxes_meet(p, q, r, point, point, point):
        return False
    if axis == NO_AXIS:
        return True
    inner = turn_of(p, q, r, axis, room)
    for _ in range(3):
        side = turn_of(p, q, point, axis, room)
        if side * inner < 0 or (inner == 0 and side != 0):
            return False
        p, q, r = q, r, p
    return True


@apart
def put_crossing(p, q, a, b, axis, points, number, room):
    """Add the point where two edges cross, each between its ends."""
    stay_apart()
    if axis == NO_AXIS:
        return number
    px, py = dropped(p, axis)
    qx, qy = dropped(q, axis)
    ax, ay = dropped(a, axis)
    bx, by = dropped(b, axis)
    side, other = exact_area(ax, ay, bx, by, px, py, room), exact_area(ax, ay, bx, by, qx, qy, room)
    if not min(side, other) < 0.0 < max(side, other):
        return number
    first, second = exact_area(px, py, qx, qy, ax, ay, room), exact_area(px, py, qx, qy, bx, by, room)
    if not min(first, second) < 0.0 < max(first, second):
        return number
    return put(points, number, between(p, q, abs(side), abs(other)))


@inline
def put(points, number, point):
    """Add a point that is not yet there; segments in parts make the same more than once."""
    for i in range(number):
        if points[i, 0] == point[0] and points[i, 1] == point[1] and points[i, 2] == point[2]:
            return number
    if number == MOST_CORNERS:
        return number
    points[number, 0], points[number, 1], points[number, 2] = point
    return number + 1


@apart
def sort_around(points, number, axis, turn, room):
    """Put corners in the order in which they stand around their middle, leftward as seen along the axis, or else
    rightward. The room takes their angles."""
    stay_apart()
    across, up = (axis + 1) % 3, (axis + 2) % 3
    x = y = 0.0
    for i in range(number):
        x += points[i, across] / number
        y += points[i, up] / number
    for i in range(number):
        angle = turn * math.atan2(points[i, up] - y, points[i, across] - x)
        point = points[i, 0], points[i, 1], points[i, 2]
        k = i
        while k > 0 and room[k - 1] > angle:
            room[k] = room[k - 1]
            points[k, 0], points[k, 1], points[k, 2] = points[k - 1, 0], points[k - 1, 1], points[k - 1, 2]
            k -= 1
        room[k] = angle
        points[k, 0], points[k, 1], points[k, 2] = point
