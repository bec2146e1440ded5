"""All pairs of boxes that overlap, of one set or of two, by one walk down both trees.

The top of the walk is opened until there are pairs of subtrees enough for all threads. Each task writes the pairs that
it finds into room that grows as needed; at the end they are sorted by counting, so that the order of tasks does not
matter.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from .._threads import run_chunks
from ..descend import count_primitives
from ..descend_pairs import ROOT, PairStack, code_of, is_leaf_pair, open_pair, pair_stack_size, with_itself
from ..geometry.box_blocks import block_shape, box_at
from ..geometry.box_box import block_overlaps
from ..geometry.box_pairs import Between, Within
from ..layout import BLOCK_SIZE, BLOCKS_OF_LEAF, FRAME_DEPTH
from .sort_ids import sort_ids

TASKS = 1024
"""Pairs of subtrees to cut the walk into, at least where there are so many. Fixed, whatever the number of threads."""

CHUNK = 128


@kernel
def open_all(relation, counts, nodes, codes, others, other_codes, first, second):
    """Open each of these pairs that is not one of leaves; the pairs they become, and how many, and of those still to
    be opened."""
    stack = PairStack(np.empty(64 * len(first) + 64, np.int64), np.empty(64 * len(first) + 64, np.int64))
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


@kernel
def find_pairs(
    relation, counts, nodes, codes, blocks, ids, frame,
    others, other_codes, other_blocks, other_ids, other_frame, first, second,
):  # fmt: skip
    """The pairs of ids that overlap below these pairs of places, and how many."""
    size = pair_stack_size(np.intp(frame[FRAME_DEPTH]), np.intp(other_frame[FRAME_DEPTH]))
    stack = PairStack(np.empty(size, np.int64), np.empty(size, np.int64))
    shape, other_shape = block_shape(blocks, ids), block_shape(other_blocks, other_ids)
    found, partners, used = np.empty(1024, np.int32), np.empty(1024, np.int32), np.intp(0)
    for task in range(len(first)):
        stack.first[0], stack.second[0] = first[task], second[task]
        top = np.intp(1)
        while top > 0:
            top -= 1
            a, b = stack.first[top], stack.second[top]
            if not is_leaf_pair(codes, other_codes, a, b):
                top = open_pair(relation, counts, nodes, codes, others, other_codes, stack, a, b, top)
                continue
            leaf, other = np.intp(~code_of(codes, a)), np.intp(~code_of(other_codes, b))
            block, end = leaf // BLOCKS_OF_LEAF, leaf // BLOCKS_OF_LEAF + leaf % BLOCKS_OF_LEAF
            other_first, other_end = other // BLOCKS_OF_LEAF, other // BLOCKS_OF_LEAF + other % BLOCKS_OF_LEAF
            if used + (end - block) * (other_end - other_first) * BLOCK_SIZE * BLOCK_SIZE + 4 > found.shape[0]:
                room = 2 * found.shape[0] + 4096
                more_found, more_partners = np.empty(room, np.int32), np.empty(room, np.int32)
                for k in range(used):
                    more_found[k], more_partners[k] = found[k], partners[k]
                found, partners = more_found, more_partners
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
    return found, partners, used


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
def write_pairs(splits, seconds, pairs, begin, end):
    """Sort each row and write it as pairs."""
    for row in range(begin, end):
        sort_ids(seconds, splits[row], splits[row + 1])
        for k in range(splits[row], splits[row + 1]):
            pairs[k, 0], pairs[k, 1] = row, seconds[k]


def box_pairs(tree, other=None, *, threads=None, progress=None, counters=None) -> np.ndarray:
    """(m, 2) int64: the pairs of ids, sorted; within one tree each once, the smaller id first."""
    relation = Within(tree.frame) if other is None else Between(tree.frame, other.frame)
    second = tree if other is None else other
    if len(tree.ids) == 0 or len(second.ids) == 0:
        if counters is not None:
            counters.add(queries=1)
        return np.empty((0, 2), np.int64)
    nodes, codes, *_ = tree.arrays
    others, other_codes, *_ = second.arrays
    tasks = np.full(1, ROOT), np.full(1, ROOT)
    inner = 1
    counts = None if counters is None else np.zeros(2, np.int64)
    while inner and len(tasks[0]) < TASKS:
        *opened, number, inner = open_all(relation, counts, nodes, codes, others, other_codes, *tasks)
        tasks = opened[0][:number].copy(), opened[1][:number].copy()

    def find(begin, end):
        own = None if counters is None else np.zeros(2, np.int64)
        found = find_pairs(relation, own, *tree.arrays, *second.arrays, tasks[0][begin:end], tasks[1][begin:end])
        if own is not None:
            counters.add(boxes_tested=own[0], primitives_tested=own[1])
        return found

    parts = run_chunks(find, len(tasks[0]), chunk=CHUNK, threads=threads, progress=progress)
    rows = int(tree.ids.max()) + 1
    numbers = np.zeros(rows, np.int64)
    for found, _, used in parts:
        count_rows(found, used, numbers)
    splits = np.zeros(rows + 1, np.int64)
    np.cumsum(numbers, out=splits[1:])
    seconds, free = np.empty(splits[-1], np.int32), splits.copy()
    for part in parts:
        scatter(*part, free, seconds)
    pairs = np.empty((splits[-1], 2), np.int64)

    def write(begin, end):
        write_pairs(splits, seconds, pairs, begin, end)

    run_chunks(write, rows, chunk=65536, threads=threads)
    if counts is not None:
        counters.add(queries=1, boxes_tested=counts[0], hits=len(pairs))
    return pairs
