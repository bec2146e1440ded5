"""Boxes of two trees, each in a space of its own, as the walk down both sees them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import inline
from ..descend_pairs import box_at, carried, carry_children, turn_to, turned, with_itself
from ..layout import EXTENT, FRAME_CENTER, FRAME_SCALE
from .box_box import rounded_out

f8 = np.float64


class Between(NamedTuple):
    """Two trees and their frames."""

    frame: np.ndarray
    other: np.ndarray


@turned.implemented_for(Between)
def _(relation):
    return False


@with_itself.implemented_for(Between)
def _(relation):
    return False


@turn_to.implemented_for(Between)
def _(relation, row):
    pass


@inline
def side(x, way, frame, other, axis):
    """A coordinate of one tree in the space of the other, never less than it is where `way` is 1, never more for -1."""
    center = frame[FRAME_CENTER + axis]
    pad = (abs(center) + EXTENT) * 2.0**-50
    world = ((f8(x) * way + pad) + center * way) / frame[FRAME_SCALE]
    return rounded_out(world * other[FRAME_SCALE] - other[FRAME_CENTER + axis] * way)


@inline
def moved(frame, other, low, high):
    a, b = side(low[0], -1.0, frame, other, 0), side(low[1], -1.0, frame, other, 1)
    c = side(low[2], -1.0, frame, other, 2)
    x, y = side(high[0], 1.0, frame, other, 0), side(high[1], 1.0, frame, other, 1)
    z = side(high[2], 1.0, frame, other, 2)
    return (-a, -b, -c), (x, y, z)


@carried.implemented_for(Between)
def _(relation, back, low, high):
    if back:
        return moved(relation.other, relation.frame, low, high)
    return moved(relation.frame, relation.other, low, high)


@carry_children.implemented_for(Between)
def _(relation, back, nodes, node, boxes, at):
    for child in range(8):
        if nodes[node + child] <= nodes[node + child + 24]:
            low, high = box_at(nodes, node + child)
            low, high = carried(relation, back, low, high)
            for axis in range(3):
                boxes[at + child + 8 * axis], boxes[at + child + 24 + 8 * axis] = low[axis], high[axis]
