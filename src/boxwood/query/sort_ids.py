"""Puts the ids of one row in rising order, inside of kernels: by comparing, or where they are many by marking."""

from __future__ import annotations

import numpy as np

from .._jit import inline
from .._simd import first_bit

MANY = 64
"""Fewer are sorted by comparing."""

FEW = 12


@inline
def sort_ids(ids, first, last):
    """Quick for few, never slow for many.

    Few are put in order without a branch on what they are, which would be guessed wrong half of the time: each id goes
    up from the first, and leaves the greater one behind. Many by Shell's method.
    """
    if last - first <= FEW:
        for i in range(first + 1, last):
            value = ids[i]
            for j in range(first, i):
                other = ids[j]
                ids[j], value = min(other, value), max(other, value)
            ids[i] = value
        return
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
def marks_for(most):
    """How many numbers `sort_by_marks` needs for ids below that, and from how many ids on it is the quicker way."""
    words = most // 32 + 1
    return words + words // 32 + 1, max(words // 32, MANY)


@inline
def sort_by_marks(ids, first, last, marks, most):
    """By a bit for each id there is, and one for each word of those: quickest for many. All marks are 0 again after."""
    words = most // 32 + 1
    for i in range(first, last):
        word = np.intp(ids[i]) >> 5
        marks[word] |= np.uint32(1) << np.uint32(ids[i] & 31)
        marks[words + (word >> 5)] |= np.uint32(1) << np.uint32(word & 31)
    k = first
    for group in range(words, marks.shape[0]):
        there = marks[group]
        marks[group] = np.uint32(0)
        while there != 0:
            word = 32 * (group - words) + first_bit(there)
            there &= there - np.uint32(1)
            bits = marks[word]
            marks[word] = np.uint32(0)
            while bits != 0:
                ids[k] = 32 * word + first_bit(bits)
                bits &= bits - np.uint32(1)
                k += 1
