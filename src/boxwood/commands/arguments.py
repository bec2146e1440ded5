"""Reads what options hold: vectors, sizes, lists of numbers. Errors name the option."""

from __future__ import annotations

import errno
import math
import os
import re
from pathlib import Path

import numpy as np

from ..loading import load
from ..mesh import Mesh

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def numbers(option: str, text: str, count: int) -> tuple[float, ...]:
    """So many finite numbers, separated by commas."""
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        values = ()
    if len(values) != count or not all(math.isfinite(value) for value in values):
        raise ValueError(f"{option} must be {count} numbers separated by commas, not {text!r}")
    return values


def size(option: str, text: str) -> tuple[int, int]:
    """Width and height, as in 1024x768."""
    match = re.fullmatch(r"\s*(\d+)\s*[xX×]\s*(\d+)\s*", text)
    if not match:
        raise ValueError(f"{option} must be a width and a height as in 1024x768, not {text!r}")
    return int(match[1]), int(match[2])


def levels(option: str, text: str | None) -> list[int] | None:
    """Levels of a tree, as in 3,4."""
    if text is None:
        return None
    if not re.fullmatch(r"\s*\d+\s*(,\s*\d+\s*)*", text):
        raise ValueError(f"{option} must be numbers of levels separated by commas, not {text!r}")
    return [int(part) for part in text.split(",")]


def direction(option: str, text: str, up: tuple[float, float, float]) -> tuple[float, float, float]:
    """The view axis for an azimuth around `up` and an elevation above the ground, in degrees, as in 45,20.

    Azimuth 0 looks from the +x side (for up z), 90 from +y.
    """
    azimuth, elevation = (math.radians(value) for value in numbers(option, text, 2))
    if abs(elevation) > math.radians(89.9):
        raise ValueError(f"{option} must have an elevation between -89.9 and 89.9 degrees, not {text!r}")
    top = int(np.argmax(up))
    side, front = (top + 1) % 3, (top + 2) % 3
    place = [0.0, 0.0, 0.0]
    place[side] = -math.cos(azimuth) * math.cos(elevation)
    place[front] = -math.sin(azimuth) * math.cos(elevation)
    place[top] = -math.sin(elevation)
    return place[0], place[1], place[2]


def writable(path: Path) -> None:
    """Say before the work, and not after it, that there is no folder for a file."""
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path.parent))


def read(path: Path, dtype: str) -> Mesh:
    """The mesh of a file."""
    return load(path, dtype=choice("--dtype", dtype, ("float32", "float64")))


def choice(option: str, value: str, choices: tuple[str, ...]) -> str:
    """The value, if it is among the choices."""
    if value not in choices:
        raise ValueError(f"{option} must be one of {', '.join(choices)}, not {value!r}")
    return value
