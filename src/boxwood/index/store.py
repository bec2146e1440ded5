"""The objects of a structure: their boxes in rows, and which id has which row.

Ids count up and are never given twice; rows of removed objects are used again. At the start the rows follow a
space-filling curve (Morton 1966), so that objects near each other are near each other in memory.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .._jit import kernel

MORTON_BITS = 20
FREE = -1


@kernel
def first_bad_id(rows, ids, seen, once):
    """The first place of an id that is not there, or, if each may come once, comes again; -1 when all are good."""
    bad = -1
    last = ids.shape[0]
    for i in range(last):
        number = ids[i]
        if number < 0 or number >= rows.shape[0] or rows[number] < 0 or (once and seen[rows[number]]):
            bad, last = i, i
            break
        seen[rows[number]] = True
    for i in range(last):
        seen[rows[ids[i]]] = False
    return bad


@kernel
def spread_bits(cells):
    """Morton codes of (n, 3) whole numbers below 2**20, as int64."""
    codes = np.zeros(cells.shape[0], np.int64)
    for i in range(cells.shape[0]):
        code = 0
        for axis in range(3):
            x = np.int64(cells[i, axis])
            x = (x | (x << 32)) & 0x1F00000000FFFF
            x = (x | (x << 16)) & 0x1F0000FF0000FF
            x = (x | (x << 8)) & 0x100F00F00F00F00F
            x = (x | (x << 4)) & 0x10C30C30C30C30C3
            x = (x | (x << 2)) & 0x1249249249249249
            code |= x << axis
        codes[i] = code
    return codes


class Store:
    """Rows of boxes (lower x, y, z, upper x, y, z; z = 0 in 2-D) in float64, and the ids of rows in use."""

    def __init__(self, boxes: NDArray[np.float64]) -> None:
        count = len(boxes)
        order = along_a_curve(boxes)
        self.boxes = boxes[order]
        self.ids = order.astype(np.int64)  # of each row, FREE when it is not in use
        self.rows = np.empty(count, np.int64)  # of each id ever given, FREE after its removal
        self.rows[order] = np.arange(count)
        self.seen = np.zeros(count, np.bool_)  # all False, for `first_bad_id`
        self.used = count  # rows that were ever in use
        self.given = count  # ids
        self.spare: list[int] = []  # rows to use again

    def __len__(self) -> int:
        return self.used - len(self.spare)

    @property
    def live_rows(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.ids[: self.used] >= 0)

    @property
    def live_ids(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.rows[: self.given] >= 0)

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in (self.boxes, self.ids, self.rows, self.seen))

    def add(self, boxes: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows and ids for new objects."""
        count = len(boxes)
        again = min(count, len(self.spare))
        first = len(self.spare) - again
        rows = np.concatenate([np.array(self.spare[first:], np.int64), np.arange(self.used, self.used + count - again)])
        del self.spare[first:]
        self.used += count - again
        ids = np.arange(self.given, self.given + count)
        self.given += count
        self.boxes, self.ids, self.seen = (grown(a, self.used) for a in (self.boxes, self.ids, self.seen))
        self.rows = grown(self.rows, self.given)
        self.boxes[rows], self.ids[rows], self.rows[ids], self.seen[rows] = boxes, ids, rows, False
        return rows, ids

    def remove(self, rows: NDArray[np.int64]) -> None:
        self.rows[self.ids[rows]] = FREE
        self.ids[rows] = FREE
        self.spare += rows.tolist()

    def rows_of(self, ids: NDArray[np.int64], *, once: bool) -> NDArray[np.int64]:
        """The rows of these ids; KeyError naming the first that is not there, or is there a second time."""
        bad = first_bad_id(self.rows[: self.given], ids, self.seen, once)
        if bad >= 0:
            raise_bad_id(int(ids[bad]), self.given, self.rows)
        return self.rows[ids]


def raise_bad_id(number: int, given: int, rows: NDArray[np.int64]) -> NoReturn:
    if not 0 <= number < given:
        raise KeyError(f"id {number} was never given; ids so far are below {given}")
    if rows[number] < 0:
        raise KeyError(f"id {number} was removed")
    raise KeyError(f"id {number} is given twice")


def grown(array: NDArray[Any], count: int) -> NDArray[Any]:
    """The array with at least so many rows: itself, or a copy half as large again, FREE in the new rows."""
    if count <= len(array):
        return array
    larger = np.full((max(count, len(array) * 3 // 2), *array.shape[1:]), FREE, array.dtype)
    larger[: len(array)] = array
    return larger


def along_a_curve(boxes: NDArray[np.float64]) -> NDArray[np.int64]:
    """The order of the boxes' centers along a Morton curve."""
    if len(boxes) < 2:
        return np.arange(len(boxes))
    centers = boxes[:, :3] * 0.5 + boxes[:, 3:] * 0.5
    low = centers.min(axis=0)
    size = np.maximum((centers - low).max(axis=0), 1e-300)
    cells = np.minimum((centers - low) / size * 2**MORTON_BITS, 2**MORTON_BITS - 1)
    return np.argsort(spread_bits(cells.astype(np.int64)), kind="stable")
