"""The boxes of a tree as lines over a picture: full where nothing is before them, thin and faint where something is.

Edges are projected and cut to the view here; `kernels.lines` draws them against the depths of what rays have hit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import positive_int
from .camera import Camera
from .color import LEVELS, rgb
from .kernels.lines import draw_lines

Box = tuple[NDArray[np.float64], NDArray[np.float64]]
Floats = NDArray[np.floating[Any]]

CORNERS = np.array([[i & 1, (i >> 1) & 1, (i >> 2) & 1] for i in range(8)])
EDGES = np.array([pair for pair in combinations(range(8), 2) if abs(CORNERS[pair[0]] - CORNERS[pair[1]]).sum() == 1])
DIMMED = 0.62
FAINT = 0.30
LENGTH_SHARE = 0.02  # half the width of lines, in parts of their usual length: small boxes get thin ones
MOST_BY_DEFAULT = 100


def chosen_levels(boxes: Sequence[Box], wanted: Sequence[int] | None) -> list[int]:
    """The levels asked for, in order; by default the last two with few enough boxes to be told apart."""
    if wanted is None:
        few = [level for level, (lower, _) in enumerate(boxes) if len(lower) <= MOST_BY_DEFAULT]
        return few[-2:]
    last = len(boxes) - 1
    numbers = sorted({positive_int("levels", level, 0) for level in wanted})
    for level in numbers:
        if level > last:
            raise ValueError(f"levels names {level}, but the tree has levels 0 to {last}")
    return numbers


def draw_boxes(image: NDArray[np.uint8], depth: NDArray[np.float32], camera: Camera, boxes: dict[int, Box]) -> None:
    """Dim the picture and draw the boxes of each level, the deepest first."""
    height, width = depth.shape
    canvas = image.astype(np.float32) * np.float32(DIMMED)
    scale = min(max(height / 900, 0.6), 3.0)
    for level in sorted(boxes, reverse=True):
        lines = project(edges_of(*boxes[level]), camera, width, height)
        length = float(np.median(np.hypot(lines[:, 3] - lines[:, 0], lines[:, 4] - lines[:, 1]))) if len(lines) else 0.0
        thick = min(max(LENGTH_SHARE * length, 0.3), 1.2 * scale)
        seen, unseen = np.zeros((2, height, width), np.float32)
        draw_lines(lines, depth, seen, unseen, thick, 0.5 * thick)
        alpha = np.maximum(seen, np.float32(FAINT) * unseen)[..., None]
        canvas += (np.array(level_color(level), np.float32) - canvas) * alpha
    image[:] = np.round(canvas).astype(np.uint8)


def level_color(level: int) -> tuple[int, int, int]:
    """The same in every picture; levels that follow each other differ."""
    return rgb(LEVELS[level % len(LEVELS)])


def edges_of(lower: NDArray[np.float64], upper: NDArray[np.float64]) -> NDArray[np.float64]:
    """(12 n, 2, 3): both ends of the edges of boxes."""
    corners = np.where(CORNERS, upper[:, None], lower[:, None])
    return corners[:, EDGES].reshape(-1, 2, 3)


def project(edges: NDArray[np.float64], camera: Camera, width: int, height: int) -> NDArray[np.float64]:
    """Lines (m, 6) for `draw_lines`: what of the edges is before the camera and in the picture."""
    ends = (edges - camera.position) @ camera.axes().T
    nearest = max(camera.near, 1e-6 * float(np.abs(ends).max(initial=0.0)))
    ends = clipped(ends, ends[..., 2] - nearest)
    per = height / 2 / math.tan(math.radians(camera.field_of_view) / 2)
    inverse = 1 / ends[..., 2:]
    x = width / 2 + per * ends[..., :1] * inverse
    y = height / 2 - per * ends[..., 1:2] * inverse
    lines = np.concatenate([x, y, inverse], axis=-1)
    for axis, size in ((0, width), (1, height)):
        lines = clipped(lines, lines[..., axis] + 8)
        lines = clipped(lines, size + 8 - lines[..., axis])
    return np.ascontiguousarray(lines.reshape(-1, 6))


def clipped(lines: NDArray[np.float64], inside: NDArray[np.float64]) -> NDArray[np.float64]:
    """The parts of lines (n, 2, k) where what is given for both ends (n, 2) is not negative; linear in between."""
    kept = (inside >= 0).any(axis=1)
    lines, inside = lines[kept], inside[kept]
    along = lines[:, 1] - lines[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        cut = (inside[:, 0] / (inside[:, 0] - inside[:, 1]))[:, None]
        crossing = lines[:, 0] + cut * along
    return np.where(inside[..., None] < 0, crossing[:, None], lines)
