"""What UniformGrid and SpatialHash share above the kernels: lists that grow, and a new build when the cells do not fit.

`cell_size` by default follows the objects: the median size of the boxes, or the distance between neighbours where
that is more.
"""

from __future__ import annotations

import abc
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import (
    cell_walks,  # also registers how questions look through cells
    cells,
)
from .arguments import positive_number
from .asking import Ids
from .cells import MOST_CELLS, Cells, check_lists, link_rows, relocate_rows, unlink_rows
from .protocol import Structure, expect
from .store import FREE, grown

OUTGROWN = 4
"""Times as many objects as at the last build make a new one."""
OUTSIDE = 4
"""More than one in so many objects beyond the rim make a new build."""

LARGEST_SIZE = 1e290
"""Of a cell, so that neither it nor cells per unit are beyond the numbers; the smallest is its inverse."""


class CellStructure(Structure):
    """Boxes or points listed in cells."""

    TUNED = "cell_size"

    def __init__(self, lower: ArrayLike, upper: ArrayLike, *, cell_size: float | None = None) -> None:
        self._wanted_size = None if cell_size is None else positive_number("cell_size", cell_size)
        super().__init__(lower, upper)

    @property
    def cell_size(self) -> float:
        """The edge of a cell."""
        return self._cell_size

    def _parameters(self) -> dict[str, Any]:
        return {"cell_size": self._wanted_size}

    @classmethod
    def _values(cls, boxes: NDArray[np.float64], dimension: int) -> list[Any]:
        usual = usual_size(boxes, dimension)
        return [usual * 2.0**power for power in (-2, -1, -0.5, 0, 0.5, 1, 2, 3)]

    def _build(self) -> None:
        rows = self._store.live_rows
        boxes = self._store.boxes[rows]
        self._cell_size = self._wanted_size or usual_size(boxes, self._dimension)
        self._lay_out(boxes)
        self._built = len(rows)
        self._link_all(rows)

    @abc.abstractmethod
    def _lay_out(self, boxes: NDArray[np.float64]) -> None:
        """Make empty cells for these boxes."""

    def _make_cells(self, lists: int, origin: NDArray[np.float64], shape: NDArray[np.int64] | None) -> None:
        """`lists` empty lists: of a grid of that shape, or of a hash."""
        numbers = np.zeros(cells.NUMBERS, np.int64)
        numbers[cells.SPARE] = FREE
        numbers[cells.MASK] = FREE if shape is not None else lists - 1
        low, high = slice(cells.LOW, cells.LOW + 3), slice(cells.HIGH, cells.HIGH + 3)
        if shape is None:
            numbers[low], numbers[high] = -cells.ENDLESS, cells.ENDLESS
        else:
            numbers[cells.SHAPE : cells.SHAPE + 3] = shape
            numbers[high] = shape - 1
        numbers[cells.FIRST : cells.FIRST + 3] = 2 * cells.ENDLESS
        numbers[cells.LAST : cells.LAST + 3] = -2 * cells.ENDLESS
        self._cells = Cells(
            np.full(lists + 1, FREE, np.int32),
            np.empty((max(64, len(self._store)), 2), np.int32),
            origin,
            np.full(3, 1.0 / self._cell_size),
            np.array([[np.inf] * 3 + [-np.inf] * 3]),
            numbers,
        )

    def _arrays(self) -> Cells:
        return self._cells

    def _depth(self) -> int:
        return 2 * cell_walks.FEW_CELLS

    def _link_all(self, rows: Ids) -> None:
        done = 0
        while done < len(rows):
            done = int(link_rows(self._cells, self._store.boxes, rows, done))
            if done < len(rows):
                self._make_room()

    def _make_room(self) -> None:
        entries = self._cells.entries
        self._cells = self._cells._replace(entries=grown(entries, len(entries) + MOST_CELLS))

    def _link(self, rows: Ids) -> None:
        self._link_all(rows)
        self._rebuild_if_outgrown()

    def _relocate(self, rows: Ids, boxes: NDArray[np.float64]) -> int:
        changed = np.zeros(1, np.int64)
        done = 0
        while done < len(rows):
            done = int(relocate_rows(self._cells, self._store.boxes, rows, boxes, done, changed))
            if done < len(rows):
                self._make_room()
        if changed[0]:
            self._rebuild_if_outgrown()
        return int(changed[0])

    def _unlink(self, rows: Ids) -> None:
        unlink_rows(self._cells, self._store.boxes, rows)

    def _rebuild_if_outgrown(self) -> None:
        count = len(self)
        outside = int(self._cells.numbers[cells.OUTSIDE])
        if (count > OUTGROWN * self._built + 64 or outside * OUTSIDE > count + 64) and self._may_rebuild():
            self._rebuilds += 1
            self._rebuild()

    def _may_rebuild(self) -> bool:
        return True

    def _check(self) -> None:
        outside = np.zeros(1, np.int64)
        entries = check_lists(self._cells, self._store.boxes, self._store.ids[: self._store.used], outside)
        expect(entries >= 0, f"row {-1 - entries} misses one of its lists, or stands in one that it left")
        numbers = self._cells.numbers
        expect(entries == numbers[cells.USED] - numbers[cells.SPARE_COUNT], "entries are lost, or listed twice")
        expect(outside[0] == numbers[cells.OUTSIDE], "not as many boxes reach beyond the rim as counted")

    def _details(self) -> dict[str, float]:
        heads, numbers = self._cells.heads, self._cells.numbers
        entries = int(numbers[cells.USED] - numbers[cells.SPARE_COUNT])
        return {
            "cell_size": self._cell_size,
            "lists": len(heads) - 1,
            "lists_used": int(np.count_nonzero(heads[:-1] != FREE)),
            "entries": entries,
            "beyond_rim": int(numbers[cells.OUTSIDE]),
        }


def usual_size(boxes: NDArray[np.float64], dimension: int) -> float:
    """The median size of the boxes, or about the distance between neighbours where that is more."""
    if len(boxes) == 0:
        return 1.0
    boxes = np.clip(boxes, -LARGEST_SIZE, LARGEST_SIZE)  # so that differences are finite
    lower, upper = boxes[:, :dimension], boxes[:, 3 : 3 + dimension]
    size = float(np.median((upper - lower).max(axis=1)))
    extent = np.quantile(lower, 0.95, axis=0) - np.quantile(lower, 0.05, axis=0)
    widest = float(extent.max())
    if widest > 0:
        wide = extent[extent > widest * 1e-3]  # a line in space has one dimension
        size = max(size, float(np.exp(np.log(wide).mean()) * (2.0 / len(boxes)) ** (1 / len(wide))))
    return min(max(size, widest * 1e-9, 1 / LARGEST_SIZE), LARGEST_SIZE) if size > 0 or widest > 0 else 1.0
