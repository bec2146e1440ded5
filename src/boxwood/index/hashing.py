"""A spatial hash: equal cells without bounds, and a table of lists in which a cell finds its own by a hash.

Memory follows the objects, not the world, so the world may be unbounded and mostly empty. Teschner et al. 2003,
Optimized spatial hashing for collision detection of deformable objects.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .cell_structure import CellStructure


class SpatialHash(CellStructure):
    """Boxes or points in the equal cells of an unbounded world, found by a hash.

    Several cells may have the same list; what stands in it and does not belong is told apart by its coordinates.

    Parameters
    ----------
    lower, upper : (n, 2) or (n, 3) array_like
        As for every structure.
    cell_size : float, optional
        The edge of a cell: best about the size of the boxes, or of the regions asked about. By default the median
        size of the boxes, or the distance between neighbours where that is more.

    Examples
    --------
    >>> from boxwood.index import SpatialHash
    >>> points = SpatialHash.from_points([[-0.5, 0.5], [0.5, 0.5], [1e9, -1e9]], cell_size=1.0)
    >>> points.query_box([-1, 0], [0, 1]).tolist()
    [0]
    >>> points.query_sphere([1e9, -1e9], 2).tolist()
    [2]
    """

    def _lay_out(self, boxes: NDArray[np.float64]) -> None:
        reached = np.median((boxes[:, 3:] - boxes[:, :3]) / self._cell_size, axis=0) if len(boxes) else np.zeros(3)
        entries = len(boxes) * float(np.prod(np.minimum(reached, 4) + 1))
        lists = 1 << max(6, int(np.ceil(np.log2(max(entries, 1)))))
        self._make_cells(min(lists, 2**30), np.zeros(3), None)
