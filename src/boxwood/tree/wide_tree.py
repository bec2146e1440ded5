"""What every wide tree is, whatever it holds: the arrays that kernels read, and how they were made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..layout import FRAME_DEPTH
from .validate import validate


@dataclass(frozen=True, eq=False, repr=False)
class WideTree:
    """Read-only arrays as `layout` describes them.

    Attributes
    ----------
    nodes : (k * 64,) float32
    blocks : (b * block_floats,) of the dtype of what is held
    ids : (b * 4,) int32
    frame : (5,) float64
    builder : str
        What made the tree.
    build_seconds : float
        Or to refit it.
    refits : int
        How often the primitives have moved since it was built, so that children may stand in any order.
    """

    nodes: np.ndarray
    blocks: np.ndarray
    ids: np.ndarray
    frame: np.ndarray
    builder: str
    build_seconds: float
    refits: int = 0

    def __post_init__(self):
        for array in (self.nodes, self.blocks, self.ids, self.frame):
            array.flags.writeable = False

    # What a kind of tree says of itself

    primitive, primitives = "primitive", "primitives"
    dimension, blotted = 3, 0

    @property
    def block_floats(self) -> int:
        """Numbers of a block."""
        raise NotImplementedError

    def primitive_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper corners (number of ids, 3) in the tree's own space, float64; nan for padding."""
        raise NotImplementedError

    # What follows from it

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
        """Bytes of all arrays, copies of the primitives' own numbers among them."""
        return self.nodes.nbytes + self.blocks.nbytes + self.ids.nbytes + self.frame.nbytes

    def validate(self) -> None:
        """Check everything that `layout` promises; ValueError names the first thing that is not so."""
        validate(self)
