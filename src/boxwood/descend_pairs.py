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
from .descend import count_boxes, overlaps
from .layout import CHILDREN, NODE_FLOATS

f4 = np.float32

ROOT = -1

BACK, AREAS, BOXES_ROOM = 48, 96, 104
"""Where in `PairStack.boxes` those of the second tree lie, and the numbers."""


class PairStack(NamedTuple):
    """Pairs still to visit."""

    first: np.ndarray  # int64: places in the first tree
    second: np.ndarray  # int64: places in the second
    boxes: np.ndarray  # float32: of each tree those of eight children as the other sees them, 48 each; and 8 numbers


@generic
def turn_to(relation, row):
    """Where a relation stands for many pairs of trees that are placed somewhere: look at that one from now on."""


@generic
def carried(relation, back, low, high):
    """A box of the first tree as the second sees it, or `back`; no smaller than it is."""


@generic
def carry_children(relation, back, nodes, node, boxes, at):
    """Write the boxes of the eight children of a node of the first tree as the second sees them, or `back`: lower x of
    all eight, lower y and so on. A missing child has any box."""


@generic
def with_itself(relation):
    """Whether the two trees are one, and each two of its primitives are to be met once."""


@generic
def turned(relation):
    """Whether boxes turn on the way from tree to tree, and so are looser than they need be in one way or the other.

    Then both ways count, and the deepest pair is looked at first, as a walk may end at a first contact.
    """


class Itself(NamedTuple):
    """The relation of one tree and itself."""


@turn_to.implemented_for(Itself)
def _(relation, row):
    pass


@carried.implemented_for(Itself)
def _(relation, back, low, high):
    return low, high


@carry_children.implemented_for(Itself)
def _(relation, back, nodes, node, boxes, at):
    for k in range(0, 48, 8):
        store(boxes, at + k, load8(nodes, node + k))


@with_itself.implemented_for(Itself)
def _(relation):
    return True


@turned.implemented_for(Itself)
def _(relation):
    return False


def pair_stack(depth, other, more=0):
    """An empty stack for a walk down trees of these depths, where a step takes a place and writes at most 64, and for
    so many places more."""
    size = 63 * (depth + other) + 128 + more
    return PairStack(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(BOXES_ROOM, np.float32))


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
    if bits != 0 and turned(relation):
        store(stack.boxes, AREAS, overlap_areas(nodes, node, low, high))
    while bits != 0:
        lane = first_bit(bits)
        bits &= bits - np.uint32(1)
        stack.first[top], stack.second[top] = first + first_step * lane, second + second_step * lane
        if turned(relation) and stack.boxes[AREAS + lane] > most:
            place, most = top, stack.boxes[AREAS + lane]
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
            bits = overlaps(nodes, node, low, high) & there
            second = node + CHILDREN
            top, _ = push_all(relation, stack, top + 1, bits, place, 0, second, 1, nodes, node, low, high, deepest)
        return top
    if code < 0:
        low_a, high_a = box_of(nodes, a)
        low, high = carried(relation, False, low_a, high_a)
        count_boxes(counts, others, other_node)
        bits, place = overlaps(others, other_node, low, high), other_node + CHILDREN
        if turned(relation) and bits != 0:
            carry_children(relation, True, others, other_node, stack.boxes, BACK)
            bits &= overlaps(stack.boxes, BACK, low_a, high_a)
        top, deepest = push_all(relation, stack, top, bits, a, 0, place, 1, others, other_node, low, high, deepest)
        return on_top(stack, deepest, top)
    low_b, high_b = box_of(others, b)
    low, high = carried(relation, True, low_b, high_b)
    count_boxes(counts, nodes, node)
    bits, place, second = overlaps(nodes, node, low, high), node + CHILDREN, other_node + CHILDREN
    if other < 0:
        if turned(relation) and bits != 0:
            carry_children(relation, False, nodes, node, stack.boxes, 0)
            bits &= overlaps(stack.boxes, 0, low_b, high_b)
        top, deepest = push_all(relation, stack, top, bits, place, 1, b, 0, nodes, node, low, high, deepest)
        return on_top(stack, deepest, top)
    if bits == 0:
        return top
    carry_children(relation, False, nodes, node, stack.boxes, 0)
    if turned(relation):
        carry_children(relation, True, others, other_node, stack.boxes, BACK)
    while bits != 0:
        lane = first_bit(bits)
        bits &= bits - np.uint32(1)
        low, high = box_at(stack.boxes, lane)
        count_boxes(counts, others, other_node)
        met, child = overlaps(others, other_node, low, high), place + lane
        if turned(relation):
            low_a, high_a = box_at(nodes, node + lane)
            met &= overlaps(stack.boxes, BACK, low_a, high_a)
        top, deepest = push_all(relation, stack, top, met, child, 0, second, 1, others, other_node, low, high, deepest)
    return on_top(stack, deepest, top)
