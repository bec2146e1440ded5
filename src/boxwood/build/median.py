"""Cuts each range into two of equal count along the longest axis of its centroids' bounds: the shallowest tree.

The middle is found by quickselect (Hoare 1961): partition around a pivot, go on in the part that holds the middle.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import inline
from ..geometry.box import centroid
from ..layout import RECORD_FLOATS
from .top_down import half_of, longest_axis, measure, partition, split

f4 = np.float32


class Median(NamedTuple):
    rounds: int = 100  # of quickselect at most; where pivots are so unlucky, the parts are equal but overlap

    def room(self, _count):
        return 8


@split.implemented_for(Median)
def split_median(builder, records, first, count, scratch, integers):
    measure(records, first, count, scratch)
    axis = longest_axis(scratch)
    middle = first + half_of(count)
    begin, end = first, first + count
    for _ in range(builder.rounds):
        pivot = median_of_three(records, begin, (begin + end) // 2, end - 1, axis)
        cut = partition(records, begin, end - begin, axis, f4(0), f4(1), pivot)
        if cut > middle:
            end = cut
            continue
        # what is equal to the pivot comes before what is greater
        begin = partition(records, cut, end - cut, axis, f4(0), f4(1), np.nextafter(pivot, f4(np.inf)))
        if begin > middle:
            break
    return middle


@inline
def median_of_three(records, i, j, k, axis):
    a = centroid(records, i * RECORD_FLOATS, axis)
    b = centroid(records, j * RECORD_FLOATS, axis)
    c = centroid(records, k * RECORD_FLOATS, axis)
    if a > b:
        a, b = b, a
    if c < a:
        return a
    return c if c < b else b
