"""A uniform grid: the bounds are cut into equal cells, each with a list of the boxes that reach it.

A dense array finds the list of a cell at once, so questions about places cost hardly more than their answers, as long
as objects are spread evenly and have about one size.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import positive_number
from .cell_structure import CellStructure, usual_size

CELLS_PER_OBJECT = 2
"""Most cells, of a size that was not asked for."""
BYTES_PER_CELL = 4


class UniformGrid(CellStructure):
    """Boxes or points in the equal cells of a grid over their bounds.

    Objects that come or move beyond these bounds belong to the cells at the rim, and when they are many the grid is
    built anew around all.

    Parameters
    ----------
    lower, upper : (n, 2) or (n, 3) array_like
        As for every structure.
    cell_size : float, optional
        The edge of a cell: best about the size of the boxes, or of the regions asked about. By default the median
        size of the boxes, or the distance between neighbours where that is more, and not more cells than twice the
        objects.
    max_bytes : int
        What the cells may take.

    Raises
    ------
    ValueError
        Also when the grid would take more than `max_bytes`; it names how much.

    Examples
    --------
    >>> from boxwood.index import UniformGrid
    >>> grid = UniformGrid.from_points([[0.5, 0.5], [-3.5, 0.5], [2.5, 2.5]], cell_size=1.0)
    >>> grid.query_sphere([0, 0], 4).tolist()
    [0, 1, 2]
    >>> grid.move(0, [0.75, 0.5], [0.75, 0.5])  # stays in its cell
    0
    >>> grid.nearest([-4, 0]).ids.tolist()
    [1]
    """

    def __init__(
        self,
        lower: ArrayLike,
        upper: ArrayLike,
        *,
        cell_size: float | None = None,
        max_bytes: float = 2**30,
    ) -> None:
        self._max_bytes = positive_number("max_bytes", max_bytes)
        super().__init__(lower, upper, cell_size=cell_size)

    def _parameters(self) -> dict[str, Any]:
        return {**super()._parameters(), "max_bytes": self._max_bytes}

    @classmethod
    def _values(cls, boxes: NDArray[np.float64], dimension: int) -> list[Any]:
        usual = fitting(boxes, usual_size(boxes, dimension)) if len(boxes) else 1.0
        return [usual * 2.0**power for power in (-1, -0.5, 0, 0.5, 1, 2, 3)]

    def _lay_out(self, boxes: NDArray[np.float64]) -> None:
        origin, shape = self._shape_for(boxes)
        needed = BYTES_PER_CELL * float(np.prod(shape))
        if needed > self._max_bytes:
            told = " x ".join(f"{side:.0f}" for side in shape[: self._dimension])
            raise ValueError(
                f"a grid of {told} cells of size {self._cell_size:.9g} would take {needed:.4g} bytes, more than "
                f"max_bytes = {self._max_bytes:.4g}"
            )
        self._make_cells(int(np.prod(shape)), origin, shape.astype(np.int64))

    def _shape_for(self, boxes: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lower corner, and how many cells on each axis; chooses the size if that was left to it."""
        if len(boxes) == 0:
            return np.zeros(3), np.ones(3)
        if self._wanted_size is None:
            self._cell_size = fitting(boxes, self._cell_size)
        return cells_over(boxes, self._cell_size)

    def _may_rebuild(self) -> bool:
        """Whether the grid that the objects have now is one that may be."""
        if self._wanted_size is None:
            return True
        _, shape = self._shape_for(self._store.boxes[self._store.live_rows])
        return BYTES_PER_CELL * float(np.prod(shape)) <= self._max_bytes


def cells_over(boxes: NDArray[np.float64], size: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The lower corner of the boxes, and how many cells cover them on each axis."""
    low, high = boxes[:, :3].min(axis=0), boxes[:, 3:].max(axis=0)
    return low, np.floor(high / size - low / size) + 1


def fitting(boxes: NDArray[np.float64], size: float) -> float:
    """That size of cells, or as much more as it takes for not too many of them."""
    while np.prod(cells_over(boxes, size)[1]) > CELLS_PER_OBJECT * len(boxes) + 64:
        size *= 1.25
    return size
