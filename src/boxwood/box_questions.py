"""The questions that every set of boxes answers, whatever holds them: what overlaps and what is near.

Each is a few lines: convert what was given, ask `query`, put the answer in a result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import boxed, positive_int
from ._regions import Batch, box_batch, plane_batch, point_batch, sphere_batch
from ._work import work_options
from .box_rays import BoxRays
from .query.box_pairs import box_pairs
from .query.nearest import nearest_boxes
from .query.overlapping import overlapping_boxes, overlapping_frusta, overlapping_spheres
from .results import Counters, Nearest, Ragged

Progress: TypeAlias = Callable[[int, int], object]
Ids: TypeAlias = NDArray[np.int64]

INFINITY = float("inf")


class BoxQuestions(BoxRays):
    """What can be asked of a set of boxes that has a `tree`, a `dtype` and a `dimension`."""

    def query_box(
        self,
        lower: ArrayLike,
        upper: ArrayLike,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> Ids | Ragged:
        """The boxes that overlap each of these boxes; touching counts.

        Parameters
        ----------
        lower, upper : (d,) or (..., d) array_like
            Corners; (d,) broadcasts against (n, d).
        threads, progress, counters : optional
            How many threads may work at once, a callable (done, total), and a `Counters` to add the work to.

        Returns
        -------
        int64 array (m,) or Ragged
            Ids, rising; for a batch a row of them for each box. Decided on the coordinates as given.

        Raises
        ------
        ValueError
            For wrong shapes, numbers that are not finite, or lower above upper; it names the first bad row.
        TypeError
            For `progress` that cannot be called, and `counters` that are none.

        Examples
        --------
        >>> import boxwood as bw
        >>> tree = bw.BoxTree([[0, 0], [2, 0]], [[1, 1], [3, 1]])
        >>> tree.query_box([[0, 0], [1, 1]], [[3, 3], [2, 2]]).pairs.tolist()
        [[0, 0], [0, 1], [1, 0], [1, 1]]
        """
        options = work_options(threads, progress, counters)
        batch = box_batch(lower, upper, self.dtype, self.dimension)
        return _rows(batch, *overlapping_boxes(self.tree, *batch.arrays, **options))

    def query_sphere(
        self,
        center: ArrayLike,
        radius: ArrayLike,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> Ids | Ragged:
        """The boxes that reach within a radius of each centre; exactly that far counts, and a radius of 0 is a point.

        What decides is the distance as `nearest` tells it: the root of dx * dx + dy * dy + dz * dz in float64, dx being
        how far the box is from the centre on the x axis, rounded to the dtype that the set, the centres and radii have
        in common. A single radius is rounded to it, too.

        Parameters
        ----------
        center : (d,) or (..., d) array_like
        radius : number or (...) array_like
        threads, progress, counters : as of `query_box`.

        Returns
        -------
        int64 array (m,) or Ragged
            Ids, rising; for a batch a row of them for each sphere.

        Examples
        --------
        >>> import boxwood as bw
        >>> tree = bw.BoxTree([[0, 0], [2, 0]], [[1, 1], [3, 1]])
        >>> tree.query_sphere([4, 2], [1, 2])[1].tolist()
        [1]
        """
        options = work_options(threads, progress, counters)
        batch = sphere_batch(center, radius, self.dtype, self.dimension)
        centers, radii = batch.arrays
        return _rows(batch, *overlapping_spheres(self.tree, centers, radii, batch.dtype, **options))

    def query_frustum(
        self,
        planes: ArrayLike,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> Ids | Ragged:
        """The boxes that planes do not leave out, as for culling what a camera cannot see.

        A box is left out when all of it lies on the outer side of one of the planes. Near an edge between planes a box
        may lie outside of their common inside and yet of none alone: it is listed. Points are listed exactly when they
        are inside. What decides is a * x + b * y + c * z + d >= 0 in float64 for the corner farthest inside.

        Parameters
        ----------
        planes : (k, d + 1) or (..., k, d + 1) array_like
            Rows a, b, c, d (in the plane a, b, d), with a x + b y + c z + d >= 0 inside; normals of any length but 0.
        threads, progress, counters : as of `query_box`.

        Returns
        -------
        int64 array (m,) or Ragged
            Ids, rising; for a batch a row of them for each set of planes.

        Examples
        --------
        >>> import boxwood as bw
        >>> tree = bw.BoxTree([[0, 0], [2, 0]], [[1, 1], [3, 1]])
        >>> tree.query_frustum([[1, 0, -1.5], [0, 1, 0]]).tolist()
        [1]
        """
        options = work_options(threads, progress, counters)
        batch = plane_batch(planes, self.dimension)
        return _rows(batch, *overlapping_frusta(self.tree, *batch.arrays, **options))

    def nearest(
        self,
        points: ArrayLike,
        k: int = 1,
        max_distance: ArrayLike = INFINITY,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> Nearest:
        """The k boxes nearest to each point; a box that holds the point is 0 away.

        A distance is the root of dx * dx + dy * dy + dz * dz in float64, dx being how far the box is on the x axis,
        rounded to the dtype of the answer: that of the set, or float64 when points or an array of max_distance are.

        Parameters
        ----------
        points : (d,) or (..., d) array_like
        k : int
            At least 1.
        max_distance : number or (...) array_like
            Boxes farther away, as distances are told, do not count.
        threads, progress, counters : as of `query_box`.

        Returns
        -------
        Nearest
            ``distances`` and ``ids`` (..., k), the nearest first and of equally near ones the smaller id first; inf
            and -1 where there are fewer than k.

        Examples
        --------
        >>> import boxwood as bw
        >>> tree = bw.BoxTree([[0, 0], [2, 0]], [[1, 1], [3, 1]])
        >>> found = tree.nearest([[4, 1], [0.5, 2]], k=2)
        >>> found.distances.round(2).tolist(), found.ids.tolist()
        ([[1.0, 3.0], [1.0, 1.8]], [[1, 0], [0, 1]])
        """
        options = work_options(threads, progress, counters)
        batch = point_batch(points, max_distance, self.dtype, self.dimension)
        k = positive_int("k", k, 1, 2**31 - 1)
        found = nearest_boxes(self.tree, batch.arrays[0], batch.arrays[1], k, batch.dtype, **options)
        return Nearest(*(boxed(batch.shape, array) for array in found))

    def pairs(
        self,
        other: BoxQuestions | None = None,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> Ids:
        """All pairs of boxes that overlap, within this set or between it and another; touching counts.

        Parameters
        ----------
        other : BoxTree, optional
            Of the same dimension; its dtype may be another.
        threads, progress, counters : as of `query_box`; all pairs are one query.

        Returns
        -------
        (m, 2) int64
            Sorted by row. Within one set each pair once, i < j; else i is of this set and j of the other.

        Examples
        --------
        >>> import boxwood as bw
        >>> tree = bw.BoxTree([[0, 0], [1, 1], [5, 5]], [[1, 1], [2, 2], [6, 6]])
        >>> tree.pairs().tolist()
        [[0, 1]]
        >>> tree.pairs(bw.BoxTree.from_points([[0.5, 0.5], [1, 1]])).tolist()
        [[0, 0], [0, 1], [1, 1]]
        """
        options = work_options(threads, progress, counters)
        if other is not None and not isinstance(other, BoxQuestions):
            raise ValueError(f"other must be a set of boxes, not {type(other).__name__}")
        if other is not None and other.dimension != self.dimension:
            raise ValueError(f"other has {other.dimension} dimensions, and this set {self.dimension}")
        found: Ids = box_pairs(self.tree, None if other is None else other.tree, **options)
        return found


def _rows(batch: Batch, splits: Ids, ids: Ids) -> Ids | Ragged:
    """Ids alone for a single question."""
    return ids if batch.single else Ragged(splits, ids)
