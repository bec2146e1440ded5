"""Blocks of four boxes or points as kernels look at them: where their rows lie, and how far they are from a point."""

from __future__ import annotations

import numpy as np

from .._jit import inline
from .._simd import lanes_as, load4, maximum, splat4
from ..layout import BLOCK_SIZE, POINT_BLOCK_FLOATS

f8 = np.float64


@inline
def block_shape(blocks, ids):
    """Numbers of a block, and where in it the upper corners begin: for points, with the lower ones."""
    count = ids.shape[0] // BLOCK_SIZE
    size = blocks.shape[0] // count if count > 0 else POINT_BLOCK_FLOATS
    return size, size - POINT_BLOCK_FLOATS


@inline
def row_of(blocks, place):
    """Four numbers as float64, which is exact."""
    return lanes_as(load4(blocks, place), f8(0.0))


@inline
def gap(blocks, place, upper, x, scale):
    """How far a number is from the four intervals on one axis, times a power of two; nan for padding."""
    zero, at = splat4(f8(0.0)), splat4(x)
    away = maximum(row_of(blocks, place) - at, at - row_of(blocks, place + upper))
    return maximum(zero, away) * splat4(scale)


@inline
def squares(blocks, block, upper, x, y, z, scale):
    """The squared distances of a point from four boxes, times the square of a power of two; nan for padding.

    Differences, squares and their sum in float64 and in this order, nothing fused.
    """
    dx = gap(blocks, block, upper, x, scale)
    dy = gap(blocks, block + 4, upper, y, scale)
    dz = gap(blocks, block + 8, upper, z, scale)
    return dx * dx + dy * dy + dz * dz


@inline
def safe_scale(size):
    """A power of two by which numbers up to `size` can be multiplied so that squares neither overflow nor vanish."""
    if size > 1e150:
        return 2.0**-540
    return 2.0**600 if size < 1e-100 else 1.0
