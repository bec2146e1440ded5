"""Sixteen rays against the eight boxes of a node: all at once first, then with each box that is left.

The rays' places and inverse directions are bounded by intervals, and one test of the intervals finds the few children
that any ray can reach, the nearest first (Boulos, Wald, Shirley 2006). A box that no ray enters is then left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import inline
from .._simd import first_bit, fma, less_equal, load8, load16, maximum, minimum, splat8, spread8, spread16
from ..descend import reach

LANES = 16
ALL_LANES = np.uint32(2**LANES - 1)

# Where the rows of `Group.boxes` begin: one number for each ray, three rows where there is one for each axis.
INVERSE, ENTRY, EXIT, PLACE, PADS, START, LIMITS, KIND, INTERVALS = (
    LANES * row for row in (0, 3, 6, 9, 12, 13, 14, 15, 16)
)
LEAST_INVERSE, GREATEST_INVERSE, ENTRY_PLACE, EXIT_PLACE, LEAST_START, BOXES = (
    INTERVALS + place for place in (0, 3, 6, 9, 12, 13)
)

# The rows of `Group.rays`.
ORIGIN, SLOPE, PER, SLACK, LEAST, MOST, RAYS = (LANES * row for row in (0, 3, 5, 8, 10, 11, 12))


class Group(NamedTuple):
    """Sixteen rays made ready by `ray_group`, in rows with a lane for each; a bundle, if they go much the same way."""

    boxes: np.ndarray  # float32 (BOXES,): what BoxRay has and is made of, the limit, the kind; a bundle's intervals
    rays: np.ndarray  # computing dtype (RAYS,): what Shear has, t_min, the furthest t that counts
    speeds: np.ndarray  # float64 (LANES,): progress per t
    ahead: np.ndarray  # uint32 (3,): for each axis, the lanes whose inverse is not negative
    rows: np.ndarray  # int64 (6,): a bundle's, as of BoxRay and as of Shear


@reach.implemented_for(Group)
def entries(bundle, nodes, node, limit):
    """A progress before which no ray enters each box, and the bits of the boxes that some ray enters in time."""
    boxes, rows = bundle.boxes, bundle.rows
    enter, leave = spread8(boxes, LEAST_START), splat8(limit)
    for axis in range(3):
        row = node + rows[axis]
        least, greatest = spread8(boxes, LEAST_INVERSE + axis), spread8(boxes, GREATEST_INVERSE + axis)
        way = load8(nodes, row) - spread8(boxes, ENTRY_PLACE + axis)
        enter = maximum(enter, minimum(way * least, way * greatest))
        way = load8(nodes, 2 * node + 16 * axis + 24 - row) - spread8(boxes, EXIT_PLACE + axis)
        leave = minimum(leave, maximum(way * least, way * greatest))
    within = left = less_equal(enter, leave)
    while left != 0:
        others = np.uint32(left & (left - np.uint32(1)))
        if entering(bundle, nodes, node, first_bit(left)) == 0:
            within = np.uint32(within & ~(left ^ others))
        left = others
    return enter, within


@inline
def entering(bundle, nodes, node, child):
    """The lanes whose ray enters that box within its own limit."""
    boxes, rows = bundle.boxes, bundle.rows
    enter, leave = load16(boxes, START), load16(boxes, LIMITS)
    for axis in range(3):
        row, inverse = node + rows[axis] + child, load16(boxes, INVERSE + LANES * axis)
        enter = maximum(enter, fma(spread16(nodes, row), inverse, load16(boxes, ENTRY + LANES * axis)))
        row = 2 * (node + child) + 16 * axis + 24 - row
        leave = minimum(leave, fma(spread16(nodes, row), inverse, load16(boxes, EXIT + LANES * axis)))
    return less_equal(enter, leave)
