"""The questions about rays that a scene answers, in world space.

Each is a few lines: convert what was given, ask `query`, put the answer in a result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import Rays, boxed, rays
from ._work import work_options
from .instances import Instances, masks_of
from .query.bodies import BodyTree
from .query.placed_rays import any_hits, every_hit, first_hits, hit_counts
from .results import Counters
from .scene_results import AllSceneHits, Placing, SceneHits

Progress: TypeAlias = Callable[[int, int], object]
Cull: TypeAlias = Literal["back", "front"] | None

ALL = 2**32 - 1
INFINITY = float("inf")
FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)


class SceneRays:
    """What rays hit in a scene."""

    _instances: Instances

    def raycast(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        *,
        t_min: ArrayLike = 0.0,
        t_max: ArrayLike = INFINITY,
        cull: Cull = None,
        mask: ArrayLike = ALL,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> SceneHits:
        """The first thing each ray hits, and of which instance.

        Of equally near hits the one with the smallest instance is named, and of that the smallest face. Each ray is
        moved into the space of each mesh that it may hit, in float64, and rounded there; in that space all that
        `Mesh.raycast` says holds: no ray slips between two faces of an instance. Instances that only touch each other
        are as watertight as their transforms are exact. Answers are computed in float64; t is rounded to float32 where
        the rays and all meshes have it, after it is decided which hit is nearest.

        Parameters
        ----------
        origins, directions : (..., 3) array_like
            In the world. Directions need not have length one: t counts in multiples of them. A single ray (3,) goes
            with many.
        t_min, t_max : float or (...) array_like
            The range that counts, ends included.
        cull : {"back", "front"}, optional
            Faces to pass through: those met on their back, or on their front. What is the front of a face in its mesh
            is so in each instance, a mirrored one too.
        mask : int or (...) array_like of integers
            Of 32 bits. A ray passes through the instances whose mask has no bit in common with it.
        threads : int, optional
            How many may work at once; None for all. Answers do not depend on it.
        progress : callable, optional
            Called with (rays done, rays in all).
        counters : Counters, optional
            Takes what was tested on the way, boxes of instances among the boxes.

        Returns
        -------
        SceneHits
            t_hit, instance_ids, primitive_ids and uvs of the batch's shape; inf, -1, -1 and nan for a miss.

        Raises
        ------
        ValueError
            For shapes that do not fit, for a ray without direction or not finite (it names the first), and for one so
            far from an instance that it cannot be followed there.

        Examples
        --------
        >>> import boxwood as bw
        >>> import numpy as np
        >>> mesh = bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
        >>> moves = np.tile(np.eye(4), (3, 1, 1))
        >>> moves[:, 0, 3] = [0, 10, 20]
        >>> scene = bw.Scene()
        >>> ids = scene.add(mesh, moves)
        >>> scene.raycast([[0.2, 0.2, 1], [20.2, 0.2, 1], [5, 0, 1]], [0, 0, -1]).instance_ids.tolist()
        [0, 2, -1]
        """
        options = work_options(threads, progress, counters)
        scene, batch, bits, dtype = self._asked(origins, directions, t_min, t_max, mask)
        t, faces, uvs, ids = (boxed(batch.shape, one) for one in first_hits(scene, batch, bits, cull=cull, **options))
        return SceneHits(_rounded(t, dtype), faces, uvs.astype(dtype), instance_ids=ids, surface=_placing(scene))

    def occluded(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        *,
        t_min: ArrayLike = 0.0,
        t_max: ArrayLike = INFINITY,
        cull: Cull = None,
        mask: ArrayLike = ALL,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> NDArray[np.bool_]:
        """Whether each ray hits anything: (...) bool, true where `raycast` with the same arguments hits.

        Parameters and errors are those of `raycast`.

        Examples
        --------
        >>> import boxwood as bw
        >>> scene = bw.Scene()
        >>> scene.add(bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]))
        0
        >>> scene.occluded([0.2, 0.2, 1], [[0, 0, -1], [0, 0, 1]]).tolist()
        [True, False]
        """
        options = work_options(threads, progress, counters)
        scene, batch, bits, _ = self._asked(origins, directions, t_min, t_max, mask)
        dark: NDArray[np.bool_] = boxed(batch.shape, any_hits(scene, batch, bits, cull=cull, **options))
        return dark

    def raycast_all(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        *,
        t_min: ArrayLike = 0.0,
        t_max: ArrayLike = INFINITY,
        cull: Cull = None,
        mask: ArrayLike = ALL,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> AllSceneHits:
        """Every crossing of each ray with the surface of each instance, sorted by ray, t, instance and face.

        Each instance by itself has each crossing once, as of `Mesh.raycast_all`. Parameters and errors are those of
        `raycast`.

        Examples
        --------
        >>> import boxwood as bw
        >>> mesh = bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
        >>> scene = bw.Scene()
        >>> scene.add(mesh), scene.add(mesh, [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]])
        (0, 1)
        >>> every = scene.raycast_all([0.2, 0.2, 2], [0, 0, -1])
        >>> every.t_hit.tolist(), every.instance_ids.tolist()
        ([1.0, 2.0], [1, 0])
        """
        options = work_options(threads, progress, counters)
        scene, batch, bits, dtype = self._asked(origins, directions, t_min, t_max, mask)
        splits, rows, t, faces, uvs, ids = every_hit(scene, batch, bits, cull=cull, **options)
        t, uvs = _rounded(t, dtype), uvs.astype(dtype)
        return AllSceneHits(splits, rows, t, faces, uvs, instance_ids=ids, surface=_placing(scene))

    def count_hits(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        *,
        t_min: ArrayLike = 0.0,
        t_max: ArrayLike = INFINITY,
        cull: Cull = None,
        mask: ArrayLike = ALL,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> NDArray[np.int64]:
        """How often each ray crosses the surfaces of all instances: (...) int64, as many as `raycast_all` would list.

        Parameters and errors are those of `raycast`.

        Examples
        --------
        >>> import boxwood as bw
        >>> mesh = bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
        >>> scene = bw.Scene()
        >>> scene.add(mesh), scene.add(mesh, mask=0b10)
        (0, 1)
        >>> int(scene.count_hits([0.2, 0.2, 2], [0, 0, -1])), int(scene.count_hits([0.2, 0.2, 2], [0, 0, -1], mask=1))
        (2, 1)
        """
        options = work_options(threads, progress, counters)
        scene, batch, bits, _ = self._asked(origins, directions, t_min, t_max, mask)
        numbers: NDArray[np.int64] = boxed(batch.shape, hit_counts(scene, batch, bits, cull=cull, **options))
        return numbers

    def _asked(
        self, origins: ArrayLike, directions: ArrayLike, t_min: ArrayLike, t_max: ArrayLike, mask: ArrayLike
    ) -> tuple[BodyTree, Rays, NDArray[np.uint32], np.dtype[Any]]:
        """The scene as it stands, rays in float64, their masks, and the dtype of the answer."""
        scene = self._instances.standing()
        single = all(len(solid.faces) == 0 or solid.vertices.dtype == FLOAT32 for solid in scene.bodies.solids)
        batch = rays(origins, directions, t_min, t_max, FLOAT32 if single else FLOAT64)
        dtype = batch.origins.dtype
        if dtype != FLOAT64:
            low = np.where(batch.t_min == 0, 0.0, -_last_rounded_to(-batch.t_min))
            wide = batch.origins, batch.directions, low, _last_rounded_to(batch.t_max)
            starts, ways, low, high = (_wide(array) for array in wide)
            batch = Rays(starts, ways, low, high, batch.shape, batch.given)
        bits = masks_of(mask, len(batch.origins))
        if np.ndim(mask) and np.shape(mask) != batch.shape:
            raise ValueError(f"mask must be a number or have the shape {batch.shape} of the rays, not {np.shape(mask)}")
        return scene, batch, bits, dtype


def _wide(array: NDArray[Any]) -> NDArray[np.float64]:
    wide = array.astype(np.float64)
    wide.flags.writeable = False
    return wide


def _last_rounded_to(ends: NDArray[Any]) -> NDArray[np.float64]:
    """The largest t that are no larger than these when rounded to float32, as answers are; so an answer that is given
    as an end counts."""
    ends = np.minimum(ends, np.finfo(np.float32).max)
    with np.errstate(over="ignore"):
        following = np.nextafter(ends, np.float32(np.inf)).astype(np.float64)
        middle = 0.5 * ends.astype(np.float64) + 0.5 * np.minimum(following, 2.0**128)
        last: NDArray[np.float64] = np.where(middle.astype(np.float32) > ends, np.nextafter(middle, -np.inf), middle)
    return last


def _rounded(t: Any, dtype: np.dtype[Any]) -> Any:
    with np.errstate(over="ignore"):
        return t.astype(dtype)


def _placing(scene: BodyTree) -> Placing:
    bodies = scene.bodies
    return Placing(tuple((solid.vertices, solid.faces) for solid in bodies.solids), bodies.mesh_of, bodies.matrices)
