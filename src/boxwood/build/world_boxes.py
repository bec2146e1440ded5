"""Boxes around placed meshes, in the world: the boxes high up in a mesh's tree are moved, each alone.

Together they are tighter than the moved box of the whole mesh; of a mesh with few vertices these are moved themselves.
A sphere around the mesh, which no rotation makes larger, bounds the box as well. A world box is wider by all that
rounding, and the inverse of the transform, may be wrong by.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._jit import kernel
from .._threads import run_chunks
from .._transforms import ROUNDING
from ..layout import CHILDREN, FRAME_CENTER, FRAME_SCALE, NODE_FLOATS
from ..tree.validate import half_areas

MOST = 64
"""Boxes or vertices that stand for a mesh, at most."""

CHUNK = 4096


class Outline(NamedTuple):
    """What holds all faces of a mesh that have an area, in the mesh's own space."""

    boxes: np.ndarray  # (k, 6) float64: middles and half the extents; none where there is no such face
    sphere: np.ndarray  # (4,) float64: center and radius


NOTHING = Outline(np.zeros((0, 6)), np.zeros(4))


class Outlines(NamedTuple):
    """Those of many meshes."""

    boxes: np.ndarray  # (k, 6) float64
    splits: np.ndarray  # (m + 1,) int64: those of mesh i are from splits[i] up to splits[i + 1]
    spheres: np.ndarray  # (m, 4) float64
    reaches: np.ndarray  # (m, 3) float64: no coordinate of the mesh is larger on that axis


def outlines_of(outlines) -> Outlines:
    """One value of those of several meshes."""
    outlines = list(outlines)
    splits = np.zeros(len(outlines) + 1, np.int64)
    np.cumsum([len(one.boxes) for one in outlines], out=splits[1:])
    boxes = np.concatenate([*(one.boxes for one in outlines), np.empty((0, 6))])
    spheres, reaches = np.zeros((len(outlines), 4)), np.zeros((len(outlines), 3))
    for i, one in enumerate(outlines):
        spheres[i] = one.sphere
        reaches[i] = (np.abs(one.boxes[:, :3]) + one.boxes[:, 3:]).max(axis=0, initial=0.0)
    return Outlines(boxes, splits, spheres, reaches)


def outline(vertices, faces, tree) -> Outline:
    """That of a mesh and its tree."""
    held = tree.ids[tree.ids >= 0]
    if len(held) == 0:
        return NOTHING
    used = np.zeros(len(vertices), bool)
    used[faces[held]] = True
    corners = vertices[used].astype(np.float64)
    boxes = np.hstack([corners, np.zeros_like(corners)]) if len(corners) <= MOST else upper_boxes(tree)
    center = corners.min(axis=0) * 0.5 + corners.max(axis=0) * 0.5
    with np.errstate(over="ignore"):
        radius = np.sqrt(((corners - center) ** 2).sum(axis=1).max()) * (1.0 + 8.0 * ROUNDING)
    return Outline(boxes, np.append(center, radius))


def upper_boxes(tree):
    """(k, 6): boxes of the tree as far down as there are not too many."""
    nodes, codes = (array.reshape(-1, NODE_FLOATS) for array in (tree.nodes, tree.nodes.view(np.int32)))
    lower, upper, below = children(nodes, codes, np.zeros(1, np.int64))
    while (below >= 0).any():
        inner = below >= 0
        more = children(nodes, codes, below[inner])
        if np.count_nonzero(~inner) + len(more[0]) > MOST:
            break
        lower, upper, below = (
            np.concatenate([one[~inner], other]) for one, other in zip((lower, upper, below), more, strict=True)
        )
    center, scale = tree.frame[FRAME_CENTER : FRAME_CENTER + 3], tree.frame[FRAME_SCALE]
    lower, upper = (lower + center) / scale, (upper + center) / scale
    return np.hstack([lower * 0.5 + upper * 0.5, upper * 0.5 - lower * 0.5])


def children(nodes, codes, inner):
    """Lower and upper corners and codes of the children of these nodes."""
    lower = nodes[inner, :24].reshape(-1, 3, 8).transpose(0, 2, 1).reshape(-1, 3)
    upper = nodes[inner, 24:48].reshape(-1, 3, 8).transpose(0, 2, 1).reshape(-1, 3)
    there = lower[:, 0] <= upper[:, 0]
    below = codes[inner, CHILDREN : CHILDREN + 8].reshape(-1)
    return lower[there].astype(np.float64), upper[there].astype(np.float64), below[there]


@kernel
def fill_boxes(boxes, splits, spheres, reaches, mesh_of, matrices, errors, rows, lower, upper, begin, end):
    """The world boxes of the placed meshes rows[begin:end], to those rows."""
    for i in range(begin, end):
        row = rows[i]
        mesh = mesh_of[row]
        first, last = splits[mesh], splits[mesh + 1]
        wrong = 2.0 * errors[row] / (1.0 - errors[row])
        far = max(max(reaches[mesh, 0], reaches[mesh, 1]), reaches[mesh, 2])
        for axis in range(3):
            a, b, c, d = matrices[row, axis, 0], matrices[row, axis, 1], matrices[row, axis, 2], matrices[row, axis, 3]
            low, high = np.inf, -np.inf
            for k in range(first, last):
                middle = a * boxes[k, 0] + b * boxes[k, 1] + c * boxes[k, 2]
                half = abs(a) * boxes[k, 3] + abs(b) * boxes[k, 4] + abs(c) * boxes[k, 5]
                low, high = min(low, middle - half), max(high, middle + half)
            middle = a * spheres[mesh, 0] + b * spheres[mesh, 1] + c * spheres[mesh, 2]
            half = math.sqrt(a * a + b * b + c * c) * spheres[mesh, 3]
            # An overflow is not less, and changes nothing; nor does a square that vanished, as half of the largest
            # entry bounds the root from below wherever it did not.
            if half >= 0.5 * max(max(abs(a), abs(b)), abs(c)) * spheres[mesh, 3]:
                low, high = max(low, middle - half), min(high, middle + half)
            size = abs(a) * reaches[mesh, 0] + abs(b) * reaches[mesh, 1] + abs(c) * reaches[mesh, 2] + abs(d)
            pad = 16.0 * ROUNDING * size + wrong * (abs(a) + abs(b) + abs(c)) * far + 1e-307
            lower[row, axis], upper[row, axis] = low + d - pad, high + d + pad


def fill_world_boxes(outlines, mesh_of, matrices, errors, rows, lower, upper, threads=None) -> None:
    """Write the world boxes of these rows of placed meshes to the same rows of lower and upper (n, 3)."""

    def fill(begin, end):
        fill_boxes(*outlines, mesh_of, matrices, errors, rows, lower, upper, begin, end)

    run_chunks(fill, len(rows), chunk=CHUNK, threads=threads)


def cost_of(tree) -> float:
    """The surface area of all boxes in the nodes over that of the root's: what a ray is expected to meet of them."""
    nodes = tree.nodes.reshape(-1, NODE_FLOATS)
    lower, upper = nodes[:, :24].reshape(-1, 3, 8), nodes[:, 24:48].reshape(-1, 3, 8)
    areas = half_areas(lower, upper)
    whole = half_areas(lower[:1].min(axis=2, keepdims=True), upper[:1].max(axis=2, keepdims=True))[0, 0]
    return float(areas.sum(dtype=np.float64) / whole) if whole > 0 else 1.0
