"""Pairs of placed meshes as kernels read them: how corners are moved, and how boxes pass from tree to tree.

All is in the world times one power of two, the smaller of the trees' scales, which changes no digit. What a passage
adds to a box covers the roundings of corners, of boxes and of the passage itself, and what the inverse may be wrong by.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import kernel
from .._threads import run_chunks
from .._transforms import ROUNDING, Transforms
from ..geometry.placement import PASSAGE, Placed
from ..layout import FRAME_CENTER, FRAME_SCALE

CHUNK = 4096

EXTENT = 2.1
"""No box reaches farther from the centre of its tree (`tree.validate`)."""


def common_scale(frame, other) -> float:
    """The power of two by which the world is multiplied."""
    return float(min(frame[FRAME_SCALE], other[FRAME_SCALE]))


def pairing(
    frame, other, first: Transforms, second: Transforms, tolerance=0.0, rows=None, other_rows=None, threads=None
) -> Placed:
    """As many pairs as there are transforms, the first for the mesh of the one tree, the second for that of the other;
    one transform goes with many. `rows` and `other_rows` (n,) pick from the transforms, for pairs that share them."""
    if rows is None:
        (number,) = np.broadcast_shapes(first.matrices.shape[:1], second.matrices.shape[:1])
        rows, other_rows = (
            np.arange(number) if len(one.matrices) == number else np.zeros(number, np.int64) for one in (first, second)
        )
    scale, number = common_scale(frame, other), len(rows)
    reach = float(tolerance) * scale
    moves, other_moves = np.empty((number, 12)), np.empty((number, 12))
    forth, back = np.zeros((number, PASSAGE)), np.zeros((number, PASSAGE))

    def fill(begin, end):
        larger, other_larger = frame[FRAME_SCALE] / scale, other[FRAME_SCALE] / scale
        fill_moves(first.matrices, rows, 1.0 / larger, scale, moves, begin, end)
        fill_moves(second.matrices, other_rows, 1.0 / other_larger, scale, other_moves, begin, end)
        onto = second.inverses, second.errors, other_rows, other_larger
        fill_passages(moves, other_moves, frame, other, *onto, reach, forth, begin, end)
        onto = first.inverses, first.errors, rows, larger
        fill_passages(other_moves, moves, other, frame, *onto, reach, back, begin, end)

    run_chunks(fill, number, chunk=CHUNK, threads=threads)
    return Placed(moves, other_moves, forth, back, reach, np.zeros(1, np.int64), np.zeros(2 * PASSAGE, np.float32))


@kernel
def fill_moves(matrices, rows, factor, scale, moves, begin, end):
    """Of the pairs begin to end: from blocks, which have their tree's scale, to the scaled world."""
    for i in range(begin, end):
        for axis in range(3):
            for k in range(3):
                moves[i, 4 * axis + k] = matrices[rows[i], axis, k] * factor
            moves[i, 4 * axis + 3] = matrices[rows[i], axis, 3] * scale


@kernel
def fill_passages(moves, other_moves, frame, other, inverses, errors, rows, larger, reach, passages, begin, end):
    """Of the pairs begin to end: from the space of one tree to that of the other, as rows of a `Placed`."""
    for i in range(begin, end):
        wrong = 2.0 * errors[rows[i]] / (1.0 - errors[rows[i]])
        finite = True
        for axis in range(3):
            shift, pad, square = 0.0, 0.0, 0.0
            for k in range(3):
                inverse = inverses[rows[i], axis, k] * larger
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
                pad += math.sqrt(square) * (reach * (1.0 + 4.0 * ROUNDING))
            passages[i, 12 + axis] = pad
            for j in range(4):
                finite &= abs(passages[i, 4 * axis + j]) < np.inf
            finite &= pad < np.inf
        if not finite:  # what overflows says nothing: such a pair is looked at everywhere
            for k in range(PASSAGE):
                passages[i, k] = 1e300 if k in (12, 13, 14) else 0.0
