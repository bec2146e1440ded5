"""The questions about rays and moving boxes that every set of boxes answers, whatever holds them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import Rays, boxed, rays
from ._regions import moving_batch
from ._work import work_options
from .query.box_all import all_boxes
from .query.box_any import any_box
from .query.box_cast import cast_boxes, cast_rays
from .query.box_count import box_count
from .query.box_first import first_box
from .results import AllHits, Counters, Hits

if TYPE_CHECKING:
    from .tree.box_tree import BoxSetTree

Progress: TypeAlias = Callable[[int, int], object]
Ids: TypeAlias = NDArray[np.int64]

INFINITY = float("inf")


class BoxRays:
    """What rays can ask of a set of boxes that has a `tree`, a `dtype` and a `dimension`."""

    if TYPE_CHECKING:

        @property
        def tree(self) -> BoxSetTree: ...

        @property
        def dtype(self) -> np.dtype[Any]: ...

        @property
        def dimension(self) -> int: ...

    def raycast(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        *,
        t_min: ArrayLike = 0.0,
        t_max: ArrayLike = INFINITY,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> Hits:
        """The first box that each ray meets: where it enters, or t_min where it begins inside.

        On each axis t is (bound - origin) / direction in float64; the box is met from the latest entry to the earliest
        exit, rounded to the dtype of the answer. Touching a corner, an edge or a side counts.

        Parameters
        ----------
        origins, directions : (d,) or (..., d) array_like
            Directions may have any length but 0, and components of 0.
        t_min, t_max : number or (...) array_like
            The range of t that counts, ends included.
        threads, progress, counters : as of `query_box`.

        Returns
        -------
        Hits
            ``t_hit`` and ``primitive_ids`` (...), the smallest id among equally near boxes; inf and -1 for a miss.
            ``uvs`` are nan, as boxes have none.

        Raises
        ------
        ValueError
            For wrong shapes, and for a ray that is not finite or has no direction; it names the first.

        Examples
        --------
        >>> import boxwood as bw
        >>> tree = bw.BoxTree([[1, 0], [4, 0]], [[2, 1], [5, 1]])
        >>> tree.raycast([[0, 0.5], [1.5, 0.5]], [1, 0]).t_hit.tolist()
        [1.0, 0.0]
        """
        batch, run = self._cast(origins, directions, t_min, t_max, threads, progress, counters)
        return _hits(batch.shape, *first_box(run, len(batch.origins), batch.origins.dtype, counters))

    def occluded(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        *,
        t_min: ArrayLike = 0.0,
        t_max: ArrayLike = INFINITY,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> NDArray[np.bool_]:
        """Whether each ray meets any box in its range: (...) bool. Parameters and errors are those of `raycast`."""
        batch, run = self._cast(origins, directions, t_min, t_max, threads, progress, counters)
        occluded: NDArray[np.bool_] = boxed(batch.shape, any_box(run, len(batch.origins), counters))
        return occluded

    def raycast_all(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        *,
        t_min: ArrayLike = 0.0,
        t_max: ArrayLike = INFINITY,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> AllHits:
        """Every box that each ray meets, once, sorted by ray, t and id. Parameters and errors are those of `raycast`.

        Examples
        --------
        >>> import boxwood as bw
        >>> tree = bw.BoxTree([[1, 0], [4, 0]], [[2, 1], [5, 1]])
        >>> tree.raycast_all([0, 0.5], [1, 0]).t_hit.tolist()
        [1.0, 4.0]
        """
        batch, run = self._cast(origins, directions, t_min, t_max, threads, progress, counters)
        splits, ray_ids, t_hit, ids = all_boxes(run, len(batch.origins), batch.origins.dtype, counters)
        return AllHits(splits, ray_ids, t_hit, ids, _no_uvs(t_hit))

    def count_hits(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        *,
        t_min: ArrayLike = 0.0,
        t_max: ArrayLike = INFINITY,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> Ids:
        """How many boxes each ray meets: (...) int64. Parameters and errors are those of `raycast`."""
        batch, run = self._cast(origins, directions, t_min, t_max, threads, progress, counters)
        numbers: Ids = boxed(batch.shape, box_count(run, len(batch.origins), counters))
        return numbers

    def sweep_box(
        self,
        lower: ArrayLike,
        upper: ArrayLike,
        displacement: ArrayLike,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> Hits:
        """The first box that each moving box touches on its way from where it is to where it is displaced.

        On each axis t is (bound - side) / displacement in float64, as of `raycast`.

        Parameters
        ----------
        lower, upper : (d,) or (..., d) array_like
            Where each box begins.
        displacement : (d,) or (..., d) array_like
            How far it moves while t goes from 0 to 1; 0 for a box that stands still.
        threads, progress, counters : as of `query_box`.

        Returns
        -------
        Hits
            ``t_hit`` from 0, where they touch at the beginning, to 1; inf and ``primitive_ids`` -1 for no contact.

        Examples
        --------
        >>> import boxwood as bw
        >>> tree = bw.BoxTree([[4, 0]], [[5, 1]])
        >>> float(tree.sweep_box([0, 0], [1, 1], [6, 0]).t_hit)
        0.5
        """
        options = work_options(threads, progress, counters)
        batch = moving_batch(lower, upper, displacement, self.dtype, self.dimension)
        run = partial(_run, cast_boxes, self.tree, *batch.arrays, batch.dtype, *options.values())
        return _hits(batch.shape, *first_box(run, len(batch), batch.dtype, counters))

    def _cast(
        self, origins: ArrayLike, directions: ArrayLike, t_min: ArrayLike, t_max: ArrayLike, *work: Any
    ) -> tuple[Rays, Callable[..., None]]:
        options = work_options(*work)
        batch = rays(origins, directions, t_min, t_max, self.dtype, self.dimension)
        return batch, partial(_run, cast_rays, self.tree, batch, *options.values())


def _run(cast: Callable[..., None], tree: Any, *rest: Any) -> None:
    """What `query` is given to run its question with, which comes last here and first there."""
    *options, question = rest
    cast(question, tree, *options)


def _hits(shape: tuple[int, ...], t_hit: NDArray[Any], ids: Ids) -> Hits:
    return Hits(*(boxed(shape, array) for array in (t_hit, ids, _no_uvs(t_hit))))


def _no_uvs(t_hit: NDArray[Any]) -> NDArray[Any]:
    return np.full((len(t_hit), 2), np.nan, t_hit.dtype)
