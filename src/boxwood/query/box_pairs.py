"""All pairs of boxes that overlap, of one set or of two, by one walk down both trees.

The top of the walk is opened until there are pairs of subtrees enough for all threads. Each task writes the pairs that
it finds into room that grows as needed; at the end they are sorted by counting, so that the order of tasks does not
matter.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from .._threads import run_chunks, run_steps
from ..descend import STEPS, blocks_of, count_primitives
from ..descend_pairs import (
    BOXES_ROOM,
    ROOT,
    Itself,
    PairStack,
    code_of,
    is_leaf_pair,
    open_pair,
    pair_stack,
    turn_to,
    with_itself,
)
from ..geometry.box_blocks import block_shape, box_at
from ..geometry.box_box import block_overlaps
from ..geometry.box_pairs import Between
from ..layout import BLOCK_SIZE
from .sort_ids import marks_for, sort_by_marks, sort_ids

TASKS = 1024
"""Pairs of subtrees to cut the walk into, at least where there are so many. Fixed, whatever the number of threads."""

CHUNK = 128


@kernel
def open_all(relation, counts, nodes, codes, others, other_codes, first, second):
    """Open each of these pairs that is not one of leaves; the pairs they become, and how many, and of those still to
    be opened."""
    room = 64 * len(first) + 64
    stack = PairStack(np.empty(room, np.int64), np.empty(room, np.int64), np.empty(BOXES_ROOM, np.float32))
    turn_to(relation, 0)
    top, inner = np.intp(0), 0
    for i in range(len(first)):
        if is_leaf_pair(codes, other_codes, first[i], second[i]):
            stack.first[top], stack.second[top] = first[i], second[i]
            top += 1
        else:
            top = open_pair(relation, counts, nodes, codes, others, other_codes, stack, first[i], second[i], top)
    for i in range(top):
        inner += 0 if is_leaf_pair(codes, other_codes, stack.first[i], stack.second[i]) else 1
    return stack.first, stack.second, top, inner


def places(relation, counts, tree, other, first, second):
    """Pairs of places below which one walk is cut into many tasks, from these pairs on."""
    inner = len(first)
    while inner and len(first) < TASKS:
        *opened, number, inner = open_all(relation, counts, *tree.arrays[:2], *other.arrays[:2], first, second)
        first, second = opened[0][:number].copy(), opened[1][:number].copy()
    return first, second


@kernel
def find_pairs(
    relation, counts, nodes, codes, blocks, ids, others, other_codes, other_blocks, other_ids, stack, top, steps
):  # fmt: skip
    """The pairs of ids that overlap below the pairs of places on the stack, how many, its top after so many steps."""
    shape, other_shape = block_shape(blocks, ids), block_shape(other_blocks, other_ids)
    found, partners, used = np.empty(1024, np.int32), np.empty(1024, np.int32), np.intp(0)
    work = 0
    while top > 0 and work < steps:
        top -= 1
        work += 1
        a, b = stack.first[top], stack.second[top]
        if not is_leaf_pair(codes, other_codes, a, b):
            top = open_pair(relation, counts, nodes, codes, others, other_codes, stack, a, b, top)
            continue
        block, end = blocks_of(code_of(codes, a))
        other_first, other_end = blocks_of(code_of(other_codes, b))
        if used + (end - block) * (other_end - other_first) * BLOCK_SIZE * BLOCK_SIZE + 4 > found.shape[0]:
            room = 2 * found.shape[0] + 4096
            more_found, more_partners = np.empty(room, np.int32), np.empty(room, np.int32)
            for k in range(used):
                more_found[k], more_partners[k] = found[k], partners[k]
            found, partners = more_found, more_partners
        work += (end - block) * (other_end - other_first) * BLOCK_SIZE
        itself = a == b and with_itself(relation)
        for place in range(block, end):
            for lane in range(BLOCK_SIZE):
                name = ids[place * BLOCK_SIZE + lane]
                if name < 0:
                    break
                low, high = box_at(blocks, place * shape.length + lane, shape)
                for against in range(place if itself else other_first, other_end):
                    count_primitives(counts, other_ids, against * BLOCK_SIZE)
                    bits = block_overlaps(other_blocks, against * other_shape.length, other_shape, low, high)
                    if itself and against == place:
                        bits &= ~np.uint32((2 << lane) - 1)
                    for partner in range(BLOCK_SIZE):
                        found[used] = name
                        partners[used] = other_ids[against * BLOCK_SIZE + partner]
                        used += np.intp((bits >> np.uint32(partner)) & np.uint32(1))
    if with_itself(relation):
        for k in range(used):
            if found[k] > partners[k]:
                found[k], partners[k] = partners[k], found[k]
    return found, partners, used, top


@kernel
def count_rows(found, used, numbers):
    for k in range(used):
        numbers[found[k]] += 1


@kernel
def scatter(found, partners, used, free, seconds):
    """Bring the second of each pair to its first one's row."""
    for k in range(used):
        place = free[found[k]]
        free[found[k]] = place + 1
        seconds[place] = partners[k]


@kernel
def write_pairs(splits, seconds, pairs, rows, steps, begin, end):
    """Sort each row and write it as pairs; how far it came in so many steps. The second ids are below
    `rows`."""
    row, most = begin, splits[begin] + steps
    size, many = marks_for(rows)
    marks = np.zeros(size, np.uint32)
    while row < end and splits[row] < most:
        if splits[row + 1] - splits[row] < many:
            sort_ids(seconds, splits[row], splits[row + 1])
        else:
            sort_by_marks(seconds, splits[row], splits[row + 1], marks, rows)
        for k in range(splits[row], splits[row + 1]):
            pairs[k, 0], pairs[k, 1] = row, seconds[k]
        row += 1
    return row


def box_pairs(tree, other=None, *, threads=None, progress=None, counters=None) -> np.ndarray:
    """(m, 2) int64: the pairs of ids, sorted; within one tree each once, the smaller id first."""
    relation = Itself() if other is None else Between(tree.frame, other.frame)
    second = tree if other is None else other
    if len(tree.ids) == 0 or len(second.ids) == 0:
        if counters is not None:
            counters.add(queries=1)
        return np.empty((0, 2), np.int64)
    counts = None if counters is None else np.zeros(2, np.int64)

    def cut(begin, end):
        return places(relation, counts, tree, second, np.full(1, ROOT), np.full(1, ROOT))

    (tasks,) = run_chunks(cut, 1)
    parts = []

    def find(begin, end):
        top = end - begin
        own = None if counters is None else np.zeros(2, np.int64)
        stack = pair_stack(tree.depth, second.depth, top)
        for side, opened in zip(stack[:2], tasks, strict=True):
            side[:top] = opened[begin:end]
        while top > 0:
            *part, top = find_pairs(relation, own, *tree.arrays[:4], *second.arrays[:4], stack, top, STEPS)
            parts.append(part)
            yield begin
        if own is not None:
            counters.add(boxes_tested=own[0], primitives_tested=own[1])

    run_steps(find, len(tasks[0]), chunk=CHUNK, threads=threads, progress=progress)
    rows = int(tree.ids.max()) + 1
    numbers = np.zeros(rows, np.int64)
    for found, _, used in parts:
        count_rows(found, used, numbers)
    splits = np.zeros(rows + 1, np.int64)
    np.cumsum(numbers, out=splits[1:])
    seconds, free = np.empty(splits[-1], np.int32), splits.copy()
    while parts:
        scatter(*parts.pop(), free, seconds)
    pairs = np.empty((splits[-1], 2), np.int64)

    def write(begin, end):
        while begin < end:
            begin = write_pairs(splits, seconds, pairs, len(second.ids), STEPS, begin, end)
            yield begin

    run_steps(write, rows, chunk=65536, threads=threads)
    if counts is not None:
        counters.add(queries=1, boxes_tested=counts[0], hits=len(pairs))
    return pairs
