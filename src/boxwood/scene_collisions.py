"""The questions about contact that a scene answers: among its instances, and with a mesh that is not in it.

Each is a few lines: convert what was given, ask `query`, put the answer in a result.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import not_negative
from ._transforms import Transforms, transforms
from ._work import work_options
from .build.world_boxes import fill_world_boxes, outline, outlines_of
from .instances import masks_of, rows_of
from .mesh import Mesh
from .mesh_collisions import IDENTITY, require_mesh
from .query.bodies import Bodies, BodyTree, transforms_of
from .query.placed_contacts import BodyContacts, all_contacts, near_bodies, near_pairs, which_meet
from .query.solids import Solids, moved_solid, relation_of_solids
from .relations import Intersections
from .results import Counters, Ragged
from .scene_rays import ALL, Progress, SceneRays
from .scene_results import Collisions


class SceneCollisions(SceneRays):
    """What meets in a scene."""

    def collisions(
        self,
        *,
        faces: bool = False,
        tolerance: float = 0.0,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> Collisions:
        """All pairs of instances whose surfaces meet, and which of their faces do.

        Decided without error for the vertices as they are when moved to the world in float64; touching counts. Two
        instances are looked at only if their masks have a bit in common. An instance wholly inside another does not
        meet it (`relation` tells), and none meets itself. Faces without area take no part.

        Parameters
        ----------
        faces : bool
            Whether to find all pairs of faces that meet; otherwise each pair of instances ends at its first contact.
        tolerance : float
            Faces no farther apart than this, in the unit of the world, count as touching.
        threads, progress, counters : optional
            How many threads may work at once, a callable (done, total), and a `Counters` to add the work to.

        Returns
        -------
        Collisions
            ``pairs``, and with faces ``collisions[k]``, the `Intersections` of pair k.

        Raises
        ------
        ValueError
            For a negative tolerance.

        Examples
        --------
        >>> import boxwood as bw
        >>> import numpy as np
        >>> mesh = bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
        >>> moves = np.tile(np.eye(4), (4, 1, 1))
        >>> moves[:, 0, 3] = [0, 0.5, 3, 3]
        >>> scene = bw.Scene()
        >>> ids = scene.add(mesh, moves)
        >>> scene.collisions().pairs.tolist()
        [[0, 1], [2, 3]]
        """
        options = work_options(threads, progress, counters)
        reach = not_negative("tolerance", tolerance)
        scene = self._instances.standing(threads)
        pairs = near_pairs(scene, reach, threads)
        return _collisions(scene.bodies, scene.bodies, pairs, reach, faces, options)

    def intersects(
        self,
        mesh: Mesh,
        transform: ArrayLike | None = None,
        *,
        mask: int = ALL,
        tolerance: float = 0.0,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> NDArray[np.int64] | Ragged:
        """The instances that a mesh meets, which need not be in the scene.

        Parameters
        ----------
        mesh : Mesh
        transform : (4, 4) or (..., 4, 4) array_like, optional
            Where it is. Many are asked about at once.
        mask : int
            Only instances whose mask has a bit in common with this are looked at.
        tolerance, threads, progress, counters : as of `collisions`.

        Returns
        -------
        int64 array (m,) or Ragged
            Ids, rising; for many transforms a row of them for each.

        Raises
        ------
        TypeError
            For anything but a `Mesh`; `as_mesh` makes one.
        ValueError
            For a transform of another shape, not finite, not affine or singular (it names the first), or a negative
            tolerance.

        Examples
        --------
        >>> import boxwood as bw
        >>> mesh = bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
        >>> scene = bw.Scene()
        >>> scene.add(mesh)
        0
        >>> scene.intersects(mesh, [[1, 0, 0, 0.5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]).tolist()
        [0]
        """
        options = work_options(threads, progress, counters)
        require_mesh("mesh", mesh)
        placed = transforms(transform)
        guest, scene, pairs, reach = self._visited(mesh, placed, mask, tolerance, threads)
        found = _collisions(guest, scene.bodies, pairs, reach, False, options).pairs
        if not placed.shape:
            return found[:, 1]
        splits = np.concatenate([[0], np.cumsum(np.bincount(found[:, 0], minlength=len(placed.matrices)))])
        return Ragged(splits, found[:, 1])

    def intersections(
        self,
        mesh: Mesh,
        transform: ArrayLike | None = None,
        *,
        mask: int = ALL,
        tolerance: float = 0.0,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> Collisions:
        """The instances that a mesh meets, and all pairs of a face of the mesh and one of the instance that do.

        Parameters and errors are those of `intersects`.

        Returns
        -------
        Collisions
            ``pairs`` are rows of the transforms, 0 for a single one, and instances.
        """
        options = work_options(threads, progress, counters)
        require_mesh("mesh", mesh)
        placed = transforms(transform)
        guest, scene, pairs, reach = self._visited(mesh, placed, mask, tolerance, threads)
        return _collisions(guest, scene.bodies, pairs, reach, True, options)

    def relation(
        self, first: int, second: int, *, threads: int | None = None, progress: Progress | None = None
    ) -> Solids:
        """How the solid of one instance lies to that of another: as `Mesh.relation`, whatever their masks.

        KeyError for an instance that does not exist, ValueError for what is no id.
        """
        work_options(threads, progress)
        ids, _ = rows_of([first, second])
        with self._instances.lock:
            self._instances.require(ids)
            bodies = self._instances.standing(threads).bodies
        one, other = (
            moved_solid(bodies.solids[bodies.mesh_of[row]], transforms_of(bodies, np.array([row])), threads)
            for row in ids
        )
        return relation_of_solids(one, other, IDENTITY, threads, progress)

    def _visited(
        self, mesh: Mesh, placed: Transforms, mask: int, tolerance: float, threads: int | None
    ) -> tuple[Bodies, BodyTree, NDArray[np.int64], float]:
        """A mesh at some places, the scene, and the pairs of places and instances that may meet."""
        reach = not_negative("tolerance", tolerance)
        (bits,) = masks_of(mask, 1)
        scene = self._instances.standing(threads)
        count = len(placed.matrices)
        solid = mesh._solid()
        guest = Bodies(
            (solid,), np.zeros(count, np.int32), np.full(count, bits), placed.matrices, placed.inverses, placed.errors
        )
        outlines = outlines_of([outline(*solid)])
        if len(outlines.boxes) == 0:
            return guest, scene, np.empty((0, 2), np.int64), reach
        lower, upper = np.empty((count, 3)), np.empty((count, 3))
        rows = np.arange(count)
        fill_world_boxes(outlines, guest.mesh_of, guest.matrices, guest.errors, rows, lower, upper, threads)
        with np.errstate(invalid="ignore"):
            beyond = ~np.isfinite(upper - lower).all(axis=1)
        if beyond.any():
            row = [int(np.argmax(beyond))] if placed.shape else ""
            raise ValueError(f"transform{row} moves the mesh beyond the numbers")
        return guest, scene, near_bodies(scene, lower, upper, bits, reach, threads), reach


def _collisions(
    left: Bodies, right: Bodies, pairs: NDArray[np.int64], reach: float, faces: bool, options: dict[str, Any]
) -> Collisions:
    if not faces:
        return Collisions(pairs[which_meet(left, right, pairs, reach, **options)])
    found: BodyContacts = all_contacts(left, right, pairs, reach, **options)
    return Collisions(found.pairs, found.splits, Intersections(found.faces, found.relations, found.segments))
