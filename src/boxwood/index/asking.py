"""The questions of all structures: convert what was given, ask, put the answer in a result.

A structure that has nothing better than its `walk` is asked through that.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._arrays import FLOAT32, FLOAT64, boxed, positive_int
from .._work import work_options
from ..results import Counters, Hits, Nearest, Ragged
from . import arguments
from .answers import Boxes, Frustums, Own, Spheres, first_entered, found_by, nearest_of
from .store import Store

Ids: TypeAlias = NDArray[np.int64]
Progress: TypeAlias = Callable[[int, int], object]


class Asking(abc.ABC):
    """What can be asked of objects in a store."""

    _store: Store
    _dimension: int
    _single: bool

    def __len__(self) -> int:
        return len(self._store)

    def query_box(
        self,
        lower: ArrayLike,
        upper: ArrayLike,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> Ids | Ragged:
        """The ids of the boxes that overlap each box.

        Parameters
        ----------
        lower, upper : (..., d) array_like
        threads, progress, counters : optional
            How many threads may work at once, a callable (done, total), and a `boxwood.Counters` to add the work to:
            queries and hits. What was tested only `BruteForce` and `BVH` tell; the walks of the others do not count.

        Returns
        -------
        ids : int64 array (m,) for one box, `Ragged` for a batch; rising
        """
        work = work_options(threads, progress, counters)
        batch, _ = arguments.boxes(lower, upper, self._dimension)
        return self._gather(partial(Boxes, boxes=batch.rows), batch, work)

    def query_sphere(
        self,
        center: ArrayLike,
        radius: ArrayLike,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> Ids | Ragged:
        """The ids of the boxes whose distance from each center is at most the radius.

        Parameters
        ----------
        center : (..., d) array_like
        radius : float or array_like (...)
        threads, progress, counters : as of `query_box`.

        Returns
        -------
        ids : int64 array (m,) for one sphere, `Ragged` for a batch; rising
        """
        work = work_options(threads, progress, counters)
        batch, radii = arguments.spheres(center, radius, self._dimension, self._single)
        return self._gather(partial(Spheres, centers=batch.rows, radii=radii, single=batch.single), batch, work)

    def query_frustum(
        self,
        planes: ArrayLike,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> Ids | Ragged:
        """The ids of the boxes that no plane has entirely outside.

        Parameters
        ----------
        planes : (k, d + 1) array_like, or (..., k, d + 1) for a batch
            a x + b y + c z + d >= 0 inside; any number of them, their normals of any length but zero.
        threads, progress, counters : as of `query_box`.

        Returns
        -------
        ids : int64 array (m,) for one frustum, `Ragged` for a batch; rising
        """
        work = work_options(threads, progress, counters)
        batch = arguments.planes(planes, self._dimension)
        return self._gather(partial(Frustums, planes=batch.rows), batch, work)

    def raycast(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        *,
        t_min: ArrayLike = 0.0,
        t_max: ArrayLike = np.inf,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> Hits:
        """The first box that each ray enters.

        Parameters
        ----------
        origins, directions : (..., d) array_like
        t_min, t_max : float or array_like (...)
            The range of t, in multiples of the direction's length; both ends count.
        threads, progress, counters : as of `query_box`.

        Returns
        -------
        Hits
            t_hit is where the ray enters the box, t_min when it starts inside; uvs are nan.
        """
        work = work_options(threads, progress, counters)
        rays = arguments.rays(origins, directions, t_min, t_max, self._dimension, self._single)
        t_hit, hit = self._entered(rays, **work)
        self._count(counters, len(hit), hit)
        dtype = FLOAT32 if rays.single else FLOAT64
        uvs = np.full((len(hit), 2), np.nan, dtype)
        return Hits(boxed(rays.shape, t_hit.astype(dtype)), boxed(rays.shape, hit), boxed(rays.shape, uvs))

    def nearest(
        self,
        points: ArrayLike,
        k: int = 1,
        max_distance: ArrayLike = np.inf,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> Nearest:
        """The k boxes nearest to each point; inside a box the distance is 0.

        Parameters
        ----------
        points : (..., d) array_like
        k : int
        max_distance : number or (...) array_like
            What is farther does not count.
        threads, progress, counters : as of `query_box`.

        Returns
        -------
        Nearest
            (..., k) distances and ids, not squeezed for k = 1.
        """
        work = work_options(threads, progress, counters)
        batch, reaches = arguments.points(points, max_distance, self._dimension, self._single)
        k = positive_int("k", k, 1, 2**31 - 1)
        distances, nearest = self._nearest(batch, reaches, k, **work)
        self._count(counters, len(nearest), nearest)
        dtype = FLOAT32 if batch.single else FLOAT64
        return Nearest(boxed(batch.shape, distances.astype(dtype)), boxed(batch.shape, nearest))

    def pairs(
        self,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> Ids:
        """All pairs of boxes that overlap: (m, 2) int64, sorted, the smaller id first; of counters one query."""
        work = work_options(threads, progress, counters)
        pairs = self._pairs(**work)
        self._count(counters, 1, pairs[:, 0], len(self))
        return pairs

    # What each structure has of its own

    @abc.abstractmethod
    def _arrays(self) -> Any:
        """The structure as kernels read it: a NamedTuple with a `walk` of its own."""

    def _depth(self) -> int:
        """How many places a walk may have to remember."""
        return 1

    def _held(self) -> tuple[Any, ...]:
        return self._arrays(), self._store.boxes, self._store.ids, self._depth()

    def _gather(self, asked: Any, batch: arguments.Batch, work: dict[str, Any]) -> Ids | Ragged:
        counts, ids = self._found(asked, len(batch.rows), **work)
        self._count(work["counters"], len(counts), ids)
        return Ragged(np.concatenate([[0], np.cumsum(counts)]), ids) if batch.shape else ids

    def _count(self, counters: Counters | None, queries: int, found: Ids, asked: int | None = None) -> None:
        """Add queries, their hits, and what as many questions, or `asked`, are known to look at."""
        if counters is not None:
            tested = self._tested(queries if asked is None else asked)
            counters.add(queries=queries, hits=int(np.count_nonzero(found >= 0)), primitives_tested=tested)

    def _tested(self, questions: int) -> int:
        """How many objects so many questions look at, where that is known beforehand."""
        return 0

    # How questions are answered, where a structure has no other way than its `walk`

    def _found(self, asked: Any, count: int, **work: Any) -> tuple[Ids, Ids]:
        return found_by(self._held(), asked, count, **uncounted(work))

    def _entered(self, rays: arguments.Rays, **work: Any) -> tuple[NDArray[Any], ...]:
        return first_entered(self._held(), rays, **uncounted(work))

    def _nearest(
        self, points: arguments.Batch, reaches: NDArray[np.float64], k: int, **work: Any
    ) -> tuple[NDArray[Any], ...]:
        return nearest_of(self._held(), points, reaches, k, **uncounted(work))

    def _pairs(self, **work: Any) -> Ids:
        ids = self._store.live_ids
        rows = self._store.rows[ids]
        _, boxes, numbers, _ = held = self._held()
        asked = partial(Own, boxes=boxes, ids=numbers, rows=rows)
        counts, found = found_by(held, asked, len(rows), **uncounted(work))
        return np.stack([np.repeat(ids, counts), found], axis=1)


def uncounted(work: dict[str, Any]) -> dict[str, Any]:
    """What walks take: they do not count."""
    return {"threads": work["threads"], "progress": work["progress"]}
