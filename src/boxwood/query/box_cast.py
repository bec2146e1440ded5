"""What all questions about rays and moving boxes share: the walk, and the run over threads.

A question is a NamedTuple of the arrays for its answers, with the functions `begin_row`, `accept` and `end_row`.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from .._arrays import raise_bad_ray
from .._jit import generic, inline, kernel
from .._simd import first_bit, key_bound, smallest_like
from .._threads import run_steps
from ..descend import STEPS, Stack, blocks_of, code_at, count_primitives, expand, stack_size
from ..geometry.box_blocks import block_shape
from ..geometry.moving_box import Moving, bound_of, meet_block, turn_to
from ..layout import BLOCK_SIZE, FRAME_DEPTH
from .ray_batch import first_bad_ray

f4 = np.float32
f8 = np.float64


@generic
def begin_row(question, r):
    """Prepare the answer of row r."""


@generic
def accept(question, r, t, name, most):
    """Take note that row r meets a box; the most that t may be from now on, less than all when the row is done."""


@generic
def end_row(question, r):
    """Finish the answer of row r; about how many steps that took."""


@inline
def nothing_more():
    """The most that t may be when a row is done."""
    return -np.inf


@kernel
def cast(question, moving, nodes, codes, blocks, ids, frame, single, counts, steps, begin, end):
    """Answer the question for the rows from begin to end; `single` rounds t to float32. How far it came in so many
    steps."""
    size = stack_size(np.intp(frame[FRAME_DEPTH]))
    stack = Stack(np.empty(size, np.int32), np.empty(size, np.uint32))
    shape = block_shape(blocks, ids)
    times, axes = np.empty(8, np.float64), np.empty(9, np.float64)
    step = smallest_like(f4(0.0)) if single else smallest_like(f8(0.0))
    r, work = begin, 0
    while r < end and work < steps:
        begin_row(question, r)
        motion, reachable, everywhere, still = turn_to(moving, frame, r, step, axes)
        least = moving.t_min[r if moving.t_min.shape[0] > 1 else 0]
        most = moving.t_max[r if moving.t_max.shape[0] > 1 else 0]
        limit = bound_of(motion, everywhere, still, most)
        key = key_bound(limit)
        top = np.intp(0)
        if reachable:
            top = expand(moving, counts, nodes, stack, 0, top, limit)
        while top > 0:
            if stack.keys[top] > key:
                top -= 1
                continue
            code = code_at(codes, stack, top)
            top -= 1
            work += 1
            if code >= 0:
                top = expand(moving, counts, nodes, stack, code, top, limit)
                continue
            block, last = blocks_of(code)
            before = most
            work += last - block
            for place in range(block, last):
                count_primitives(counts, ids, place * BLOCK_SIZE)
                met = meet_block(moving, r, blocks, place * shape.length, shape, times)
                while met != 0:
                    lane = first_bit(met)
                    met &= met - np.uint32(1)
                    near, far = times[lane], times[4 + lane]
                    if single:
                        near, far = f8(f4(near)), f8(f4(far))
                    if far >= least and near <= most:
                        t = max(near, least) + 0.0
                        if t <= most:
                            most = accept(question, r, t, np.int64(ids[place * BLOCK_SIZE + lane]), most)
            if most < before:
                if most == nothing_more():
                    break
                limit = bound_of(motion, everywhere, still, most)
                key = key_bound(limit)
        work += end_row(question, r)
        r += 1
    return r


def cast_rays(ask, tree, rays, threads, progress, counters):
    """Ask about rays, each checked before.

    `ask(answer, begin, end)` calls answer with a question about the rows from begin to end, which tells how far it
    came; and tells that in turn.
    """
    origins, directions = in_space(rays.origins), in_space(rays.directions)
    dtype = rays.origins.dtype
    most = np.finfo(dtype).max  # a t beyond the numbers is no hit
    t_min, t_max = wide(np.maximum(rays.t_min, -most)), wide(np.minimum(rays.t_max, most))
    moving = origins, origins, directions, t_min, t_max

    def check(begin, end):
        bad = first_bad_ray(origins, directions, t_min, t_max, begin, end)
        if bad >= 0:
            raise_bad_ray(rays, bad)

    run_casts(ask, tree, moving, dtype, threads, progress, counters, check)


def cast_boxes(ask, tree, lower, upper, displacement, dtype, threads, progress, counters):
    """Likewise about boxes that move by displacement while t goes from 0 to 1."""
    ends = wide(np.zeros(1)), wide(np.ones(1))
    moving = lower, upper, displacement, *ends
    run_casts(ask, tree, moving, dtype, threads, progress, counters)


def run_casts(ask, tree, moving, dtype, threads=None, progress=None, counters=None, check=None) -> None:
    """Ask about whatever moves, given as the first five arrays of `Moving`; `check(begin, end)` comes first."""
    single = bool(dtype == np.float32)

    def work(begin, end):
        if check is not None:
            check(begin, end)
        arrays = Moving(*moving, np.empty(10, np.float32), np.empty(3, np.int64))
        while begin < end:
            counts = None if counters is None else np.zeros(2, np.int64)
            reached = ask(partial(answer, arrays, counts, begin, end), begin, end)
            if counters is not None:
                counters.add(queries=reached - begin, boxes_tested=counts[0], primitives_tested=counts[1])
            begin = reached
            yield reached

    def answer(arrays, counts, begin, end, question, *, count=True):
        return cast(question, arrays, *tree.arrays, single, counts if count else None, STEPS, begin, end)

    run_steps(work, len(moving[0]), chunk=4096, threads=threads, progress=progress)


def in_space(array):
    """Vectors as kernels take them, (n, 3) float64, with z = 0 in the plane."""
    if array.shape[1] == 3:
        return wide(array)
    full = np.zeros((len(array), 3))
    full[:, : array.shape[1]] = array
    return wide(full)


def wide(array):
    """As float64 and read-only."""
    array = np.asarray(array, np.float64).view()
    array.flags.writeable = False
    return array
