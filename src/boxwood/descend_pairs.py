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
    boxes: np.ndarray  # (48,) float32: those of eight children, as the other tree sees them


@generic
def turn_to(relation, row):
    """Where a relation stands for many pairs of trees that are placed somewhere: look at that one from now on."""


@generic
def meeting(relation, nodes, node, low, high):
    """The bits of those of the eight children of a node that a box may have to do with."""


@generic
def carried(relation, back, low, high):
    """A box of the first tree as the second sees it, or `back`; no smaller than it is."""


@generic
def carry_children(relation, nodes, node, boxes):
    """Write the boxes of the eight children of a node of the first tree as the second sees them: lower x of all eight,
    lower y and so on. A missing child has any box."""


@generic
def near_back(relation, nodes, others, a, b):
    """Whether the box of a leaf b of the second tree, as the first sees it, meets that of a leaf a: they were seen to
    meet the other way round, and boxes that are turned are looser than they need be in one way or the other."""


@generic
def with_itself(relation):
    """Whether the two trees are one, and each two of its primitives are to be met once."""


def pair_stack(depth, other, more=0):
    """An empty stack for a walk down trees of these depths, where a step takes a place and writes at most 64, and for
    so many places more."""
    size = 63 * (depth + other) + 128 + more
    return PairStack(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(48, np.float32))


@inline
def code_of(codes, place):
    return codes[place] if place >= 0 else np.int32(0)


@inline
def box_of(nodes, place):
    """The box of a place; that of the root holds everything."""
    if place < 0:
        most = f4(3e38)
        return (-most, -most, -most), (most, most, most)
    return box_at(nodes, place // NODE_FLOATS * NODE_FLOATS + place % 8)


@inline
def box_at(boxes, at):
    """The box whose lower x lies there, beside those of seven others."""
    return (boxes[at], boxes[at + 8], boxes[at + 16]), (boxes[at + 24], boxes[at + 32], boxes[at + 40])


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
    if bits == 0:
        return top
    carry_children(relation, nodes, node, stack.boxes)
    while bits != 0:
        lane = first_bit(bits)
        bits &= bits - np.uint32(1)
        place = node + CHILDREN + lane
        low, high = box_at(stack.boxes, lane)
        count_boxes(counts, others, other_node)
        below = meeting(relation, others, other_node, low, high)
        top = push_all(stack, top, below, place, 0, other_node + CHILDREN, 1)
    return top
