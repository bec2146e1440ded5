"""The surface area heuristic over all cuts: on each axis, between any two records in the order of their centroids.

The three orders are sorted once, before the first cut, and each cut keeps them (Wald, Havran 2006, for kd-trees). The
records move along with them, so that the sweeps of a small range stay in the cache.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import inline
from .._simd import load8, maximum, ordered, store
from .._threads import run_chunks
from ..geometry.box import centroid, cost_of, empty_box
from ..layout import RECORD_FLOATS
from .top_down import BETTER, blocks_of, split

f4 = np.float32

# Places in the scratch array: a box, and from COSTS on for each record of the range the cost of what is right of it,
# its new place, and its copy. They have a type, because Numba compiles anew for each literal number.
MERGED, COSTS = np.intp(0), np.intp(8)


class Sweep(NamedTuple):
    sorted: np.ndarray  # (3 n,) int32: the records of each range in the order of each axis

    def room(self, count):
        return int(COSTS) + (2 + RECORD_FLOATS) * count


def sorted_by_axis(records, threads=None):
    """The records in the order of each axis."""
    rows = records.reshape(-1, RECORD_FLOATS)
    count = len(rows)
    result = np.empty(3 * count, np.int32)

    def sort(begin, end):
        for axis in range(begin, end):
            keys = ordered(rows[:, 4 + axis] - rows[:, axis]).astype(np.int64) << 32
            keys |= np.arange(count)  # equal centroids stay in the order of ids
            keys.sort()
            result[axis * count : (axis + 1) * count] = keys & 0xFFFFFFFF

    run_chunks(sort, 3, chunk=1, threads=threads)
    return result


@split.implemented_for(Sweep)
def split_sweep(builder, records, first, count, scratch, integers):
    order = builder.sorted
    step = order.shape[0] // 3
    best, best_begin, cut = f4(np.inf), first, np.intp(0)
    for begin in range(first, order.shape[0], step):
        cost, left = best_cut(records, order, begin, count, scratch)
        if cost < best * BETTER:
            best, best_begin, cut = cost, begin, left
    if cut == 0:
        return first

    # Records move to where they stand in the best order, and all three orders are split and follow.
    places, copies = COSTS + count, COSTS + 2 * count
    for i in range(count):
        integers[places + order[best_begin + i] - first] = first + i
    for begin in range(first, order.shape[0], step):
        left, right = begin, copies
        for i in range(begin, begin + count):
            place = integers[places + order[i] - first]
            order[left] = integers[right] = place  # both, and only one counts: a branch would cost more
            left += np.intp(place < first + cut)
            right += np.intp(place >= first + cut)
        for i in range(copies, right):
            order[left + i - copies] = integers[i]
    for i in range(count):
        into = copies + (integers[places + i] - first) * RECORD_FLOATS
        store(scratch, into, load8(records, (first + i) * RECORD_FLOATS))
    for i in range(0, count * RECORD_FLOATS, RECORD_FLOATS):
        store(records, first * RECORD_FLOATS + i, load8(scratch, copies + i))
    return first + cut


@inline
def best_cut(records, order, begin, count, scratch):
    """The cheapest cut of count records in the order that begins there: its cost, and how many are left of it; no cut
    on an axis on which all centroids are equal."""
    axis = begin // (order.shape[0] // 3)
    least, most = np.intp(order[begin]) * RECORD_FLOATS, np.intp(order[begin + count - 1]) * RECORD_FLOATS
    if centroid(records, least, axis) == centroid(records, most, axis):
        return f4(np.inf), np.intp(0)
    merged = empty_box()
    for i in range(count - 1, 0, -1):
        merged = maximum(merged, load8(records, np.intp(order[begin + i]) * RECORD_FLOATS))
        store(scratch, MERGED, merged)
        scratch[COSTS + i] = cost_of(scratch, MERGED) * blocks_of(count - i)
    merged = empty_box()
    best, left = f4(np.inf), np.intp(0)
    for i in range(1, count):
        merged = maximum(merged, load8(records, np.intp(order[begin + i - 1]) * RECORD_FLOATS))
        store(scratch, MERGED, merged)
        cost = cost_of(scratch, MERGED) * blocks_of(i) + scratch[COSTS + i]
        if cost < best * BETTER:
            best, left = cost, i
    return best, left
