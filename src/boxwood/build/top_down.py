"""Top-down construction: what all builders that cut a range of records in two have in common.

A builder is a NamedTuple of its parameters and one function, `split`, that permutes the records of a range and says
where to cut it. Ranges are cut until they fit a block; whether some blocks make one leaf is decided by cost on the way
back up (`tree.binary_tree`), the same way for all builders.
"""

from __future__ import annotations

import numpy as np

from .._jit import generic, inline, kernel
from .._simd import load4, load8, maximum, minimum, splat4, splat8, store
from ..geometry.box import centroid, empty_box, index
from ..layout import BLOCK_SIZE, RECORD_FLOATS
from ..tree.binary_tree import MAX_DEPTH, fit

f4 = np.float32

BETTER = f4(0.99999)
"""A cut must cost this much less than one found before it: of cuts that rounding alone tells apart, the first is taken,
so that symmetric meshes have the same tree whatever their size."""

CUT, BUILD, FIT = 0, 1, 2
"""What `build_range` is to do with a node: cut it in two, build its whole subtree, or only fit it to its children."""


@generic
def split(builder, records, first, count, scratch, integers):
    """Cut a range of records in two, permuting them: the first of the right part, or `first` where it sees no cut.

    `scratch` is as large as the builder's `room` says; `integers` is the same memory seen as int32.
    """


@inline
def measure(records, first, count, scratch):
    """The bounds of twice the centroids of a range: lower to scratch[0:4], upper to scratch[4:8]."""
    lower, upper = splat4(f4(np.inf)), splat4(f4(-np.inf))
    for i in range(first * RECORD_FLOATS, (first + count) * RECORD_FLOATS, RECORD_FLOATS):
        center = load4(records, i + 4) - load4(records, i)
        lower = minimum(lower, center)
        upper = maximum(upper, center)
    store(scratch, 0, lower)
    store(scratch, 4, upper)


@inline
def longest_axis(bounds):
    """The axis on which what `measure` found is longest."""
    x, y, z = bounds[4] - bounds[0], bounds[5] - bounds[1], bounds[6] - bounds[2]
    if x >= y and x >= z:
        return 0
    return 1 if y >= z else 2


@inline
def partition(records, first, count, axis, lower, scale, limit):
    """Bring the records with (centroid - lower) * scale < limit to the front; the first of the others.

    Every record is swapped, needed or not: a branch that no predictor learns costs six times more (Lomuto's scheme).
    """
    left = first
    for i in range(first, first + count):
        place, other = i * RECORD_FLOATS, left * RECORD_FLOATS
        goes_left = (centroid(records, place, axis) - lower) * scale < limit
        moved = load8(records, place)
        store(records, place, load8(records, other))
        store(records, other, moved)
        left += np.intp(goes_left)
    return left


@inline
def blocks_of(number):
    """How many blocks so many records fill, as costs count them."""
    return f4((np.intp(number) + BLOCK_SIZE - 1) // BLOCK_SIZE)


@inline
def half_of(count):
    """About half of so many records, in full blocks where there is more than one."""
    blocks = (count + BLOCK_SIZE - 1) // BLOCK_SIZE
    return (blocks + 1) // 2 * BLOCK_SIZE if blocks > 1 else count // 2


@kernel
def build_range(
    builder, scratch, integers, pending, records, ids, nodes, links, costs, order, node, depth, leaf_size, task
):
    """Do a task with a node; where it was cut.

    The two children of a cut are a pair of nodes, pair p being nodes 2 p and 2 p + 1. A whole subtree takes pairs one
    after the other from its second record's on, a single cut takes that of the record at the cut: none is taken twice,
    whichever thread builds what, and children come after their parents.
    """
    begin = np.intp(links[index(node * RECORD_FLOATS + 3)])
    pair, cut, top = begin, begin, np.intp(0)
    if task != FIT:
        pending[0], pending[1], top = node, depth, np.intp(2)  # nodes, each with its depth
    while top > 0:
        top -= 2
        place, depth = np.intp(pending[index(top)]) * RECORD_FLOATS, np.intp(pending[index(top + 1)])
        first, count = np.intp(links[index(place + 3)]), np.intp(links[index(place + 7)])
        if count <= leaf_size and count <= BLOCK_SIZE:
            box = empty_box()
            for i in range(first, first + count):
                box = maximum(box, load8(records, i * RECORD_FLOATS))
                order[index(i)] = ids[index(i * RECORD_FLOATS + 3)]
            store(nodes, place, box)
            links[index(place + 3)], links[index(place + 7)] = first, count
            continue
        cut = first
        if depth < MAX_DEPTH - 32:
            cut = split(builder, records, first, count, scratch, integers)
        if cut == first:
            cut = first + half_of(count)
        pair = pair + 1 if task == BUILD else cut
        left = 2 * pair * RECORD_FLOATS
        links[index(place + 3)], links[index(place + 7)] = 2 * pair, -count
        links[index(left + 3)], links[index(left + 7)] = first, cut - first
        links[index(left + 11)], links[index(left + 15)] = cut, first + count - cut
        if task == BUILD:
            pending[index(top)], pending[index(top + 1)] = 2 * pair + 1, depth + 1
            pending[index(top + 2)], pending[index(top + 3)] = 2 * pair, depth + 1
            top += 4
    if task != CUT:
        store(scratch, 0, splat8(f4(np.inf)))
        for i in range(2 * pair + 1, 2 * begin + 1, -1):
            fit(nodes, links, costs, i, leaf_size, scratch)
        fit(nodes, links, costs, node, leaf_size, scratch)
    return cut
