"""Puts the ids of one row in rising order, inside of kernels."""

from __future__ import annotations

import numpy as np

from .._jit import inline
from .._simd import first_bit


@inline
def sort_ids(ids, first, last):
    """Shell's method: quick for few, never slow for many."""
    gap = 1
    while gap < (last - first) // 9:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(first + gap, last):
            value, j = ids[i], i
            while j >= first + gap and ids[j - gap] > value:
                ids[j] = ids[j - gap]
                j -= gap
            ids[j] = value
        gap //= 3


@inline
def sort_by_marks(ids, first, last, marks):
    """By a bit for each id there is: quickest where a row has many of them. Leaves the marks as they were, all 0."""
    for i in range(first, last):
        marks[ids[i] >> 5] |= np.uint32(1) << np.uint32(ids[i] & 31)
    k = first
    for word in range(marks.shape[0]):
        bits = marks[word]
        marks[word] = np.uint32(0)
        while bits != 0:
            ids[k] = 32 * word + first_bit(bits)
            bits &= bits - np.uint32(1)
            k += 1
