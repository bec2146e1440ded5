"""Surface area heuristic over bins: centroids are sorted into a few bins on each axis, and only the borders
between bins are tried as cuts (Wald 2007). All three axes are binned in one pass over the records.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import inline
from .._simd import load4, load8, maximum, store, store_int
from ..geometry.box import centroid, cost_of, empty_box
from ..layout import RECORD_FLOATS
from .top_down import blocks_of, scratch_size, split

f4 = np.float32

INSIDE = 0.99999
"""Keeps the largest centroid in the last bin."""


class Binned(NamedTuple):
    bins: int  # on each axis, 4 to 64


@scratch_size.implemented_for(Binned)
def binned_scratch(builder):
    return 3 * builder.bins * 9 + builder.bins + 32


@split.implemented_for(Binned)
def split_binned(builder, records, first, count, area, scratch):
    bins = np.intp(builder.bins)
    boxes = 32  # three axes of bins, eight numbers each
    counts = boxes + 3 * bins * 8
    right = counts + 3 * bins
    integers = scratch.view(np.int32)
    scales, places = 16, 20

    flat = True
    for axis in range(3):
        extent = scratch[12 + axis] - scratch[8 + axis]
        scale = f4(bins) * f4(INSIDE) / extent if extent > 0 else f4(0)
        if not scale < f4(np.inf):
            scale = f4(0)  # an extent so small that its reciprocal overflows
        scratch[scales + axis] = scale
        flat = flat and scale == 0
    if flat:
        return first, f4(np.inf)
    scratch[scales + 3] = f4(0)

    fill_bins(records, first, count, scratch, integers, bins, boxes, counts, scales, places)
    best, best_axis, best_bin = f4(np.inf), -1, -1
    for axis in range(3):
        if scratch[scales + axis] > 0:
            cost, cut = best_border(scratch, integers, bins, boxes, counts, right, axis, count)
            if cost < best:
                best, best_axis, best_bin = cost, axis, cut
    if best_axis < 0:
        return first, f4(np.inf)
    lower, scale = scratch[8 + best_axis], scratch[scales + best_axis]
    return partition(records, first, count, best_axis, lower, scale, best_bin), best


@inline
def fill_bins(records, first, count, scratch, integers, bins, boxes, counts, scales, places):
    empty = empty_box()
    for i in range(3 * bins):
        store(scratch, boxes + i * 8, empty)
        integers[counts + i] = 0
    lower, scale = load4(scratch, 8), load4(scratch, scales)
    for i in range(first, first + count):
        place = i * RECORD_FLOATS
        box = load8(records, place)
        center = load4(records, place + 4) - load4(records, place)
        store_int(integers, places, (center - lower) * scale)
        for axis in range(3):
            into = axis * bins + integers[places + axis]
            store(scratch, boxes + into * 8, maximum(load8(scratch, boxes + into * 8), box))
            integers[counts + into] += 1


@inline
def best_border(scratch, integers, bins, boxes, counts, right, axis, count):
    """The cheapest border of one axis: its cost, and the last bin left of it."""
    temporary = 24
    merged, number = empty_box(), 0
    for i in range(bins - 1, 0, -1):
        merged = maximum(merged, load8(scratch, boxes + (axis * bins + i) * 8))
        number += integers[counts + axis * bins + i]
        store(scratch, temporary, merged)
        scratch[right + i] = cost_of(scratch, temporary) * f4(blocks_of(number)) if number > 0 else f4(np.inf)
    merged, number = empty_box(), 0
    best, cut = f4(np.inf), -1
    for i in range(bins - 1):
        merged = maximum(merged, load8(scratch, boxes + (axis * bins + i) * 8))
        number += integers[counts + axis * bins + i]
        if number > 0:
            store(scratch, temporary, merged)
            cost = cost_of(scratch, temporary) * f4(blocks_of(number)) + scratch[right + i + 1]
            if cost < best:
                best, cut = cost, i
    return best, cut


@inline
def partition(records, first, count, axis, lower, scale, last_bin):
    """Bring the records of the bins up to last_bin to the front; the first of the others."""
    left, right = first, first + count - 1
    while left <= right:
        place = left * RECORD_FLOATS
        if np.int32((centroid(records, place, axis) - lower) * scale) <= last_bin:
            left += 1
        else:
            other = right * RECORD_FLOATS
            moved = load8(records, place)
            store(records, place, load8(records, other))
            store(records, other, moved)
            right -= 1
    return left
