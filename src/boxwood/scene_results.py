"""What questions to a scene return: hits and contacts that also name the instances."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from .relations import Intersections
from .results import AllHits, Floats, Hits, Ids, Surface


class Placing(NamedTuple):
    """The meshes of a scene, and where each instance stood when it was asked."""

    meshes: tuple[Surface, ...]
    mesh_of: NDArray[np.int32]
    matrices: NDArray[np.float64]  # (n, 3, 4)

    def corners(self, instances: Ids, faces: Ids) -> Floats:
        """The corners in the world of each instance's face, (..., 3, 3) float64; nan where there is none."""
        shape = np.shape(instances)
        instances, faces = np.reshape(instances, -1), np.reshape(faces, -1)
        corners = np.full((len(instances), 3, 3), np.nan)
        hit = np.flatnonzero(instances >= 0)
        of = self.mesh_of[instances[hit]]
        for mesh in np.unique(of):
            rows = hit[of == mesh]
            vertices, triangles = self.meshes[mesh]
            corners[rows] = vertices[triangles[faces[rows]]]
        moves = self.matrices[instances[hit]]
        corners[hit] = corners[hit] @ moves[:, :, :3].transpose(0, 2, 1) + moves[:, None, :, 3]
        return corners.reshape(*shape, 3, 3)

    def mirrored(self, instances: Ids) -> NDArray[np.bool_]:
        """Whether an instance is a mirror image of its mesh: (...)."""
        hit = np.asarray(instances) >= 0
        turned = np.zeros(np.shape(instances), bool)
        turned[hit] = np.linalg.det(self.matrices[instances[hit], :, :3]) < 0
        return turned


class Carried(NamedTuple):
    """What a copy of hits takes along in place of the scene."""

    corners: Floats  # (..., 3, 3)
    turned: NDArray[np.bool_]  # (...)


class _OnInstances:
    """Places on the faces of instances: what `SceneHits` and `AllSceneHits` share."""

    primitive_ids: Ids
    instance_ids: Ids
    surface: Any  # Placing, or Carried in a copy that travels without its scene

    @property
    def normals(self) -> Floats:
        """The unit normals in the world of the faces hit: (..., 3), in the dtype of the query; nan for a miss.

        They point to the side that is the face's front in the space of its mesh, from where its vertices turn
        counterclockwise; in a mirrored instance, where they turn clockwise, too. Computed on each access.
        """
        normals: Floats = super().normals  # type: ignore[misc]
        turned = self._placed().turned
        return np.where(turned[..., None], -normals, normals)

    def _placed(self) -> Carried:
        if self.surface is None:
            raise ValueError("these hits were made without a scene, so they have no points and no normals")
        if isinstance(self.surface, Carried):
            return self.surface
        instances = np.asarray(self.instance_ids)
        return Carried(self.surface.corners(instances, self.primitive_ids), self.surface.mirrored(instances))

    def _corners(self) -> Floats:
        return self._placed().corners

    def __getstate__(self) -> dict[str, Any]:
        """To pickle or copy: the faces that were hit, and not the scene."""
        state = dict(self.__dict__)
        if self.surface is not None:
            state["surface"] = self._placed()
        return state


@dataclass(frozen=True, eq=False, repr=False)
class SceneHits(_OnInstances, Hits):
    """The first hit of each ray in a scene: `Hits` with the instance of each.

    Attributes
    ----------
    t_hit, primitive_ids, uvs :
        As of `Hits`; ids are those of the mesh's faces. ``points`` and ``normals`` are in the world.
    instance_ids : int64 array (...)
        The instance hit, the smallest id among equally near ones; -1 for a miss.

    Examples
    --------
    >>> import boxwood as bw
    >>> scene = bw.Scene()
    >>> mesh = bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    >>> scene.add(mesh, [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 5], [0, 0, 0, 1]])
    0
    >>> hits = scene.raycast([0.25, 0.5, 9], [0, 0, -1])
    >>> float(hits.t_hit), int(hits.instance_ids), hits.points.tolist()
    (4.0, 0, [0.25, 0.5, 5.0])
    """

    instance_ids: Ids = field(kw_only=True)


@dataclass(frozen=True, eq=False, repr=False)
class AllSceneHits(_OnInstances, AllHits):
    """Every hit of each of n rays in a scene: `AllHits` with the instance of each; sorted by ray, t, instance, face.

    Attributes
    ----------
    ray_splits, ray_ids, t_hit, primitive_ids, uvs :
        As of `AllHits`; ``all_hits[i]`` has the hits of ray i, as `SceneHits`.
    instance_ids : int64 array (m,)
        The instance of each hit.
    """

    instance_ids: Ids = field(kw_only=True)

    def __getitem__(self, ray: SupportsIndex) -> SceneHits:
        plain = super().__getitem__(ray)
        row = range(len(self))[operator.index(ray)]
        part = slice(self.ray_splits[row], self.ray_splits[row + 1])
        surface: Any = self.surface
        if isinstance(surface, Carried):
            surface = Carried(surface.corners[part], surface.turned[part])
        ids = self.instance_ids[part]
        return SceneHits(plain.t_hit, plain.primitive_ids, plain.uvs, instance_ids=ids, surface=surface)

    def __iter__(self) -> Iterator[SceneHits]:
        return (self[ray] for ray in range(len(self)))


@dataclass(frozen=True, eq=False, repr=False)
class Collisions:
    """Pairs of instances that meet, sorted by both ids; asked with ``faces=True``, `collisions[k]` has the faces of
    pair k.

    Attributes
    ----------
    pairs : int64 array (m, 2)
        Within a scene two instances, the smaller id first; of a mesh with a scene the row of the mesh's transform, 0
        when there is one, and the instance that it meets there.
    splits : int64 array (m + 1,), or None
        The contacts of pair k are those from ``splits[k]`` up to ``splits[k + 1]``; None without faces.
    contacts : Intersections, or None
        All pairs of faces that meet, with their relations and segments in the world.

    Examples
    --------
    >>> import boxwood as bw
    >>> mesh = bw.Mesh([[0, 0, 0], [4, 0, 0], [0, 4, 0]], [[0, 1, 2]])
    >>> scene = bw.Scene()
    >>> upright = [[1, 0, 0, 1], [0, 0, -1, 1], [0, 1, 0, -1], [0, 0, 0, 1]]
    >>> scene.add(mesh), scene.add(mesh, upright)
    (0, 1)
    >>> found = scene.collisions(faces=True)
    >>> found.pairs.tolist(), found[0].pairs.tolist(), sorted(found[0].segments[0].tolist())
    ([[0, 1]], [[0, 0]], [[1.0, 1.0, 0.0], [3.0, 1.0, 0.0]])
    """

    pairs: Ids
    splits: Ids | None = None
    contacts: Intersections | None = None

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, pair: SupportsIndex) -> Intersections:
        try:
            row = range(len(self))[operator.index(pair)]
        except IndexError:
            raise IndexError(f"no pair {pair} among {len(self)}") from None
        if self.splits is None or self.contacts is None:
            raise ValueError("faces were not asked for: ask with faces=True")
        part = slice(self.splits[row], self.splits[row + 1])
        whole = self.contacts
        return Intersections(whole.pairs[part], whole.relations[part], whole.segments[part])

    def __iter__(self) -> Iterator[Intersections]:
        return (self[pair] for pair in range(len(self)))

    def __repr__(self) -> str:
        told = "" if self.contacts is None else f", {len(self.contacts)} of faces"
        return f"Collisions({len(self)} pairs{told})"
