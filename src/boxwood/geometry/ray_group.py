"""Sixteen rays made ready together, and whether they are a bundle.

What `make_ready` works out for one ray is worked out here for sixteen by vector instructions, bit for bit the same. A
bundle is a group whose rays go much the same way: one largest axis, the same signs on all axes, and mostly little way
between one ray and the next.
"""

from __future__ import annotations

import numpy as np

from .._jit import inline
from .._simd import (
    count_bits,
    equal,
    greater_equal,
    greatest_of,
    lanes_as,
    least_of,
    less,
    load16,
    load_columns16,
    maximum,
    minimum,
    number_like,
    shifted,
    smallest_like,
    splat16,
    store,
    where_greater,
)
from .bundle_box import (
    ALL_LANES,
    ENTRY,
    ENTRY_PLACE,
    EXIT,
    EXIT_PLACE,
    GREATEST_INVERSE,
    INVERSE,
    KIND,
    LANES,
    LEAST,
    LEAST_INVERSE,
    LEAST_START,
    LIMITS,
    MOST,
    ORIGIN,
    PADS,
    PER,
    PLACE,
    SLACK,
    SLOPE,
    START,
)
from .ray import FARTHEST, FASTEST, LARGEST_INVERSE, NEAR, PAD, STEPS, Motion, Shear
from .ray_box import BoxRay

f4 = np.float32
f8 = np.float64

CLOSE = f4(0.01)
"""Two rays are close where they come no further apart than so many radii, as far as the tree reaches."""

LEAPS = 5
"""How many rays of a bundle need not be close to the one before. Both were measured: beyond, rays are quicker alone."""


@inline
def absolute(vector, zeros):
    return maximum(vector, zeros - vector)


@inline
def range_of(ranges, r):
    """One end of the ranges of all rays: each its own, or one for all."""
    return load16(ranges, r) if ranges.shape[0] > 1 else splat16(ranges[0])


@inline
def in_order(x, y, z, size_x, size_y, size_z, along, zeros):
    """Of each lane the numbers on its kx, ky and kz axis: see `make_ready`."""
    size = maximum(size_x, size_y)
    first = where_greater(size_z, size, x, where_greater(size_y, size_x, z, y))
    second = where_greater(size_z, size, y, where_greater(size_y, size_x, x, z))
    third = where_greater(size_z, size, z, where_greater(size_y, size_x, y, x))
    return where_greater(zeros, along, second, first), where_greater(zeros, along, first, second), third


@inline
def make_group(group, frame, origins, directions, t_min, t_max, r):
    """Make the rays from r on ready; the lanes for which that is right, which are those that begin near the tree."""
    rays, boxes = group.rays, group.boxes
    zero, single = number_like(directions[r, 0], 0.0), f4(0.0)
    zeros, singles, doubles = splat16(zero), splat16(single), splat16(0.0)
    dx, dy, dz = load_columns16(directions, r)
    ox, oy, oz = load_columns16(origins, r)
    size_x, size_y, size_z = absolute(dx, zeros), absolute(dy, zeros), absolute(dz, zeros)
    largest = maximum(maximum(size_x, size_y), size_z)
    along = where_greater(size_z, maximum(size_x, size_y), dz, where_greater(size_y, size_x, dy, dx))

    scale = splat16(f8(frame.scale))
    sx, sy, sz = lanes_as(ox, 0.0) * scale, lanes_as(oy, 0.0) * scale, lanes_as(oz, 0.0) * scale
    cx, cy, cz = frame.center
    px, py, pz = sx - splat16(cx), sy - splat16(cy), sz - splat16(cz)
    distance = maximum(maximum(absolute(px, doubles), absolute(py, doubles)), absolute(pz, doubles))
    speed = lanes_as(largest, 0.0) * scale
    slack = splat16(FARTHEST * PAD) + splat16(STEPS * smallest_like(zero)) * speed
    plain = less(distance, splat16(NEAR)) & less(speed, splat16(FASTEST))

    pad = lanes_as(splat16(PAD) * (distance + splat16(1.0)), single)
    inverses = inverse_of(largest, dx), inverse_of(largest, dy), inverse_of(largest, dz)
    places = lanes_as(px, single), lanes_as(py, single), lanes_as(pz, single)
    for axis in range(3):
        group.ahead[axis] = greater_equal(inverses[axis], singles)
        at_origin = (singles - places[axis]) * inverses[axis]
        more = pad * absolute(inverses[axis], singles)
        store(boxes, PLACE + LANES * axis, places[axis])
        store(boxes, INVERSE + LANES * axis, inverses[axis])
        store(boxes, ENTRY + LANES * axis, at_origin - more)
        store(boxes, EXIT + LANES * axis, at_origin + more)
    store(boxes, PADS, pad)
    least, most = range_of(t_min, r), range_of(t_max, r)
    store(group.speeds, 0, speed)
    store(boxes, START, lanes_as(lanes_as(least, 0.0) * speed + (slack - splat16(2.0) * slack), single))
    store(boxes, LIMITS, lanes_as(lanes_as(most, 0.0) * speed + slack, single))
    store(rays, LEAST, least); store(rays, MOST, most)

    # The kind is kz, and 3 more for a ray that goes backward along it.
    kind = where_greater(size_z, maximum(size_x, size_y), splat16(number_like(zero, 2.0)),
                         where_greater(size_y, size_x, splat16(number_like(zero, 1.0)), zeros))  # fmt: skip
    kind = where_greater(zeros, along, kind + splat16(number_like(zero, 3.0)), kind)
    store(boxes, KIND, lanes_as(kind, single))
    x, y, z = in_order(lanes_as(sx, zero), lanes_as(sy, zero), lanes_as(sz, zero), size_x, size_y, size_z, along, zeros)
    store(rays, ORIGIN, x); store(rays, ORIGIN + LANES, y); store(rays, ORIGIN + 2 * LANES, z)
    x, y, _ = in_order(dx, dy, dz, size_x, size_y, size_z, along, zeros)
    store(rays, SLOPE, x / along); store(rays, SLOPE + LANES, y / along)
    ix, iy, iz = lanes_as(inverses[0], zero), lanes_as(inverses[1], zero), lanes_as(inverses[2], zero)
    x, y, z = in_order(ix, iy, iz, size_x, size_y, size_z, along, zeros)
    half = lanes_as(splat16(0.5) * lanes_as(pad, 0.0), zero)
    store(rays, PER, x); store(rays, PER + LANES, y)
    store(rays, PER + 2 * LANES, z * lanes_as(splat16(1.0 / frame.scale) / lanes_as(largest, 0.0), zero))
    store(rays, SLACK, absolute(x, zeros) * half); store(rays, SLACK + LANES, absolute(y, zeros) * half)
    return plain


@inline
def inverse_of(largest, component):
    inverse = lanes_as(largest / component, f4(0.0))
    return maximum(minimum(inverse, splat16(LARGEST_INVERSE)), splat16(-LARGEST_INVERSE))


@inline
def is_bundle(group):
    """Whether the rays of a group that is ready in all lanes go much the same way; if so, what bounds all is added."""
    rays, boxes, rows = group.rays, group.boxes, group.rows
    for axis in range(3):
        if group.ahead[axis] != 0 and group.ahead[axis] != ALL_LANES:
            return False
    if equal(load16(boxes, KIND), splat16(boxes[KIND])) != ALL_LANES:
        return False
    singles, zeros = splat16(f4(0.0)), splat16(number_like(rays[0], 0.0))
    pad, apart = load16(boxes, PADS), singles
    for axis in range(3):
        place = load16(boxes, PLACE + LANES * axis)
        apart = maximum(apart, absolute(place - shifted(place), singles))
    x, y = load16(rays, SLOPE), load16(rays, SLOPE + LANES)
    turn = maximum(absolute(x - shifted(x), zeros), absolute(y - shifted(y), zeros))
    reach = pad * splat16(f4(1.0 / PAD))  # the distance to the far side of the tree
    apart = apart + lanes_as(turn, f4(0.0)) * reach
    if count_bits(less(apart, splat16(CLOSE))) < LANES - LEAPS:
        return False

    for axis in range(3):
        place, inverse = load16(boxes, PLACE + LANES * axis), load16(boxes, INVERSE + LANES * axis)
        low, high = least_of(place - pad), greatest_of(place + pad)
        ahead = group.ahead[axis] != 0
        boxes[ENTRY_PLACE + axis] = high if ahead else low
        boxes[EXIT_PLACE + axis] = low if ahead else high
        boxes[LEAST_INVERSE + axis], boxes[GREATEST_INVERSE + axis] = least_of(inverse), greatest_of(inverse)
        rows[axis] = row_of(group, axis, np.intp(0))
    boxes[LEAST_START] = least_of(load16(boxes, START))
    rows[3], rows[4], rows[5] = axes_of(np.intp(boxes[KIND]))
    return True


@inline
def row_of(group, axis, lane):
    """The row of a node where the lane's ray enters the children on that axis."""
    ahead = (group.ahead[axis] >> np.uint32(lane)) & np.uint32(1) != 0
    return 8 * axis if ahead else 8 * axis + 24


@inline
def axes_of(kind):
    """Offsets of the rows of x, y and z, as a ray of that kind sees them, in a block of triangles."""
    kz = kind - 3 if kind >= 3 else kind
    kx = kz + 1 if kz < 2 else kz - 2
    ky = 3 - kz - kx
    return (4 * ky, 4 * kx, 4 * kz) if kind >= 3 else (4 * kx, 4 * ky, 4 * kz)


@inline
def motion_of_lane(group, lane):
    speed = group.speeds[lane]
    return Motion(0.0, speed, FARTHEST * PAD + STEPS * smallest_like(group.rays[0]) * speed)


@inline
def shear_of_lane(group, lane):
    """The ray in that lane as `make_ready` gives it."""
    s = group.rays
    return Shear(
        axes_of(np.intp(group.boxes[KIND + lane])),
        (s[ORIGIN + lane], s[ORIGIN + LANES + lane], s[ORIGIN + 2 * LANES + lane]),
        (s[SLOPE + lane], s[SLOPE + LANES + lane]),
        s[PER + lane], s[PER + LANES + lane], s[PER + 2 * LANES + lane], s[SLACK + lane], s[SLACK + LANES + lane],
    )  # fmt: skip


@inline
def box_of_lane(group, lane):
    """And as boxes see it."""
    s = group.boxes
    return BoxRay(
        (s[INVERSE + lane], s[INVERSE + LANES + lane], s[INVERSE + 2 * LANES + lane]),
        (s[ENTRY + lane], s[ENTRY + LANES + lane], s[ENTRY + 2 * LANES + lane]),
        (s[EXIT + lane], s[EXIT + LANES + lane], s[EXIT + 2 * LANES + lane]),
        s[START + lane],
        (row_of(group, np.intp(0), lane), row_of(group, np.intp(1), lane), row_of(group, np.intp(2), lane)),
    )
