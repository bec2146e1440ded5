"""The boxes that benchmarks use: spread evenly or in clusters, and around the moving triangles of a cloth."""

from __future__ import annotations

import numpy as np

import boxwood
from worlds import SHARED

CLOTH = SHARED / "ccd-scalable" / "cloth-ball" / "frames"
KINDS = ("uniform", "clustered")


def world(kind: str, count: int, dimension: int, size: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper corners within 0 to 1000: anywhere, or around a hundred places."""
    rng = np.random.default_rng([seed, dimension])
    lower = rng.uniform(0, 1000, (count, dimension))
    if kind == "clustered":
        places = np.random.default_rng(dimension).uniform(0, 1000, (100, dimension))
        lower = places[rng.integers(0, 100, count)] + rng.normal(size=(count, dimension)) * 20
    return lower, lower + rng.uniform(0, size, (count, dimension))


def dense(count: int, dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """Spread evenly, and each overlaps ten others, however many there are."""
    return world("uniform", count, dimension, 1000 * (10 / count) ** (1 / dimension))


def cloth(most: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Around each triangle at two frames, of the first triangles if they are too many; None where there is no data."""
    if not CLOTH.is_dir():
        return None
    frames = [boxwood.load(path) for path in sorted(CLOTH.iterdir())[:2]]
    corners = np.concatenate([frame.vertices[frame.faces[:most]] for frame in frames], axis=1)
    return corners.min(axis=1), corners.max(axis=1)
