"""Blocks of four boxes or points as kernels look at them: where their rows lie, and how far they are from a point."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import inline
from .._simd import lanes_as, less_equal, load4, maximum, splat4
from ..layout import BLOCK_SIZE

f8 = np.float64


class BlockShape(NamedTuple):
    length: int  # numbers of a block
    upper: int  # where in it the upper corners begin: for points, with the lower ones
    flat: bool  # in the plane, without rows of z


@inline
def block_shape(blocks, ids):
    """Which of the four kinds of blocks these are: of 24, 16, 12 or 8 numbers."""
    length = blocks.shape[0] // max(ids.shape[0] // BLOCK_SIZE, 1)
    return BlockShape(length, length // 2 if length > 3 * BLOCK_SIZE else 0, length % (3 * BLOCK_SIZE) > 0)


@inline
def row_of(blocks, place):
    """Four numbers as float64, which is exact."""
    return lanes_as(load4(blocks, place), f8(0.0))


@inline
def there(blocks, block):
    """The bits of the boxes of a block: not padding, nor what was blotted out since."""
    x = row_of(blocks, block)
    return less_equal(x, x)


@inline
def box_at(blocks, place, shape):
    """The corners of the box whose lower x lies there, as float64."""
    upper = place + shape.upper
    z, top = f8(0.0), f8(0.0)
    if not shape.flat:
        z, top = f8(blocks[place + 8]), f8(blocks[upper + 8])
    return (f8(blocks[place]), f8(blocks[place + 4]), z), (f8(blocks[upper]), f8(blocks[upper + 4]), top)


@inline
def gap(blocks, place, upper, x, scale):
    """How far a number is from the four intervals on one axis, times a power of two; nan for padding."""
    zero, at = splat4(f8(0.0)), splat4(x)
    away = maximum(row_of(blocks, place) - at, at - row_of(blocks, place + upper))
    return maximum(zero, away) * splat4(scale)


@inline
def squares(blocks, block, shape, x, y, z, scale):
    """The squared distances of a point from four boxes, times the square of a power of two; nan for padding.

    Differences, squares and their sum in float64 and in this order, nothing fused.
    """
    dx = gap(blocks, block, shape.upper, x, scale)
    dy = gap(blocks, block + 4, shape.upper, y, scale)
    total = dx * dx + dy * dy
    if shape.flat:
        return total
    dz = gap(blocks, block + 8, shape.upper, z, scale)
    return total + dz * dz


@inline
def safe_scale(size):
    """A power of two by which numbers up to `size` can be multiplied so that squares neither overflow nor vanish."""
    if size > 1e150:
        return 2.0**-540
    return 2.0**600 if size < 1e-100 else 1.0
