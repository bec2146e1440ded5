"""The objects of a structure: their boxes in rows, and which id has which row.

Ids count up and are never given twice; rows of removed objects are used again. At the start the rows follow a
space-filling curve (Morton 1966), so that objects near each other are near each other in memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._jit import kernel

MORTON_BITS = 20
FREE = -1


@kernel
def look_up(rows, ids, found):
    """The rows of ids, into `found`; gives the first place of an id that is not there, -1 when all are."""
    for i in range(ids.shape[0]):
        number = ids[i]
        if number < 0 or number >= rows.shape[0] or rows[number] < 0:
            return i
        found[i] = rows[number]
    return -1


@kernel
def write_rows(boxes, rows, moved):
    for i in range(rows.shape[0]):
        for axis in range(6):
            boxes[rows[i], axis] = moved[i, axis]


@kernel
def fill_codes(cells, codes):
    """Morton codes of (n, 3) whole numbers below 2**20, into `codes` (n,) int64."""
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


class Store:
    """Rows of boxes (lower x, y, z, upper x, y, z; z = 0 in 2-D) in float64, and the ids of rows in use."""

    def __init__(self, boxes: NDArray[np.float64]) -> None:
        count = len(boxes)
        order = along_a_curve(boxes)
        self.boxes = boxes[order]
        self.ids = order.astype(np.int64)  # of each row, FREE when it is not in use
        self.rows = np.empty(count, np.int64)  # of each id ever given, FREE after its removal
        self.rows[order] = np.arange(count)
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
        return sum(array.nbytes for array in (self.boxes, self.ids, self.rows))

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
        self.boxes, self.ids = grown(self.boxes, self.used), grown(self.ids, self.used)
        self.rows = grown(self.rows, self.given)
        self.boxes[rows], self.ids[rows], self.rows[ids] = boxes, ids, rows
        return rows, ids

    def renumber(self, ids: NDArray[np.int64], given: int) -> bool:
        """Let new objects, whose ids are 0 to n - 1, have these, rising, of so many ever given; whether any changed."""
        if ids.shape != (len(self),) or (len(ids) and not 0 <= ids[0] <= ids[-1] < given) or (np.diff(ids) <= 0).any():
            raise ValueError("its ids are not rising, or not as many as its boxes")
        same = given == len(ids)
        self.ids = ids[self.ids].astype(np.int64)
        self.rows = np.full(given, FREE, np.int64)
        self.rows[self.ids] = np.arange(len(ids))
        self.given = given
        return not same

    def write(self, rows: NDArray[np.int64], boxes: NDArray[np.float64]) -> None:
        """Other boxes into rows; of a row that comes twice, the last counts."""
        write_rows(self.boxes, rows, boxes)

    def remove(self, rows: NDArray[np.int64]) -> None:
        self.rows[self.ids[rows]] = FREE
        self.ids[rows] = FREE
        self.spare += rows.tolist()

    def rows_of(self, ids: NDArray[np.int64], *, once: bool) -> NDArray[np.int64]:
        """The rows of these ids; KeyError naming the first that is not there, or is there a second time."""
        rows = np.empty(len(ids), np.int64)
        bad = int(look_up(self.rows[: self.given], ids, rows))
        if bad >= 0:
            number, removed = int(ids[bad]), 0 <= ids[bad] < self.given
            raise KeyError(f"id {number} was removed" if removed else f"id {number} was never given to an object")
        if once:
            first = np.unique(ids, return_index=True)[1]
            if len(first) < len(ids):
                again = np.setdiff1d(np.arange(len(ids)), first, assume_unique=True)[0]
                raise KeyError(f"id {ids[again]} is given twice")
        return rows


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
    codes = np.empty(len(boxes), np.int64)
    fill_codes(cells.astype(np.int64), codes)
    return np.argsort(codes, kind="stable")
