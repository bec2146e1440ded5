"""A bounding volume hierarchy: the tree of `BoxTree`, for objects that come, move and go now and then.

What moves within the bounds that its leaf was built with is written over; what leaves them, and what is new, stands
aside in a short list that every question looks through; what is removed is blotted out. When the list gets long the
tree is built anew.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._arrays import FLOAT32, FLOAT64
from ..build.choose import build_box_tree, way_of
from ..layout import BLOCK_SIZE, BLOCKS_OF_LEAF, CHILDREN, NODE_FLOATS
from ..query.box_cast import run_casts
from ..query.box_first import first_box
from ..query.box_pairs import box_pairs
from ..query.nearest import nearest_boxes
from ..query.overlapping import overlapping_boxes, overlapping_frusta, overlapping_spheres
from ..results import Counters
from ..tree.box_tree import BoxSetTree
from . import arguments
from .answers import Boxes, Frustums, Own, Spheres, first_entered, found_by, nearest_of
from .asking import Ids
from .brute import Everything
from .protocol import Structure, expect
from .store import FREE, grown

ASIDE = 64
"""Objects that may stand aside, and twice the root of all: looking through as many costs about as much as the tree."""

NOBODY = np.iinfo(np.int64).max


class BVH(Structure):
    """Boxes or points in the tree of boxes that `boxwood.BoxTree` uses.

    Parameters
    ----------
    lower, upper : (n, 2) or (n, 3) array_like
        As for every structure.
    builder, leaf_size, quality : optional
        How to build the tree, as of `BoxTree.build`.

    Examples
    --------
    >>> from boxwood.index import BVH
    >>> tree = BVH([[0, 0], [2, 2]], [[1, 1], [3, 3]])
    >>> tree.query_box([1, 1], [2, 2]).tolist()
    [0, 1]
    >>> tree.move(0, [2, 5], [3, 6])
    1
    >>> tree.raycast([2.5, 9], [0, -1]).t_hit.tolist()
    3.0
    """

    TUNED = "leaf_size"
    _tree: BoxSetTree

    def __init__(
        self,
        lower: ArrayLike,
        upper: ArrayLike,
        *,
        builder: str | None = None,
        leaf_size: int = 4,
        quality: str | None = None,
    ) -> None:
        self._way = way_of(builder, leaf_size=leaf_size, quality=quality)
        super().__init__(lower, upper)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._tree = dataclasses.replace(self._tree, blocks=self._tree.blocks.view())  # read-only, as kernels know it

    def _parameters(self) -> dict[str, Any]:
        return {"builder": self._way.builder, "leaf_size": self._way.leaf_size}

    # Building

    def _build(self) -> None:
        store, d, dtype = self._store, self._dimension, self.dtype
        self._names = store.live_ids  # of the boxes of the tree, rising, so that ties are those of the ids
        rows = store.rows[self._names]
        boxes = store.boxes[rows]
        lower, upper = (np.ascontiguousarray(boxes[:, i : i + d], dtype) for i in (0, 3))
        if np.array_equal(lower, upper):
            upper = lower  # so they are points
        self._tree = build_box_tree(lower, upper, self._way.builder, leaf_size=self._way.leaf_size)
        self._places = np.full(len(store.boxes), FREE, np.int64)  # of each row among the ids of the tree's blocks
        self._aside = np.empty(0, np.int64)  # rows
        self._dead = 0
        ids = self._tree.ids
        held = np.flatnonzero(ids >= 0)
        self._places[rows[ids[held]]] = held
        self._leaves, self._bounds = leaf_bounds(self._tree, boxes)

    def _write(self, places: Ids, corners: NDArray[np.float64]) -> None:
        """Other corners (n, 2 d) into places of the tree's blocks."""
        if len(places) == 0:
            return
        blocks = self._tree.blocks.view()
        blocks.flags.writeable = True
        rows = self._tree.block_floats // BLOCK_SIZE  # of a block, half as many for points
        blocks.reshape(-1, rows, BLOCK_SIZE)[places // BLOCK_SIZE, :, places % BLOCK_SIZE] = corners[:, :rows]

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        tree = self._tree
        return tree.nodes, tree.blocks, tree.ids, tree.frame, self._names, self._places, self._leaves, self._bounds

    # Changes

    def _link(self, rows: Ids) -> None:
        self._places = grown(self._places, len(self._store.boxes))
        self._places[rows] = FREE
        self._aside = np.concatenate([self._aside, rows])
        self._rebuild_if_outgrown()

    def _relocate(self, rows: Ids, boxes: NDArray[np.float64]) -> int:
        self._store.write(rows, boxes)
        rows = np.unique(rows)
        rows = rows[self._places[rows] >= 0]
        boxes, places = self._store.boxes[rows], self._places[rows]
        corners = boxes[:, [*range(self._dimension), *range(3, 3 + self._dimension)]]
        bounds = self._bounds[self._leaves[places // BLOCK_SIZE]]
        stays = (bounds[:, :3] <= boxes[:, :3]).all(axis=1) & (boxes[:, 3:] <= bounds[:, 3:]).all(axis=1)
        stays &= (corners.astype(self._tree.blocks.dtype) == corners).all(axis=1)
        if self._tree.points:
            stays &= (boxes[:, :3] == boxes[:, 3:]).all(axis=1)
        self._write(places[stays], corners[stays])
        leaving = rows[~stays]
        self._blot_out(leaving)
        self._aside = np.concatenate([self._aside, leaving])
        self._rebuild_if_outgrown()
        return len(leaving)

    def _unlink(self, rows: Ids) -> None:
        self._aside = self._aside[~np.isin(self._aside, rows)]
        self._blot_out(rows[self._places[rows] >= 0])

    def _blot_out(self, rows: Ids) -> None:
        """Let the tree forget these rows: nothing meets what is not a number."""
        self._write(self._places[rows], np.full((len(rows), 2 * self._dimension), np.nan))
        self._places[rows] = FREE
        self._dead += len(rows)

    def _rebuild_if_outgrown(self) -> None:
        if len(self._aside) > ASIDE + 2 * len(self) ** 0.5 or self._dead > len(self) + ASIDE:
            self._rebuilds += 1
            self._rebuild()

    # Questions: to the tree, to those aside, and both answers together

    def _held_aside(self) -> tuple[Any, ...]:
        boxes, ids = self._store.boxes[self._aside], self._store.ids[self._aside]
        return Everything(len(ids)), boxes, ids, 1

    def _found(self, asked: Any, count: int, **work: Any) -> tuple[Ids, Ids]:
        with self._counted(work, count) as (inside, aside):
            splits, found = QUESTIONS[asked.func](self._tree, **asked.keywords, **inside)
            counts, ids = np.diff(splits), self._names[found]
            if len(self._aside) == 0:
                return counts, ids
            more, others = found_by(self._held_aside(), asked, count, **aside)
        if len(others) == 0:
            return counts, ids
        rows = np.concatenate([np.repeat(np.arange(count), counts), np.repeat(np.arange(count), more)])
        ids = np.concatenate([ids, others])
        return counts + more, ids[np.lexsort((ids, rows))]

    def _entered(self, rays: arguments.Rays, **work: Any) -> tuple[NDArray[Any], ...]:
        origins, directions = frozen(rays.origins), frozen(rays.directions)
        dtype = FLOAT32 if rays.single else FLOAT64
        moving = origins, origins, directions, frozen(rays.t_min), frozen(rays.t_max)
        with self._counted(work, len(origins)) as (inside, aside):
            cast = partial(run_casts, tree=self._tree, moving=moving, dtype=dtype, **inside)
            t_hit, hit = first_box(cast, len(origins), FLOAT64)
            hit = named(self._names, hit)
            if len(self._aside) == 0:
                return t_hit, hit
            other_t, other = first_entered(self._held_aside(), rays, **aside)
        nearer = (other >= 0) & ((other_t < t_hit) | ((other_t == t_hit) & (other < hit)) | (hit < 0))
        return np.where(nearer, other_t, t_hit), np.where(nearer, other, hit)

    def _nearest(
        self, points: arguments.Batch, reaches: NDArray[np.float64], k: int, **work: Any
    ) -> tuple[NDArray[Any], ...]:
        dtype = FLOAT32 if points.single else FLOAT64
        with self._counted(work, len(reaches)) as (inside, aside):
            found = nearest_boxes(self._tree, frozen(points.rows), frozen(reaches), k, dtype, **inside)
            distances, ids = found[0].astype(np.float64), named(self._names, found[1])
            if len(self._aside) == 0:
                return distances, ids
            other = nearest_of(self._held_aside(), points, reaches, min(k, len(self._aside)), **aside)
        distances, ids = np.hstack([distances, other[0]]), np.hstack([ids, other[1]])
        order = np.lexsort((np.where(ids < 0, NOBODY, ids), distances))[:, :k]
        return np.take_along_axis(distances, order, axis=1), np.take_along_axis(ids, order, axis=1)

    def _pairs(self, **work: Any) -> Ids:
        held = _, boxes, ids, _ = self._held_aside()
        with self._counted(work, len(ids)) as (inside, aside):
            pairs: Ids = self._names[box_pairs(self._tree, **inside)]
            if len(ids) == 0:
                return pairs
            inside["progress"] = None
            splits, found = overlap(self._tree, boxes, **inside)
            across = np.stack([np.repeat(ids, np.diff(splits)), self._names[found]], axis=1)
            asked = partial(Own, boxes=boxes, ids=ids, rows=np.arange(len(ids)))
            counts, found = found_by(held, asked, len(ids), **aside)
        pairs = np.concatenate([pairs, across, np.stack([np.repeat(ids, counts), found], axis=1)])
        pairs.sort(axis=1)
        return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]

    @contextlib.contextmanager
    def _counted(self, work: dict[str, Any], questions: int) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """What the tree takes and what those aside take, who are all tested; counts what both tested, and no more."""
        counters = work["counters"]
        inside = None if counters is None else Counters()
        yield {**work, "counters": inside}, {"threads": work["threads"]}
        if inside is not None:
            tested = inside.primitives_tested + questions * len(self._aside)
            counters.add(boxes_tested=inside.boxes_tested, primitives_tested=tested)

    # Checks

    def _check(self) -> None:
        store, tree, places = self._store, self._tree, self._places
        rows = store.live_rows
        inside = rows[places[rows] >= 0]
        standing = np.sort(self._aside)
        expect(np.array_equal(standing, rows[places[rows] < 0]), "an object is neither in the tree nor aside, or both")
        held = places[inside]
        expect(bool((self._names[tree.ids[held]] == store.ids[inside]).all()), "an object's place is another one's")
        d, boxes = self._dimension, store.boxes[inside]
        corners = tree.corners()
        same = (corners[held, 0] == boxes[:, :d]) & (corners[held, -1] == boxes[:, 3 : 3 + d])
        expect(bool(same.all()), "a box of the tree is not where its object is")
        dead = np.setdiff1d(np.flatnonzero(tree.ids >= 0), held)
        expect(len(dead) == self._dead, f"{self._dead} boxes are said to be blotted out, and {len(dead)} are")
        expect(bool(np.isnan(corners[dead]).all()), "an object that is no longer in the tree can be met there")
        blocks = tree.blocks.copy()
        corner = self._bounds[self._leaves[dead // BLOCK_SIZE], :d]
        for row in range(tree.block_floats // BLOCK_SIZE):  # as if boxes were there
            blocks[dead // BLOCK_SIZE * tree.block_floats + row * BLOCK_SIZE + dead % BLOCK_SIZE] = corner[:, row % d]
        dataclasses.replace(tree, blocks=blocks).validate()

    def _details(self) -> dict[str, float]:
        tree = self._tree
        leaves = len(self._bounds)
        nodes = len(tree.nodes) // NODE_FLOATS
        return {"nodes": nodes, "leaves": leaves, "depth": tree.depth, "aside": len(self._aside), "dead": self._dead}


def overlap(tree: BoxSetTree, boxes: NDArray[np.float64], **options: Any) -> tuple[NDArray[Any], ...]:
    return overlapping_boxes(tree, frozen(boxes[:, :3]), frozen(boxes[:, 3:]), **options)


def reached(
    tree: BoxSetTree, centers: NDArray[np.float64], radii: NDArray[np.float64], single: bool, **options: Any
) -> tuple[NDArray[Any], ...]:
    return overlapping_spheres(tree, frozen(centers), frozen(radii), FLOAT32 if single else FLOAT64, **options)


def not_outside(tree: BoxSetTree, planes: NDArray[np.float64], **options: Any) -> tuple[NDArray[Any], ...]:
    return overlapping_frusta(tree, frozen(planes), **options)


QUESTIONS: dict[Any, Any] = {Boxes: overlap, Spheres: reached, Frustums: not_outside}


def frozen(array: NDArray[np.float64]) -> NDArray[np.float64]:
    """As `BoxTree` gives arrays to kernels, which are compiled for that."""
    view: NDArray[np.float64] = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def named(names: Ids, numbers: Ids) -> Ids:
    """The ids of boxes of the tree; -1 stays."""
    if len(names) == 0:
        return numbers
    ids: Ids = np.where(numbers >= 0, names[numbers], -1)
    return ids


def leaf_bounds(tree: BoxSetTree, boxes: NDArray[np.float64]) -> tuple[Ids, NDArray[np.float64]]:
    """Which leaf each block belongs to, and the bounds of each leaf's boxes (n, 6)."""
    nodes = tree.arrays[1].reshape(-1, NODE_FLOATS)
    codes = nodes[:, CHILDREN : CHILDREN + 8]
    first = np.sort(~codes[codes < 0] // BLOCKS_OF_LEAF)
    leaves = np.zeros(len(tree.ids) // BLOCK_SIZE, np.int64)
    if len(first) == 0:
        return leaves, np.empty((0, 6))
    leaves[first[1:]] = 1
    corners = np.full((len(tree.ids), 6), np.inf)
    held = tree.ids >= 0
    corners[held] = boxes[tree.ids[held]] * [1, 1, 1, -1, -1, -1]
    bounds = np.minimum.reduceat(corners, first * BLOCK_SIZE, axis=0)
    return np.cumsum(leaves), bounds * [1, 1, 1, -1, -1, -1]
