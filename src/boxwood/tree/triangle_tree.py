"""The wide tree over a mesh's triangles, as one value: the arrays that kernels read, and how they were made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..layout import FRAME_DEPTH
from .statistics import Statistics, statistics_of
from .validate import validate


@dataclass(frozen=True, eq=False, repr=False)
class TriangleTree:
    """Read-only arrays as `layout` describes them.

    Attributes
    ----------
    nodes : (k * 64,) float32
    blocks : (b * 36,) of the mesh's dtype
    ids : (b * 4,) int32
    frame : (5,) float64
    builder : str
        What made the tree.
    build_seconds : float
    degenerate : int
        Faces of the mesh that it does not hold, because they have no area.
    """

    nodes: np.ndarray
    blocks: np.ndarray
    ids: np.ndarray
    frame: np.ndarray
    builder: str
    build_seconds: float
    degenerate: int = 0

    def __post_init__(self):
        for array in (self.nodes, self.blocks, self.ids, self.frame):
            array.flags.writeable = False

    @property
    def arrays(self):
        """What every kernel takes first."""
        return self.nodes, self.nodes.view(np.int32), self.blocks, self.ids, self.frame

    @property
    def depth(self) -> int:
        """Levels of inner nodes."""
        return int(self.frame[FRAME_DEPTH])

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays, the triangles' own corners among them."""
        return self.nodes.nbytes + self.blocks.nbytes + self.ids.nbytes + self.frame.nbytes

    def statistics(self) -> Statistics:
        """How good and how large the tree is."""
        return statistics_of(self)

    def validate(self) -> None:
        """Check everything that `layout` promises; ValueError names the first thing that is not so."""
        validate(self)
