"""Sweep and prune: boxes sorted by where they begin on one axis, so that overlapping ones are neighbours in a list.

A sweep along the list finds all pairs, eight candidates at a time. Other questions look through the part of the list
that they reach on the axis; how far back it goes is told by the greatest end so far. After small moves the list is
nearly sorted, and sorting by insertion costs hardly more than looking at it. Baraff 1992; Cohen et al. 1995, I-COLLIDE.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._jit import generic, inline, kernel
from .._simd import first_bit, less_equal, load8, splat8
from .._threads import run_chunks
from .asking import Ids, uncounted
from .protocol import Structure, expect
from .questions import SLACK, Box, Frustum, Near, Ray, Sphere, extent, limit
from .walk import show, walk

LANES = 8
ROOM = 4
"""Pairs per box that a chunk has room for at first."""
STEPS = 16
"""Steps of insertion per box, on average, beyond which sorting anew is quicker."""


class Sorted(NamedTuple):
    rows: np.ndarray  # (n,) int64, sorted by where their boxes begin on the axis
    starts: np.ndarray  # (n,): there
    ends: np.ndarray  # (n,): the greatest end of all up to here
    bounds: np.ndarray  # (1, 6): around all
    axis: int


@inline
def first_above(numbers, x):
    """How many of the rising numbers are at most x."""
    low, high = 0, numbers.shape[0]
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] <= x:
            low = middle + 1
        else:
            high = middle
    return low


@inline
def first_from(numbers, x):
    """How many of the rising numbers are less than x."""
    low, high = 0, numbers.shape[0]
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@generic
def look(question, structure, boxes, ids, batch):
    """Look through the part of the list that the question needs."""


@walk.implemented_for(Sorted)
def _(structure, boxes, ids, question, batch, stack, keys):
    if structure.rows.shape[0] > 0:
        look(question, structure, boxes, ids, batch)


def look_in_extent(question, structure, boxes, ids, batch):
    reach = extent(question, batch, structure.bounds)
    axis = structure.axis
    lower = reach[0] if axis == 0 else (reach[1] if axis == 1 else reach[2])
    upper = reach[3] if axis == 0 else (reach[4] if axis == 1 else reach[5])
    for place in range(first_from(structure.ends, lower), first_above(structure.starts, upper)):
        show(boxes, ids, structure.rows[place], question, batch)


look.implemented_for(Box)(look_in_extent)
look.implemented_for(Sphere)(look_in_extent)
look.implemented_for(Frustum)(look_in_extent)
look.implemented_for(Ray)(look_in_extent)


@look.implemented_for(Near)
def _(question, structure, boxes, ids, batch):
    """From the point outward, to either side until what is left is too far on the axis alone."""
    axis = structure.axis
    x = question.point[0] if axis == 0 else (question.point[1] if axis == 1 else question.point[2])
    behind = first_above(structure.starts, x)
    ahead = behind
    behind -= 1
    while behind >= 0 or ahead < structure.rows.shape[0]:
        if behind >= 0:
            if (x - structure.ends[behind]) * (1.0 - SLACK) <= limit(question, batch):
                show(boxes, ids, structure.rows[behind], question, batch)
                behind -= 1
            else:
                behind = -1
        if ahead < structure.rows.shape[0]:
            if (structure.starts[ahead] - x) * (1.0 - SLACK) <= limit(question, batch):
                show(boxes, ids, structure.rows[ahead], question, batch)
                ahead += 1
            else:
                ahead = structure.rows.shape[0]


@kernel
def sweep(ids, sides, per_id, found, used, begin, end):
    """Pairs of boxes `begin` to `end` of the list with later ones, each as smaller id * per_id + greater id.

    `sides` are six arrays, one after the other, each with LANES numbers more than there are boxes: where boxes begin
    and end on the axis, then on the other two.
    """
    size = ids.shape[0] + LANES
    count = 0
    for i in range(begin, end):
        finish = splat8(sides[size + i])
        low_1, high_1 = splat8(sides[2 * size + i]), splat8(sides[3 * size + i])
        low_2, high_2 = splat8(sides[4 * size + i]), splat8(sides[5 * size + i])
        own = ids[i]
        j = i + 1
        while sides[j] <= sides[size + i]:
            bits = less_equal(load8(sides, j), finish)
            bits &= less_equal(load8(sides, 2 * size + j), high_1) & less_equal(low_1, load8(sides, 3 * size + j))
            bits &= less_equal(load8(sides, 4 * size + j), high_2) & less_equal(low_2, load8(sides, 5 * size + j))
            while bits != 0:
                other = ids[j + first_bit(bits)]
                bits &= bits - np.uint32(1)
                if count < found.shape[0]:
                    found[count] = min(own, other) * per_id + max(own, other)
                count += 1
            j += LANES
            if j >= ids.shape[0]:
                break
    used[0] = count


@kernel
def sort_nearly_sorted(rows, starts, budget):
    """By insertion; how many had to move, or -1 when that took more than `budget` steps."""
    moved = 0
    for i in range(1, rows.shape[0]):
        start, row = starts[i], rows[i]
        j = i
        while j > 0 and starts[j - 1] > start:
            starts[j], rows[j] = starts[j - 1], rows[j - 1]
            j -= 1
        starts[j], rows[j] = start, row
        if j < i:
            moved += 1
            budget -= i - j
            if budget < 0:
                return -1
    return moved


class SweepAndPrune(Structure):
    """Boxes or points sorted along an axis: quick to find all pairs, and to follow small moves.

    The axis is the one along which centers vary most when it is built. Every change, even of one object, looks at the
    whole list once.

    Parameters
    ----------
    lower, upper : (n, 2) or (n, 3) array_like
        As for every structure.

    Examples
    --------
    >>> from boxwood.index import SweepAndPrune
    >>> boxes = SweepAndPrune([[0, 0], [4, 0], [1, 1]], [[1, 1], [5, 1], [4, 2]])
    >>> boxes.pairs().tolist()
    [[0, 2], [1, 2]]
    >>> boxes.move(2, [7, 7], [8, 8])
    1
    >>> boxes.pairs().tolist()
    []
    """

    def _build(self) -> None:
        rows = self._store.live_rows
        boxes = self._store.boxes[rows]
        centers = boxes[:, :3] * 0.5 + boxes[:, 3:] * 0.5
        spread = np.abs(centers).max(initial=1.0)  # so that squares are not beyond the numbers
        self._axis = int((centers / spread).var(axis=0).argmax()) if len(rows) else 0
        self._sort(rows)

    def _sort(self, rows: Ids) -> None:
        starts = self._store.boxes[rows, self._axis]
        self._take(rows[np.argsort(starts, kind="stable")])

    def _take(self, rows: Ids) -> None:
        """Rows that are sorted."""
        boxes = self._store.boxes[rows]
        bounds = np.concatenate([boxes[:, :3].min(axis=0, initial=np.inf), boxes[:, 3:].max(axis=0, initial=-np.inf)])
        starts = boxes[:, self._axis].copy()
        ends = np.maximum.accumulate(boxes[:, 3 + self._axis])
        self._sorted = Sorted(rows, starts, ends, bounds[None], self._axis)

    def _arrays(self) -> Sorted:
        return self._sorted

    def _link(self, rows: Ids) -> None:
        self._sort(np.concatenate([self._sorted.rows, rows]))

    def _relocate(self, rows: Ids, boxes: NDArray[np.float64]) -> int:
        self._store.write(rows, boxes)
        before = self._sorted.rows
        order = before.copy()
        starts = self._store.boxes[order, self._axis]
        moved = int(sort_nearly_sorted(order, starts, STEPS * len(order)))
        if moved < 0:
            self._sort(order)
            return int(np.count_nonzero(self._sorted.rows != before))
        self._take(order)
        return moved

    def _unlink(self, rows: Ids) -> None:
        gone = np.zeros(len(self._store.boxes), np.bool_)
        gone[rows] = True
        self._take(self._sorted.rows[~gone[self._sorted.rows]])

    def _pairs(self, **work: Any) -> Ids:
        """By one sweep."""
        rows, axis = self._sorted.rows, self._axis
        ids, per_id = self._store.ids[rows], self._store.given
        sides = np.full((6, len(rows) + LANES), np.inf)
        for place, side in enumerate((axis, (axis + 1) % 3, (axis + 2) % 3)):
            sides[2 * place, : len(rows)] = self._store.boxes[rows, side]
            sides[2 * place + 1, : len(rows)] = self._store.boxes[rows, 3 + side]
        flat = sides.reshape(-1)

        def find(begin: int, end: int) -> Ids:
            room = ROOM * (end - begin)
            while True:
                found, used = np.empty(room, np.int64), np.zeros(1, np.int64)
                sweep(ids, flat, per_id, found, used, begin, end)
                room = int(used[0])
                if room <= len(found):
                    return found[:room]

        parts = run_chunks(find, len(rows), chunk=4096, **uncounted(work))
        found = np.sort(np.concatenate([np.empty(0, np.int64), *parts]))
        return np.stack(np.divmod(found, max(per_id, 1)), axis=1)

    def _check(self) -> None:
        rows, starts, ends, _, axis = self._sorted
        boxes = self._store.boxes[rows]
        expect(bool((np.sort(rows) == self._store.live_rows).all()), "the list has not every object once")
        expect(bool((starts == boxes[:, axis]).all()), "a box begins elsewhere than the list says")
        expect(bool((starts[:-1] <= starts[1:]).all()), "the list is not sorted")
        expect(bool((ends == np.maximum.accumulate(boxes[:, 3 + axis])).all()), "a greatest end is wrong")

    def _details(self) -> dict[str, float]:
        finish = self._store.boxes[self._sorted.rows, 3 + self._axis]
        count = len(finish)
        overlapping = int(np.searchsorted(self._sorted.starts, finish, "right").sum()) - count * (count + 1) // 2
        return {"axis": self._axis, "overlapping_on_axis": overlapping}
