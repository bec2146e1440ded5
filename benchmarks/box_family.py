"""The structures of `boxwood.index` beside the tree: which of them can be asked for the pairs of a set.

What refuses a set, or would take longer than `MOST_SECONDS`, is left out, and the reason is told. A sample tells first,
so that nothing runs for minutes only to be left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from boxwood import index

MOST_SECONDS = 3.0
"""For building and all pairs."""
SHARE = 8
"""One in so many boxes is the sample. Its pairs must not take more than one in so many of these seconds."""

STRUCTURES = (
    index.SweepAndPrune, index.UniformGrid, index.SpatialHash, index.Quadtree, index.Octree, index.KDTree, index.BVH,
)  # fmt: skip


class Family(NamedTuple):
    hold: dict[str, Callable[[], Any]]  # the pairs of structures that hold the boxes
    build: dict[str, Callable[[], Any]]  # structures built and asked
    left_out: dict[str, str]  # why


def family(lower: np.ndarray, upper: np.ndarray) -> Family:
    """The structures that find the pairs of these boxes in time."""
    told = Family({}, {}, {})
    for kind in STRUCTURES:
        if kind.DIMENSION not in (None, lower.shape[1]):
            continue
        reason = _too_much(kind, lower, upper)
        if reason is not None:
            told.left_out[kind.__name__] = reason
            continue
        told.hold[kind.__name__] = kind(lower, upper).pairs
        told.build[kind.__name__] = lambda kind=kind: kind(lower, upper).pairs()
    return told


def _too_much(kind: type[index.Structure], lower: np.ndarray, upper: np.ndarray) -> str | None:
    """Why the structure is not asked for the pairs, if it is not."""
    try:
        _seconds(kind, lower[:64], upper[:64])  # compiled, so that it is not in the time of the sample
        for share in (SHARE, 1):
            seconds = _seconds(kind, lower[::share], upper[::share])
            if seconds > MOST_SECONDS / share:
                return f"{seconds:.2g} s for {len(lower[::share]):,} boxes"
    except ValueError as refused:
        return str(refused)
    return None


def _seconds(kind: type[index.Structure], lower: np.ndarray, upper: np.ndarray) -> float:
    start = time.perf_counter()
    kind(lower, upper).pairs()
    return time.perf_counter() - start
