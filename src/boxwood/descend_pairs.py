"""The steps of every walk down two trees at once, or down one tree against itself.

A place is a child of a node, as the offset of its code, or ROOT. On the stack lie pairs of places that may have to do
with each other. A pair of inner nodes becomes the pairs of their children; where one is a leaf, the other is opened; a
node paired with itself becomes each child with itself and each two children once. What is left are pairs of leaves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._jit import generic, inline
from ._simd import first_bit, less_equal, load8, maximum, minimum, splat8, store
from .descend import count_boxes
from .layout import CHILDREN, NODE_FLOATS

f4 = np.float32

ROOT = -1


class PairStack(NamedTuple):
    """Pairs still to visit."""

    first: np.ndarray  # int64: places in the first tree
    second: np.ndarray  # int64: places in the second
    boxes: np.ndarray  # (56,) float32: those of eight children, as the other tree sees them; and room for 8 numbers


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


@generic
def deepest_first(relation):
    """Whether a walk may end soon and so looks first where boxes are deepest in each other."""


def pair_stack(depth, other, more=0):
    """An empty stack for a walk down trees of these depths, where a step takes a place and writes at most 64, and for
    so many places more."""
    size = 63 * (depth + other) + 128 + more

    return PairStack(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(56, np.float32))


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
def push_all(relation, stack, top, bits, first, first_step, second, second_step, nodes, node, low, high, deepest):
    """Put a pair for each bit on the stack, a place moving on by its step times the bit's lane; the new top.

    The bits are of those children of a node that a box meets. Also returned is the deepest pair so far, as its place on
    the stack and the area, where the relation asks for that.
    """
    place, most = deepest
    if bits != 0 and deepest_first(relation):
        store(stack.boxes, 48, overlap_areas(nodes, node, low, high))
    while bits != 0:
        lane = first_bit(bits)
        bits &= bits - np.uint32(1)
        stack.first[top], stack.second[top] = first + first_step * lane, second + second_step * lane
        if deepest_first(relation) and stack.boxes[48 + lane] > most:
            place, most = top, stack.boxes[48 + lane]
        top += 1
    return top, (place, most)


@inline
def overlap_areas(nodes, node, low, high):
    """Half the surface of what a box has in common with the boxes of each child that it meets."""
    x = minimum(load8(nodes, node + 24), splat8(high[0])) - maximum(load8(nodes, node), splat8(low[0]))
    y = minimum(load8(nodes, node + 32), splat8(high[1])) - maximum(load8(nodes, node + 8), splat8(low[1]))
    z = minimum(load8(nodes, node + 40), splat8(high[2])) - maximum(load8(nodes, node + 16), splat8(low[2]))
    return x * (y + z) + y * z


@inline
def on_top(stack, deepest, top):
    """The same top, where the deepest pair now lies."""
    place, last = deepest[0], top - 1
    if place >= 0:
        stack.first[place], stack.first[last] = stack.first[last], stack.first[place]
        stack.second[place], stack.second[last] = stack.second[last], stack.second[place]
    return top


@inline
def open_pair(relation, counts, nodes, codes, others, other_codes, stack, a, b, top):
    """Put the pairs that a pair of places becomes on the stack; the new top. One of the two must not be a leaf.

    `counts` gets the boxes that were looked at, where it is an array and not None.
    """
    code, other = np.intp(code_of(codes, a)), np.intp(code_of(other_codes, b))
    node, other_node = code * NODE_FLOATS, other * NODE_FLOATS
    deepest = np.intp(-1), f4(-1.0)
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
            second = node + CHILDREN
            top, _ = push_all(relation, stack, top + 1, bits, place, 0, second, 1, nodes, node, low, high, deepest)
        return top
    if code < 0:
        low, high = box_of(nodes, a)
        low, high = carried(relation, False, low, high)
        count_boxes(counts, others, other_node)
        bits, second = meeting(relation, others, other_node, low, high), other_node + CHILDREN
        top, deepest = push_all(relation, stack, top, bits, a, 0, second, 1, others, other_node, low, high, deepest)
        return on_top(stack, deepest, top)
    low, high = box_of(others, b)
    low, high = carried(relation, True, low, high)
    count_boxes(counts, nodes, node)
    bits = meeting(relation, nodes, node, low, high)
    if other < 0:
        place = node + CHILDREN
        top, deepest = push_all(relation, stack, top, bits, place, 1, b, 0, nodes, node, low, high, deepest)
        return on_top(stack, deepest, top)
    if bits == 0:
        return top
    carry_children(relation, nodes, node, stack.boxes)
    while bits != 0:
        lane = first_bit(bits)
        bits &= bits - np.uint32(1)
        low, high = box_at(stack.boxes, lane)
        count_boxes(counts, others, other_node)
        below, place, second = (
            meeting(relation, others, other_node, low, high),
            node + CHILDREN + lane,
            other_node + CHILDREN,
        )
        top, deepest = push_all(
            relation, stack, top, below, place, 0, second, 1, others, other_node, low, high, deepest
        )
    return on_top(stack, deepest, top)
