"""Objects listed in cubic cells: UniformGrid and SpatialHash differ only in where a cell has its list.

A box stands in the list of every cell it reaches. Cells are found by floor, then clamped to a range that has a list,
so the cells at the rim reach on without end. Both steps are monotone: boxes that overlap share a cell, whatever was
rounded. Boxes that reach too many cells stand in one list of their own, which every question looks through.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._jit import inline, kernel
from .._simd import prefetch
from .questions import box_at
from .store import FREE

MOST_CELLS = 256
"""A box that reaches more is listed as large."""
AHEAD = 8
"""How many moves ahead the box of a row is asked for; rows come in any order."""
ENDLESS = 2**60
"""Cells of a world without bounds are numbered from minus to plus this."""

SPARE, USED, SPARE_COUNT, MASK, OUTSIDE = range(5)  # places in Cells.numbers; then three numbers each:
SHAPE, LOW, HIGH, FIRST, LAST, REACH = 5, 8, 11, 14, 17, 20
NUMBERS = 23


class Cells(NamedTuple):
    heads: np.ndarray  # (lists + 1,) int32: the first entry of each list; the last is that of large boxes
    entries: np.ndarray  # (room, 2) int32: row, and the next entry
    origin: np.ndarray  # (3,)
    per_unit: np.ndarray  # (3,): cells
    bounds: np.ndarray  # (1, 6): around all boxes ever listed, but the large
    numbers: np.ndarray  # (NUMBERS,) int64: entries to use again, their count, entries ever used; the mask of a hash,
    # FREE for a grid; boxes that reach beyond the rim; cells per axis; the range of cells, and of those ever
    # used; how many cells a box has had beyond its first


@inline
def cell_of(cells, x, axis):
    place = (x - cells.origin[axis]) * cells.per_unit[axis]
    low, high = cells.numbers[LOW + axis], cells.numbers[HIGH + axis]
    if place >= high:
        return high
    if place >= low:
        return np.int64(math.floor(place))
    return low


@inline
def cells_of(cells, box):
    """The first and the last cell of a box on each axis."""
    return (
        cell_of(cells, box[0], 0), cell_of(cells, box[1], 1), cell_of(cells, box[2], 2),
        cell_of(cells, box[3], 0), cell_of(cells, box[4], 1), cell_of(cells, box[5], 2),
    )  # fmt: skip


@inline
def count_cells(r):
    """In float64, which does not overflow."""
    return (r[3] - r[0] + 1.0) * (r[4] - r[1] + 1.0) * (r[5] - r[2] + 1.0)


@inline
def numbering(cells):
    """What `list_at` takes; read once, since for all the compiler knows an answer might be written over it."""
    numbers = cells.numbers
    return numbers[MASK], numbers[SHAPE], numbers[SHAPE + 1]


@inline
def list_at(numbering, x, y, z):
    """Where a cell has its list: its place in the grid, or hashed by the primes of Teschner et al. 2003.

    Their hash has only the low bits of each coordinate in its low bits, so neighbours in a lattice collide; a
    multiplication (Knuth's, by the golden ratio) mixes them.
    """
    mask, width, height = numbering
    if mask == FREE:
        return x + width * (y + height * z)
    low = 0x7FFFFFFF  # so that no product is beyond int64
    mixed = (((x & low) * 73856093) ^ ((y & low) * 19349663) ^ ((z & low) * 83492791)) & low
    return ((mixed * 2654435769) >> 20) & mask


@inline
def list_of(cells, x, y, z):
    return list_at(numbering(cells), x, y, z)


@inline
def unbounded(cells, x, axis):
    """The number that the cell has, or would have beyond the rim."""
    return np.floor((x - cells.origin[axis]) * cells.per_unit[axis])


@inline
def beyond_rim(cells, box):
    """Whether a box reaches out of the cells of a grid. Those of a hash have no rim to speak of."""
    n = cells.numbers
    if n[MASK] != FREE:
        return False
    for axis in range(3):
        first, last = unbounded(cells, box[axis], axis), unbounded(cells, box[3 + axis], axis)
        if first < n[LOW + axis] or last > n[HIGH + axis]:
            return True
    return False


@inline
def stays(cells, old, new):
    """Whether both boxes reach the same cells, and the new one is within the bounds: most of small moves."""
    for axis in range(3):
        if unbounded(cells, old[axis], axis) != unbounded(cells, new[axis], axis):
            return False
        if unbounded(cells, old[3 + axis], axis) != unbounded(cells, new[3 + axis], axis):
            return False
        if new[axis] < cells.bounds[0, axis] or new[3 + axis] > cells.bounds[0, 3 + axis]:
            return False
    return True


@inline
def push(cells, bucket, row):
    numbers, entries = cells.numbers, cells.entries
    entry = numbers[SPARE]
    if entry == FREE:
        entry = numbers[USED]
        numbers[USED] += 1
    else:
        numbers[SPARE] = entries[entry, 1]
        numbers[SPARE_COUNT] -= 1
    entries[entry, 0], entries[entry, 1] = row, cells.heads[bucket]
    cells.heads[bucket] = entry


@inline
def pull(cells, bucket, row):
    """Take a row out of a list, if it is there."""
    numbers, entries = cells.numbers, cells.entries
    before, entry = FREE, cells.heads[bucket]
    while entry != FREE and entries[entry, 0] != row:
        before, entry = entry, entries[entry, 1]
    if entry == FREE:
        return
    if before == FREE:
        cells.heads[bucket] = entries[entry, 1]
    else:
        entries[before, 1] = entries[entry, 1]
    entries[entry, 1] = numbers[SPARE]
    numbers[SPARE] = entry
    numbers[SPARE_COUNT] += 1


@inline
def listed(cells, bucket, row):
    entry = cells.heads[bucket]
    while entry != FREE and cells.entries[entry, 0] != row:
        entry = cells.entries[entry, 1]
    return entry != FREE


@inline
def link(cells, box, row, r):
    """Put a row into the lists of its cells r, once into each: two cells of a hash may have the same.

    Nothing else is put into a list in between, so a list that has the row already has it first.
    """
    cells.numbers[OUTSIDE] += beyond_rim(cells, box)
    if count_cells(r) > MOST_CELLS:
        push(cells, cells.heads.shape[0] - 1, row)
        return
    cover(cells, box)
    for axis in range(3):
        cells.numbers[FIRST + axis] = min(cells.numbers[FIRST + axis], r[axis])
        cells.numbers[LAST + axis] = max(cells.numbers[LAST + axis], r[3 + axis])
        cells.numbers[REACH + axis] = max(cells.numbers[REACH + axis], r[3 + axis] - r[axis])
    for z in range(r[2], r[5] + 1):
        for y in range(r[1], r[4] + 1):
            for x in range(r[0], r[3] + 1):
                bucket = list_of(cells, x, y, z)
                head = cells.heads[bucket]
                if head == FREE or cells.entries[head, 0] != row:
                    push(cells, bucket, row)


@inline
def unlink(cells, box, row, r):
    cells.numbers[OUTSIDE] -= beyond_rim(cells, box)
    if count_cells(r) > MOST_CELLS:
        pull(cells, cells.heads.shape[0] - 1, row)
        return
    for z in range(r[2], r[5] + 1):
        for y in range(r[1], r[4] + 1):
            for x in range(r[0], r[3] + 1):
                pull(cells, list_of(cells, x, y, z), row)


@inline
def cover(cells, box):
    bounds = cells.bounds
    for axis in range(3):
        bounds[0, axis] = min(bounds[0, axis], box[axis])
        bounds[0, 3 + axis] = max(bounds[0, 3 + axis], box[3 + axis])


@inline
def has_room(cells, count):
    numbers = cells.numbers
    return cells.entries.shape[0] - numbers[USED] + numbers[SPARE_COUNT] >= min(count, MOST_CELLS)


@kernel
def link_rows(cells, boxes, rows, begin):
    """List rows from `begin` on; gives the first that the entries have no room for."""
    for i in range(begin, rows.shape[0]):
        box = box_at(boxes, rows[i])
        r = cells_of(cells, box)
        if not has_room(cells, count_cells(r)):
            return i
        link(cells, box, rows[i], r)
    return rows.shape[0]


@kernel
def unlink_rows(cells, boxes, rows):
    for row in rows:
        box = box_at(boxes, row)
        unlink(cells, box, row, cells_of(cells, box))


@kernel
def relocate_rows(cells, boxes, rows, moved, begin, changed):
    """Write new boxes into rows from `begin` on, and list them anew where their cells differ.

    Gives the first for which the entries have no room, and adds to `changed` how many had other cells.
    """
    last = rows.shape[0] - 1
    for i in range(begin, rows.shape[0]):
        prefetch(boxes, rows[min(i + AHEAD, last)] * 6)
        row = rows[i]
        old, new = box_at(boxes, row), box_at(moved, i)
        if not stays(cells, old, new):
            before, after = cells_of(cells, old), cells_of(cells, new)
            if before != after:
                if not has_room(cells, count_cells(after)):
                    return i
                unlink(cells, old, row, before)
                link(cells, new, row, after)
                changed[0] += 1
            else:
                if count_cells(after) <= MOST_CELLS:
                    cover(cells, new)
                cells.numbers[OUTSIDE] += np.int64(beyond_rim(cells, new)) - np.int64(beyond_rim(cells, old))
        for axis in range(6):
            boxes[row, axis] = new[axis]
    return rows.shape[0]


@kernel
def check_lists(cells, boxes, ids, outside):
    """How many entries all lists have, or -1 - row for a row that misses one of its lists, or left it and is there."""
    for row in range(ids.shape[0]):
        if ids[row] >= 0:
            outside[0] += beyond_rim(cells, box_at(boxes, row))
            r = cells_of(cells, box_at(boxes, row))
            if count_cells(r) > MOST_CELLS:
                if not listed(cells, cells.heads.shape[0] - 1, row):
                    return -1 - row
                continue
            for z in range(r[2], r[5] + 1):
                for y in range(r[1], r[4] + 1):
                    for x in range(r[0], r[3] + 1):
                        if not listed(cells, list_of(cells, x, y, z), row):
                            return -1 - row
    total = 0
    for bucket in range(cells.heads.shape[0]):
        entry = cells.heads[bucket]
        while entry != FREE:
            total += 1
            row = cells.entries[entry, 0]
            if ids[row] < 0 or total > cells.entries.shape[0]:
                return -1 - row
            entry = cells.entries[entry, 1]
    return total
