"""On which side of a line or plane a point lies, without error (Shewchuk 1997).

Plain arithmetic decides where its result exceeds all that rounding can have done. What it leaves in doubt is computed
with twice the precision, and what that leaves as well from exact products. Signs are right for all coordinates within
a range: then every product is a multiple of the smallest float64, so that nothing is lost below it. That is so in
space for coordinates up to 2³³⁹ (1e102) that are multiples of 2⁻³⁵⁸, as are zero and all from 2⁻³⁰⁶ (8e-93) on; in
the plane up to 2⁵¹⁰ (3e153) and from 2⁻⁴⁸⁵ (1e-146) on. All of float32 lies within. Others must be scaled first.
"""

from __future__ import annotations

from .._jit import apart, inline
from .._simd import product_error, stay_apart
from .expansions import pair_minor, pair_product, pair_sum, put_product, sum_of, two_sum

TERMS = 192
"""Parts of a determinant in space: 6 products of 3 differences of 2 parts, 4 parts each."""

EXPANSION_ROOM = TERMS + 18
"""How many float64 the `room` must hold that predicates compute in: those parts and the differences."""

LARGEST_2D, SMALLEST_2D = 2.0**510, 2.0**-485
LARGEST_3D, SMALLEST_3D = 2.0**339, 2.0**-306
"""Coordinates beyond which signs are not guaranteed, but that 0 is no harm, nor are whole multiples of 2⁻⁵² of the
smallest."""

UNIT = 2.0**-53
ERROR_2D = (3 + 16 * UNIT) * UNIT
ERROR_3D = (7 + 56 * UNIT) * UNIT
SURE = 2.0**-8
"""Of the magnitudes in a rounded volume: beyond that it is off by no more than 2⁻⁴² of itself."""

ERROR_PAIRS = 2.0**-98
"""Of the sum of absolute products. Differences are exact pairs; errors of products and sums, at most 30 u² = 2⁻¹⁰¹."""


@inline
def orient2d(ax, ay, bx, by, cx, cy, room):
    """1 when a, b, c turn left, -1 when they turn right, 0 on one line: the sign of det [a-c; b-c], without error."""
    left, right = (ax - cx) * (by - cy), (ay - cy) * (bx - cx)
    area = left - right
    if not abs(area) > ERROR_2D * (abs(left) + abs(right)) and (left != 0.0 or right != 0.0):
        area = exact_area(ax, ay, bx, by, cx, cy, room)
    return int(area > 0.0) - int(area < 0.0)


@inline
def orient3d(a, b, c, d, room):
    """1 when d lies below the plane through a, b and c, -1 when above, 0 in it, without error.

    Above is the side from which a, b, c turn left. So it is the sign of det [a-d; b-d; c-d], as in Shewchuk 1997.
    Points are tuples of three float64.
    """
    volume, most = rounded_volume(a, b, c, d)
    if not abs(volume) > ERROR_3D * most and most != 0.0:
        volume = exact_volume(a, b, c, d, room)
    return int(volume > 0.0) - int(volume < 0.0)


@inline
def rounded_volume(a, b, c, d):
    """det [a-d; b-d; c-d] by plain arithmetic, off by at most ERROR_3D times the second number."""
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    wx, wy, wz = d[0] - a[0], d[1] - a[1], d[2] - a[2]
    yz, zy, zx, xz, xy, yx = uy * vz, uz * vy, uz * vx, ux * vz, ux * vy, uy * vx
    volume = wx * (zy - yz) + wy * (xz - zx) + wz * (yx - xy)
    most = abs(wx) * (abs(yz) + abs(zy)) + abs(wy) * (abs(zx) + abs(xz)) + abs(wz) * (abs(xy) + abs(yx))
    return volume, most


@apart
def side_of(a, b, c, d, room):
    """orient3d as a call of its own, which takes a few nanoseconds more and spares its callers from growing."""
    stay_apart()
    return orient3d(a, b, c, d, room)


@apart
def volume_of(a, b, c, d, room):
    """Six times the volume of a tetrahedron, as `exact_volume` has it but off by up to 2⁻⁴² of itself."""
    stay_apart()
    volume, most = rounded_volume(a, b, c, d)
    return volume if abs(volume) > SURE * most else exact_volume(a, b, c, d, room)


@apart
def exact_area(ax, ay, bx, by, cx, cy, room):
    """det [a-c; b-c] to within a few roundings, however small it is."""
    stay_apart()
    ax, ax_rest = two_sum(ax, -cx)
    ay, ay_rest = two_sum(ay, -cy)
    bx, bx_rest = two_sum(bx, -cx)
    by, by_rest = two_sum(by, -cy)
    size = 0
    for x, y in ((ax, by), (ax, by_rest), (ax_rest, by), (ax_rest, by_rest)):
        size = put_product(room, size, x, y)
    for x, y in ((bx, ay), (bx, ay_rest), (bx_rest, ay), (bx_rest, ay_rest)):
        size = put_product(room, size, -x, y)
    return sum_of(room, size)


@apart
def exact_volume(a, b, c, d, room):
    """det [a-d; b-d; c-d], six times the volume of a tetrahedron, with its exact sign, and off by no more than a few
    roundings of itself and 2⁻¹⁰⁰ of the products that it is the sum of."""
    stay_apart()
    ux, uy, uz = two_sum(a[0], -d[0]), two_sum(a[1], -d[1]), two_sum(a[2], -d[2])
    vx, vy, vz = two_sum(b[0], -d[0]), two_sum(b[1], -d[1]), two_sum(b[2], -d[2])
    wx, wy, wz = two_sum(c[0], -d[0]), two_sum(c[1], -d[1]), two_sum(c[2], -d[2])
    volume = pair_product(ux, pair_minor(vy, wz, vz, wy))
    volume = pair_sum(volume, pair_product(uy, pair_minor(vz, wx, vx, wz)))
    volume = pair_sum(volume, pair_product(uz, pair_minor(vx, wy, vy, wx)))
    most = (
        abs(ux[0]) * (abs(vy[0] * wz[0]) + abs(vz[0] * wy[0]))
        + abs(uy[0]) * (abs(vz[0] * wx[0]) + abs(vx[0] * wz[0]))
        + abs(uz[0]) * (abs(vx[0] * wy[0]) + abs(vy[0] * wx[0]))
    )
    if abs(volume[0]) > ERROR_PAIRS * most:
        return volume[0]
    place = TERMS
    for high, low in (ux, uy, uz, vx, vy, vz, wx, wy, wz):
        room[place], room[place + 1] = high, low
        place += 2
    size = 0
    for choice in range(48):  # of a permutation of columns, and of high or low in each row
        first, odd = choice // 16, choice // 8 % 2
        second, third = (first + 1 + odd) % 3, (first + 2 - odd) % 3
        x = room[TERMS + 2 * first + choice % 2]
        y = room[TERMS + 6 + 2 * second + choice // 2 % 2]
        z = room[TERMS + 12 + 2 * third + choice // 4 % 2]
        if x != 0.0 and y != 0.0 and z != 0.0:
            x = -x if odd else x
            size = put_product(room, size, x * y, z)
            size = put_product(room, size, product_error(x, y), z)
    return sum_of(room, size)


@inline
def collinear(a, b, c, room):
    """Whether three points of space, as float64 tuples, lie on one line, without error."""
    return (
        orient2d(a[0], a[1], b[0], b[1], c[0], c[1], room) == 0
        and orient2d(a[1], a[2], b[1], b[2], c[1], c[2], room) == 0
        and orient2d(a[2], a[0], b[2], b[0], c[2], c[0], room) == 0
    )
