"""How far a point is from the eight boxes of a node: a lower bound of the square of the distance, in float32.

A point far outside the tree is brought to a cube around it, and what it was moved by on each axis, o, is added again:
(d + o)^2 - o^2 = d (d + 2 o). So the bound is that of the squared distance less the same number for all boxes, and
keeps its digits at any distance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import inline
from .._simd import first_bit, fma, less_equal, load8, maximum, splat4, splat8
from ..descend import reach
from ..layout import FRAME_CENTER, FRAME_SCALE
from .box_blocks import box_at, safe_scale, squares
from .distance import distance, shown, surely_beyond, surely_within
from .regions import aim, inside, touches

f4 = np.float32
f8 = np.float64

NEAR = 4.0
"""Half the cube's edge, in radii of the tree."""

PAD = 2.0**-21
"""More than rounding moves a point within the cube."""

LARGEST = 3.4e38

FARTHEST = 1e150
"""No point is farther from the tree, as far as nodes can tell: squares of more overflow."""

# Numbers for the point at hand: the point plus and minus the pad, 2 o, and the factor of d, all of float32; and in
# float64 the scale for squares, the factor from such squares to the tree's, the sum of o^2, the factor of the bound;
# and for a sphere, the squares up to which a box is in it surely, and perhaps.
ABOVE, BELOW, OFFSET, FACTOR = 0, 3, 6, 9
SCALE, RATIO, FAR, WEIGHT, SURELY, PERHAPS = 0, 1, 2, 3, 4, 5


class Points(NamedTuple):
    """Points that are asked about."""

    points: np.ndarray  # (n, 3) float64
    reaches: np.ndarray  # (n,) float64: how far to look
    current: np.ndarray  # (10,) float32
    factors: np.ndarray  # (4,) float64


class Spheres(NamedTuple):
    """Spheres that are asked about."""

    center: np.ndarray  # (n, 3) float64
    radius: np.ndarray  # (n,)
    single: bool  # distances are seen in float32
    current: np.ndarray  # (10,) float32
    factors: np.ndarray  # (6,) float64


@inline
def held(x):
    return max(min(x, FARTHEST), -FARTHEST)


@inline
def turn_to(current, factors, frame, x, y, z):
    """Set the numbers for a point."""
    scale = frame[FRAME_SCALE]
    cx, cy, cz = frame[FRAME_CENTER], frame[FRAME_CENTER + 1], frame[FRAME_CENTER + 2]
    px, py, pz = held(x * scale - cx), held(y * scale - cy), held(z * scale - cz)
    nx, ny, nz = max(min(px, NEAR), -NEAR), max(min(py, NEAR), -NEAR), max(min(pz, NEAR), -NEAR)
    ox, oy, oz = abs(px - nx), abs(py - ny), abs(pz - nz)
    weight = 1.0 / (1.0 + max(max(ox, oy), oz))
    current[ABOVE], current[ABOVE + 1], current[ABOVE + 2] = f4(nx + PAD), f4(ny + PAD), f4(nz + PAD)
    current[BELOW], current[BELOW + 1], current[BELOW + 2] = f4(nx - PAD), f4(ny - PAD), f4(nz - PAD)
    current[OFFSET], current[OFFSET + 1] = f4(2.0 * (ox * weight)), f4(2.0 * (oy * weight))
    current[OFFSET + 2] = f4(2.0 * (oz * weight))
    current[FACTOR] = f4(weight)
    tree = (max(max(abs(cx), abs(cy)), abs(cz)) + 2.0) / scale
    factors[SCALE] = safe_scale(max(max(max(abs(x), abs(y)), abs(z)), tree))
    factors[RATIO] = scale / factors[SCALE]
    factors[FAR] = ox * ox + oy * oy + oz * oz
    factors[WEIGHT] = weight


@inline
def bound_of(factors, square):
    """The limit for nodes that goes with a squared distance as `squares` tells it."""
    whole = square * factors[RATIO] * factors[RATIO]
    far, weight = factors[FAR], factors[WEIGHT]
    if not (whole < 1e299 and far < 1e299):
        return f4(LARGEST)
    bound = (whole - far) * weight * (1.0 + 2.0**-18) + (whole + far) * weight * 2.0**-48 + 1e-37
    return f4(min(max(bound, 0.0), LARGEST))


@inline
def side(nodes, row, above, below, offset, factor):
    """The part of one axis."""
    away = maximum(
        splat8(f4(0.0)),
        maximum(load8(nodes, row) - splat8(above), splat8(below) - load8(nodes, row + 24)),
    )
    return away * fma(away, splat8(factor), splat8(offset))


@inline
def least_squares(c, nodes, node):
    x = side(nodes, node, c[ABOVE], c[BELOW], c[OFFSET], c[FACTOR])
    y = side(nodes, node + 8, c[ABOVE + 1], c[BELOW + 1], c[OFFSET + 1], c[FACTOR])
    z = side(nodes, node + 16, c[ABOVE + 2], c[BELOW + 2], c[OFFSET + 2], c[FACTOR])
    return x + y + z


@reach.implemented_for(Points)
def _(points, nodes, node, limit):
    values = least_squares(points.current, nodes, node)
    return values, less_equal(values, splat8(limit))


@reach.implemented_for(Spheres)
def _(spheres, nodes, node, limit):
    values = least_squares(spheres.current, nodes, node)
    return values, less_equal(values, splat8(limit))


@aim.implemented_for(Spheres)
def _(spheres, frame, r):
    center, factors, radius = spheres.center, spheres.factors, spheres.radius[r]
    turn_to(spheres.current, factors, frame, center[r, 0], center[r, 1], center[r, 2])
    factors[SURELY] = surely_within(radius, factors[SCALE], spheres.single)
    factors[PERHAPS] = surely_beyond(radius, factors[SCALE], spheres.single)
    return bound_of(factors, factors[PERHAPS])


@touches.implemented_for(Spheres)
def _(spheres, r, blocks, block, shape):
    center, factors = spheres.center, spheres.factors
    x, y, z = center[r, 0], center[r, 1], center[r, 2]
    near = squares(blocks, block, shape, x, y, z, factors[SCALE])
    bits = less_equal(near, splat4(factors[PERHAPS]))
    doubt = bits & ~less_equal(near, splat4(factors[SURELY]))
    while doubt != 0:
        lane = first_bit(doubt)
        doubt &= doubt - np.uint32(1)
        low, high = box_at(blocks, block + lane, shape)
        if not shown(distance(low, high, x, y, z), spheres.single) <= spheres.radius[r]:
            bits &= ~(np.uint32(1) << np.uint32(lane))
    return bits


@inline
def farthest(frame, x, nodes, place, axis):
    """How far at most a box reaches from a coordinate on one axis, in the tree's space."""
    at = x * frame[FRAME_SCALE] - frame[FRAME_CENTER + axis]
    low, high = f8(nodes[place + 8 * axis]), f8(nodes[place + 24 + 8 * axis])
    return max(at - low, high - at) + (abs(at) + 4.0) * 2.0**-50


@inside.implemented_for(Spheres)
def _(spheres, frame, r, nodes, place, flat):
    """By the corner that lies farthest from the centre."""
    center, radius = spheres.center, spheres.radius[r] * frame[FRAME_SCALE]
    x, y = farthest(frame, center[r, 0], nodes, place, 0), farthest(frame, center[r, 1], nodes, place, 1)
    z = 0.0 if flat else farthest(frame, center[r, 2], nodes, place, 2)
    square = x * x + y * y + z * z
    return square < FARTHEST and square * (1.0 + 2.0**-18) <= radius * radius
