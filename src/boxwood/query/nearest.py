"""The k boxes nearest to each point, the nearest first and of equally near ones the smaller id first.

What decides is the distance as it is told (`geometry.distance`), rounded to the dtype of the answer. The best so far
lie in the answer's own rows, sorted or, where they are many, as a heap; the worst of k is how far the walk still looks.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import inline, kernel
from .._simd import first_bit, key_bound, less_equal, splat4, store
from .._threads import run_chunks, run_steps
from ..descend import STEPS, Stack, blocks_of, code_at, count_primitives, expand, stack_size
from ..geometry.box_blocks import block_shape, box_at, squares
from ..geometry.distance import TINY, distance, shown, surely_beyond
from ..geometry.point_box import SCALE, Points, bound_of, turn_to
from ..layout import BLOCK_SIZE, FRAME_DEPTH
from .row_order import rows_in_order

LARGEST = float(np.finfo(np.float64).max)
"""What is farther, as far as float64 can tell, is nowhere."""

CHUNK = 4096

FEW = 48
"""Up to so many are kept sorted; more are a heap until all are found."""

ROOM_CHUNK = 2**22


@inline
def insert(distances, nearest, r, found, number, distance, name):
    """Put one among the best of row r, of which it has `found` and at most `number`; how many it has then."""
    j = found
    if found == number:
        j -= 1
        last = distances[r, j]
        if distance > last or (distance == last and name > nearest[r, j]):
            return found
    while j > 0:
        at = distances[r, j - 1]
        if at < distance or (at == distance and nearest[r, j - 1] < name):
            break
        distances[r, j], nearest[r, j] = at, nearest[r, j - 1]
        j -= 1
    distances[r, j], nearest[r, j] = distance, name
    return min(found + 1, number)


@inline
def before(distances, nearest, r, i, distance, name):
    """Whether the i-th of a row is better than one with this distance and id."""
    return distances[r, i] < distance or (distances[r, i] == distance and nearest[r, i] < name)


@inline
def sink(distances, nearest, r, i, size, distance, name):
    """Put one into a heap of that size, the worst on top, at place i or below."""
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and before(distances, nearest, r, child, distances[r, child + 1], nearest[r, child + 1]):
            child += 1
        if before(distances, nearest, r, child, distance, name):
            break
        distances[r, i], nearest[r, i] = distances[r, child], nearest[r, child]
        i = child
    distances[r, i], nearest[r, i] = distance, name


@inline
def heap(distances, nearest, r, found, number, distance, name):
    """Likewise `insert`, for a row whose best are a heap."""
    if found == number:
        if not before(distances, nearest, r, 0, distance, name):
            sink(distances, nearest, r, 0, number, distance, name)
        return found
    i = found
    while i > 0 and before(distances, nearest, r, (i - 1) // 2, distance, name):
        distances[r, i], nearest[r, i] = distances[r, (i - 1) // 2], nearest[r, (i - 1) // 2]
        i = (i - 1) // 2
    distances[r, i], nearest[r, i] = distance, name
    return found + 1


@inline
def sort_heap(distances, nearest, r, found):
    for last in range(found - 1, 0, -1):
        distance, name = distances[r, last], nearest[r, last]
        distances[r, last], nearest[r, last] = distances[r, 0], nearest[r, 0]
        sink(distances, nearest, r, 0, last, distance, name)


@kernel
def find_nearest(
    points, nodes, codes, blocks, ids, frame, rows, distances, nearest, number, single, counts, steps, begin, end
):
    """Fill the first `number` places of the rows of `distances` and `nearest` for rows[begin:end]; how many were found,
    and how far it came in so many steps."""
    size = stack_size(np.intp(frame[FRAME_DEPTH]))
    stack = Stack(np.empty(size, np.int32), np.empty(size, np.uint32))
    shape = block_shape(blocks, ids)
    near = np.empty(BLOCK_SIZE, np.float64)
    total, i, work = 0, begin, 0
    while i < end and work < steps:
        r = rows[i]
        i += 1
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
            work += 1
            if code >= 0:
                top = expand(points, counts, nodes, stack, code, top, limit)
                continue
            block, last = blocks_of(code)
            work += last - block
            for place in range(block, last):
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
                        if number <= FEW:
                            found = insert(distances, nearest, r, found, number, away, name)
                        else:
                            found = heap(distances, nearest, r, found, number, away, name)
                            work += 4
                if found == number:
                    bound = surely_beyond(distances[r, number - 1 if number <= FEW else 0], scale, single)
                    limit = bound_of(points.factors, bound)
                    key = key_bound(limit)
        if number > FEW:
            sort_heap(distances, nearest, r, found)
            work += number + 4 * found
        total += found
    return total, i


def nearest_boxes(
    tree, points, reaches, k, dtype, *, threads=None, progress=None, counters=None
) -> tuple[np.ndarray, np.ndarray]:
    """Distances (n, k) of that dtype and ids (n, k) int64 of the boxes nearest to each point, within its reach."""
    count, single = len(points), dtype == np.float32
    rows = rows_in_order(points, points, tree, threads)
    distances, nearest = np.empty((count, k)), np.empty((count, k), np.int64)
    number = min(k, len(tree.ids))
    if number < k:
        fill(distances, np.inf, threads)
        fill(nearest, -1, threads)

    def find(begin, end):
        asked = Points(points, reaches, np.empty(10, np.float32), np.empty(4))
        while begin < end:
            counts = None if counters is None else np.zeros(2, np.int64)
            answer = distances, nearest, number, single, counts, STEPS
            found, reached = find_nearest(asked, *tree.arrays, rows, *answer, begin, end)
            if counters is not None:
                counters.add(queries=reached - begin, boxes_tested=counts[0], primitives_tested=counts[1], hits=found)
            begin = reached
            yield reached

    run_steps(find, count, chunk=CHUNK, threads=threads, progress=progress)
    return distances.astype(dtype, copy=False), nearest


def fill(array, value, threads):
    """Not at once: Ctrl-C is to be heard."""
    flat = array.reshape(-1)

    def part(begin, end):
        flat[begin:end] = value

    run_chunks(part, len(flat), chunk=ROOM_CHUNK, threads=threads)
