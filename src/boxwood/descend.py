"""The one walk of one tree: leaf after leaf, the nearest first, for any kind of query.

What a query means to a box is one function, `reach`, chosen by the query's type; it looks at the eight
children of a node at once. A question is then a short loop: take a leaf, look at its primitives, lower
the limit, take the next. `expand` is a single step, for questions that keep many walks in flight.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._jit import generic, inline
from ._simd import count_bits, key_bound, less, load8, sorted_keys, splat8, splat_int8, store
from .layout import BLOCK_SIZE, CHILDREN, NODE_FLOATS

f4 = np.float32

NOTHING = -1
"""What the walk returns when there are no more leaves."""


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
    """Places that one walk needs in a tree of that depth: a step takes one, leaves at most eight, writes eight."""
    return 7 * depth + 16


@inline
def expand(query, nodes, stack, code, top, limit):
    """Put the children of an inner node that lie within limit on the stack, the nearest on top; the new top."""
    node = np.intp(np.uint32(code)) * NODE_FLOATS
    values, within = reach(query, nodes, node, limit)
    store(stack.keys, top + 1, sorted_keys(values, within))
    store(stack.parents, top + 1, splat_int8(node + CHILDREN))
    return top + count_bits(within)


@inline
def code_at(codes, stack, top):
    """The code of the place at that height of the stack."""
    return codes[np.intp(stack.parents[top]) + np.intp(stack.keys[top] & 7)]


@inline
def next_leaf(query, nodes, codes, stack, top, limit):
    """The next leaf that can hold a value within limit, and the new top; NOTHING at the end."""
    bound = key_bound(limit)
    while top > 0:
        if stack.keys[top] > bound:
            top -= 1
            continue
        code = code_at(codes, stack, top)
        top -= 1
        if code < 0:
            return ~code, top
        top = expand(query, nodes, stack, code, top, limit)
    return NOTHING, top


@inline
def next_leaf_unordered(query, nodes, codes, stack, top, limit):
    """Likewise, without asking whether a place is still within limit: for questions whose limit stays."""
    while top > 0:
        code = code_at(codes, stack, top)
        top -= 1
        if code < 0:
            return ~code, top
        top = expand(query, nodes, stack, code, top, limit)
    return NOTHING, top
