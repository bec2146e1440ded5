"""Top-down construction: what all builders that split a range of records in two have in common.

A builder is a NamedTuple of its parameters and one function, `split`, that permutes the records of a range and
says where to cut it. The children of a range cut at record m are nodes 2 m and 2 m + 1, whoever builds them:
ranges can go to any thread and the tree is always the same. A leaf is priced by its blocks of four triangles
rather than by triangles, which halves the memory and makes rays 1.6 times faster.
"""

from __future__ import annotations

import numpy as np

from .._jit import generic, inline, kernel
from .._simd import load4, load8, maximum, minimum, splat4, store
from .._threads import run_chunks
from ..geometry.box import cost_of, empty_box
from ..layout import BLOCK_SIZE, RECORD_FLOATS

f4 = np.float32

MAX_DEPTH = 60
"""Of the binary tree; ranges that come near it are halved by count, which always ends in time."""

TRAVERSE_COST = 1.0
"""Cost of visiting a node, in units of testing one block of triangles (SAH)."""


@generic
def split(builder, records, first, count, area, scratch):
    """Cut the range in two: the first record of the right part, and the cost of its blocks, in boxes' areas.

    The cut is `first` when the builder sees none. `scratch` holds the range's box at 0 and the bounds of its
    centroids, lower at 8 and upper at 12; the rest is the builder's own room.
    """


@generic
def scratch_size(builder):
    """How many float32 the builder's `split` needs, beyond the first 16."""


@inline
def measure(records, first, count, scratch):
    """The box of a range to scratch[0:8], the bounds of its centroids to scratch[8:16]."""
    box = empty_box()
    lower, upper = splat4(f4(np.inf)), splat4(f4(-np.inf))
    for i in range(first, first + count):
        place = i * RECORD_FLOATS
        box = maximum(box, load8(records, place))
        center = load4(records, place + 4) - load4(records, place)
        lower = minimum(lower, center)
        upper = maximum(upper, center)
    store(scratch, 0, box)
    store(scratch, 8, lower)
    store(scratch, 12, upper)


@inline
def blocks_of(count):
    return (count + BLOCK_SIZE - 1) // BLOCK_SIZE


@inline
def levels_of(count):
    """How deep a tree by halves over so many records can be."""
    levels = 0
    while count > 1:
        count = (count + 1) // 2
        levels += 1
    return levels


@inline
def split_node(builder, records, nodes, links, node, depth, leaf_size, scratch):
    """Make the node a leaf, or give it two children; the first record of its right child, or -1 for a leaf."""
    place = node * RECORD_FLOATS
    first, count = np.intp(links[place + 3]), np.intp(links[place + 7])
    measure(records, first, count, scratch)
    for i in range(3):
        nodes[place + i] = scratch[i]
        nodes[place + 4 + i] = scratch[4 + i]
    if count <= 1:
        return -1
    cut = first
    if depth + levels_of(count) < MAX_DEPTH:
        area = cost_of(scratch, 0)
        cut, cost = split(builder, records, first, count, area, scratch)
        if count <= leaf_size and (cut == first or cost + f4(TRAVERSE_COST) * area >= area * f4(blocks_of(count))):
            return -1
    elif count <= leaf_size:
        return -1
    if cut == first:
        cut = first + count // 2
    left = 2 * cut * RECORD_FLOATS
    links[left + 3] = first
    links[left + 7] = cut - first
    links[left + 11] = cut
    links[left + 15] = first + count - cut
    links[place + 3] = 2 * cut
    links[place + 7] = 0
    return cut


@kernel
def build_range(builder, records, nodes, links, node, depth, leaf_size, whole):
    """Build the subtree of a node, or only split it when not `whole`; the levels made, and where the node was cut."""
    scratch = np.empty(16 + scratch_size(builder), np.float32)
    pending = np.empty((MAX_DEPTH + 2, 2), np.int64)
    pending[0, 0], pending[0, 1] = node, depth
    top, deepest, cut = 1, depth, -1
    while top > 0:
        top -= 1
        node, depth = pending[top, 0], pending[top, 1]
        deepest = max(deepest, depth)
        cut = split_node(builder, records, nodes, links, node, depth, leaf_size, scratch)
        if cut >= 0 and whole:
            pending[top, 0], pending[top, 1] = 2 * cut + 1, depth + 1
            pending[top + 1, 0], pending[top + 1, 1] = 2 * cut, depth + 1
            top += 2
    return deepest, cut
