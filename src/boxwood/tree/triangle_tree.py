"""The wide tree over a mesh's triangles, as one value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..layout import BLOCK_FLOATS, BLOCK_SIZE, FRAME_CENTER
from .statistics import Statistics, statistics_of
from .wide_tree import WideTree


@dataclass(frozen=True, eq=False, repr=False)
class TriangleTree(WideTree):
    """A `WideTree` of triangles.

    Attributes
    ----------
    degenerate : int
        Faces of the mesh that nothing can hit, because they have no area.
    blotted : int
        Those of them that it holds, because they had one when it was built: their vertices in blocks are NaN.
    """

    degenerate: int = 0
    blotted: int = 0

    primitive, primitives = "triangle", "triangles"

    @property
    def block_floats(self) -> int:
        return BLOCK_FLOATS

    def corners(self) -> np.ndarray:
        """The vertices of all places in blocks, (number of ids, 3, 3)."""
        return self.blocks.reshape(-1, 3, 3, BLOCK_SIZE).transpose(0, 3, 1, 2).reshape(-1, 3, 3)

    def primitive_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        corners = self.corners() - self.frame[FRAME_CENTER : FRAME_CENTER + 3]
        return corners.min(axis=1), corners.max(axis=1)

    def statistics(self) -> Statistics:
        """How good and how large the tree is."""
        return statistics_of(self)
