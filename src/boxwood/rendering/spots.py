"""Pictures of where meshes meet: the surfaces in dimmed colours, the faces concerned brighter, and what they have in
common as bright lines, which shine through what is before them.

A view is chosen from which most of a place can be seen, which rays from there tell.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..mesh import Mesh
from .camera import Camera
from .color import rgb, srgb_table
from .kernels.lines import draw_lines
from .picture import Picture
from .shot import Shot
from .wireframe import project

Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]

PLAIN, FIRST, SECOND, FIRST_MEETS, SECOND_MEETS = range(5)
"""Kinds of faces: those of no concern, those of two meshes, and of these the ones that meet."""

TINTS = np.array([[0.62, 0.64, 0.66], [0.42, 0.68, 1.15], [1.15, 0.80, 0.32], [0.15, 0.50, 1.75], [1.75, 0.78, 0.05]])
LINE = rgb("ff2d78")
RIM = (16, 16, 20)
RING = rgb("f2f4f8")
THROUGH = 0.45  # how much of a face that meets another shines through what is before it
FAINT = 0.75  # and of a line
MOST_COVERED = 0.02  # of the picture by lines, where making them thin can keep it so
SIDE = 2  # samples to a side of a pixel
LARGEST_RING = 0.25  # its radius in parts of the height
MOST_POINTS = 400  # looked at to choose a view

AROUND = [(azimuth, elevation) for elevation in (23.0, 50.0, -20.0, 80.0) for azimuth in range(-54, 306, 45)]


@dataclass(frozen=True)
class Spots:
    """What is to be seen: a mesh, the kind of each of its faces, and lines (m, 2, 3), where points have length zero."""

    mesh: Mesh
    kinds: NDArray[np.int8]
    lines: Floats


def draw_spots(spots: Spots, camera: Camera, width: int, height: int, threads: int | None = None) -> Picture:
    """The picture of where something meets."""
    began = time.perf_counter()
    shot = Shot(spots.mesh, camera, width * SIDE, height * SIDE, SIDE, threads)
    chosen = spots.kinds >= FIRST_MEETS
    behind = Mesh(spots.mesh.vertices, spots.mesh.faces[chosen], copy=False) if chosen.any() else None
    inner = Shot(behind, camera, width * SIDE, height * SIDE, SIDE, threads) if behind else None
    image, depth = np.zeros((height, width, 3), np.uint8), np.empty((height, width), np.float32)
    table = srgb_table()
    for first, stop in shot.bands():
        band = shot.cast(first, stop)
        colors = shot.shade(band, *shot.normals(band, shadows=True, ambient=0))
        hit = band.ids >= 0
        colors[hit] *= TINTS[spots.kinds[band.ids[hit]]].astype(np.float32)
        if inner is not None:
            within = inner.cast(first, stop)
            hidden = (within.ids >= 0) & (within.t_hit > band.t_hit * (1 + 1e-6))
            bright = inner.shade(within, *inner.normals(within, shadows=False, ambient=0))
            kinds = spots.kinds[chosen][within.ids[hidden]]
            colors[hidden] += THROUGH * (bright[hidden] * TINTS[kinds].astype(np.float32) - colors[hidden])
        shot.develop(band, np.clip(colors, 0, 1), table, image)
        depth[first:stop] = shot.pixels(band, band.t_hit).min(axis=-1)
    lines = project(spots.lines, camera, width, height)
    length = float(np.hypot(lines[:, 3] - lines[:, 0], lines[:, 4] - lines[:, 1]).sum())
    thick = min(max(height / 400, 1.2), MOST_COVERED * width * height / max(2 * length, 1.0))
    _draw(image, depth, lines, max(thick, 0.4))
    shot.seconds["other"] = time.perf_counter() - began - sum(shot.seconds.values())
    return Picture(image, shot.counters, shot.rays, shot.seconds)


def draw_ring(image: Bytes, camera: Camera, points: Floats) -> tuple[float, float, float] | None:
    """A ring around where points are in the picture: its middle and radius. None if they are not in it, or so far
    apart that a ring would not tell anything."""
    height, width = image.shape[:2]
    seen = project(np.repeat(points[:, None], 2, axis=1), camera, width, height)
    if not len(seen):
        return None
    lower, upper = seen[:, :2].min(axis=0), seen[:, :2].max(axis=0)
    (x, y), radius = (lower + upper) / 2, max(float(np.hypot(*(upper - lower))) / 2 + 6, height / 45)
    if radius > LARGEST_RING * height:
        return None
    around = np.linspace(0, 2 * np.pi, 73)
    circle = np.stack([x + radius * np.cos(around), y + radius * np.sin(around), np.ones_like(around)], axis=1)
    lines = np.ascontiguousarray(np.concatenate([circle[:-1], circle[1:]], axis=1))
    nothing = np.full((height, width), np.inf, np.float32)
    for thick, color in ((height / 400 + 1.2, RIM), (height / 400, RING)):
        _blend(image, *_covered(nothing, lines, thick), color)
    return float(x), float(y), radius


def write(image: Bytes, x: float, y: float, text: str, size: int, anchor: str) -> None:
    """A text with a dark rim, legible on everything."""
    from PIL import Image, ImageDraw, ImageFont

    x, y = min(max(x, 0), image.shape[1]), min(max(y, 0), image.shape[0])
    canvas = Image.fromarray(image)
    font: Any = ImageFont.load_default(size)
    if (wide := font.getlength(text)) > image.shape[1] - 2 * x and anchor[0] == "l":
        font = ImageFont.load_default(max(size * (image.shape[1] - 2 * x) / wide, 7))
    ImageDraw.Draw(canvas).text((x, y), text, RING, font, anchor, stroke_width=max(size // 8, 1), stroke_fill=RIM)
    image[:] = np.asarray(canvas)


def clearest_view(mesh: Mesh, points: Floats, in_view: Mesh | ArrayLike, aspect: float, up: Floats) -> Camera:
    """A camera that has a mesh or bounds in view, from where most of the points can be seen."""
    some = points[:: max(len(points) // MOST_POINTS, 1)]
    size = math.hypot(*np.subtract(*mesh.bounds.astype(np.float64))) or 1.0  # which does not overflow
    best, most = None, -1.0
    for turn, (azimuth, elevation) in enumerate(AROUND):
        toward = _toward(azimuth, elevation, up)
        if len(some):
            free = 1 - mesh.occluded(some.astype(mesh.dtype), toward.astype(mesh.dtype), t_min=1e-5 * size).mean()
        else:
            free = 1.0
        if free - 0.01 * turn > most:
            best, most = toward, free - 0.01 * turn
    assert best is not None
    return Camera.fit(in_view, -best, aspect=aspect, up=up)


def _toward(azimuth: float, elevation: float, up: Floats) -> Floats:
    """The unit vector from a place to an eye."""
    top = int(np.argmax(up))
    toward = np.zeros(3)
    a, e = np.radians(azimuth), np.radians(elevation)
    toward[(top + 1) % 3], toward[(top + 2) % 3], toward[top] = np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)
    return toward


def _draw(image: Bytes, depth: NDArray[np.float32], lines: Floats, thick: float) -> None:
    """Lines with a dark rim, where something is before them fainter; all are made longer by what their ends lack."""
    along = lines[:, 3:5] - lines[:, :2]
    length = np.hypot(along[:, 0], along[:, 1])[:, None]
    point = length < 1e-9
    along = np.where(point, [1.0, 0.0], along / np.where(point, 1.0, length)) * thick
    longer = lines.copy()
    longer[:, :2] -= along
    longer[:, 3:5] += along
    for width, color in ((thick + 1.2, RIM), (thick, LINE)):
        _blend(image, *_covered(depth, longer, width), color)


def _covered(depth: NDArray[np.float32], lines: Floats, thick: float) -> tuple[Any, Any]:
    seen, unseen = np.zeros((2, *depth.shape), np.float32)
    draw_lines(lines, depth, seen, unseen, thick, thick)
    return seen, unseen


def _blend(image: Bytes, seen: Any, unseen: Any, color: tuple[int, int, int]) -> None:
    alpha = np.maximum(seen, np.float32(FAINT) * unseen)[..., None]
    image[:] = np.round(image + (np.array(color, np.float32) - image) * alpha).astype(np.uint8)
