"""Puts the ids of one row in rising order, inside of kernels."""

from __future__ import annotations

from .._jit import inline


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
