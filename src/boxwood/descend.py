"""The steps of every walk down a tree, the nearest box first, for any kind of query.

What a query means to a box is one function, `reach`, chosen by the query's type; it looks at the eight children
of a node at once. `expand` puts those within reach on a stack, sorted without a branch, and `code_at` tells what
lies on top: a leaf, whose primitives may lower the limit, or a node to expand next.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._jit import generic, inline
from ._simd import count_bits, less, less_equal, load8, sorted_keys, splat8, splat_int8, store
from .layout import BLOCK_SIZE, BLOCKS_OF_LEAF, CHILDREN, NODE_FLOATS

f4 = np.float32

STEPS = 2**20
"""Steps after which the walks of a kernel let Python hear Ctrl-C, and go on with the next query: some 50 ms. A step is
a node or block looked at, or about what that costs."""


class Stack(NamedTuple):
    """Places still to visit: a key (`_simd.sorted_keys`: the least value there, and which child) and the parent.

    A walk owns a part of it. Its first place stays free: an empty stack has its top there.
    """

    keys: np.ndarray  # int32
    parents: np.ndarray  # uint32: offset of the parent's codes


@generic
def reach(query, nodes, node, limit):
    """For the eight children of the node at that offset: the least value each can hold, and the bits of those
    within limit."""


@inline
def overlaps(nodes, node, low, high):
    """The bits of the children of a node whose boxes overlap the box with these corners."""
    return (
        less_equal(load8(nodes, node), splat8(high[0]))
        & less_equal(splat8(low[0]), load8(nodes, node + 24))
        & less_equal(load8(nodes, node + 8), splat8(high[1]))
        & less_equal(splat8(low[1]), load8(nodes, node + 32))
        & less_equal(load8(nodes, node + 16), splat8(high[2]))
        & less_equal(splat8(low[2]), load8(nodes, node + 40))
    )


@inline
def blocks_of(code):
    """The first block of a leaf, and the end of its last."""
    leaf = np.intp(~code)
    first = leaf // BLOCKS_OF_LEAF
    return first, first + leaf % BLOCKS_OF_LEAF


@generic
def count_boxes(counts, nodes, node):
    """Add the boxes of a node to counts[0], where counts is an array and not None."""


@count_boxes.implemented_for(type(None))
def _(counts, nodes, node):
    pass


@count_boxes.implemented_for(np.ndarray)
def _(counts, nodes, node):
    counts[0] += boxes_in(nodes, node)


@inline
def boxes_in(nodes, node):
    return count_bits(less(load8(nodes, node), splat8(f4(np.inf))))


@generic
def count_primitives(counts, ids, first):
    """Likewise the primitives of the block whose ids begin there, to counts[1]."""


@count_primitives.implemented_for(type(None))
def _(counts, ids, first):
    pass


@count_primitives.implemented_for(np.ndarray)
def _(counts, ids, first):
    counts[1] += primitives_in(ids, first)


@inline
def primitives_in(ids, first):
    count = 0
    for lane in range(first, first + BLOCK_SIZE):
        count += ids[lane] >= 0
    return count


PER_LEVEL, AT_ALL = 7, 16
"""Places of a stack for each level of a tree and besides: a step takes one, leaves at most eight, writes eight."""


@inline
def stack_size(depth):
    """Places that one walk needs in a tree of that depth."""
    return PER_LEVEL * depth + AT_ALL


@inline
def expand(query, counts, nodes, stack, code, top, limit):
    """Put the children of an inner node that lie within limit on the stack, the nearest on top; the new top."""
    node = np.intp(np.uint32(code)) * NODE_FLOATS
    count_boxes(counts, nodes, node)
    values, within = reach(query, nodes, node, limit)
    store(stack.keys, top + 1, sorted_keys(values, within))
    store(stack.parents, top + 1, splat_int8(node + CHILDREN))
    return top + count_bits(within)


@inline
def code_at(codes, stack, top):
    """The code of the place at that height of the stack."""
    return codes[np.intp(stack.parents[top]) + np.intp(stack.keys[top] & 7)]


@inline
def place_at(stack, top):
    """Where the box of the place at that height of the stack begins in the nodes: its lower x."""
    return np.intp(stack.parents[top]) - CHILDREN + np.intp(stack.keys[top] & 7)


@inline
def blocks_below(nodes, codes, code):
    """The first block below an inner node, and the end of the last: all between are its own, since depth-first."""
    first, last = np.intp(code), np.intp(code)
    while first >= 0:
        first = np.intp(codes[first * NODE_FLOATS + CHILDREN])
    while last >= 0:
        child = last * NODE_FLOATS + 7
        while nodes[child] == f4(np.inf):
            child -= 1
        last = np.intp(codes[child + CHILDREN])
    return blocks_of(first)[0], blocks_of(last)[1]
