"""Tables from numbers to bytes: how bright a screen shows them, and a colour map whose steps look equal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

# inferno, by N. Smith and S. van der Walt for matplotlib (CC0), at 17 equal steps; no more than 7/255 off between.
INFERNO = """
    000004 0b0724 210c4a 3d0965 57106e 71196e 8a226a a32c61 bc3754
    d24644 e45a31 f1731d f98e09 fcac11 f9cb35 f2ea69 fcffa4
""".split()

# one colour after the other for the levels of a tree; told apart with all kinds of colour vision (IBM Design)
LEVELS = ["f2f4f8", "ffb000", "648fff", "fe6100", "dc267f", "9b87ff"]


def rgb(code: str) -> tuple[int, int, int]:
    """Red, green and blue of six hexadecimal digits."""
    red, green, blue = bytes.fromhex(code)
    return red, green, blue


def srgb_table(size: int = 8192) -> Bytes:
    """Bytes for equal steps of linear light, 0 to 1, by the transfer function of sRGB (IEC 61966-2-1)."""
    light = np.linspace(0.0, 1.0, size)
    coded = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.round(coded * 255).astype(np.uint8)


def plain_table(size: int = 8192) -> Bytes:
    """Bytes for values that are meant for the screen as they are."""
    return np.round(np.linspace(0.0, 255.0, size)).astype(np.uint8)


def map_table(size: int = 1024) -> Bytes:
    """(size, 3): the colour map, from dark to bright."""
    stations = np.array([rgb(code) for code in INFERNO], np.float64)
    where = np.linspace(0, len(stations) - 1, size)
    mixed = [np.interp(where, np.arange(len(stations)), stations[:, k]) for k in range(3)]
    return np.round(np.stack(mixed, axis=1)).astype(np.uint8)
