"""The steps of every walk down two trees at once, or down one tree against itself.

A place is a child of a node, as the offset of its code, or ROOT. On the stack lie pairs of places that may have to do
with each other. A pair of inner nodes becomes the pairs of their children; where one is a leaf, the other is opened; a
node paired with itself becomes each child with itself and each two children once. What is left are pairs of leaves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._jit import generic, inline
from ._simd import first_bit, less_equal, load8
from .descend import count_boxes
from .layout import CHILDREN, NODE_FLOATS

f4 = np.float32

ROOT = -1


class PairStack(NamedTuple):
    """Pairs still to visit."""

    first: np.ndarray  # int64: places in the first tree
    second: np.ndarray  # int64: places in the second


@generic
def meeting(relation, nodes, node, low, high):
    """The bits of those of the eight children of a node that a box may have to do with."""


@generic
def carried(relation, back, low, high):
    """A box of the first tree as the second sees it, or `back`; no smaller than it is."""


@generic
def with_itself(relation):
    """Whether the two trees are one, and each two of its primitives are to be met once."""


def pair_stack_size(depth, other):
    """Places that a walk down trees of these depths needs: a step takes one and writes at most 64. Not for kernels."""
    return 63 * (depth + other) + 128


@inline
def code_of(codes, place):
    return codes[place] if place >= 0 else np.int32(0)


@inline
def box_of(nodes, place):
    """The box of a place; that of the root holds everything."""
    if place < 0:
        most = f4(3e38)
        return (-most, -most, -most), (most, most, most)
    at = place // NODE_FLOATS * NODE_FLOATS + place % 8
    return (nodes[at], nodes[at + 8], nodes[at + 16]), (nodes[at + 24], nodes[at + 32], nodes[at + 40])


@inline
def is_leaf_pair(codes, others, a, b):
    return code_of(codes, a) < 0 and code_of(others, b) < 0


@inline
def push_all(stack, top, bits, first, first_step, second, second_step):
    """Put a pair for each bit on the stack, a place moving on by its step times the bit's lane."""
    while bits != 0:
        lane = first_bit(bits)
        bits &= bits - np.uint32(1)
        stack.first[top], stack.second[top] = first + first_step * lane, second + second_step * lane
        top += 1
    return top


@inline
def open_pair(relation, counts, nodes, codes, others, other_codes, stack, a, b, top):
    """Put the pairs that a pair of places becomes on the stack; the new top. One of the two must not be a leaf.

    `counts` gets the boxes that were looked at, where it is an array and not None.
    """
    code, other = np.intp(code_of(codes, a)), np.intp(code_of(other_codes, b))
    node, other_node = code * NODE_FLOATS, other * NODE_FLOATS
    if a == b and with_itself(relation):
        there = less_equal(load8(nodes, node), load8(nodes, node + 24))
        while there != 0:
            lane = first_bit(there)
            there &= there - np.uint32(1)
            place = node + CHILDREN + lane
            stack.first[top], stack.second[top] = place, place
            low, high = box_of(nodes, place)
            count_boxes(counts, nodes, node)
            bits = meeting(relation, nodes, node, low, high) & there
            top = push_all(stack, top + 1, bits, place, 0, node + CHILDREN, 1)
        return top
    if code < 0:
        low, high = box_of(nodes, a)
        low, high = carried(relation, False, low, high)
        count_boxes(counts, others, other_node)
        bits = meeting(relation, others, other_node, low, high)
        return push_all(stack, top, bits, a, 0, other_node + CHILDREN, 1)
    low, high = box_of(others, b)
    low, high = carried(relation, True, low, high)
    count_boxes(counts, nodes, node)
    bits = meeting(relation, nodes, node, low, high)
    if other < 0:
        return push_all(stack, top, bits, node + CHILDREN, 1, b, 0)
    while bits != 0:
        lane = first_bit(bits)
        bits &= bits - np.uint32(1)
        place = node + CHILDREN + lane
        low, high = box_of(nodes, place)
        low, high = carried(relation, False, low, high)
        count_boxes(counts, others, other_node)
        below = meeting(relation, others, other_node, low, high)
        top = push_all(stack, top, below, place, 0, other_node + CHILDREN, 1)
    return top
