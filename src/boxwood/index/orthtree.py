"""Quadtree and octree: a cube is cut into equal parts, and each part again, as long as it has many objects.

Where objects crowd the parts are small, so clusters are no harder than an even spread. An object belongs to the part
that its center is in, and the boxes of nodes tell how far their objects reach (a loose octree whose looseness is
measured). Finkel and Bentley 1974; Ulrich 2000, Loose octrees.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._arrays import positive_int
from .._jit import inline
from .nodes import (
    CHILD,
    COUNT,
    FANOUT,
    LEVEL,
    MOST,
    MOST_LEVELS,
    PARENT,
    belongs,
    child_of,
    divide,
    grow,
    new_children,
    nodes_in_use,
    outgrown,
    place_children,
    walk_nodes,
)
from .protocol import expect
from .store import FREE
from .tree_structure import TreeStructure
from .walk import walk

LARGEST_HALF = 1e305
RIM = 1 / 16
"""Around the first objects, so that the root need not grow when they move a little."""


class Orthants(NamedTuple):
    boxes: np.ndarray  # (n, 6): around all that is beneath
    links: np.ndarray  # (n, 6) int32
    places: np.ndarray  # (rows, 3) int32
    middles: np.ndarray  # (n, 4): the middle of a cube, and half its edge
    numbers: np.ndarray


walk.implemented_for(Orthants)(walk_nodes)


@child_of.implemented_for(Orthants)
def _(tree, node, center):
    middles = tree.middles
    part = np.int64(center[0] >= middles[node, 0]) | np.int64(center[1] >= middles[node, 1]) << 1
    if tree.numbers[FANOUT] == 8:
        part |= np.int64(center[2] >= middles[node, 2]) << 2
    return part


@belongs.implemented_for(Orthants)
def _(tree, leaf, center):
    middles = tree.middles
    half = middles[leaf, 3]
    x, y, z = center[0] - middles[leaf, 0], center[1] - middles[leaf, 1], center[2] - middles[leaf, 2]
    return abs(x) <= half and abs(y) <= half and abs(z) <= half


@outgrown.implemented_for(Orthants)
def _(tree, center):
    return not belongs(tree, 0, center) and tree.middles[0, 3] < LARGEST_HALF


@inline
def axes_of(tree):
    return 3 if tree.numbers[FANOUT] == 8 else 2


@grow.implemented_for(Orthants)
def _(tree, center):
    """Twice as large, towards the center. What the root was becomes one of its children."""
    links, middles = tree.links, tree.middles
    half = middles[0, 3]
    x, y, z = middles[0, 0], middles[0, 1], middles[0, 2]
    part = 0  # of the new cube that the old one is: away from the center
    for axis in range(axes_of(tree)):
        part |= np.int64(center[axis] < middles[0, axis]) << axis
        middles[0, axis] += half if center[axis] >= middles[0, axis] else -half
    middles[0, 3] = half * 2.0
    if links[0, CHILD] != FREE:
        first = np.int64(new_children(tree, 0, links[0, LEVEL]))
        place_children(tree, 0, first)
        old = first + part
        links[old, CHILD], links[old, COUNT] = links[0, CHILD], links[0, COUNT]
        middles[old, 0], middles[old, 1], middles[old, 2] = x, y, z  # to the last bit
        for axis in range(6):
            tree.boxes[old, axis] = tree.boxes[0, axis]
        for child in range(links[old, CHILD], links[old, CHILD] + tree.numbers[FANOUT]):
            links[child, PARENT] = old
        links[0, CHILD] = first
    links[0, LEVEL] -= 1


@divide.implemented_for(Orthants)
def _(tree, boxes, leaf):
    return True


@place_children.implemented_for(Orthants)
def _(tree, node, first):
    middles = tree.middles
    half = middles[node, 3] * 0.5
    for part in range(tree.numbers[FANOUT]):
        child = first + part
        middles[child, 2], middles[child, 3] = 0.0, half
        for axis in range(axes_of(tree)):
            middles[child, axis] = middles[node, axis] + (half if (part >> axis) & 1 else -half)


class Orthtree(TreeStructure):
    """What Quadtree and Octree share."""

    FANOUT: int
    TUNED = "max_objects"

    def __init__(self, lower: ArrayLike, upper: ArrayLike, *, max_objects: int = 8, max_depth: int = 8) -> None:
        self._max_depth = positive_int("max_depth", max_depth, 0, 60)
        super().__init__(lower, upper, most=positive_int("max_objects", max_objects, 1, 2**30))

    def _parameters(self) -> dict[str, Any]:
        return {"max_objects": self._most, "max_depth": self._max_depth}

    def _build(self) -> None:
        rows = self._store.live_rows
        self._tree = self._empty(Orthants, self.FANOUT, 16 + len(rows))
        self._tree.numbers[MOST_LEVELS] = self._max_depth
        boxes = self._store.boxes[rows]
        centers = boxes[:, :3] * 0.5 + boxes[:, 3:] * 0.5
        low, high = (centers.min(axis=0), centers.max(axis=0)) if len(rows) else (np.zeros(3), np.zeros(3))
        half = (high / 2 - low / 2).max() * (1 + RIM) or np.abs(centers).max(initial=0) / 2**20 or 1.0
        self._tree.middles[0] = [*(low / 2 + high / 2), min(half, LARGEST_HALF)]
        self._put_all(rows)

    def _check(self) -> None:
        super()._check()
        links = self._tree.links[nodes_in_use(self._tree)]
        full = (links[:, CHILD] == FREE) & (links[:, COUNT] > self._tree.numbers[MOST])
        expect(bool((links[full, LEVEL] >= self._max_depth).all()), "a leaf that can be split has too many objects")
        expect(bool((links[:, LEVEL] <= self._max_depth).all()), "a leaf is too deep")


class Quadtree(Orthtree):
    """Boxes or points in 2-D, in squares that are cut into four where objects crowd.

    Objects beyond the first bounds let the root grow: it becomes a quarter of a square twice as large, as often as
    it takes, so the tree may get deeper at its top.

    Parameters
    ----------
    lower, upper : (n, 2) array_like
        As for every structure.
    max_objects : int
        A square with more is cut.
    max_depth : int
        How often: smaller squares are not cut, whatever is in them.

    Examples
    --------
    >>> from boxwood.index import Quadtree
    >>> tree = Quadtree.from_points([[0, 0], [1, 1], [1, 1], [9, 9]], max_objects=1, max_depth=4)
    >>> tree.query_sphere([1, 1], 0.5).tolist()
    [1, 2]
    >>> int(tree.insert([1000, -1000], [1000, -1000]))
    4
    >>> tree.nearest([900, -900]).ids.tolist()
    [4]
    """

    FANOUT = 4
    DIMENSION = 2


class Octree(Orthtree):
    """Boxes or points in 3-D, in cubes that are cut into eight where objects crowd.

    Objects beyond the first bounds let the root grow: it becomes an eighth of a cube twice as large, as often as
    it takes, so the tree may get deeper at its top.

    Parameters
    ----------
    lower, upper : (n, 3) array_like
        As for every structure.
    max_objects : int
        A cube with more is cut.
    max_depth : int
        How often: smaller cubes are not cut, whatever is in them.

    Examples
    --------
    >>> from boxwood.index import Octree
    >>> tree = Octree.from_points([[0, 0, 0], [1, 1, 1], [9, 9, 9]])
    >>> tree.query_box([0, 0, 0], [2, 2, 2]).tolist()
    [0, 1]
    """

    FANOUT = 8
    DIMENSION = 3
