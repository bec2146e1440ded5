"""Puts the ids of one row in rising order, inside of kernels."""

from __future__ import annotations

from .._jit import inline

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
