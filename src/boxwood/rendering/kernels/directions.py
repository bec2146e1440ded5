"""Directions of camera rays, one through the middle of each pixel."""

from __future__ import annotations

from ..._jit import kernel


@kernel
def fill_directions(axes, width, height, first, directions, begin, end):
    """Of pixels begin to end, counted from the row `first`; axes[0] and axes[1] reach from the middle to the edges."""
    dtype = directions.dtype.type
    for i in range(begin, end):
        x = (2 * (i % width) + 1 - width) / width
        y = (height - 1 - 2 * (first + i // width)) / height
        for k in range(3):
            directions[i, k] = dtype(axes[2, k] + x * axes[0, k] + y * axes[1, k])
