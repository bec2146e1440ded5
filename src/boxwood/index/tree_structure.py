"""What Quadtree, Octree and KDTree share above the kernels: room that grows, and boxes fitted again now and then."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import nodes
from .asking import Ids
from .nodes import first_fault, fit, nodes_in_use, put_rows, relocate_rows, take_rows
from .protocol import Structure, expect
from .store import FREE, grown

FAULTS = (
    "",
    "node {} and an object do not refer to each other",
    "the box of node {} does not hold all that is beneath it",
    "node {} and its children do not refer to each other",
    "node {} has not as many objects as it says",
    "node {} has too few objects to have children",
)


class TreeStructure(Structure):
    """Boxes or points in the leaves of a tree."""

    _tree: Any

    def __init__(self, lower: ArrayLike, upper: ArrayLike, *, most: int) -> None:
        self._most = most  # objects of a leaf
        super().__init__(lower, upper)

    def _empty(self, kind: Any, fanout: int, room: int) -> Any:
        """A tree that is one leaf without objects: arrays of `kind`."""
        numbers = np.zeros(nodes.NUMBERS, np.int64)
        numbers[nodes.SPARE], numbers[nodes.USED], numbers[nodes.FANOUT] = FREE, 1, fanout
        numbers[nodes.MOST] = self._most
        tree = kind(
            np.full((room, 6), np.nan),
            np.full((room, 6), FREE, np.int32),
            np.full((len(self._store.boxes), 3), FREE, np.int32),
            np.zeros((room, 4)),
            numbers,
        )
        tree.boxes[0] = [np.inf] * 3 + [-np.inf] * 3
        tree.links[0] = [FREE, FREE, FREE, 0, 0, 0]
        return tree

    @abc.abstractmethod
    def _build(self) -> None:
        """Make `_tree` anew."""

    def _arrays(self) -> Any:
        return self._tree

    def _depth(self) -> int:
        numbers = self._tree.numbers
        levels = int(numbers[nodes.DEEPEST]) - int(self._tree.links[0, nodes.LEVEL]) + 1
        return levels * int(numbers[nodes.FANOUT] - 1) + 2

    def _make_room(self) -> None:
        tree = self._tree
        numbers = tree.numbers
        levels = int(numbers[nodes.MOST_LEVELS]) - int(tree.links[0, nodes.LEVEL])
        room = len(tree.links) + int(numbers[nodes.FANOUT]) * (levels + 3)
        self._tree = tree._replace(
            boxes=grown(tree.boxes, room), links=grown(tree.links, room), middles=grown(tree.middles, room)
        )

    def _put_all(self, rows: Ids) -> None:
        self._tree = self._tree._replace(places=grown(self._tree.places, len(self._store.boxes)))
        done = 0
        while True:
            done = int(put_rows(self._tree, self._store.boxes, rows, done))
            if done == len(rows):
                return
            self._make_room()

    def _link(self, rows: Ids) -> None:
        self._put_all(rows)

    def _relocate(self, rows: Ids, boxes: NDArray[np.float64]) -> int:
        changed = np.zeros(1, np.int64)
        done = 0
        while True:
            done = int(relocate_rows(self._tree, self._store.boxes, rows, boxes, done, changed))
            if done == len(rows):
                break
            self._make_room()
        self._fit_if_stale()
        return int(changed[0])

    def _unlink(self, rows: Ids) -> None:
        take_rows(self._tree, rows)
        self._fit_if_stale()

    def _fit_if_stale(self) -> None:
        """Once there were as many changes as there are objects: so a change pays for one object at most."""
        if self._tree.numbers[nodes.STALE] > len(self) + 64:
            fit(self._tree, self._store.boxes, nodes_in_use(self._tree)[::-1].copy())

    def _check(self) -> None:
        used = nodes_in_use(self._tree)
        fault, node = first_fault(self._tree, self._store.boxes, used)
        expect(fault == 0, FAULTS[fault].format(node))
        numbers, links = self._tree.numbers, self._tree.links
        expect(links[0, nodes.COUNT] == len(self), "the root has not all objects")
        expect(len(used) == numbers[nodes.USED] - numbers[nodes.SPARE_COUNT], "nodes are lost")
        expect(links[used, nodes.LEVEL].max() <= numbers[nodes.DEEPEST], "a leaf is deeper than is known")

    def _details(self) -> dict[str, float]:
        used = nodes_in_use(self._tree)
        links = self._tree.links[used]
        leaves = links[links[:, nodes.CHILD] == FREE]
        return {
            "nodes": len(used),
            "leaves": len(leaves),
            "depth": int(links[:, nodes.LEVEL].max() - links[0, nodes.LEVEL]),
            "largest_leaf": int(leaves[:, nodes.COUNT].max()),
        }
