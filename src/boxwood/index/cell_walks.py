"""How questions look through cells: a block of them, those along a ray, rings of them around a point.

A box may stand in several of the cells, and is met once: in the first cell that the box and the block share. Rays and
nearest points do not mind meeting it again. Where there are more cells to look at than objects, all objects are tested
instead, so that no question costs much more than brute force.
"""

from __future__ import annotations

import numpy as np

from .._jit import generic, inline
from .cells import (
    FIRST,
    HIGH,
    LAST,
    LOW,
    MASK,
    REACH,
    Cells,
    cell_of,
    cells_of,
    count_cells,
    list_at,
    list_of,
    numbering,
)
from .questions import Box, Frustum, Near, Ray, Sphere, box_at, extent, inside, key, limit, offer, stretch
from .store import FREE
from .walk import show, walk

FEW_CELLS = 64


@generic
def visit(question, cells, boxes, ids, batch, stack):
    """Look through the cells that the question needs."""


@walk.implemented_for(Cells)
def _(cells, boxes, ids, question, batch, stack, keys):
    visit(question, cells, boxes, ids, batch, stack)


@inline
def show_everything(boxes, ids, question, batch):
    for row in range(ids.shape[0]):
        if ids[row] >= 0:
            show(boxes, ids, row, question, batch)


@inline
def show_list(cells, bucket, boxes, ids, question, batch):
    entry = cells.heads[bucket]
    while entry != FREE:
        show(boxes, ids, cells.entries[entry, 0], question, batch)
        entry = cells.entries[entry, 1]


@inline
def show_large(cells, boxes, ids, question, batch):
    show_list(cells, cells.heads.shape[0] - 1, boxes, ids, question, batch)


@inline
def used_cells(cells):
    """The block of cells in which anything was ever listed; empty when nothing was."""
    n = cells.numbers
    return n[FIRST], n[FIRST + 1], n[FIRST + 2], n[LAST], n[LAST + 1], n[LAST + 2]


@inline
def common(r, s):
    """The cells of both blocks."""
    return (
        max(r[0], s[0]), max(r[1], s[1]), max(r[2], s[2]), min(r[3], s[3]), min(r[4], s[4]), min(r[5], s[5]),
    )  # fmt: skip


# Blocks


@inline
def alone(cells):
    """Whether no box stands in several lists, and no list has boxes of several cells: points in a grid."""
    n = cells.numbers
    return n[MASK] == FREE and n[REACH] == 0 and n[REACH + 1] == 0 and n[REACH + 2] == 0


@inline
def block_shape(r):
    return r[3] - r[0] + 1, r[4] - r[1] + 1


@inline
def number_in(shape, r, x, y, z):
    """Which cell of the block r it is."""
    return x - r[0] + shape[0] * (y - r[1] + shape[1] * (z - r[2]))


@inline
def first_in(cells, shape, r, box):
    """The first cell of the block r that the box reaches."""
    x, y = max(cell_of(cells, box[0], 0), r[0]), max(cell_of(cells, box[1], 1), r[1])
    return number_in(shape, r, x, y, max(cell_of(cells, box[2], 2), r[2]))


@inline
def show_once(cells, once, row, shape, r, number, boxes, ids, question, batch):
    """A box that stands in a cell of the block r, if that is the first, or if each is met once anyway."""
    box = box_at(boxes, row)
    at = key(question, batch, box)
    if at <= limit(question, batch) and (once or first_in(cells, shape, r, box) == number):
        offer(question, batch, ids[row], at)


@inline
def show_few(cells, once, r, boxes, ids, question, batch, stack):
    """The boxes of a block of few cells: of every cell the first box, then of those that have more the second...

    How many boxes a cell has cannot be foreseen, and each wrong guess costs as much as several boxes. In this order
    there is one guess for all cells, not one for each. Of the stack, the first places have entries of lists and the
    next ones the numbers of their cells.
    """
    heads, entries, numbers, shape = cells.heads, cells.entries, numbering(cells), block_shape(r)
    count, number = 0, 0
    for z in range(r[2], r[5] + 1):
        for y in range(r[1], r[4] + 1):
            for x in range(r[0], r[3] + 1):
                head = heads[list_at(numbers, x, y, z)]
                stack[count], stack[FEW_CELLS + count] = head, number
                count += np.int64(head != FREE)
                number += 1
    while count > 0:
        still = 0
        for i in range(count):
            entry, number = stack[i], stack[FEW_CELLS + i]
            following = entries[entry, 1]
            stack[still], stack[FEW_CELLS + still] = following, number
            still += np.int64(following != FREE)
            show_once(cells, once, entries[entry, 0], shape, r, number, boxes, ids, question, batch)
        count = still


@inline
def show_cell(cells, once, x, y, z, r, boxes, ids, question, batch):
    """The boxes of a cell for which it is the first in the block r."""
    shape = block_shape(r)
    number = number_in(shape, r, x, y, z)
    entry = cells.heads[list_of(cells, x, y, z)]
    while entry != FREE:
        show_once(cells, once, cells.entries[entry, 0], shape, r, number, boxes, ids, question, batch)
        entry = cells.entries[entry, 1]


def visit_block(question, cells, boxes, ids, batch, stack):
    r = common(cells_of(cells, extent(question, batch, cells.bounds)), used_cells(cells))
    if r[0] <= r[3] and r[1] <= r[4] and r[2] <= r[5]:
        number, once = count_cells(r), alone(cells)
        if number > ids.shape[0]:
            show_everything(boxes, ids, question, batch)
            return
        if number <= FEW_CELLS:
            show_few(cells, once, r, boxes, ids, question, batch, stack)
        else:
            for z in range(r[2], r[5] + 1):
                for y in range(r[1], r[4] + 1):
                    for x in range(r[0], r[3] + 1):
                        show_cell(cells, once, x, y, z, r, boxes, ids, question, batch)
    show_large(cells, boxes, ids, question, batch)


visit.implemented_for(Box)(visit_block)
visit.implemented_for(Sphere)(visit_block)


@inline
def span(cells, axis, first, last):
    """Coordinates that hold all of cells first to last that is within the bounds."""
    low, high = cells.bounds[0, axis], cells.bounds[0, 3 + axis]
    start, size = cells.origin[axis], 1.0 / cells.per_unit[axis]
    pad = (abs(start) + max(abs(low), abs(high)) + size) * 1e-14
    lower, upper = start + first * size - pad, start + (last + 1) * size + pad
    return (
        low if first <= cells.numbers[LOW + axis] else max(low, lower),
        high if last >= cells.numbers[HIGH + axis] else min(high, upper),
    )


@inline
def reach_of(cells, axis, first, last):
    """Coordinates that hold all boxes whose first cell is one of these."""
    return span(cells, axis, first, last + cells.numbers[REACH + axis])


@visit.implemented_for(Frustum)
def _(question, cells, boxes, ids, batch, stack):
    """All cells, each for the boxes that begin in it, but none of a layer, a row or a cell that a plane has outside.

    A box that no plane has outside may consist of parts that each have such a plane. So it counts as a whole, in its
    first cell, and a cell is as large as the boxes that may begin in it.
    """
    r = used_cells(cells)
    if r[0] <= r[3]:
        if count_cells(r) > 64.0 * ids.shape[0]:
            show_everything(boxes, ids, question, batch)
            return
        once = alone(cells)
        x0, x1 = reach_of(cells, 0, r[0], r[3])
        y0, y1 = reach_of(cells, 1, r[1], r[4])
        for z in range(r[2], r[5] + 1):
            za, zb = reach_of(cells, 2, z, z)
            if key(question, batch, (x0, y0, za, x1, y1, zb)) <= 0.0:
                for y in range(r[1], r[4] + 1):
                    ya, yb = reach_of(cells, 1, y, y)
                    if key(question, batch, (x0, ya, za, x1, yb, zb)) <= 0.0:
                        for x in range(r[0], r[3] + 1):
                            if cells.heads[list_of(cells, x, y, z)] != FREE:
                                xa, xb = reach_of(cells, 0, x, x)
                                if key(question, batch, (xa, ya, za, xb, yb, zb)) <= 0.0:
                                    show_cell(cells, once, x, y, z, r, boxes, ids, question, batch)
    show_large(cells, boxes, ids, question, batch)


# Along a ray


@inline
def steps_per_t(ray, cells, axis):
    return abs(ray.direction[axis]) * cells.per_unit[axis]


@inline
def main_axis(ray, cells):
    """The axis on which the ray passes the most cells."""
    axis = 0
    for other in range(1, 3):
        if steps_per_t(ray, cells, other) > steps_per_t(ray, cells, axis) or ray.direction[axis] == 0.0:
            axis = other
    return axis


@visit.implemented_for(Ray)
def _(question, cells, boxes, ids, batch, stack):
    """Layer by layer across the main axis: in each the ray reaches one or two cells of the other axes.

    Their range is computed from where the ray enters and leaves the layer, with more than the rounding added. So
    nothing adds up along the way, as it would in a stepping traversal (Amanatides and Woo 1987).
    """
    show_large(cells, boxes, ids, question, batch)
    r = used_cells(cells)
    near, far = inside(question, batch, box_at(cells.bounds, 0))
    if r[0] > r[3] or near > far:
        return
    main = main_axis(question, cells)
    a, b = (1 if main == 0 else 0), (1 if main == 2 else 2)
    low, high = cells.bounds[0, main], cells.bounds[0, 3 + main]
    pad, first, last = stretch(question, main, near, far, low, high)
    layer, end = cell_of(cells, first, main), cell_of(cells, last, main)
    if float(end) - float(layer) > ids.shape[0]:
        show_everything(boxes, ids, question, batch)
        return
    origin, along = question.origin[main], question.direction[main]
    step = 1
    if along < 0.0:
        step, layer, end = -1, end, layer
    for _i in range(abs(end - layer) + 1):
        lower, upper = span(cells, main, layer, layer)
        if along < 0.0:
            enter, leave = (upper + pad - origin) / along, (lower - pad - origin) / along
        else:
            enter, leave = (lower - pad - origin) / along, (upper + pad - origin) / along
        near, far = max(near, enter), inside(question, batch, box_at(cells.bounds, 0))[1]
        if near > far:
            return
        leave = min(leave, far)
        _, from_a, to_a = stretch(question, a, near, leave, cells.bounds[0, a], cells.bounds[0, 3 + a])
        _, from_b, to_b = stretch(question, b, near, leave, cells.bounds[0, b], cells.bounds[0, 3 + b])
        for i in range(cell_of(cells, from_a, a), cell_of(cells, to_a, a) + 1):
            for j in range(cell_of(cells, from_b, b), cell_of(cells, to_b, b) + 1):
                if main == 0:
                    x, y, z = layer, i, j
                elif main == 1:
                    x, y, z = i, layer, j
                else:
                    x, y, z = i, j, layer
                show_list(cells, list_of(cells, x, y, z), boxes, ids, question, batch)
        layer += step


# Around a point


@visit.implemented_for(Near)
def _(question, cells, boxes, ids, batch, stack):
    """The cell of the point, then rings around it, until a ring is farther than the farthest of the k found."""
    show_large(cells, boxes, ids, question, batch)
    used = used_cells(cells)
    if used[0] > used[3]:
        return
    px, py, pz = question.point
    cx, cy, cz = cell_of(cells, px, 0), cell_of(cells, py, 1), cell_of(cells, pz, 2)
    size = 1.0 / cells.per_unit[0]
    most = 0.0
    for axis in range(3):
        most = max(most, max(abs(cells.bounds[0, axis]), abs(cells.bounds[0, 3 + axis])))
    pad = (max(max(abs(px), abs(py)), abs(pz)) + most + size) * 1e-14
    ring = max(
        max(max(used[0] - cx, cx - used[3]), max(used[1] - cy, cy - used[4])), max(max(used[2] - cz, cz - used[5]), 0)
    )
    final = max(max(max(cx - used[0], used[3] - cx), max(cy - used[1], used[4] - cy)), max(cz - used[2], used[5] - cz))
    before, budget = 0.0, 2.0 * ids.shape[0]
    while ring <= final and (ring - 1) * size * (1.0 - 1e-14) - pad <= limit(question, batch):
        r = common((cx - ring, cy - ring, cz - ring, cx + ring, cy + ring, cz + ring), used)
        cube = count_cells(r)
        budget -= cube - before + 1.0
        before = cube
        if budget < 0.0:
            show_everything(boxes, ids, question, batch)
            return
        for z in range(r[2], r[5] + 1):
            for y in range(r[1], r[4] + 1):
                if abs(z - cz) == ring or abs(y - cy) == ring:
                    for x in range(r[0], r[3] + 1):
                        show_list(cells, list_of(cells, x, y, z), boxes, ids, question, batch)
                else:
                    if r[0] <= cx - ring <= r[3]:
                        show_list(cells, list_of(cells, cx - ring, y, z), boxes, ids, question, batch)
                    if r[0] <= cx + ring <= r[3] and ring > 0:
                        show_list(cells, list_of(cells, cx + ring, y, z), boxes, ids, question, batch)
        ring += 1
