"""The surface area heuristic over bins: centroids are sorted into a few bins on each axis, and only the borders
between bins are tried as cuts (Wald 2007). All three axes are binned in one pass over the records.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import inline
from .._simd import load4, load8, maximum, store, store_int
from ..geometry.box import cost_of, empty_box
from ..layout import RECORD_FLOATS
from .top_down import BETTER, blocks_of, measure, partition, split

f4 = np.float32

INSIDE = f4(0.99999)
"""Keeps the largest centroid in the last bin."""

# Places in the scratch array, after the bounds of the centroids. They have a type, because Numba compiles anew for
# each literal number.
SCALES, INTO, ONE, MERGED, BOXES = np.intp(8), np.intp(12), np.intp(16), np.intp(24), np.intp(32)


class Binned(NamedTuple):
    bins: int  # on each axis, 4 to 64; small ranges get fewer, which costs rays nothing

    def room(self, _count):
        return int(BOXES) + 3 * self.bins * 8 + self.bins


@split.implemented_for(Binned)
def split_binned(builder, records, first, count, scratch, integers):
    measure(records, first, count, scratch)
    bins = np.intp(4) + count // 4
    if bins > builder.bins:
        bins = np.intp(builder.bins)
    for axis in range(3):
        scale = f4(bins) * INSIDE / (scratch[4 + axis] - scratch[axis])
        # no bins on an axis without extent, or with one so small that its reciprocal overflows
        scratch[SCALES + axis] = scale if scale < f4(np.inf) else f4(0)
    scratch[SCALES + 3] = f4(0)
    fill_bins(records, first, count, scratch, integers, bins)

    right = BOXES + 3 * bins * 8
    best, best_axis, best_bin = f4(np.inf), np.intp(-1), np.intp(-1)
    for begin in range(BOXES, right, bins * 8):
        axis = (begin - BOXES) // (bins * 8)
        if scratch[SCALES + axis] > 0:
            merged, number = empty_box(), f4(0)
            for i in range(bins - 1, 0, -1):
                merged = maximum(merged, load8(scratch, begin + i * 8))
                number += scratch[begin + i * 8 + 7]
                store(scratch, MERGED, merged)
                scratch[right + i] = cost_of(scratch, MERGED) * blocks_of(number) if number > 0 else f4(np.inf)
            merged, number = empty_box(), f4(0)
            for i in range(bins - 1):
                merged = maximum(merged, load8(scratch, begin + i * 8))
                number += scratch[begin + i * 8 + 7]
                if number > 0:
                    store(scratch, MERGED, merged)
                    cost = cost_of(scratch, MERGED) * blocks_of(number) + scratch[right + i + 1]
                    if cost < best * BETTER:
                        best, best_axis, best_bin = cost, axis, i
    if best_axis < 0:
        return first
    lower, scale = scratch[best_axis], scratch[SCALES + best_axis]
    return partition(records, first, count, best_axis, lower, scale, f4(best_bin + 1))


@inline
def fill_bins(records, first, count, scratch, integers, bins):
    """The box of each bin, with the number of its records in the last lane."""
    for i in range(BOXES, BOXES + 24 * bins, 8):
        store(scratch, i, empty_box())
        scratch[i + 7] = f4(0)
    for i in range(ONE, ONE + 7):
        scratch[i] = f4(0)
    scratch[ONE + 7] = f4(1)
    lower, scale, one = load4(scratch, 0), load4(scratch, SCALES), load8(scratch, ONE)
    for i in range(first * RECORD_FLOATS, (first + count) * RECORD_FLOATS, RECORD_FLOATS):
        box = load8(records, i)
        center = load4(records, i + 4) - load4(records, i)
        store_int(integers, INTO, (center - lower) * scale)
        x = BOXES + np.intp(integers[INTO]) * 8
        y = BOXES + (np.intp(integers[INTO + 1]) + bins) * 8
        z = BOXES + (np.intp(integers[INTO + 2]) + 2 * bins) * 8
        store(scratch, x, maximum(load8(scratch, x), box) + one)
        store(scratch, y, maximum(load8(scratch, y), box) + one)
        store(scratch, z, maximum(load8(scratch, z), box) + one)
