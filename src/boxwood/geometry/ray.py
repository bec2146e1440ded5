"""A ray made ready: constants for box tests in float32, and for triangle tests in the computing dtype.

Trees live in their own space: mesh coordinates less the tree's centre, times a power of two that
brings every box within [-1, 1]. There, progress along a ray is measured on the ray's largest axis, so
neither the length of the direction nor the size of the mesh can overflow anything. A ray from far away
is first moved, in float64, to its point closest to the tree; otherwise nothing is rounded before a
triangle sees it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import inline
from .._simd import number_like, product_error
from .ray_box import BoxRay

f4 = np.float32
f8 = np.float64

PAD = 2.0**-20
"""Sixteen float32 roundings, of numbers up to one: covers bounds, origin, reciprocal and multiply-add (Ize 2013)."""

NEAR = 16.0
"""Origins within so many tree radii are used as they are."""

FARTHEST = 36.0
"""Progress beyond which no ray with a near origin meets the tree."""

STEPS = 64.0
"""So many of the smallest numbers a t may be wrong by, where t per progress is hardly more than one of them."""

FASTEST, EVERYTHING = 1e300, 1e30
"""A faster ray is held to no range of progress: what its t times its speed is, float64 may not hold."""

LARGEST_INVERSE = f4(1e9)
"""A direction component with a larger inverse cannot move a ray across a pad, and counts as zero."""


class Frame(NamedTuple):
    """Where a tree's own space lies: tree = mesh * scale - center."""

    center: tuple  # of the boxes, already scaled
    scale: float


class Shear(NamedTuple):
    """A ray as triangles see it: along z after a shear (Woop, Benthin, Wald 2013), in the computing dtype."""

    rows: tuple  # offsets of the rows of x, y and z in a block of triangles
    origin: tuple  # scaled, in the order of rows
    slope: tuple  # x and y per z
    per_x: float  # progress per scaled x, held finite
    per_y: float
    per_z: float  # t per scaled z
    slack_x: float  # half of what box tests allow for rounding, as progress
    slack_y: float


class Motion(NamedTuple):
    """How t and progress in the tree's space belong together, in float64."""

    shift: float  # t of the moved origin, 0.0 for an origin that stayed
    speed: float  # progress per t
    offset: float  # progress at t = 0, and what it may be wrong by


class Ray(NamedTuple):
    box: BoxRay
    shear: Shear
    motion: Motion


@inline
def frame_of(frame):
    return Frame((frame[0], frame[1], frame[2]), frame[3])


@inline
def inverse_of(component, largest):
    """The reciprocal of a component whose largest fellow counts as one: in float32, held finite."""
    inverse = f4(largest / component)
    return max(min(inverse, LARGEST_INVERSE), -LARGEST_INVERSE)


@inline
def in_tree(frame, x, y, z):
    s = frame.scale
    return f8(x) * s - frame.center[0], f8(y) * s - frame.center[1], f8(z) * s - frame.center[2]


@inline
def largest_of(x, y, z):
    return max(max(abs(x), abs(y)), abs(z))


@inline
def closest_approach(x, y, z, ux, uy, uz):
    """Progress at which a ray passes the tree's centre."""
    return -(x * ux + y * uy + z * uz) / (ux * ux + uy * uy + uz * uz)


@inline
def moved(origin, shift, direction):
    """origin + shift * direction, right to the last bits even where both are large and the sum is small."""
    step = shift * direction
    return (origin + step) + product_error(shift, direction)


@inline
def make_ready(frame, origin, direction, t_min, step, axes):
    """The ray's constants, and whether it comes near the tree at all.

    origin, direction and t_min are scalars of the computing dtype; `step` is the smallest number that a t can be told
    in, and `axes` is room for nine.
    """
    ox, oy, oz = origin
    dx, dy, dz = direction
    kz = 0
    largest = abs(dx)
    if abs(dy) > largest:
        kz, largest = 1, abs(dy)
    if abs(dz) > largest:
        kz, largest = 2, abs(dz)
    speed = f8(largest) * frame.scale

    x, y, z = in_tree(frame, ox, oy, oz)
    distance = largest_of(x, y, z)
    shift = 0.0
    if not distance <= NEAR:
        whole = f8(largest)
        shift = closest_approach(x, y, z, f8(dx) / whole, f8(dy) / whole, f8(dz) / whole) / speed
        ox = number_like(ox, moved(f8(ox), shift, f8(dx)))
        oy = number_like(oy, moved(f8(oy), shift, f8(dy)))
        oz = number_like(oz, moved(f8(oz), shift, f8(dz)))
        x, y, z = in_tree(frame, ox, oy, oz)
        distance = largest_of(x, y, z)

    pad = f4(PAD * (distance + 1.0))
    ix, iy, iz = inverse_of(dx, largest), inverse_of(dy, largest), inverse_of(dz, largest)
    bx, by, bz = -f4(x) * ix, -f4(y) * iy, -f4(z) * iz
    px, py, pz = pad * abs(ix), pad * abs(iy), pad * abs(iz)
    # Progress is rounded, and so is the t of a moved origin, which is no smaller than the way that it was moved. Near
    # the smallest numbers t itself has steps as large as this.
    slack = (FARTHEST + abs(shift * speed)) * PAD + STEPS * step * speed
    if not speed < FASTEST:
        speed, slack = FASTEST, EVERYTHING
    offset = slack - shift * speed
    start = f4(f8(t_min) * speed + (offset - 2.0 * slack))
    rows = (0 if ix >= 0 else 24, 8 if iy >= 0 else 32, 16 if iz >= 0 else 40)
    box = BoxRay((ix, iy, iz), (bx - px, by - py, bz - pz), (bx + px, by + py, bz + pz), start, rows)

    # Looking axes up in memory is faster than branches that no predictor learns. The winding is kept, so that the
    # sign of an edge function tells the side: x and y swap for a ray towards -z.
    per = number_like(ox, 1.0 / frame.scale / f8(largest))
    half = number_like(ox, 0.5 * f8(pad))
    axes[0] = number_like(ox, f8(ox) * frame.scale)
    axes[1] = number_like(oy, f8(oy) * frame.scale)
    axes[2] = number_like(oz, f8(oz) * frame.scale)
    axes[3], axes[4], axes[5] = dx, dy, dz
    axes[6], axes[7], axes[8] = ix, iy, iz
    kx = kz + 1 if kz < 2 else 0
    ky = kx + 1 if kx < 2 else 0
    along = axes[3 + kz]
    if along < 0:
        kx, ky = ky, kx
    shear = Shear(
        (4 * kx, 4 * ky, 4 * kz),
        (axes[kx], axes[ky], axes[kz]),
        (axes[3 + kx] / along, axes[3 + ky] / along),
        axes[6 + kx],
        axes[6 + ky],
        axes[6 + kz] * per,
        abs(axes[6 + kx]) * half,
        abs(axes[6 + ky]) * half,
    )
    return Ray(box, shear, Motion(shift, speed, offset)), distance <= NEAR


@inline
def limit_of(motion, t):
    """Progress beyond which nothing within t can lie."""
    return f4(f8(t) * motion.speed + motion.offset)


@inline
def low_of(motion, t_min):
    """What to compare the t of a moved origin with: never more than t_min."""
    if motion.shift == 0.0:
        return t_min
    low = f8(t_min) - motion.shift
    return number_like(t_min, low - (abs(low) + abs(motion.shift)) * PAD)


@inline
def high_of(motion, t):
    """Likewise for the best t so far: never less."""
    if motion.shift == 0.0:
        return t
    high = f8(t) - motion.shift
    return number_like(t, high + (abs(high) + abs(motion.shift)) * PAD)
