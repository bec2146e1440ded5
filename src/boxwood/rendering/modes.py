"""What each mode of `render` shows, one function for each: from a `Shot` to the image."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._threads import run_chunks
from ..tree.levels import levels_of
from .color import map_table, plain_table, srgb_table
from .kernels.light import name_by_color, turn_to_color
from .legend import draw_names, draw_scale
from .shot import Band, Shot
from .wireframe import chosen_levels, draw_boxes, level_color

Bytes = NDArray[np.uint8]

PLAIN_BACKDROP = 0.11
TOP_SHARE = 99.9  # percent of pixels whose work the colours of `heat` tell apart


@dataclass(frozen=True)
class Options:
    shadows: bool
    ambient: int
    levels: Sequence[int] | None
    verify: bool
    progress: Callable[[int, int], object] | None


def shaded(shot: Shot, image: Bytes, options: Options) -> None:
    table = srgb_table()
    for band in bands(shot, options):
        lighted(shot, band, image, table, options)


def boxes(shot: Shot, image: Bytes, options: Options) -> None:
    tree_levels = levels_of(shot.mesh.tree)
    chosen = chosen_levels(tree_levels, options.levels)
    table, depth = srgb_table(), np.empty(image.shape[:2], np.float32)
    for band in bands(shot, options):
        lighted(shot, band, image, table, options)
        nearest = shot.pixels(band, band.t_hit).min(axis=-1)
        depth[band.first // shot.side :][: len(nearest)] = nearest
    draw_boxes(image, depth, shot.camera, {level: tree_levels[level] for level in chosen})
    draw_names(
        image,
        [(f"level {level}: {boxes_told(len(tree_levels[level][0]))}", level_color(level)) for level in chosen],
    )


def normals(shot: Shot, image: Bytes, options: Options) -> None:
    table = plain_table()
    for band in bands(shot, options):
        toward_eye, _, _ = shot.normals(band, shadows=False, ambient=0)
        colors = np.empty_like(toward_eye)
        in_chunks(shot, len(colors), turn_to_color, toward_eye, PLAIN_BACKDROP, colors)
        shot.develop(band, colors, table, image)


def ids(shot: Shot, image: Bytes, options: Options) -> None:
    table = plain_table()
    for band in bands(shot, options):
        toward_eye, _, _ = shot.normals(band, shadows=False, ambient=0)
        colors = np.empty_like(toward_eye)
        in_chunks(shot, len(colors), name_by_color, band.ids, toward_eye, band.directions, PLAIN_BACKDROP, colors)
        shot.develop(band, colors, table, image)


def depth(shot: Shot, image: Bytes, options: Options) -> None:
    inverse = np.zeros(image.shape[:2], np.float64)  # mean over the samples that hit
    covered = np.zeros(image.shape[:2], np.float64)
    for band in bands(shot, options):
        samples = shot.pixels(band, 1 / np.maximum(band.t_hit.astype(np.float64), np.finfo(np.float64).tiny))
        rows = slice(band.first // shot.side, band.first // shot.side + len(samples))
        hits = np.count_nonzero(samples, axis=-1)
        inverse[rows] = samples.sum(axis=-1) / np.maximum(hits, 1)
        covered[rows] = hits / samples.shape[-1]
    with shot.timed("shading"):
        there = inverse[covered > 0]
        far, near = (there.min(), there.max()) if there.size else (0.0, 1.0)
        shown = 0.25 + 0.75 * (inverse - far) / (near - far or 1.0)
        image[:] = np.round(255 * (covered * shown + (1 - covered) * PLAIN_BACKDROP))[..., None]


def heat(shot: Shot, image: Bytes, options: Options) -> None:
    work = np.empty(image.shape[:2], np.float32)
    for band in bands(shot, options, count_boxes=True):
        assert band.boxes is not None
        mean = shot.pixels(band, band.boxes.astype(np.float32)).mean(axis=-1)
        work[band.first // shot.side :][: len(mean)] = mean
    with shot.timed("shading"):
        table = map_table()
        most = max(round(float(np.percentile(work, TOP_SHARE))), 1)
        image[:] = table[(np.minimum(work / most, 1) * (len(table) - 1)).astype(np.intp)]
    beyond = "+" if work.max() > most + 0.5 else ""
    draw_scale(image, f"boxes tested per ray, {work.mean():.1f} on average", ["0", f"{most / 2:g}", f"{most}{beyond}"])


MODES: dict[str, Callable[[Shot, Bytes, Options], None]] = {
    "shaded": shaded,
    "normals": normals,
    "depth": depth,
    "ids": ids,
    "heat": heat,
    "boxes": boxes,
}


def boxes_told(count: int) -> str:
    return "1 box" if count == 1 else f"{count:,} boxes"


def bands(shot: Shot, options: Options, *, count_boxes: bool = False) -> Iterator[Band]:
    """Cast the camera rays, band by band."""
    total = shot.width * shot.height // shot.side**2
    for first, stop in shot.bands():
        band = shot.cast(first, stop, count_boxes=count_boxes)
        if options.verify:
            shot.verify(band)
        yield band
        if options.progress is not None:
            options.progress(stop * shot.width // shot.side, total)


def lighted(shot: Shot, band: Band, image: Bytes, table: Bytes, options: Options) -> None:
    """One band of the shaded picture."""
    met = shot.normals(band, shadows=options.shadows, ambient=options.ambient)
    shot.develop(band, shot.shade(band, *met), table, image)


def in_chunks(shot: Shot, count: int, kernel: Callable[..., Any], *arguments: Any) -> None:
    with shot.timed("shading"):
        run_chunks(lambda begin, end: kernel(*arguments, begin, end), count, threads=shot.threads)
