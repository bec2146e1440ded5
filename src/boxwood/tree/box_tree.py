"""The wide tree over boxes or points, as one value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..layout import (
    BLOCK_SIZE,
    BOX_BLOCK_FLOATS,
    FRAME_CENTER,
    FRAME_SCALE,
    PILLAR,
    POINT_BLOCK_FLOATS,
)
from .statistics import BoxStatistics, box_statistics_of
from .wide_tree import WideTree


@dataclass(frozen=True, eq=False, repr=False)
class BoxSetTree(WideTree):
    """A `WideTree` of boxes or points.

    Attributes
    ----------
    dimension : int
        2 or 3.
    points : bool
        Whether blocks hold points.
    """

    dimension: int = 3
    points: bool = False

    primitive, primitives = "box", "boxes"

    @property
    def block_floats(self) -> int:
        return POINT_BLOCK_FLOATS if self.points else BOX_BLOCK_FLOATS

    def corners(self) -> np.ndarray:
        """Lower and upper corners of all places in blocks, (number of ids, 2, 3), which are one for points."""
        corners = self.blocks.reshape(-1, self.block_floats // 12, 3, BLOCK_SIZE).transpose(0, 3, 1, 2)
        return corners.reshape(-1, self.block_floats // 12, 3)

    def primitive_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        corners = self.corners() * self.frame[FRAME_SCALE] - self.frame[FRAME_CENTER : FRAME_CENTER + 3]
        lower, upper = corners[:, 0].copy(), corners[:, -1].copy()
        if self.dimension == 2:
            lower[:, 2] -= PILLAR
            upper[:, 2] += PILLAR
        return lower, upper

    def statistics(self) -> BoxStatistics:
        """How good and how large the tree is."""
        return box_statistics_of(self)
