"""The questions about rays that a mesh answers.

Each is a few lines: convert what was given, ask `query`, put the answer in a result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import boxed, rays
from ._work import work_options
from .query.all_hits import all_hits
from .query.any_hit import any_hit
from .query.closest_hit import closest_hit
from .query.hit_count import hit_count
from .query.solids import Solid
from .results import AllHits, Counters, Hits
from .tree.triangle_tree import TriangleTree

Progress: TypeAlias = Callable[[int, int], object]
Cull: TypeAlias = Literal["back", "front"] | None

INFINITY = float("inf")


class MeshRays:
    """What rays hit of a mesh that has `vertices`, `faces`, a `dtype` and a `tree`."""

    @property
    def vertices(self) -> NDArray[Any]:
        """(n, 3) float32 or float64, read-only."""
        raise NotImplementedError

    @property
    def faces(self) -> NDArray[np.int32]:
        """(m, 3) int32, read-only."""
        raise NotImplementedError

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the vertices, and so of the answers."""
        raise NotImplementedError

    @property
    def tree(self) -> TriangleTree:
        """The tree that answers; built on first use."""
        raise NotImplementedError

    def _solid(self) -> Solid:
        """Vertices, faces and tree as they are at one moment, while other threads may move them."""
        raise NotImplementedError

    def raycast(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        *,
        t_min: ArrayLike = 0.0,
        t_max: ArrayLike = INFINITY,
        cull: Cull = None,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> Hits:
        """The first thing each ray hits.

        Watertight (Woop, Benthin, Wald 2013): no ray slips between two faces that share an edge or a vertex, and a hit
        on an edge counts. Of equally near faces the one with the smallest id is named.

        Parameters
        ----------
        origins, directions : (..., 3) array_like
            Directions need not have length one: t counts in multiples of them. A single ray (3,) goes with many.
        t_min, t_max : float or (...) array_like
            The range that counts, ends included.
        cull : {"back", "front"}, optional
            Faces to pass through: those met on their back, or on their front.
        threads : int, optional
            How many may work at once; None for all. Answers do not depend on it.
        progress : callable, optional
            Called with (rays done, rays in all).
        counters : Counters, optional
            Takes what was tested on the way.

        Returns
        -------
        Hits
            t_hit, primitive_ids and uvs of the batch's shape; inf, -1 and nan where nothing was hit.

        Raises
        ------
        ValueError
            For shapes that do not fit, and for a ray without direction or not finite; it names the first.
        TypeError
            For `progress` that cannot be called, and `counters` that are none.

        Examples
        --------
        >>> import boxwood as bw
        >>> mesh = bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
        >>> mesh.raycast([[0.2, 0.2, 1], [2, 2, 1]], [0, 0, -1]).t_hit.tolist()
        [1.0, inf]
        """
        options = work_options(threads, progress, counters)
        batch = rays(origins, directions, t_min, t_max, self.dtype)
        vertices, faces, tree = self._solid()
        answers = closest_hit(tree, batch, cull=cull, **options)
        t_hit, primitive_ids, uvs = (boxed(batch.shape, answer) for answer in answers)
        return Hits(t_hit, primitive_ids, uvs, surface=(vertices, faces))

    def occluded(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        *,
        t_min: ArrayLike = 0.0,
        t_max: ArrayLike = INFINITY,
        cull: Cull = None,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> NDArray[np.bool_]:
        """Whether each ray hits anything: (...) bool, true where `raycast` with the same arguments hits.

        It ends at the first hit found, so shadows and lines of sight cost less than by `raycast`.
        Parameters and errors are those of `raycast`.

        Examples
        --------
        >>> import boxwood as bw
        >>> mesh = bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
        >>> mesh.occluded([0.2, 0.2, 1], [[0, 0, -1], [0, 0, 1]]).tolist()
        [True, False]
        """
        options = work_options(threads, progress, counters)
        batch = rays(origins, directions, t_min, t_max, self.dtype)
        answer = any_hit(self.tree, batch, cull=cull, **options)
        occluded: NDArray[np.bool_] = boxed(batch.shape, answer)
        return occluded

    def raycast_all(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        *,
        t_min: ArrayLike = 0.0,
        t_max: ArrayLike = INFINITY,
        cull: Cull = None,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> AllHits:
        """Every crossing of each ray with the surface, sorted by ray, t and face.

        A ray through an edge or a vertex crosses exactly one of the faces around it, as if moved aside by an
        infinitesimal step that is the same for all, so the number of crossings of a closed mesh is always even for a
        ray that begins outside and odd for one that begins inside. A ray that only grazes an edge crosses it never or
        twice. Parameters and errors are those of `raycast`.

        Examples
        --------
        >>> import boxwood as bw
        >>> mesh = bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]], [[0, 1, 2], [3, 4, 5]])
        >>> mesh.raycast_all([0.2, 0.2, 2], [0, 0, -1]).t_hit.tolist()
        [1.0, 2.0]
        """
        options = work_options(threads, progress, counters)
        batch = rays(origins, directions, t_min, t_max, self.dtype)
        vertices, faces, tree = self._solid()
        answers = all_hits(tree, batch, cull=cull, **options)
        return AllHits(*answers, surface=(vertices, faces))

    def count_hits(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        *,
        t_min: ArrayLike = 0.0,
        t_max: ArrayLike = INFINITY,
        cull: Cull = None,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> NDArray[np.int64]:
        """How often each ray crosses the surface: (...) int64, the number of hits `raycast_all` would list.

        Parameters and errors are those of `raycast`.

        Examples
        --------
        >>> import boxwood as bw
        >>> mesh = bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]], [[0, 1, 2], [3, 4, 5]])
        >>> int(mesh.count_hits([0.2, 0.2, 2], [0, 0, -1]))
        2
        """
        options = work_options(threads, progress, counters)
        batch = rays(origins, directions, t_min, t_max, self.dtype)
        answer = hit_count(self.tree, batch, cull=cull, **options)
        numbers: NDArray[np.int64] = boxed(batch.shape, answer)
        return numbers
