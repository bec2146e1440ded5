"""Which boxes of a set does each region touch: a box, a sphere or the inside of some planes.

A chunk of regions writes the ids that it finds one row after the other, into room that grows as needed; then each row
is brought to its place. The order in which a walk meets boxes does not matter, since rows are sorted. Subtrees that lie
inside a region are taken whole (Assarsson and Möller 2000): their blocks are one run.
"""

from __future__ import annotations

import numpy as np

from .._jit import apart, inline, kernel
from .._threads import run_chunks, run_steps
from ..descend import STEPS, Stack, blocks_below, blocks_of, code_at, count_primitives, expand, place_at, stack_size
from ..geometry.box_blocks import block_shape, there
from ..geometry.box_box import Boxes
from ..geometry.frustum_box import Frusta
from ..geometry.point_box import Spheres
from ..geometry.regions import aim, inside, touches
from ..layout import BLOCK_SIZE, FRAME_DEPTH
from .row_order import rows_in_order
from .sort_ids import marks_for, sort_by_marks, sort_ids

CHUNK = 2048

ROOM = 8
"""Ids per region that a chunk has room for at first."""


MANY = 16
"""Ids of a region from which on it is asked whether it holds whole subtrees; those that find few do not pay for it."""


@inline
def note(found, used, ids, place, bits):
    """Write down the ids of a block's boxes whose bits are set; how many are used then. Without a branch."""
    for lane in range(BLOCK_SIZE):
        found[used] = ids[place * BLOCK_SIZE + lane]
        used += np.intp((bits >> np.uint32(lane)) & np.uint32(1))
    return used


@apart
def blocks_inside(regions, frame, r, nodes, codes, code, place, flat):
    """The blocks below an inner node, from the first up to the last, where a region holds all of it; else none."""
    if inside(regions, frame, r, nodes, place, flat):
        return blocks_below(nodes, codes, code)
    return np.intp(0), np.intp(0)


@apart
def note_all(found, used, blocks, ids, block, last, shape):
    """Likewise all boxes of these blocks."""
    for place in range(block, last):
        used = note(found, used, ids, place, there(blocks, place * shape.length))
    return used


@kernel
def gather(regions, nodes, codes, blocks, ids, frame, rows, numbers, room, counts, steps, begin, end):
    """Find the boxes of the regions rows[begin:end], to `numbers` how many; the ids, row after row, their count, and
    how far it came in so many steps."""
    size = stack_size(np.intp(frame[FRAME_DEPTH]))
    stack = Stack(np.empty(size, np.int32), np.empty(size, np.uint32))
    shape = block_shape(blocks, ids)
    found, used = np.empty(room, np.int32), np.intp(0)
    size, many = marks_for(ids.shape[0])
    marks = np.empty(0, np.uint32)
    i, work = begin, 0
    while i < end and work < steps:
        r = rows[i]
        i += 1
        limit = aim(regions, frame, r)
        first = used
        top = expand(regions, counts, nodes, stack, 0, np.intp(0), limit)
        while top > 0:
            code = code_at(codes, stack, top)
            top -= 1
            whole = False
            if code >= 0:
                if used - first >= MANY:
                    place = place_at(stack, top + 1)
                    block, last = blocks_inside(regions, frame, r, nodes, codes, code, place, shape.flat)
                    whole = block < last
                if not whole:
                    work += 1
                    top = expand(regions, counts, nodes, stack, code, top, limit)
                    continue
            else:
                block, last = blocks_of(code)
            work += last - block
            if used + (last - block) * BLOCK_SIZE > found.shape[0]:
                larger = np.empty(2 * found.shape[0] + (last - block) * BLOCK_SIZE, np.int32)
                for k in range(used):
                    larger[k] = found[k]
                found = larger
            if whole:
                used = note_all(found, used, blocks, ids, block, last, shape)
                continue
            for place in range(block, last):
                count_primitives(counts, ids, place * BLOCK_SIZE)
                bits = touches(regions, r, blocks, place * shape.length, shape)
                used = note(found, used, ids, place, bits)
        numbers[r] = used - first
        work += used - first
        if used - first < many:
            sort_ids(found, first, used)
        else:
            if marks.shape[0] == 0:
                marks = np.zeros(size, np.uint32)
            sort_by_marks(found, first, used, marks, ids.shape[0])
    return found, used, i


@kernel
def place_rows(found, rows, splits, ids, begin, end):
    """Copy what was found for rows[begin:end] to the places of the rows."""
    k = 0
    for i in range(begin, end):
        r = rows[i]
        for place in range(splits[r], splits[r + 1]):
            ids[place] = found[k]
            k += 1


def overlapping_boxes(tree, lower, upper, **options) -> tuple[np.ndarray, np.ndarray]:
    """Splits (n + 1,) and ids (m,): the boxes that overlap each of n boxes."""

    def regions():
        return Boxes(lower, upper, np.empty(6, np.float32))

    return overlapping(tree, regions, lower, upper, **options)


def overlapping_spheres(tree, center, radius, dtype, **options) -> tuple[np.ndarray, np.ndarray]:
    """Likewise the boxes whose distance from each centre, in that dtype, is at most the radius."""
    single = bool(dtype == np.float32)

    def regions():
        return Spheres(center, radius, single, np.empty(10, np.float32), np.empty(6))

    return overlapping(tree, regions, center, center, **options)


def overlapping_frusta(tree, planes, **options) -> tuple[np.ndarray, np.ndarray]:
    """Likewise the boxes that no plane of each set leaves out."""

    def regions():
        return Frusta(planes, np.empty(5 * planes.shape[1], np.float32))

    nowhere = np.zeros((len(planes), 3))
    return overlapping(tree, regions, nowhere, nowhere, sort=False, **options)


def overlapping(tree, regions, lower, upper, *, sort=True, threads=None, progress=None, counters=None):
    """Splits and ids for the regions that `regions()` makes for each chunk, which lie within lower and upper."""
    count = len(lower)
    rows = rows_in_order(lower, upper, tree, threads) if sort else np.arange(count)
    numbers = np.zeros(count, np.int64)
    parts = []
    room = ROOM

    def find(begin, end):
        nonlocal room
        asked = regions()
        while begin < end:
            counts = None if counters is None else np.zeros(2, np.int64)
            start = min(min(room, 1024) * (end - begin), STEPS) + BLOCK_SIZE
            found, used, reached = gather(asked, *tree.arrays, rows, numbers, start, counts, STEPS, begin, end)
            room = max(room, -(-used * 5 // (4 * (reached - begin))))  # for the chunks to come
            parts.append((begin, reached, found))
            if counters is not None:
                counters.add(queries=reached - begin, boxes_tested=counts[0], primitives_tested=counts[1], hits=used)
            begin = reached
            yield reached

    run_steps(find, count, chunk=CHUNK, threads=threads, progress=progress)
    splits = np.zeros(count + 1, np.int64)
    np.cumsum(numbers, out=splits[1:])
    ids = np.empty(splits[-1], np.int64)

    def place(begin, end):
        for part in range(begin, end):
            first, last, found = parts[part]
            place_rows(found, rows, splits, ids, first, last)
            parts[part] = None  # so that there is no time when all ids are held twice

    run_chunks(place, len(parts), chunk=1, threads=threads)
    return splits, ids
