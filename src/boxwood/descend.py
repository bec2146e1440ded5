"""The one walk of one tree: leaf after leaf, the nearest first, for any kind of query.

What a query means to a box is one function, `reach`, chosen by the query's type; it looks at the eight
children of a node at once. A question is then a short loop: take a leaf, look at its primitives, lower
the limit, take the next. `advance` is a single step, for questions that keep many walks in flight.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._jit import generic, inline
from ._simd import count_bits, first_bit, less, load8, splat8, store
from .layout import BLOCK_SIZE, CHILDREN, NODE_FLOATS

f4 = np.float32

NOTHING = -1
"""What a step of the walk returns when it met no leaf."""


class Stack(NamedTuple):
    """Places still to visit, as codes, with the least value that each can hold."""

    code: np.ndarray  # (size,) int32
    bound: np.ndarray  # (size + 8,) float32; the last eight are the values of a node before they are sorted


@generic
def reach(query, nodes, node, limit):
    """For the eight children of the node at that offset: the least value each can hold, and the bits of those
    within limit."""


class Counted(NamedTuple):
    """A query that counts the boxes it looks at."""

    query: tuple
    counts: np.ndarray  # (2,) int64: boxes, primitives


@reach.implemented_for(Counted)
def reach_and_count(counted, nodes, node, limit):
    values, within = reach(counted.query, nodes, node, limit)
    counted.counts[0] += count_bits(less(load8(nodes, node), splat8(f4(np.inf))))
    return values, within


@generic
def observed(counts, query):
    """The query itself, or one that counts where counts is an array and not None."""


@observed.implemented_for(type(None))
def _(counts, query):
    return query


@observed.implemented_for(np.ndarray)
def _(counts, query):
    return Counted(query, counts)


@generic
def count_primitives(counts, ids, first):
    """Add the primitives of the block whose ids begin there."""


@count_primitives.implemented_for(type(None))
def _(counts, ids, first):
    pass


@count_primitives.implemented_for(np.ndarray)
def _(counts, ids, first):
    for lane in range(BLOCK_SIZE):
        if ids[first + lane] >= 0:
            counts[1] += 1


@inline
def stack_size(depth):
    """Places that one walk needs in a tree of that depth: a step takes one and leaves at most eight."""
    return 7 * depth + 8


@inline
def start(stack, bottom):
    """Put the root on the stack; the new top."""
    stack.code[bottom] = 0
    stack.bound[bottom] = f4(-np.inf)
    return bottom + 1


@inline
def advance(query, nodes, codes, stack, top, limit):
    """Take the top place: the leaf's code if it is one, else NOTHING after putting its children there; the new top."""
    top -= 1
    code = stack.code[top]
    if stack.bound[top] > limit:
        return NOTHING, top
    if code < 0:
        return ~code, top
    node = np.intp(code) * NODE_FLOATS
    values, within = reach(query, nodes, node, limit)
    scratch = stack.code.shape[0]
    store(stack.bound, scratch, values)
    first = top
    while within != 0:
        lane = first_bit(within)
        within &= within - np.uint32(1)
        value = stack.bound[scratch + lane]
        place = top
        while place > first and stack.bound[place - 1] < value:
            stack.bound[place] = stack.bound[place - 1]
            stack.code[place] = stack.code[place - 1]
            place -= 1
        stack.bound[place] = value
        stack.code[place] = codes[node + CHILDREN + lane]
        top += 1
    return NOTHING, top


@inline
def next_leaf(query, nodes, codes, stack, top, limit):
    """The next leaf that can hold a value within limit, and the new top; NOTHING at the end."""
    while top > 0:
        leaf, top = advance(query, nodes, codes, stack, top, limit)
        if leaf >= 0:
            return leaf, top
    return NOTHING, top


@inline
def next_leaf_unordered(query, nodes, codes, stack, top, limit):
    """Likewise in no order but the tree's, largest child first: for questions that any order answers."""
    while top > 0:
        top -= 1
        code = stack.code[top]
        if code < 0:
            return ~code, top
        node = np.intp(code) * NODE_FLOATS
        _, within = reach(query, nodes, node, limit)
        while within != 0:
            lane = first_bit(within)
            within &= within - np.uint32(1)
            stack.code[top] = codes[node + CHILDREN + lane]
            top += 1
    return NOTHING, top
