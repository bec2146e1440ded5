"""The wide tree over boxes or points, as one value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..layout import BLOCK_SIZE, FRAME_CENTER, FRAME_SCALE, PILLAR
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
        return BLOCK_SIZE * self.dimension * (1 if self.points else 2)

    def corners(self) -> np.ndarray:
        """Lower and upper corners of all places in blocks, (number of ids, 2, d), which are one for points."""
        corners = self.blocks.reshape(-1, 1 if self.points else 2, self.dimension, BLOCK_SIZE)
        return corners.transpose(0, 3, 1, 2).reshape(-1, *corners.shape[1:3])

    def primitive_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        center = self.frame[FRAME_CENTER : FRAME_CENTER + self.dimension]
        corners = self.corners() * self.frame[FRAME_SCALE] - center
        pillar = np.full((len(corners), 3 - self.dimension), PILLAR)
        return np.hstack([corners[:, 0], -pillar]), np.hstack([corners[:, -1], pillar])

    def statistics(self) -> BoxStatistics:
        """How good and how large the tree is."""
        return box_statistics_of(self)
