"""A set of planes against boxes: a box is out when all of it lies on the outer side of one of the planes.

The corner that lies farthest inside decides. In a block that is a x + b y + c z + d in float64 and in this order,
nothing fused; for the boxes of nodes it is in float32, erring only towards inside.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._simd import fma, greater_equal, less_equal, load8, splat4, splat8
from ..descend import reach
from ..layout import FRAME_CENTER, FRAME_SCALE
from .box_blocks import row_of
from .regions import aim, inside, touches

f4 = np.float32
f8 = np.float64

CERTAIN = 100.0
"""A plane that far from the tree's centre, in radii, is on one side of it."""

LARGEST = 1e306
"""Sums of numbers up to this are numbers."""


class Frusta(NamedTuple):
    """Sets of planes that are asked about."""

    planes: np.ndarray  # (n, k, 4) float64
    current: np.ndarray  # (5 k,) float32: the planes in the tree's space, erring inwards; then d, erring outwards


@aim.implemented_for(Frusta)
def _(frusta, frame, r):
    planes, current, scale = frusta.planes, frusta.current, frame[FRAME_SCALE]
    cx, cy, cz = abs(frame[FRAME_CENTER]), abs(frame[FRAME_CENTER + 1]), abs(frame[FRAME_CENTER + 2])
    numbers = (max(max(cx, cy), cz) + 4.0) / scale < LARGEST
    for k in range(planes.shape[1]):
        a, b, c, d = planes[r, k, 0], planes[r, k, 1], planes[r, k, 2], planes[r, k, 3]
        largest = max(max(abs(a), abs(b)), abs(c))
        a, b, c = a / largest, b / largest, c / largest
        x, y, z = a * frame[FRAME_CENTER], b * frame[FRAME_CENTER + 1], c * frame[FRAME_CENTER + 2]
        way = d / largest * scale
        error = (abs(x) + abs(y) + abs(z) + abs(way)) * 2.0**-48 + 2.0**-17
        offset = x + y + z + way
        # More than a few radii away, only its sign counts; what overflows cannot be told, and leaves out nothing.
        most = max(min(offset + error, CERTAIN), -CERTAIN) if offset + error == offset + error else CERTAIN
        certain = numbers and abs(d) < LARGEST and offset - error == offset - error
        least = max(min(offset - error, CERTAIN), -CERTAIN) if certain else -CERTAIN
        current[4 * k], current[4 * k + 1], current[4 * k + 2] = f4(a), f4(b), f4(c)
        current[4 * k + 3], current[4 * planes.shape[1] + k] = f4(most), f4(least)
    return f4(0.0)


@reach.implemented_for(Frusta)
def _(frusta, nodes, node, limit):
    c, zero = frusta.current, splat8(f4(0.0))
    within = less_equal(load8(nodes, node), load8(nodes, node + 24))
    for k in range(0, 4 * frusta.planes.shape[1], 4):
        x = node + 24 if c[k] >= f4(0.0) else node
        y = node + 32 if c[k + 1] >= f4(0.0) else node + 8
        value = fma(load8(nodes, x), splat8(c[k]), splat8(c[k + 3]))
        value = fma(load8(nodes, y), splat8(c[k + 1]), value)
        if c[k + 2] != f4(0.0):
            z = node + 40 if c[k + 2] >= f4(0.0) else node + 16
            value = fma(load8(nodes, z), splat8(c[k + 2]), value)
        within &= greater_equal(value, zero)
    return zero, within


@touches.implemented_for(Frusta)
def _(frusta, r, blocks, block, shape):
    planes, upper = frusta.planes, shape.upper
    within = less_equal(row_of(blocks, block), row_of(blocks, block))  # not padding
    for k in range(planes.shape[1]):
        a, b, c = planes[r, k, 0], planes[r, k, 1], planes[r, k, 2]
        x = row_of(blocks, block + upper if a >= 0.0 else block)
        y = row_of(blocks, block + 4 + upper if b >= 0.0 else block + 4)
        value = x * splat4(a) + y * splat4(b)
        if not shape.flat:
            value = value + row_of(blocks, block + 8 + upper if c >= 0.0 else block + 8) * splat4(c)
        within &= greater_equal(value + splat4(planes[r, k, 3]), splat4(f8(0.0)))
    return within


@inside.implemented_for(Frusta)
def _(frusta, frame, r, nodes, place, flat):
    """By the corner that lies least inside of each plane."""
    c, number = frusta.current, frusta.planes.shape[1]
    for k in range(number):
        a, b, z = c[4 * k], c[4 * k + 1], c[4 * k + 2]
        value = c[4 * number + k]
        value += a * nodes[place if a >= f4(0.0) else place + 24]
        value += b * nodes[place + 8 if b >= f4(0.0) else place + 32]
        if z != f4(0.0):
            value += z * nodes[place + 16 if z >= f4(0.0) else place + 40]
        if not value >= f4(0.0):
            return False
    return True
