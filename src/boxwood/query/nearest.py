"""The k boxes nearest to each point, the nearest first and of equally near ones the smaller id first.

What decides is the distance as it is told (`geometry.distance`), rounded to the dtype of the answer. The best so far
lie sorted in the answer's own rows, and the k-th of them is how far the walk still looks.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import inline, kernel
from .._simd import first_bit, key_bound, less_equal, splat4, store
from .._threads import run_chunks
from ..descend import Stack, code_at, count_primitives, expand, stack_size
from ..geometry.box_blocks import block_shape, box_at, squares
from ..geometry.distance import TINY, distance, shown, surely_beyond
from ..geometry.point_box import SCALE, Points, bound_of, turn_to
from ..layout import BLOCK_SIZE, BLOCKS_OF_LEAF, FRAME_DEPTH
from .row_order import rows_in_order

LARGEST = float(np.finfo(np.float64).max)
"""What is farther, as far as float64 can tell, is nowhere."""

CHUNK = 4096

MOST_IN_CHUNK = 2**18
"""Answers of a chunk, so that Ctrl-C is heard however many are wanted of each point."""


@inline
def insert(distances, nearest, r, found, distance, name):
    """Put one among the best of row r, which has `found` of them; how many it has then."""
    j = found
    if found == distances.shape[1]:
        j -= 1
        last = distances[r, j]
        if distance > last or (distance == last and name > nearest[r, j]):
            return found
    while j > 0:
        before = distances[r, j - 1]
        if before < distance or (before == distance and nearest[r, j - 1] < name):
            break
        distances[r, j], nearest[r, j] = before, nearest[r, j - 1]
        j -= 1
    distances[r, j], nearest[r, j] = distance, name
    return min(found + 1, distances.shape[1])


@kernel
def find_nearest(
    points, nodes, codes, blocks, ids, frame, rows, distances, nearest, single, counts, begin, end
):
    """Fill the rows of `distances` and `nearest` for rows[begin:end]; how many were found."""
    size = stack_size(np.intp(frame[FRAME_DEPTH]))
    stack = Stack(np.empty(size, np.int32), np.empty(size, np.uint32))
    shape = block_shape(blocks, ids)
    number, near = distances.shape[1], np.empty(BLOCK_SIZE, np.float64)
    total = 0
    for i in range(begin, end):
        r = rows[i]
        x, y, z = points.points[r, 0], points.points[r, 1], points.points[r, 2]
        turn_to(points.current, points.factors, frame, x, y, z)
        scale = points.factors[SCALE]
        most = min(points.reaches[r], LARGEST)
        bound = surely_beyond(most, scale, single)
        limit = bound_of(points.factors, bound)
        key = key_bound(limit)
        for j in range(number):
            distances[r, j], nearest[r, j] = np.inf, -1
        found = 0
        top = expand(points, counts, nodes, stack, 0, np.intp(0), limit)
        while top > 0:
            if stack.keys[top] > key:
                top -= 1
                continue
            code = code_at(codes, stack, top)
            top -= 1
            if code >= 0:
                top = expand(points, counts, nodes, stack, code, top, limit)
                continue
            leaf = np.intp(~code)
            block = leaf // BLOCKS_OF_LEAF
            for place in range(block, block + leaf % BLOCKS_OF_LEAF):
                count_primitives(counts, ids, place * BLOCK_SIZE)
                four = squares(blocks, place * shape.length, shape, x, y, z, scale)
                bits = less_equal(four, splat4(bound))
                if bits == 0:
                    continue
                store(near, 0, four)
                while bits != 0:
                    lane = first_bit(bits)
                    bits &= bits - np.uint32(1)
                    if near[lane] > TINY:
                        away = math.sqrt(near[lane]) / scale
                    else:
                        low, high = box_at(blocks, place * shape.length + lane, shape)
                        away = distance(low, high, x, y, z)
                    away = shown(away, single)
                    if away <= most:
                        name = np.int64(ids[place * BLOCK_SIZE + lane])
                        found = insert(distances, nearest, r, found, away, name)
                if found == number:
                    bound = surely_beyond(distances[r, number - 1], scale, single)
                    limit = bound_of(points.factors, bound)
                    key = key_bound(limit)
        total += found
    return total


def nearest_boxes(
    tree, points, reaches, k, dtype, *, threads=None, progress=None, counters=None
) -> tuple[np.ndarray, np.ndarray]:
    """Distances (n, k) of that dtype and ids (n, k) int64 of the boxes nearest to each point, within its reach."""
    count, single = len(points), dtype == np.float32
    rows = rows_in_order(points, points, tree, threads)
    distances, nearest = np.empty((count, k)), np.empty((count, k), np.int64)

    def find(begin, end):
        counts = None if counters is None else np.zeros(2, np.int64)
        asked = Points(points, reaches, np.empty(10, np.float32), np.empty(4))
        found = find_nearest(asked, *tree.arrays, rows, distances, nearest, single, counts, begin, end)
        if counters is not None:
            counters.add(queries=end - begin, boxes_tested=counts[0], primitives_tested=counts[1], hits=found)

    chunk = min(CHUNK, max(MOST_IN_CHUNK // k, 1))
    run_chunks(find, count, chunk=chunk, threads=threads, progress=progress)
    return distances.astype(dtype, copy=False), nearest
