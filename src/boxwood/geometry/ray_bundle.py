"""Sixteen rays made ready together, where they go much the same way.

A bundle has one largest axis, the same signs on all axes, origins near the tree, and mostly little way between one ray
and the next. The constants of its rays are those that `make_ready` gives each alone, bit for bit.
"""

from __future__ import annotations

import numpy as np

from .._jit import inline
from .._simd import (
    count_bits,
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
    splat16,
    store,
)
from .bundle_box import (
    ALL_LANES,
    DIRECTION,
    ENTRY,
    ENTRY_PLACE,
    EXIT,
    EXIT_PLACE,
    GREATEST_INVERSE,
    INVERSE,
    LANES,
    LEAST,
    LEAST_INVERSE,
    LEAST_START,
    LIMITS,
    MOST,
    ORIGIN,
    PER,
    SLACK,
    SLOPE,
    START,
)
from .ray import FARTHEST, LARGEST_INVERSE, NEAR, PAD, Motion, Shear

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
def make_bundle(bundle, frame, origins, directions, t_min, t_max, r):
    """Make the rays from r on ready; whether they are a bundle."""
    rays, boxes, rows = bundle.rays, bundle.boxes, bundle.rows
    zero, single = number_like(directions[r, 0], 0.0), f4(0.0)
    zeros, singles, doubles = splat16(zero), splat16(single), splat16(0.0)

    # The axes, as `make_ready` chooses them; where two components are equally large, rays are no bundle.
    given = load_columns16(directions, r)
    kz, largest = 0, abs(directions[r, 0])
    for axis in range(3):
        store(rays, DIRECTION + LANES * axis, given[axis])
        if abs(directions[r, axis]) > largest:
            kz, largest = axis, abs(directions[r, axis])
    kx = kz + 1 if kz < 2 else 0
    ky = kx + 1 if kx < 2 else 0
    along = load16(rays, DIRECTION + LANES * kz)
    backward = less(along, zeros)
    if backward != 0:
        kx, ky = ky, kx
    across_x, across_y = load16(rays, DIRECTION + LANES * kx), load16(rays, DIRECTION + LANES * ky)
    largest_of = absolute(along, zeros)
    if less(maximum(absolute(across_x, zeros), absolute(across_y, zeros)), largest_of) != ALL_LANES:
        return False
    if backward != 0 and backward != ALL_LANES:
        return False

    scale, distance = splat16(f8(frame.scale)), doubles
    start = load_columns16(origins, r)
    for axis in range(3):
        scaled = lanes_as(start[axis], 0.0) * scale
        store(rays, ORIGIN + LANES * axis, lanes_as(scaled, zero))
        place = scaled - splat16(frame.center[axis])
        store(boxes, ENTRY + LANES * axis, lanes_as(place, single))
        distance = maximum(distance, absolute(place, doubles))
    if less(distance, splat16(NEAR)) != ALL_LANES:
        return False

    # What boxes need, and in between how far the rays come apart.
    pad = lanes_as(splat16(PAD) * (distance + splat16(1.0)), single)
    apart = singles
    for axis in range(3):
        inverse = lanes_as(largest_of / given[axis], single)
        inverse = maximum(minimum(inverse, splat16(LARGEST_INVERSE)), splat16(-LARGEST_INVERSE))
        ahead = greater_equal(inverse, singles)
        if ahead != 0 and ahead != ALL_LANES:
            return False
        rows[axis] = 8 * axis if ahead != 0 else 8 * axis + 24
        place = load16(boxes, ENTRY + LANES * axis)
        apart = maximum(apart, absolute(place - shifted(place), singles))
        low, high = least_of(place - pad), greatest_of(place + pad)
        boxes[ENTRY_PLACE + axis] = high if ahead != 0 else low
        boxes[EXIT_PLACE + axis] = low if ahead != 0 else high
        boxes[LEAST_INVERSE + axis], boxes[GREATEST_INVERSE + axis] = least_of(inverse), greatest_of(inverse)
        at_origin = (singles - place) * inverse
        more = pad * absolute(inverse, singles)
        store(boxes, INVERSE + LANES * axis, inverse)
        store(boxes, ENTRY + LANES * axis, at_origin - more)
        store(boxes, EXIT + LANES * axis, at_origin + more)
    slope_x, slope_y = across_x / along, across_y / along
    turn = maximum(absolute(slope_x - shifted(slope_x), zeros), absolute(slope_y - shifted(slope_y), zeros))
    apart = apart + lanes_as(turn, single) * lanes_as(distance + splat16(1.0), single)
    if count_bits(less(apart, splat16(CLOSE))) < LANES - LEAPS:
        return False

    speed, slack = lanes_as(largest_of, 0.0) * scale, FARTHEST * PAD
    if less(speed, splat16(np.inf)) != ALL_LANES:
        return False
    least, most = range_of(t_min, r), range_of(t_max, r)
    begin = lanes_as(lanes_as(least, 0.0) * speed + splat16(slack - 2.0 * slack), single)
    store(bundle.speeds, 0, speed)
    store(boxes, START, begin)
    boxes[LEAST_START] = least_of(begin)
    store(boxes, LIMITS, lanes_as(lanes_as(most, 0.0) * speed + splat16(slack), single))

    # What triangles need, in the order of their axes.
    rows[3], rows[4], rows[5] = 4 * kx, 4 * ky, 4 * kz
    x, y, z = load16(rays, ORIGIN + LANES * kx), load16(rays, ORIGIN + LANES * ky), load16(rays, ORIGIN + LANES * kz)
    store(rays, ORIGIN, x); store(rays, ORIGIN + LANES, y); store(rays, ORIGIN + 2 * LANES, z)
    store(rays, SLOPE, slope_x); store(rays, SLOPE + LANES, slope_y)
    per_x = lanes_as(load16(boxes, INVERSE + LANES * kx), zero)
    per_y = lanes_as(load16(boxes, INVERSE + LANES * ky), zero)
    per_z = lanes_as(load16(boxes, INVERSE + LANES * kz), zero) * lanes_as(splat16(1.0) / speed, zero)
    store(rays, PER, per_x); store(rays, PER + LANES, per_y); store(rays, PER + 2 * LANES, per_z)
    half = lanes_as(splat16(0.5) * lanes_as(pad, 0.0), zero)
    store(rays, SLACK, absolute(per_x, zeros) * half); store(rays, SLACK + LANES, absolute(per_y, zeros) * half)
    store(rays, LEAST, least); store(rays, MOST, most)
    return True


@inline
def motion_of_lane(bundle, lane):
    return Motion(0.0, bundle.speeds[lane], FARTHEST * PAD)


@inline
def shear_of_lane(bundle, lane):
    """The ray in that lane as `make_ready` gives it."""
    rows, s = bundle.rows, bundle.rays
    return Shear(
        (rows[3], rows[4], rows[5]),
        (s[ORIGIN + lane], s[ORIGIN + LANES + lane], s[ORIGIN + 2 * LANES + lane]),
        (s[SLOPE + lane], s[SLOPE + LANES + lane]),
        s[PER + lane], s[PER + LANES + lane], s[PER + 2 * LANES + lane], s[SLACK + lane], s[SLACK + LANES + lane],
    )  # fmt: skip
