"""A box that moves along a line, against boxes; a ray is a point that moves.

Against a block it is the slab test (Kay, Kajiya 1986) in float64: on each axis t is (bound - side) / direction, rounded
twice and not helped by reciprocals, and an axis along which nothing moves only tells whether the box is met at all.
Against a node it is the test of a ray whose margin is wider by half the box.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import inline
from .._simd import less_equal, maximum, minimum, splat4, store
from ..descend import reach
from ..layout import FRAME_CENTER, FRAME_SCALE
from .box_blocks import row_of
from .ray import frame_of, limit_of, make_ready
from .ray_box import BoxRay

f4 = np.float32
f8 = np.float64

WIDEST = 4.0
"""Half boxes up to so many tree radii widen the margin; larger ones are met everywhere."""

LARGEST = f4(3.4e38)

# Numbers for the box at hand: those of BoxRay.
INVERSE, CLOSE, AWAY, START = 0, 3, 6, 9


class Moving(NamedTuple):
    """Boxes that are asked about, and how they move."""

    lower: np.ndarray  # (n, 3) float64
    upper: np.ndarray
    direction: np.ndarray
    t_min: np.ndarray  # (n,), or (1,) for all
    t_max: np.ndarray
    current: np.ndarray  # (10,) float32
    rows: np.ndarray  # (3,) int64


@inline
def keep(moving, ray, wider):
    """Set the numbers of a ray with a margin wider by so much on each axis."""
    current, box = moving.current, ray.box
    for axis in range(3):
        more = f4(wider[axis]) * abs(box.inverse[axis])
        current[INVERSE + axis] = box.inverse[axis]
        current[CLOSE + axis], current[AWAY + axis] = box.near[axis] - more, box.far[axis] + more
        moving.rows[axis] = box.rows[axis]
    current[START] = box.start


@inline
def keep_all(moving):
    """Set numbers by which every box is met, those that are missing excepted."""
    for axis in range(3):
        moving.current[INVERSE + axis] = f4(1e-30)
        moving.current[CLOSE + axis], moving.current[AWAY + axis] = f4(-1e30), f4(1e30)
        moving.rows[axis] = 8 * axis
    moving.current[START] = -LARGEST


@inline
def turn_to(moving, frame, r, step, axes):
    """Set the numbers of box r; how t belongs to progress, whether it can meet the tree, and whether all of it is met.

    `step` is the smallest number that a t can be told in, and `axes` is room for nine.
    """
    low, high, along, scale = moving.lower, moving.upper, moving.direction, frame[FRAME_SCALE]
    cx, cy, cz = frame[FRAME_CENTER], frame[FRAME_CENTER + 1], frame[FRAME_CENTER + 2]
    x = low[r, 0] * 0.5 + high[r, 0] * 0.5
    y = low[r, 1] * 0.5 + high[r, 1] * 0.5
    z = low[r, 2] * 0.5 + high[r, 2] * 0.5
    hx, hy = (high[r, 0] * 0.5 - low[r, 0] * 0.5) * scale, (high[r, 1] * 0.5 - low[r, 1] * 0.5) * scale
    hz = (high[r, 2] * 0.5 - low[r, 2] * 0.5) * scale
    away = max(max(abs(x * scale - cx), abs(y * scale - cy)), abs(z * scale - cz))
    rounding = away * 2.0**-50  # of the exact test; then of the middle of the box, and of where that is moved to
    rounding += (max(max(abs(x), abs(y)), abs(z)) * scale + max(max(abs(cx), abs(cy)), abs(cz)) + 32.0) * 2.0**-51
    largest = max(max(hx, hy), hz) + rounding
    everywhere = not largest <= WIDEST
    dx, dy, dz = along[r, 0], along[r, 1], along[r, 2]
    still = dx == 0.0 and dy == 0.0 and dz == 0.0
    if everywhere:  # nothing that follows counts, but it shall be numbers
        x, y, z = cx / scale, cy / scale, cz / scale
    if everywhere or still:
        dx, dy, dz = f8(1.0), f8(0.0), f8(0.0)
    least = moving.t_min[r if moving.t_min.shape[0] > 1 else 0]
    ray, reachable = make_ready(frame_of(frame), (x, y, z), (dx, dy, dz), least, step, axes)
    if everywhere:
        keep_all(moving)
    elif largest < 2.0**-30:
        keep(moving, ray, (0.0, 0.0, 0.0))
    else:
        more = rounding + (min(away, 17.0) + 1.0 + largest) * 2.0**-20
        keep(moving, ray, (hx + more, hy + more, hz + more))
    return ray.motion, reachable or everywhere, everywhere, still


@inline
def bound_of(motion, everywhere, still, t):
    """The limit for nodes that goes with a t."""
    if everywhere:
        return LARGEST
    return limit_of(motion, 0.0 if still else t)


@reach.implemented_for(Moving)
def _(moving, nodes, node, limit):
    c, rows = moving.current, moving.rows
    ray = BoxRay(
        (c[INVERSE], c[INVERSE + 1], c[INVERSE + 2]),
        (c[CLOSE], c[CLOSE + 1], c[CLOSE + 2]),
        (c[AWAY], c[AWAY + 1], c[AWAY + 2]),
        c[START],
        (np.intp(rows[0]), np.intp(rows[1]), np.intp(rows[2])),
    )
    return reach(ray, nodes, node, limit)


@inline
def slab(low, high, near, far, met, below, above, along):
    """One axis: when the box at hand enters and leaves the four slabs, and which it can meet at all."""
    if along > 0.0:
        per = splat4(along)
        near = maximum((low - splat4(above)) / per, near)
        far = minimum((high - splat4(below)) / per, far)
    elif along < 0.0:
        per = splat4(along)
        near = maximum((high - splat4(below)) / per, near)
        far = minimum((low - splat4(above)) / per, far)
    else:
        met &= less_equal(low, splat4(above)) & less_equal(splat4(below), high)
    return near, far, met


@inline
def meet_block(moving, r, blocks, block, shape, times):
    """The bits of the boxes of a block that box r meets at any t; `times` takes when it enters, and leaves at 4."""
    low, high, along, upper = moving.lower, moving.upper, moving.direction, block + shape.upper
    near, far = splat4(f8(-np.inf)), splat4(f8(np.inf))
    first, last = row_of(blocks, block), row_of(blocks, upper)
    met = less_equal(first, last)  # not padding
    near, far, met = slab(first, last, near, far, met, low[r, 0], high[r, 0], along[r, 0])
    first, last = row_of(blocks, block + 4), row_of(blocks, upper + 4)
    near, far, met = slab(first, last, near, far, met, low[r, 1], high[r, 1], along[r, 1])
    if not shape.flat:
        first, last = row_of(blocks, block + 8), row_of(blocks, upper + 8)
        near, far, met = slab(first, last, near, far, met, low[r, 2], high[r, 2], along[r, 2])
    met &= less_equal(near, far)
    if met != 0:
        store(times, 0, near)
        store(times, 4, far)
    return met
