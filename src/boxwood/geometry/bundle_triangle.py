"""Sixteen rays against one triangle: the test of `ray_triangle` with rays in the lanes, rounding for rounding."""

from __future__ import annotations

import numpy as np

from .._jit import inline
from .._simd import (
    equal,
    greater_equal,
    lanes_as,
    less_equal,
    load16,
    maximum,
    minimum,
    number_like,
    splat16,
    spread16,
    store,
)
from .bundle_box import ALL_LANES, LANES, LEAST, MOST, ORIGIN, PER, SLACK, SLOPE


@inline
def way(group, blocks, place, axis):
    """How far the number in that place lies from each ray's origin, on the x, y or z axis of the rays."""
    rays = group.rays
    return lanes_as(spread16(blocks, place + group.rows[3 + axis]), rays[0]) - load16(rays, ORIGIN + LANES * axis)


@inline
def vertex(group, blocks, place):
    """One vertex as x, y, z, with each ray along z."""
    z = way(group, blocks, place, np.intp(2))
    x = way(group, blocks, place, np.intp(0)) - load16(group.rays, SLOPE) * z
    y = way(group, blocks, place, np.intp(1)) - load16(group.rays, SLOPE + LANES) * z
    return x, y, z


@inline
def cross_triangle(group, blocks, place, sides, crossing):
    """Lanes whose ray's line crosses the triangle that begins in that place, in its range; and lanes in doubt.

    `crossing` takes what that of `cross_block` does, row by row: t, the t at the triangle's own box, two weights and
    the sum of all three.
    """
    rays = group.rays
    ax, ay, az = vertex(group, blocks, place)
    bx, by, bz = vertex(group, blocks, place + 12)
    cx, cy, cz = vertex(group, blocks, place + 24)
    u = cx * by - cy * bx
    v = ax * cy - ay * cx
    w = bx * ay - by * ax
    zero = splat16(number_like(rays[0], 0.0))
    fronts, backs = ALL_LANES if sides[0] != 0 else np.uint32(0), ALL_LANES if sides[1] != 0 else np.uint32(0)
    inside = (fronts & greater_equal(u, zero) & greater_equal(v, zero) & greater_equal(w, zero)) | (
        backs & less_equal(u, zero) & less_equal(v, zero) & less_equal(w, zero)
    )
    if inside == 0:
        return inside, inside
    total = u + v + w
    in_doubt = inside & (equal(u, zero) | equal(v, zero) | equal(w, zero) | equal(total * total, zero))
    per_z = load16(rays, PER + 2 * LANES)
    per = maximum(per_z, zero - per_z)
    enter_x, leave_x = passage(group, blocks, place, np.intp(0))
    enter_y, leave_y = passage(group, blocks, place, np.intp(1))
    enter, leave = maximum(enter_x, enter_y) * per, minimum(leave_x, leave_y) * per
    t = maximum(minimum((u * az + v * bz + w * cz) / total * per_z, leave), enter)
    within = in_doubt | (inside & greater_equal(t, load16(rays, LEAST)) & less_equal(t, load16(rays, MOST)))
    if within != 0:
        store(crossing, 0, t)
        store(crossing, LANES, enter)
        store(crossing, 2 * LANES, v)
        store(crossing, 3 * LANES, w)
        store(crossing, 4 * LANES, total)
    return within, in_doubt


@inline
def passage(group, blocks, place, axis):
    """Progress at which each ray enters and leaves the slab of the triangle on an axis."""
    per, more = load16(group.rays, PER + LANES * axis), load16(group.rays, SLACK + LANES * axis)
    a = way(group, blocks, place, axis) * per
    b = way(group, blocks, place + 12, axis) * per
    c = way(group, blocks, place + 24, axis) * per
    return minimum(a, minimum(b, c)) - more, maximum(a, maximum(b, c)) + more
