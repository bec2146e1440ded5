"""Pairs of placed meshes as kernels read them: how corners are moved, and how boxes pass from tree to tree.

All is in the world times one power of two, the smaller of the trees' scales, which changes no digit. What a passage
adds to a box covers the roundings of corners, of boxes and of the passage itself, and what the inverse may be wrong by.
"""

from __future__ import annotations

import numpy as np

from .._transforms import ROUNDING, Transforms
from ..geometry.placement import PASSAGE, Placed
from ..layout import FRAME_CENTER, FRAME_SCALE

EXTENT = 2.1
"""No box reaches farther from the centre of its tree (`tree.validate`)."""


def common_scale(frame, other):
    """The power of two by which the world is multiplied."""
    return min(frame[FRAME_SCALE], other[FRAME_SCALE])


def pairing(frame, other, first: Transforms, second: Transforms, tolerance=0.0) -> Placed:
    """As many pairs as there are transforms, the first for the mesh of the one tree, the second for that of the other;
    one transform goes with many."""
    scale = common_scale(frame, other)
    moves, other_moves = moves_of(frame, first, scale), moves_of(other, second, scale)
    number = max(len(moves), len(other_moves))
    moves, other_moves = (np.ascontiguousarray(np.broadcast_to(rows, (number, 3, 4))) for rows in (moves, other_moves))
    reach = float(tolerance) * scale
    forth = passage(moves, frame, other_moves, other, second, scale, reach)
    back = passage(other_moves, other, moves, frame, first, scale, reach)
    return Placed(moves.reshape(-1, 12), other_moves.reshape(-1, 12), forth, back, reach, np.zeros(1, np.int64))


def moves_of(frame, placed: Transforms, scale):
    """From blocks, which have their tree's scale, to the scaled world: (n, 3, 4)."""
    return placed.matrices * [*[scale / frame[FRAME_SCALE]] * 3, scale]


def passage(moves, frame, other_moves, other, onto: Transforms, scale, reach):
    """From the space of one tree to that of the other: rows of a `Placed`."""
    larger = other[FRAME_SCALE] / scale
    back = onto.inverses * larger
    center, other_center = (one[FRAME_CENTER : FRAME_CENTER + 3] for one in (frame, other))
    with np.errstate(all="ignore"):
        linear, way = moves[:, :, :3], moves[:, :, 3] - other_moves[:, :, 3]
        shift = (back @ (linear @ center + way)[:, :, None])[:, :, 0] - other_center
        far = np.abs(linear) @ (np.abs(center) + EXTENT) + np.abs(moves[:, :, 3])
        far = far + np.abs(other_moves[:, :, :3]) @ (np.abs(other_center) + EXTENT) + np.abs(other_moves[:, :, 3])
        pad = (np.abs(back) @ far[:, :, None])[:, :, 0] + np.abs(other_center) + EXTENT
        wrong = 2.0 * onto.errors / (1.0 - onto.errors)
        pad = pad * (16.0 * ROUNDING) + wrong[:, None] * (np.abs(other_center) + EXTENT)
        pad = pad + np.sqrt((back * back).sum(axis=2)) * (reach * (1.0 + 4.0 * ROUNDING))
        rows = np.zeros((len(moves), PASSAGE))
        rows[:, :12] = np.concatenate([back @ linear, shift[:, :, None]], axis=2).reshape(-1, 12)
        rows[:, 12:15] = pad
        # What overflows says nothing: such a pair is looked at everywhere.
        rows[~np.isfinite(rows).all(axis=1)] = [0.0] * 12 + [1e300] * 3 + [0.0]
    return rows
