"""What colours mean, written into a corner of the picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .color import map_table

Color = tuple[int, int, int]

TEXT: Color = (235, 238, 242)
SMALLEST = 240  # pixels; smaller pictures have no room for words


def draw_scale(image: NDArray[np.uint8], title: str, labels: Sequence[str]) -> None:
    """The colour map as a bar, with labels at equal steps from its left to its right end."""
    height, width = image.shape[:2]
    if min(height, width) < SMALLEST:
        return
    size = _text_size(height)
    length, thickness, left = int(0.3 * width), max(size // 2, 6), int(1.4 * size)
    top = height - int(2.9 * size)
    bar = map_table(length)
    image[top - 1 : top + thickness + 1, left - 1 : left + length + 1] = TEXT
    image[top : top + thickness, left : left + length] = bar
    draw, write = _writer(image, size)
    write(left, top - size // 2, title, "ls")
    for i, label in enumerate(labels):
        x = left + i * (length - 1) // max(len(labels) - 1, 1)
        anchor = "lt" if i == 0 else "rt" if i == len(labels) - 1 else "mt"
        write(x, top + thickness + size // 2, label, anchor)
    image[:] = np.asarray(draw)


def draw_names(image: NDArray[np.uint8], names: Sequence[tuple[str, Color]]) -> None:
    """A stroke of each colour and its name, one below the other."""
    height, width = image.shape[:2]
    if min(height, width) < SMALLEST:
        return
    size = _text_size(height)
    left, top = int(1.4 * size), height - int(1.5 * size * (len(names) + 0.3))
    for i, (_, color) in enumerate(names):
        y = top + int(1.5 * size * i)
        image[y - size // 6 : y + max(size // 6, 1), left : left + 2 * size] = color
    draw, write = _writer(image, size)
    for i, (name, _) in enumerate(names):
        write(left + int(2.6 * size), top + int(1.5 * size * i), name, "lm")
    image[:] = np.asarray(draw)


def _text_size(height: int) -> int:
    return min(max(height // 45, 11), 60)


def _writer(image: NDArray[np.uint8], size: int) -> tuple[Any, Any]:
    """A copy of the picture that can be written on, and the function (x, y, text, anchor) that writes."""
    from PIL import Image, ImageDraw, ImageFont

    canvas = Image.fromarray(image)
    draw, font = ImageDraw.Draw(canvas), ImageFont.load_default(size)

    def write(x: int, y: int, text: str, anchor: str) -> None:
        draw.text((x, y), text, TEXT, font, anchor)

    return canvas, write
