"""Pairs of placed meshes as kernels read them: how corners are moved, and how boxes pass from tree to tree.

All is in the world times a power of two, which changes no digit. Each pair has its own, by which the larger of its
meshes, as placed there, has about size one: so signs are exact wherever the pair is and however large. What a passage
adds to a box covers the roundings of corners, of boxes and of the passage itself, and what the inverse may be wrong by.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import apart, inline, kernel
from .._simd import stay_apart
from .._threads import run_chunks
from .._transforms import ROUNDING, Transforms
from ..geometry.placement import PASSAGE, SCALE, PlacedPairs
from ..layout import EXTENT, FRAME_CENTER, FRAME_SCALE

CHUNK = 4096

MOST = 2.0**1020
"""Sixteen times that is no number any more."""


def pairing(
    frame, other, first: Transforms, second: Transforms, tolerance=0.0, rows=None, other_rows=None, threads=None
) -> PlacedPairs:
    """As many pairs as there are transforms, the first for the mesh of the one tree, the second for that of the other;
    one transform goes with many. `rows` and `other_rows` (n,) pick from the transforms, for pairs that share them.

    ValueError where the second of a pair is moved beyond the numbers; it names the first transform.
    """
    if rows is None:
        many, others = len(first.matrices), len(second.matrices)
        number = others if many == 1 else many
        rows, other_rows = (np.zeros(number, np.int64) if n == 1 else np.arange(number) for n in (many, others))
    number, reach = len(rows), float(tolerance)
    moves, other_moves = np.empty((number, 12)), np.empty((number, 12))
    forth, back = np.zeros((number, PASSAGE)), np.zeros((number, PASSAGE))

    def fill(begin, end):
        one = rows, first.matrices, first.inverses, first.errors, frame, moves, forth
        two = other_rows, second.matrices, second.inverses, second.errors, other, other_moves, back
        return fill_pairs(*one, *two, reach, begin, end)

    beyond = min(run_chunks(fill, number, chunk=CHUNK, threads=threads), default=len(second.matrices))
    if beyond < len(second.matrices):
        place = [int(i) for i in np.unravel_index(beyond, second.shape)] if second.shape else ""
        raise ValueError(f"transform{place} moves the mesh beyond the numbers")
    return PlacedPairs(moves, other_moves, forth, back, reach, np.zeros(1, np.int64), np.zeros(2 * PASSAGE, np.float32))


@kernel
def fill_pairs(
    rows, matrices, inverses, errors, frame, moves, forth,
    other_rows, others, other_inverses, other_errors, other_frame, other_moves, back, reach, begin, end,
):  # fmt: skip
    """Of the pairs begin to end: from blocks, which have their tree's scale, to the scaled world, its scale, and the
    passages.

    The first row of the others that moves its mesh beyond the numbers, or how many rows there are.
    """
    beyond = len(others)
    for i in range(begin, end):
        row, other_row = rows[i], other_rows[i]
        size, far = measured(matrices, row, frame)
        other_size, other_far = measured(others, other_row, other_frame)
        if other_far >= MOST and not stays(others, other_row):
            beyond = min(beyond, other_row)
        # a scaled coordinate must not overflow either, where a small pair is far from the origin
        power = 1000 - max(math.frexp(max(far, other_far))[1] + 4, 0)
        scale = math.ldexp(1.0, min(max(-3 - math.frexp(max(size, other_size))[1], -1023), power))
        put_move(matrices, row, scale / frame[FRAME_SCALE], scale, moves, i)
        put_move(others, other_row, scale / other_frame[FRAME_SCALE], scale, other_moves, i)
        forth[i, SCALE] = back[i, SCALE] = scale
        put_passage(moves, other_moves, frame, other_frame, other_inverses, other_errors, other_row, reach, forth, i)
        put_passage(other_moves, moves, other_frame, frame, inverses, errors, row, reach, back, i)
    return beyond


@inline
def measured(matrices, row, frame):
    """How large a mesh is in the world and how far its coordinates reach, both about, and a sixteenth of it."""
    unit, size, far = 0.0625 / frame[FRAME_SCALE], 0.0, 0.0
    for axis in range(3):
        reach = abs(matrices[row, axis, 3]) * 0.0625
        for k in range(3):
            part = abs(matrices[row, axis, k]) * unit
            size = max(size, part)
            reach += part * (abs(frame[FRAME_CENTER + k]) + EXTENT)
        far = max(far, reach)
    return size, far


@inline
def stays(matrices, row):
    """Whether a transform is none."""
    for axis in range(3):
        for k in range(4):
            if matrices[row, axis, k] != (1.0 if axis == k else 0.0):
                return False
    return True


@inline
def put_move(matrices, row, factor, scale, moves, i):
    for axis in range(3):
        for k in range(3):
            moves[i, 4 * axis + k] = matrices[row, axis, k] * factor
        moves[i, 4 * axis + 3] = matrices[row, axis, 3] * scale


@apart
def put_passage(moves, other_moves, frame, other, inverses, errors, row, reach, passages, i):
    """From the space of one tree to that of the other, as a row of a `PlacedPairs`."""
    stay_apart()
    wrong = 2.0 * errors[row] / (1.0 - errors[row])
    larger, scaled_reach = other[FRAME_SCALE] / passages[i, SCALE], reach * passages[i, SCALE]
    finite = True
    for axis in range(3):
        shift, pad, square = 0.0, 0.0, 0.0
        for k in range(3):
            inverse = inverses[row, axis, k] * larger
            m = 4 * k
            center = moves[i, m] * frame[FRAME_CENTER] + moves[i, m + 1] * frame[FRAME_CENTER + 1]
            center += moves[i, m + 2] * frame[FRAME_CENTER + 2]
            shift += inverse * (center + (moves[i, m + 3] - other_moves[i, m + 3]))
            far = abs(moves[i, m + 3]) + abs(other_moves[i, m + 3])
            for j in range(3):
                far += abs(moves[i, m + j]) * (abs(frame[FRAME_CENTER + j]) + EXTENT)
                far += abs(other_moves[i, m + j]) * (abs(other[FRAME_CENTER + j]) + EXTENT)
                passages[i, 4 * axis + j] += inverse * moves[i, m + j]
            pad += abs(inverse) * far
            square += inverse * inverse
        beyond = abs(other[FRAME_CENTER + axis]) + EXTENT
        passages[i, 4 * axis + 3] = shift - other[FRAME_CENTER + axis]
        pad = (pad + beyond) * (16.0 * ROUNDING) + wrong * beyond
        if reach > 0.0:
            pad += math.sqrt(square) * (scaled_reach * (1.0 + 4.0 * ROUNDING))
        passages[i, 12 + axis] = pad
        for j in range(4):
            finite &= abs(passages[i, 4 * axis + j]) < np.inf
        finite &= pad < np.inf
    if not finite:  # what overflows says nothing: such a pair is looked at everywhere
        for k in range(SCALE):
            passages[i, k] = 0.0 if k < 12 else 1e300
