"""The questions about contact that a mesh answers: with another mesh, placed anywhere, and with itself.

Each is a few lines: convert what was given, ask `query`, put the answer in a result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import boxed, not_negative
from ._transforms import Transforms, transforms
from ._work import work_options
from .geometry.placement import PlacedPairs
from .mesh_rays import MeshRays
from .query.contact_segments import contact_segments
from .query.contacts import Contacts, meets, own_contacts, placed_contacts, told
from .query.pairing import pairing
from .query.solids import Solid, Solids, moved_solid, relation_of_solids
from .relations import Intersections
from .results import Counters

Progress: TypeAlias = Callable[[int, int], object]

IDENTITY = transforms(None)


class MeshCollisions(MeshRays):
    """What a mesh meets."""

    def intersects(
        self,
        other: MeshCollisions,
        transform: ArrayLike | None = None,
        *,
        tolerance: float = 0.0,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> bool | NDArray[np.bool_]:
        """Whether any faces of this mesh and another meet; it ends at the first contact found.

        Decided without error, touching included. Surfaces are asked about: a mesh wholly inside another does not meet
        it (`relation` tells). Faces without area take no part.

        Parameters
        ----------
        other : Mesh
        transform : (4, 4) or (..., 4, 4) array_like, optional
            Where the other mesh is: its vertices are moved in float64 before they are looked at. Many are asked about
            at once.
        tolerance : float
            Faces no farther apart than this, in the unit of the meshes, count as touching.
        threads, progress, counters : optional
            How many threads may work at once, a callable (done, total), and a `Counters` to add the work to.

        Returns
        -------
        bool or bool array (...)
            One for each transform.

        Raises
        ------
        TypeError
            For another that is no `Mesh`; `as_mesh` makes one.
        ValueError
            For a transform of another shape, not finite, not affine, singular or beyond the numbers (it names the
            first), or a negative tolerance.

        Examples
        --------
        >>> import boxwood as bw
        >>> import numpy as np
        >>> floor = bw.Mesh([[0, 0, 0], [4, 0, 0], [0, 4, 0]], [[0, 1, 2]])
        >>> aside = np.tile(np.eye(4), (3, 1, 1))
        >>> aside[:, 0, 3] = [0, 4, 5]
        >>> floor.intersects(floor, aside).tolist()
        [True, True, False]
        """
        options = work_options(threads, progress, counters)
        mine, theirs, relation, placed = _placed(self, other, transform, tolerance)
        met = meets(mine.tree, theirs.tree, relation, **options)
        answer: bool | NDArray[np.bool_] = boxed(placed.shape, met)
        return answer if placed.shape else bool(answer)

    def intersections(
        self,
        other: MeshCollisions,
        transform: ArrayLike | None = None,
        *,
        tolerance: float = 0.0,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> Intersections:
        """All pairs of faces of this mesh and another that meet, how they meet, and where.

        Parameters and errors are those of `intersects`, with one transform.

        Examples
        --------
        >>> import boxwood as bw
        >>> floor = bw.Mesh([[0, 0, 0], [4, 0, 0], [0, 4, 0]], [[0, 1, 2]])
        >>> lift = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.25], [0, 0, 0, 1]]
        >>> len(floor.intersections(floor, lift)), len(floor.intersections(floor, lift, tolerance=0.5))
        (0, 1)
        """
        options = work_options(threads, progress, counters)
        mine, theirs, relation, placed = _placed(self, other, transform, tolerance)
        _require_one(placed)
        contacts = placed_contacts(mine.tree, theirs.tree, relation, **options)
        return _intersections(mine, theirs, relation, contacts, threads)

    def self_intersections(
        self,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
        counters: Counters | None = None,
    ) -> Intersections:
        """All pairs of faces of this mesh that meet elsewhere than in the corners and edges that they share.

        Decided without error. Corners with equal coordinates are shared, whatever their indices, so a mesh read from
        triangles alone needs no merging. Neighbours count where they fold flat upon each other, pierce or touch each
        other beyond what they share; a face that occurs twice meets itself in an area. Faces without area take no part.

        Parameters
        ----------
        threads, progress, counters : optional
            How many threads may work at once, a callable (done, total), and a `Counters` to add the work to.

        Examples
        --------
        >>> import boxwood as bw
        >>> folded = bw.Mesh([[0, 0, 0], [4, 0, 0], [0, 4, 0], [1, 1, 0]], [[0, 1, 2], [1, 0, 3]])
        >>> found = folded.self_intersections()
        >>> found.pairs.tolist(), bw.Relation(found.relations[0]).name
        ([[0, 1]], 'COPLANAR')
        """
        options, mine = work_options(threads, progress, counters), self._solid()
        contacts = own_contacts(mine.tree, **options)
        relation = pairing(mine.tree.frame, mine.tree.frame, IDENTITY, IDENTITY)
        return _intersections(mine, mine, relation, contacts, threads)

    def relation(
        self,
        other: MeshCollisions,
        transform: ArrayLike | None = None,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Solids:
        """How the solid that this mesh bounds lies to another: "disjoint", "touching", "crossing", "inside" or
        "contains".

        "inside" means that all of this mesh is within the other, which may touch it from inside; "touching" that
        only surfaces have points in common. An open mesh bounds nothing, so nothing is inside of it. Of two equal
        solids each is inside of the other.

        Parameters and errors are those of `intersections`.

        Examples
        --------
        >>> import boxwood as bw
        >>> import numpy as np
        >>> corners, faces = [[0, 0, 0], [9, 0, 0], [0, 9, 0], [0, 0, 9]], [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]
        >>> large, small = bw.Mesh(corners, faces), bw.Mesh(np.array(corners) * 0.1 + 1, faces)
        >>> small.relation(large), large.relation(small)
        ('inside', 'contains')
        """
        work_options(threads, progress)
        placed = transforms(transform)
        _require_one(placed)
        require_mesh("other", other)
        mine, theirs = _solids(self, other)
        return relation_of_solids(mine, moved_solid(theirs, placed, threads), IDENTITY, threads, progress)


def _placed(mesh: Any, other: Any, transform: Any, tolerance: float) -> tuple[Solid, Solid, PlacedPairs, Transforms]:
    """A mesh, and another wherever it is."""
    require_mesh("other", other)
    placed, tolerance = transforms(transform), not_negative("tolerance", tolerance)
    mine, theirs = _solids(mesh, other)
    return mine, theirs, pairing(mine.tree.frame, theirs.tree.frame, IDENTITY, placed, tolerance), placed


def _solids(mesh: Any, other: Any) -> tuple[Solid, Solid]:
    """Both as they are at one moment, which is the same for a mesh and itself."""
    mine = mesh._solid()
    return mine, mine if other is mesh else other._solid()


def require_mesh(name: str, value: object) -> None:
    """TypeError for what is no mesh, before anything is made of it."""
    if not isinstance(value, MeshCollisions):
        raise TypeError(f"{name} must be a Mesh, not {type(value).__name__}")


def _require_one(placed: Transforms) -> None:
    if placed.shape:
        raise ValueError(f"transform must have shape (4, 4), not {(*placed.shape, 4, 4)}")


def _intersections(mesh: Solid, other: Solid, relation: Any, contacts: Contacts, threads: int | None) -> Intersections:
    dtype = np.result_type(mesh.vertices.dtype, other.vertices.dtype)
    segments = contact_segments(mesh, other, relation, contacts, dtype, threads)
    return Intersections(contacts.found[:, :2].astype(np.int64), told(contacts.found), segments)
