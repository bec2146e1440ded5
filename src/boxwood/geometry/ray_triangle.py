"""A ray against the four triangles of a block: watertight (Woop, Benthin, Wald 2013), in the computing dtype.

Vertices are sheared so that the ray is the z axis. An edge function then depends on the edge's two vertices
and the ray alone, so the two triangles of an edge see exactly opposite signs. Products are rounded before they
are subtracted and never fused, so the sign of a non-zero edge function is always right; a zero is decided
again, exactly. A t is held between the ray's entry into the triangle's own box and its exit: that makes the
answer independent of which boxes the walk skipped.
"""

from __future__ import annotations

import numpy as np

from .._jit import apart, inline
from .._simd import (
    equal,
    greater_equal,
    lanes_as,
    less_equal,
    load4,
    maximum,
    minimum,
    number_like,
    product_error,
    splat4,
    store,
)

f8 = np.float64


@inline
def sheared(blocks, row, shear, vx, vy, vz, sx, sy):
    """One vertex of each of the four triangles, as x, y, z with the ray along z."""
    kx, ky, kz = shear.rows
    like = shear.per_z
    z = lanes_as(load4(blocks, row + kz), like) - vz
    x = lanes_as(load4(blocks, row + kx), like) - vx - sx * z
    y = lanes_as(load4(blocks, row + ky), like) - vy - sy * z
    return x, y, z


@inline
def cross_block(shear, blocks, block, sides, low, high, crossing):
    """Lanes whose triangle the line of the ray crosses with t in [low, high], and lanes that must be decided exactly.

    `sides` are the lanes to keep of fronts and of backs. `crossing` takes, for each lane, t at 0, the t at which the
    ray enters the triangle's own box at 4, the edge functions that weigh the second and third vertex at 8 and 12, and
    the sum of all three at 16.
    """
    vx, vy, vz = splat4(shear.origin[0]), splat4(shear.origin[1]), splat4(shear.origin[2])
    sx, sy = splat4(shear.slope[0]), splat4(shear.slope[1])
    ax, ay, az = sheared(blocks, block, shear, vx, vy, vz, sx, sy)
    bx, by, bz = sheared(blocks, block + 12, shear, vx, vy, vz, sx, sy)
    cx, cy, cz = sheared(blocks, block + 24, shear, vx, vy, vz, sx, sy)
    u = cx * by - cy * bx
    v = ax * cy - ay * cx
    w = bx * ay - by * ax
    zero = splat4(shear.per_z - shear.per_z)
    inside = (sides[0] & greater_equal(u, zero) & greater_equal(v, zero) & greater_equal(w, zero)) | (
        sides[1] & less_equal(u, zero) & less_equal(v, zero) & less_equal(w, zero)
    )
    if inside == 0:
        return inside, inside
    total = u + v + w
    # A square that vanishes tells of products that may have lost most of their digits.
    in_doubt = inside & (equal(u, zero) | equal(v, zero) | equal(w, zero) | equal(total * total, zero))
    kx, ky, _ = shear.rows
    per_z = splat4(shear.per_z)
    per = maximum(per_z, zero - per_z)
    enter_x, leave_x = passage(blocks, block + kx, vx, shear.per_x, shear.slack_x)
    enter_y, leave_y = passage(blocks, block + ky, vy, shear.per_y, shear.slack_y)
    enter, leave = maximum(enter_x, enter_y) * per, minimum(leave_x, leave_y) * per
    t = maximum(minimum((u * az + v * bz + w * cz) / total * per_z, leave), enter)
    within = in_doubt | (inside & greater_equal(t, splat4(low)) & less_equal(t, splat4(high)))
    if within != 0:
        store(crossing, 0, t)
        store(crossing, 4, enter)
        store(crossing, 8, v)
        store(crossing, 12, w)
        store(crossing, 16, total)
    return within, in_doubt


@inline
def passage(blocks, row, origin, per_unit, slack):
    """Progress at which the ray enters and leaves the slab of each triangle on one axis, with less slack than boxes."""
    per, more = splat4(per_unit), splat4(slack)
    a = (lanes_as(load4(blocks, row), per_unit) - origin) * per
    b = (lanes_as(load4(blocks, row + 12), per_unit) - origin) * per
    c = (lanes_as(load4(blocks, row + 24), per_unit) - origin) * per
    return minimum(a, minimum(b, c)) - more, maximum(a, maximum(b, c)) + more


@inline
def edge(px, py, qx, qy):
    """The edge function of p and q in float64; its sign is exact (barring underflow)."""
    px, py, qx, qy = f8(px), f8(py), f8(qx), f8(qy)
    a, b = px * qy, py * qx
    if a != b:
        return a - b
    return product_error(px, qy) - product_error(py, qx)


@inline
def side(value, px, py, qx, qy):
    """The sign of an edge function for a ray moved by an infinitesimal step: zero is given to one side.

    Moving the ray by (e, e^2) adds e (py - qy) + e^2 (qx - px), the same rule for every edge
    (Edelsbrunner, Mücke 1990), so an edge or a vertex belongs to exactly one of the triangles around it.
    """
    if value != 0.0:
        return value
    if py != qy:
        return py - qy
    return qx - px


@inline
def corner(blocks, place, like):
    return number_like(like, np.float64(blocks[place]))


@inline
def sheared_corner(blocks, place, shear):
    """One vertex of one triangle, with the very roundings of `sheared`."""
    kx, ky, kz = shear.rows
    z = corner(blocks, place + kz, shear.per_z) - shear.origin[2]
    x = corner(blocks, place + kx, shear.per_z) - shear.origin[0] - shear.slope[0] * z
    y = corner(blocks, place + ky, shear.per_z) - shear.origin[1] - shear.slope[1] * z
    return x, y, z


@inline
def leaving(blocks, place, origin, inverse, slack):
    """Progress at which the ray leaves the slab of one triangle on one axis, with the very roundings of `passage`."""
    a = (corner(blocks, place, origin) - origin) * inverse
    b = (corner(blocks, place + 12, origin) - origin) * inverse
    c = (corner(blocks, place + 24, origin) - origin) * inverse
    return max(a, max(b, c)) + slack


@apart
def weights_of(shear, blocks, place):
    """The three edge functions of one triangle with exact signs, whether the ray crosses it, twice, and t.

    `closed` counts edges; `half_open` gives each to one side.
    """
    ax, ay, az = sheared_corner(blocks, place, shear)
    bx, by, bz = sheared_corner(blocks, place + 12, shear)
    cx, cy, cz = sheared_corner(blocks, place + 24, shear)
    u = edge(cx, cy, bx, by)
    v = edge(ax, ay, cx, cy)
    w = edge(bx, by, ax, ay)
    total = u + v + w
    closed = total != 0.0 and ((u >= 0.0 and v >= 0.0 and w >= 0.0) or (u <= 0.0 and v <= 0.0 and w <= 0.0))
    half_open = False
    if closed:
        su = side(u, cx, cy, bx, by)
        sv = side(v, ax, ay, cx, cy)
        sw = side(w, bx, by, ax, ay)
        half_open = (su > 0.0 and sv > 0.0 and sw > 0.0) or (su < 0.0 and sv < 0.0 and sw < 0.0)
    time = shear.per_z
    if closed:
        kx, ky, _ = shear.rows
        leave_x = leaving(blocks, place + kx, shear.origin[0], shear.per_x, shear.slack_x)
        leave_y = leaving(blocks, place + ky, shear.origin[1], shear.per_y, shear.slack_y)
        time = number_like(time, (u * f8(az) + v * f8(bz) + w * f8(cz)) / total * f8(shear.per_z))
        time = min(time, min(leave_x, leave_y) * abs(shear.per_z))
    return (u, v, w), closed, half_open, time


@inline
def settle(shear, motion, blocks, place, sides, in_doubt, half_open, found):
    """Whether the candidate, the triangle that begins in that place, is a hit; its t, final to the last bit; weights.

    `found` is what `cross_block` tells of it: t, the t at its own box, the weights of the second and third vertex, and
    the sum of all three.
    """
    time, enter, v, w, total = found
    if in_doubt:
        weights, closed, moved, time = weights_of(shear, blocks, place)
        whole = weights[0] + weights[1] + weights[2]
        kept = sides[0] if whole > 0.0 else sides[1]
        if kept == 0 or not (moved if half_open else closed):
            return False, time, (v, w, total)
        time = max(time, enter)
        v, w = number_like(time, weights[1] / whole), number_like(time, weights[2] / whole)
        total = number_like(time, 1.0)
    if motion.shift != 0.0:
        time = number_like(time, f8(time) + motion.shift)
    return True, time, (v, w, total)
