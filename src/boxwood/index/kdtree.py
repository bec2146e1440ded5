"""A k-d tree: objects are split by their centers into equal halves, on the axis along which these are spread widest.

Splitting at the median keeps the tree balanced whatever the distribution; the boxes of nodes tell how far objects
reach. Changes go to the leaf they belong to, and after as many changes as half of the objects the tree is built anew.
Bentley 1975, Multidimensional binary search trees; the median by quickselect, Hoare 1961.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._arrays import positive_int
from .._jit import inline, kernel
from .asking import Ids
from .nodes import (
    AFTER,
    AXIS,
    CHILD,
    COUNT,
    HEAD,
    LEVEL,
    MOST,
    MOST_LEVELS,
    belongs,
    center_of,
    child_of,
    divide,
    fit,
    grow,
    has_room,
    new_children,
    nodes_in_use,
    outgrown,
    place_children,
    push,
    walk_nodes,
)
from .questions import box_at
from .store import FREE
from .tree_structure import TreeStructure
from .walk import walk


class Halves(NamedTuple):
    boxes: np.ndarray  # (n, 6): around all that is beneath
    links: np.ndarray  # (n, 6) int32
    places: np.ndarray  # (rows, 3) int32
    middles: np.ndarray  # (n, 4): first of each, where the node is split
    numbers: np.ndarray


walk.implemented_for(Halves)(walk_nodes)


@child_of.implemented_for(Halves)
def _(tree, node, center):
    axis = tree.links[node, AXIS]
    x = center[0] if axis == 0 else (center[1] if axis == 1 else center[2])
    return np.int64(x >= tree.middles[node, 0])


@belongs.implemented_for(Halves)
def _(tree, leaf, center):
    node = np.int64(0)
    while tree.links[node, CHILD] != FREE:
        node = tree.links[node, CHILD] + child_of(tree, node, center)
    return node == leaf


@outgrown.implemented_for(Halves)
def _(tree, center):
    return False


@grow.implemented_for(Halves)
def _(tree, center):
    pass


@place_children.implemented_for(Halves)
def _(tree, node, first):
    pass


@divide.implemented_for(Halves)
def _(tree, boxes, leaf):
    """In the middle of the widest axis of a leaf that has become too full."""
    low_x = low_y = low_z = np.inf
    high_x = high_y = high_z = -np.inf
    row = tree.links[leaf, HEAD]
    while row != FREE:
        x, y, z = center_of(box_at(boxes, row))
        low_x, low_y, low_z = min(low_x, x), min(low_y, y), min(low_z, z)
        high_x, high_y, high_z = max(high_x, x), max(high_y, y), max(high_z, z)
        row = tree.places[row, AFTER]
    axis, low, high = widest(low_x, low_y, low_z, high_x, high_y, high_z)
    middle = low * 0.5 + high * 0.5
    tree.links[leaf, AXIS], tree.middles[leaf, 0] = axis, (middle if low < middle else high)
    return low < high


@inline
def widest(low_x, low_y, low_z, high_x, high_y, high_z):
    """The axis of the greatest spread (halved, so that it is not beyond the numbers), and its ends."""
    x, y, z = high_x * 0.5 - low_x * 0.5, high_y * 0.5 - low_y * 0.5, high_z * 0.5 - low_z * 0.5
    if x >= y and x >= z:
        return 0, low_x, high_x
    if y >= z:
        return 1, low_y, high_y
    return 2, low_z, high_z


@inline
def select(centers, axis, order, first, last):
    """Bring the median of order[first : last] to its place, what is less before it, what is more behind it."""
    wanted = (first + last) // 2
    low, high = first, last - 1
    while low < high:
        pivot = centers[order[(low + high) // 2], axis]
        i, j = low, high
        while i <= j:
            while centers[order[i], axis] < pivot:
                i += 1
            while centers[order[j], axis] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if wanted <= j:
            high = j
        elif wanted >= i:
            low = i
        else:
            break
    return centers[order[wanted], axis]


@inline
def part(centers, axis, order, first, last, value):
    """Bring what is less than the value to the front; where the rest begins."""
    place = first
    for i in range(first, last):
        if centers[order[i], axis] < value:
            order[i], order[place] = order[place], order[i]
            place += 1
    return place


@inline
def least_above(centers, axis, order, first, last, low):
    least = np.inf
    for i in range(first, last):
        x = centers[order[i], axis]
        if low < x < least:
            least = x
    return least


@kernel
def build(tree, centers, rows, order):
    """Split the root until no leaf has too many; `order` has the places of `centers`, of objects in `rows`."""
    links = tree.links
    starts, ends = np.empty(links.shape[0], np.int64), np.empty(links.shape[0], np.int64)
    stack = np.empty(links.shape[0], np.int64)
    starts[0], ends[0], stack[0] = 0, order.shape[0], 0
    top = 0
    while top >= 0:
        node = stack[top]
        top -= 1
        first, last = starts[node], ends[node]
        links[node, COUNT] = last - first
        level = links[node, LEVEL] + 1
        low_x = low_y = low_z = np.inf
        high_x = high_y = high_z = -np.inf
        for i in range(first, last):
            x, y, z = centers[order[i], 0], centers[order[i], 1], centers[order[i], 2]
            low_x, low_y, low_z = min(low_x, x), min(low_y, y), min(low_z, z)
            high_x, high_y, high_z = max(high_x, x), max(high_y, y), max(high_z, z)
        axis, low, high = widest(low_x, low_y, low_z, high_x, high_y, high_z)
        few = last - first <= tree.numbers[MOST] or level > tree.numbers[MOST_LEVELS]
        if few or not low < high or not has_room(tree, 1):
            for i in range(first, last):
                push(tree, node, rows[order[i]])
            continue
        value = select(centers, axis, order, first, last)
        if value == low:  # half of them or more are equal there
            value = least_above(centers, axis, order, first, last, low)
        middle = part(centers, axis, order, first, last, value)
        links[node, AXIS], tree.middles[node, 0] = axis, value
        child = np.int64(new_children(tree, node, level))
        links[node, CHILD] = child
        starts[child], ends[child], starts[child + 1], ends[child + 1] = first, middle, middle, last
        stack[top + 1], stack[top + 2] = child, child + 1
        top += 2


class KDTree(TreeStructure):
    """Boxes or points in a balanced tree of halves.

    Parameters
    ----------
    lower, upper : (n, 2) or (n, 3) array_like
        As for every structure.
    leaf_size : int
        Objects of a leaf, at most, unless their centers are the same.

    Examples
    --------
    >>> from boxwood.index import KDTree
    >>> tree = KDTree.from_points([[0, 0], [1, 0], [5, 5], [6, 5]])
    >>> found = tree.nearest([[0.25, 0], [9, 5]], k=2)
    >>> found.ids.tolist(), found.distances.tolist()
    ([[0, 1], [3, 2]], [[0.25, 0.75], [3.0, 4.0]])
    """

    TUNED = "leaf_size"

    def __init__(self, lower: ArrayLike, upper: ArrayLike, *, leaf_size: int = 8) -> None:
        super().__init__(lower, upper, most=positive_int("leaf_size", leaf_size, 1, 2**30))

    def _parameters(self) -> dict[str, Any]:
        return {"leaf_size": self._most}

    def _build(self) -> None:
        rows = self._store.live_rows
        self._tree = self._empty(Halves, 2, 2 * len(rows) + 16)
        self._tree.numbers[MOST_LEVELS] = 2 * len(rows).bit_length() + 16
        boxes = self._store.boxes[rows]
        build(self._tree, boxes[:, :3] * 0.5 + boxes[:, 3:] * 0.5, rows, np.arange(len(rows)))
        fit(self._tree, self._store.boxes, nodes_in_use(self._tree)[::-1].copy())
        self._changes = 0

    def _link(self, rows: Ids) -> None:
        super()._link(rows)
        self._count_changes(len(rows))

    def _relocate(self, rows: Ids, boxes: NDArray[np.float64]) -> int:
        changed = super()._relocate(rows, boxes)
        self._count_changes(changed)
        return changed

    def _count_changes(self, count: int) -> None:
        self._changes += count
        if self._changes > len(self) // 2 + 64:
            self._rebuilds += 1
            self._rebuild()
