"""A box against the eight boxes of a node, in float32 and rounded outward; and against the boxes of a block, exactly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import inline
from .._simd import less_equal, splat4, splat8
from ..descend import overlaps, reach
from ..layout import FRAME_CENTER, FRAME_SCALE
from .box_blocks import row_of
from .regions import aim, inside, touches

f4 = np.float32
f8 = np.float64

LARGEST = f4(3.4e38)


class Boxes(NamedTuple):
    """Boxes that are asked about, and room for the one at hand as nodes see it."""

    lower: np.ndarray  # (n, 3) float64
    upper: np.ndarray
    current: np.ndarray  # (6,) float32: lower and upper corner in the tree's space


@inline
def rounded_out(x):
    """A finite float32 that is not below the float64 x, unless x is larger than any box of a tree."""
    return min(f4(x + abs(x) * 2.0**-22 + 1e-44), LARGEST)


@aim.implemented_for(Boxes)
def _(boxes, frame, r):
    for axis in range(3):
        center, scale = frame[FRAME_CENTER + axis], frame[FRAME_SCALE]
        boxes.current[axis] = -rounded_out(center - boxes.lower[r, axis] * scale)
        boxes.current[3 + axis] = rounded_out(boxes.upper[r, axis] * scale - center)
    return f4(0.0)


@reach.implemented_for(Boxes)
def _(boxes, nodes, node, limit):
    c = boxes.current
    return splat8(f4(0.0)), overlaps(nodes, node, (c[0], c[1], c[2]), (c[3], c[4], c[5]))


@inline
def block_overlaps(blocks, block, shape, low, high):
    """Likewise the boxes of a block, in float64: exact."""
    upper = block + shape.upper
    bits = (
        less_equal(row_of(blocks, block), splat4(high[0]))
        & less_equal(splat4(low[0]), row_of(blocks, upper))
        & less_equal(row_of(blocks, block + 4), splat4(high[1]))
        & less_equal(splat4(low[1]), row_of(blocks, upper + 4))
    )
    if not shape.flat:
        bits &= less_equal(row_of(blocks, block + 8), splat4(high[2]))
        bits &= less_equal(splat4(low[2]), row_of(blocks, upper + 8))
    return bits


@touches.implemented_for(Boxes)
def _(boxes, r, blocks, block, shape):
    low, high = boxes.lower, boxes.upper
    return block_overlaps(
        blocks, block, shape, (low[r, 0], low[r, 1], low[r, 2]), (high[r, 0], high[r, 1], high[r, 2])
    )


@inline
def strictly_within(boxes, frame, r, nodes, place, axis):
    """Coordinates came to the tree's space by this arithmetic, which is monotone, before they were rounded outward.

    So what is less there was less before.
    """
    center, scale = frame[FRAME_CENTER + axis], frame[FRAME_SCALE]
    low, high = boxes.lower[r, axis] * scale - center, boxes.upper[r, axis] * scale - center
    return low < f8(nodes[place + 8 * axis]) and f8(nodes[place + 24 + 8 * axis]) < high


@inside.implemented_for(Boxes)
def _(boxes, frame, r, nodes, place, flat):
    return (
        strictly_within(boxes, frame, r, nodes, place, 0)
        and strictly_within(boxes, frame, r, nodes, place, 1)
        and (flat or strictly_within(boxes, frame, r, nodes, place, 2))
    )
