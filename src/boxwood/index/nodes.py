"""Trees whose leaves list objects by their centers: what Quadtree, Octree and KDTree share.

An object stands in one leaf, the one its center belongs to, so nothing is met twice. Every node has a box around all
that is beneath it, and only these boxes decide where a question goes; so answers never depend on where a tree was
split, and one walk serves all. How a tree is split is chosen by the type of its arrays (`child_of`, `divide`, ...).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._jit import apart, generic, inline, kernel
from .._simd import prefetch
from .questions import box_at, key, limit
from .store import FREE
from .walk import show

CHILD, PARENT, HEAD, COUNT, LEVEL, AXIS = range(6)
"""Columns of `links`: the first child, FREE in a leaf; the parent; a leaf's first object; objects beneath; the level,
from the first root downward; what KDTree splits."""
LEAF, BEFORE, AFTER = range(3)
"""Columns of `places`, by row of the store: the leaf of an object, and its neighbours there."""
SPARE, SPARE_COUNT, USED, DEEPEST, STALE, FANOUT, MOST, MOST_LEVELS = range(8)
"""Places in `numbers`: blocks of children to use again, how many nodes they have, nodes ever used, the deepest level
ever, changes that may have left boxes too large, children of a node, objects of a leaf, levels."""
NUMBERS = 8

AHEAD = 8
"""How many moves ahead the box of a row is asked for; rows come in any order."""


@generic
def child_of(tree, node, center):
    """Which child of a node a center belongs to."""


@generic
def belongs(tree, leaf, center):
    """Whether an object may stay in its leaf with this center."""


@generic
def outgrown(tree, center):
    """Whether the root has to grow for this center."""


@generic
def grow(tree, center):
    """Let the root grow towards a center, once."""


@generic
def divide(tree, boxes, leaf):
    """Say where a leaf is to be split; False when it cannot be."""


@generic
def place_children(tree, node, first):
    """Say where the children of a node lie."""


@inline
def center_of(box):
    return (
        box[0] * 0.5 + box[3] * 0.5, box[1] * 0.5 + box[4] * 0.5, box[2] * 0.5 + box[5] * 0.5,
    )  # fmt: skip


def walk_nodes(tree, boxes, ids, question, batch, stack, keys):
    """Depth first, the nearest child first; what lies beyond the limit is dropped unseen."""
    at = key(question, batch, box_at(tree.boxes, 0))
    stack[0], keys[0] = 0, at
    top = 0
    while top >= 0:
        node, at = stack[top], keys[top]
        top -= 1
        if at > limit(question, batch):
            continue
        first = tree.links[node, CHILD]
        if first == FREE:
            row = tree.links[node, HEAD]
            while row != FREE:
                show(boxes, ids, row, question, batch)
                row = tree.places[row, AFTER]
            continue
        base = top
        for child in range(first, first + tree.numbers[FANOUT]):
            if tree.links[child, COUNT] > 0:
                at = key(question, batch, box_at(tree.boxes, child))
                if at <= limit(question, batch):
                    place = top
                    while place > base and keys[place] < at:
                        stack[place + 1], keys[place + 1] = stack[place], keys[place]
                        place -= 1
                    stack[place + 1], keys[place + 1] = child, at
                    top += 1


@inline
def cover(boxes, node, box):
    """Let the box of a node hold another; whether it had to become larger."""
    larger = False
    for axis in range(3):
        if box[axis] < boxes[node, axis]:
            boxes[node, axis], larger = box[axis], True
        if box[3 + axis] > boxes[node, 3 + axis]:
            boxes[node, 3 + axis], larger = box[3 + axis], True
    return larger


@inline
def clear(tree, node, parent, level):
    links = tree.links
    links[node, CHILD], links[node, PARENT], links[node, HEAD] = FREE, parent, FREE
    links[node, COUNT], links[node, LEVEL] = 0, level
    for axis in range(3):
        tree.boxes[node, axis], tree.boxes[node, 3 + axis] = np.inf, -np.inf


@inline
def has_room(tree, blocks):
    numbers = tree.numbers
    return tree.links.shape[0] - numbers[USED] + numbers[SPARE_COUNT] >= blocks * numbers[FANOUT]


@inline
def new_children(tree, parent, level):
    """The first of a block of empty leaves."""
    numbers = tree.numbers
    first, fanout = numbers[SPARE], numbers[FANOUT]
    if first == FREE:
        first = numbers[USED]
        numbers[USED] += fanout
    else:
        numbers[SPARE] = tree.links[first, CHILD]
        numbers[SPARE_COUNT] -= fanout
    for node in range(first, first + fanout):
        clear(tree, node, parent, level)
    numbers[DEEPEST] = max(numbers[DEEPEST], level)
    return first


@inline
def free_children(tree, first):
    numbers = tree.numbers
    tree.links[first, CHILD] = numbers[SPARE]
    numbers[SPARE] = first
    numbers[SPARE_COUNT] += numbers[FANOUT]


@inline
def push(tree, leaf, row):
    links, places = tree.links, tree.places
    head = links[leaf, HEAD]
    places[row, LEAF], places[row, BEFORE], places[row, AFTER] = leaf, FREE, head
    if head != FREE:
        places[head, BEFORE] = row
    links[leaf, HEAD] = row


@inline
def pull(tree, row):
    links, places = tree.links, tree.places
    before, after = places[row, BEFORE], places[row, AFTER]
    if before == FREE:
        links[places[row, LEAF], HEAD] = after
    else:
        places[before, AFTER] = after
    if after != FREE:
        places[after, BEFORE] = before


@apart
def split_leaf(tree, boxes, leaf):
    """Give the objects of a leaf to new children; the child that has the most, or FREE if it cannot be split."""
    links = tree.links
    level = links[leaf, LEVEL] + 1
    if level > tree.numbers[MOST_LEVELS] or not divide(tree, boxes, leaf):
        return np.int64(FREE)
    first = np.int64(new_children(tree, leaf, level))
    place_children(tree, leaf, first)
    row = links[leaf, HEAD]
    links[leaf, CHILD], links[leaf, HEAD] = first, FREE
    most = first
    while row != FREE:
        after = tree.places[row, AFTER]
        box = box_at(boxes, row)
        child = first + child_of(tree, leaf, center_of(box))
        push(tree, child, row)
        cover(tree.boxes, child, box)
        links[child, COUNT] += 1
        if links[child, COUNT] > links[most, COUNT]:
            most = child
        row = after
    return most


@inline
def put(tree, boxes, row, box):
    """Put an object into its leaf, and split it as often as it has too many."""
    links = tree.links
    center = center_of(box)
    node = 0
    cover(tree.boxes, node, box)
    links[node, COUNT] += 1
    while links[node, CHILD] != FREE:
        node = links[node, CHILD] + child_of(tree, node, center)
        cover(tree.boxes, node, box)
        links[node, COUNT] += 1
    push(tree, node, row)
    while node != FREE and links[node, COUNT] > tree.numbers[MOST]:
        node = split_leaf(tree, boxes, node)


@inline
def take(tree, row):
    """Take an object out of its leaf, and join leaves that have few."""
    links = tree.links
    pull(tree, row)
    node = np.int64(tree.places[row, LEAF])
    while node != FREE:
        links[node, COUNT] -= 1
        first = links[node, CHILD]
        if first != FREE and links[node, COUNT] <= tree.numbers[MOST] // 2:
            join(tree, node, first)
        node = links[node, PARENT]


@apart
def join(tree, node, first):
    """Make a node a leaf. Its children are leaves, since one with children would have been joined before it."""
    links = tree.links
    links[node, CHILD], links[node, HEAD] = FREE, FREE
    for child in range(first, first + tree.numbers[FANOUT]):
        row = links[child, HEAD]
        while row != FREE:
            after = tree.places[row, AFTER]
            push(tree, node, row)
            row = after
    free_children(tree, first)


@inline
def make_ready(tree, box):
    """Let the root grow as far as it must; False when there is no room for all that may come of a new object."""
    center = center_of(box)
    while True:
        levels = tree.numbers[MOST_LEVELS] - tree.links[0, LEVEL]
        if not has_room(tree, levels + 2):
            return False
        if not outgrown(tree, center):
            return True
        grow(tree, center)


@kernel
def put_rows(tree, boxes, rows, begin):
    """Put objects from `begin` on into their leaves; gives the first that there may be no room for."""
    for i in range(begin, rows.shape[0]):
        box = box_at(boxes, rows[i])
        if not make_ready(tree, box):
            return i
        put(tree, boxes, rows[i], box)
    return rows.shape[0]


@kernel
def take_rows(tree, rows):
    for row in rows:
        take(tree, row)
    tree.numbers[STALE] += rows.shape[0]


@kernel
def relocate_rows(tree, boxes, rows, moved, begin, changed):
    """Write new boxes into rows from `begin` on, and put into other leaves what belongs there.

    Gives the first that there may be no room for, and adds to `changed` how many have another leaf.
    """
    last = rows.shape[0] - 1
    for i in range(begin, rows.shape[0]):
        soon = rows[min(i + AHEAD, last)]
        prefetch(boxes, soon * 6)
        prefetch(tree.places, soon * 3)
        row, box = rows[i], box_at(moved, i)
        leaf = np.int64(tree.places[row, LEAF])
        stays = belongs(tree, leaf, center_of(box))
        if not stays and not make_ready(tree, box):
            return i
        for axis in range(6):
            boxes[row, axis] = box[axis]
        if stays:
            node, larger = leaf, True
            while larger and node != FREE:
                larger = cover(tree.boxes, node, box)
                node = np.int64(tree.links[node, PARENT])
                tree.numbers[STALE] += larger
        else:
            take(tree, row)
            put(tree, boxes, row, box)
            changed[0] += 1
            tree.numbers[STALE] += 1
    return rows.shape[0]


@kernel
def fit(tree, boxes, order):
    """Make all boxes as small as they can be; `order` has the nodes, the deepest first."""
    for node in order:
        for axis in range(3):
            tree.boxes[node, axis], tree.boxes[node, 3 + axis] = np.inf, -np.inf
        first = tree.links[node, CHILD]
        if first == FREE:
            row = tree.links[node, HEAD]
            while row != FREE:
                cover(tree.boxes, node, box_at(boxes, row))
                row = tree.places[row, AFTER]
        else:
            for child in range(first, first + tree.numbers[FANOUT]):
                cover(tree.boxes, node, box_at(tree.boxes, child))
    tree.numbers[STALE] = 0


def nodes_in_use(tree: Any) -> NDArray[np.int64]:
    """All nodes of the tree, each before those beneath it."""
    nodes = np.empty(len(tree.links), np.int64)
    return nodes[: fill_nodes_in_use(tree, nodes)]


@kernel
def fill_nodes_in_use(tree, nodes):
    """The same into `nodes`; how many."""
    nodes[0] = 0
    count, place = 1, 0
    while place < count:
        first = tree.links[nodes[place], CHILD]
        if first != FREE:
            for child in range(first, first + tree.numbers[FANOUT]):
                nodes[count] = child
                count += 1
        place += 1
    return count


@kernel
def first_fault(tree, boxes, nodes):
    """What is wrong: a code, 0 for nothing, and the node."""
    fanout = tree.numbers[FANOUT]
    for node in nodes:
        first, count = tree.links[node, CHILD], 0
        if first == FREE:
            row, before = tree.links[node, HEAD], FREE
            while row != FREE:
                if tree.places[row, LEAF] != node or tree.places[row, BEFORE] != before:
                    return 1, node
                if cover(tree.boxes, node, box_at(boxes, row)):
                    return 2, node
                row, before = tree.places[row, AFTER], row
                count += 1
        else:
            for child in range(first, first + fanout):
                count += tree.links[child, COUNT]
                if tree.links[child, PARENT] != node or tree.links[child, LEVEL] != tree.links[node, LEVEL] + 1:
                    return 3, node
                if tree.links[child, COUNT] > 0 and cover(tree.boxes, node, box_at(tree.boxes, child)):
                    return 2, node
            if count <= tree.numbers[MOST] // 2:
                return 5, node
        if count != tree.links[node, COUNT]:
            return 4, node
    return 0, np.int64(0)
