"""A ray against the eight boxes of a node: the slab test, in float32, erring only towards a hit.

The pad that makes it safe sits in the ray's constants, so that a node costs six multiply-adds.
"""

from __future__ import annotations

from typing import NamedTuple

from .._simd import fma, less_equal, load8, maximum, minimum, splat8
from ..descend import reach


class BoxRay(NamedTuple):
    """A ray as boxes see it, in float32: its tests err only towards a hit."""

    inverse: tuple  # 1 / direction
    near: tuple  # -(origin + pad) / direction, with the sign of pad that makes entries early
    far: tuple  # and exits late
    start: float  # least progress that counts
    rows: tuple  # of a node: where it enters the children, on each axis


@reach.implemented_for(BoxRay)
def entries(ray, nodes, node, limit):
    """Progress at which the ray enters each box, and the bits of the boxes entered before limit."""
    ix, iy, iz = ray.inverse
    x, y, z = node + ray.rows[0], node + ray.rows[1], node + ray.rows[2]
    vx, vy, vz = splat8(ix), splat8(iy), splat8(iz)
    enter = maximum(
        maximum(fma(load8(nodes, x), vx, splat8(ray.near[0])), fma(load8(nodes, y), vy, splat8(ray.near[1]))),
        maximum(fma(load8(nodes, z), vz, splat8(ray.near[2])), splat8(ray.start)),
    )
    x = 2 * node + 24 - x
    y = 2 * node + 40 - y
    z = 2 * node + 56 - z
    leave = minimum(
        minimum(fma(load8(nodes, x), vx, splat8(ray.far[0])), fma(load8(nodes, y), vy, splat8(ray.far[1]))),
        minimum(fma(load8(nodes, z), vz, splat8(ray.far[2])), splat8(limit)),
    )
    return enter, less_equal(enter, leave)
