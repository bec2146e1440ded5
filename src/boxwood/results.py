"""What queries return: frozen classes of named arrays, and the counters of their work.

A result keeps what was computed; where a hit lies and how its face is turned follow from the face and the
uvs, so they are computed only when asked for, in float64, which keeps points on the surface far from the origin.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ._threads import Lock, new_lock

Floats: TypeAlias = NDArray[np.floating[Any]]
Ids: TypeAlias = NDArray[np.int64]
Surface: TypeAlias = tuple[Floats, NDArray[np.integer[Any]]]


class _OnSurface:
    """Places on the faces of a mesh: what `Hits` and `AllHits` share.

    `surface` is the vertices and faces that the ids refer to, or, in a copy that travels without its mesh,
    the corners (..., 3, 3) of the face of each hit.
    """

    primitive_ids: Ids
    uvs: Floats
    surface: Surface | Floats | tuple[Any, ...] | None  # the last of scenes, whose hits look at it themselves

    @property
    def points(self) -> Floats:
        """Where the hits lie: (..., 3), in the dtype of the query and the mesh's unit of length; nan for a miss.

        Computed on each access from the face and the uvs, so a point lies on the surface to the last bits of its dtype.
        """
        origin, first, second = self._edges()
        u, v = self.uvs[..., :1], self.uvs[..., 1:]
        points: Floats = (origin + u * first + v * second).astype(self.uvs.dtype)
        return points

    @property
    def normals(self) -> Floats:
        """The unit normals of the faces hit: (..., 3), in the dtype of the query; nan for a miss.

        They point to the side from which the face's vertices turn counterclockwise, whichever side the ray came from.
        Computed on each access.
        """
        _, first, second = self._edges()
        across = _scaled(np.cross(_scaled(first), _scaled(second)))
        normals: Floats = (across / np.linalg.norm(across, axis=-1, keepdims=True)).astype(self.uvs.dtype)
        return normals

    def _edges(self) -> tuple[Floats, Floats, Floats]:
        """Of each hit's face: vertex 0, and the edges from it to vertices 1 and 2, in float64."""
        corners = self._corners().astype(np.float64, copy=False)
        origin = corners[..., 0, :]
        return origin, corners[..., 1, :] - origin, corners[..., 2, :] - origin

    def _corners(self) -> Floats:
        """The three vertices of each hit's face: (..., 3, 3)."""
        if self.surface is None:
            raise ValueError("these hits were made without a surface, so they have no points and no normals")
        if isinstance(self.surface, np.ndarray):
            return self.surface
        vertices, faces = self.surface
        ids = np.asarray(self.primitive_ids)
        corners = np.full((*ids.shape, 3, 3), np.nan, vertices.dtype)
        hit = ids >= 0
        corners[hit] = vertices[faces[ids[hit]]]
        return corners

    def __getstate__(self) -> dict[str, Any]:
        """To pickle or copy: of a mesh larger than the hits, only the faces that were hit."""
        state = dict(self.__dict__)
        if isinstance(self.surface, tuple):
            vertices, faces = self.surface
            if np.size(self.primitive_ids) * 9 * vertices.itemsize < vertices.nbytes + faces.nbytes:
                state["surface"] = self._corners()
        return state

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={brief(value)}" for name, value in self.__dict__.items() if name != "surface")
        return f"{type(self).__name__}({told})"


@dataclass(frozen=True, eq=False, repr=False)
class Hits(_OnSurface):
    """The first hit of each ray; a single ray has scalars and 1-D arrays, a batch of shape (...) has arrays of it.

    Attributes
    ----------
    t_hit : float array (...), in the dtype of the query
        Distance along the ray in multiples of its direction's length; inf for a miss.
    primitive_ids : int64 array (...)
        The face hit, the smallest id among equally near ones; -1 for a miss.
    uvs : float array (..., 2)
        The weights of the face's vertices 1 and 2; nan for a miss.

    Examples
    --------
    >>> import boxwood as bw
    >>> mesh = bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    >>> hits = mesh.raycast([[0.25, 0.5, 2], [5, 5, 2]], [0, 0, -1])
    >>> hits.t_hit.tolist(), hits.primitive_ids.tolist(), hits.hit.tolist()
    ([2.0, inf], [0, -1], [True, False])
    >>> hits.points[0].tolist(), hits.normals[0].tolist()
    ([0.25, 0.5, 0.0], [0.0, 0.0, 1.0])
    """

    t_hit: Floats
    primitive_ids: Ids
    uvs: Floats
    surface: Surface | Floats | tuple[Any, ...] | None = field(default=None, kw_only=True)

    @property
    def hit(self) -> NDArray[np.bool_]:
        """Whether each ray hit anything: bool (...)."""
        return self.primitive_ids >= 0


@dataclass(frozen=True, eq=False, repr=False)
class AllHits(_OnSurface):
    """Every hit of each of n rays, m in all, sorted by ray, then t, then face; `all_hits[i]` has those of ray i.

    Rays of a batch with more dimensions are counted in C order. `len()` is n, and iteration goes ray by ray.

    Attributes
    ----------
    ray_splits : int64 array (n + 1,)
        The hits of ray i are those from ``ray_splits[i]`` up to ``ray_splits[i + 1]``.
    ray_ids : int64 array (m,)
        The ray of each hit.
    t_hit : float array (m,), in the dtype of the query
        Distance along the ray in multiples of its direction's length.
    primitive_ids : int64 array (m,)
        The face hit.
    uvs : float array (m, 2)
        The weights of the face's vertices 1 and 2.

    Examples
    --------
    >>> import boxwood as bw
    >>> mesh = bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]], [[0, 1, 2], [3, 4, 5]])
    >>> every = mesh.raycast_all([[0.25, 0.5, 2], [5, 5, 2]], [0, 0, -1])
    >>> every.ray_splits.tolist(), every.primitive_ids.tolist()
    ([0, 2, 2], [1, 0])
    >>> every[0].t_hit.tolist()
    [1.0, 2.0]
    """

    ray_splits: Ids
    ray_ids: Ids
    t_hit: Floats
    primitive_ids: Ids
    uvs: Floats
    surface: Surface | Floats | tuple[Any, ...] | None = field(default=None, kw_only=True)

    def __len__(self) -> int:
        return len(self.ray_splits) - 1

    def __getitem__(self, ray: SupportsIndex) -> Hits:
        try:
            row = range(len(self))[operator.index(ray)]
        except IndexError:
            raise IndexError(f"no ray {ray} among {len(self)}") from None
        of_ray = slice(self.ray_splits[row], self.ray_splits[row + 1])
        surface = self.surface[of_ray] if isinstance(self.surface, np.ndarray) else self.surface
        return Hits(self.t_hit[of_ray], self.primitive_ids[of_ray], self.uvs[of_ray], surface=surface)

    def __iter__(self) -> Iterator[Hits]:
        return (self[ray] for ray in range(len(self)))


@dataclass(frozen=True, eq=False, repr=False)
class Ragged:
    """Rows of ids of different lengths, one for each of n queries; `ragged[i]` has those of query i, rising.

    Queries of a batch with more dimensions are counted in C order. `len()` is n, and iteration goes row by row.

    Attributes
    ----------
    splits : int64 array (n + 1,)
        The ids of row i are those from ``splits[i]`` up to ``splits[i + 1]``.
    ids : int64 array (m,)

    Examples
    --------
    >>> import boxwood as bw
    >>> import numpy as np
    >>> rows = bw.Ragged(np.array([0, 2, 2, 3]), np.array([4, 7, 1]))
    >>> len(rows), rows[0].tolist(), rows[1].tolist()
    (3, [4, 7], [])
    >>> rows.pairs.tolist()
    [[0, 4], [0, 7], [2, 1]]
    """

    splits: Ids
    ids: Ids

    @property
    def pairs(self) -> Ids:
        """(m, 2) int64: row and id of each entry."""
        rows = np.repeat(np.arange(len(self)), np.diff(self.splits))
        return np.stack([rows, self.ids], axis=1)

    def __len__(self) -> int:
        return len(self.splits) - 1

    def __getitem__(self, row: SupportsIndex) -> Ids:
        try:
            place = range(len(self))[operator.index(row)]
        except IndexError:
            raise IndexError(f"no row {row} among {len(self)}") from None
        return self.ids[self.splits[place] : self.splits[place + 1]]

    def __iter__(self) -> Iterator[Ids]:
        return (self[row] for row in range(len(self)))

    def __repr__(self) -> str:
        return f"Ragged({len(self)} rows, {len(self.ids)} ids)"


@dataclass(frozen=True, eq=False, repr=False)
class Nearest:
    """The k nearest of each point, the nearest first and of equally near ones the smaller id first.

    Attributes
    ----------
    distances : float array (..., k), in the dtype of the query
        In the unit of the coordinates; inf where there are fewer than k.
    ids : int64 array (..., k)
        -1 where there are fewer than k.
    """

    distances: Floats
    ids: Ids

    def __repr__(self) -> str:
        return f"Nearest(distances={brief(self.distances)}, ids={brief(self.ids)})"


@dataclass
class Counters:
    """How much work queries did: pass one as `counters=` to any number of queries, from any threads, and read the sums.

    Attributes
    ----------
    queries : int
        Rays, points or boxes asked about.
    boxes_tested, primitives_tested : int
        Boxes and triangles (or whatever the tree holds) looked at.
    hits : int
        Answers found.

    Examples
    --------
    >>> import boxwood as bw
    >>> mesh = bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    >>> counters = bw.Counters()
    >>> hits = mesh.raycast([[0.25, 0.5, 2], [5, 5, 2]], [0, 0, -1], counters=counters)
    >>> counters.queries, counters.hits
    (2, 1)
    """

    queries: int = 0
    boxes_tested: int = 0
    primitives_tested: int = 0
    hits: int = 0
    _lock: Lock = field(default_factory=new_lock, init=False, repr=False, compare=False)

    def add(self, *, queries: int = 0, boxes_tested: int = 0, primitives_tested: int = 0, hits: int = 0) -> None:
        """Add to the sums; safe from several threads at once."""
        with self._lock:
            self.queries += int(queries)
            self.boxes_tested += int(boxes_tested)
            self.primitives_tested += int(primitives_tested)
            self.hits += int(hits)

    def reset(self) -> None:
        """Begin again at zero."""
        with self._lock:
            self.queries = self.boxes_tested = self.primitives_tested = self.hits = 0

    @property
    def boxes_per_query(self) -> float:
        """Mean boxes tested per query; nan before the first."""
        return self.boxes_tested / self.queries if self.queries else math.nan

    @property
    def primitives_per_query(self) -> float:
        """Mean primitives tested per query; nan before the first."""
        return self.primitives_tested / self.queries if self.queries else math.nan

    def __reduce__(self) -> tuple[type[Counters], tuple[int, int, int, int]]:
        """To pickle or copy: the sums, with a lock of its own."""
        with self._lock:
            return Counters, (self.queries, self.boxes_tested, self.primitives_tested, self.hits)


def _scaled(vectors: Floats) -> Floats:
    """Divided by the largest component, so that products of tiny or huge edges neither vanish nor overflow."""
    with np.errstate(invalid="ignore"):  # a face without area has no direction, and gives nan
        scaled: Floats = vectors / np.max(np.abs(vectors), axis=-1, keepdims=True)
    return scaled


def brief(value: NDArray[Any]) -> str:
    return f"{value.dtype}{list(value.shape)}" if np.ndim(value) else repr(value.item())
