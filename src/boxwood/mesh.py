"""What a user holds: a triangle mesh that answers questions about rays.

A mesh is two arrays and, from the first question on, the tree over its triangles (`build`, `tree`). Every question
is a few lines here: convert what was given, ask `query`, put the answer in a result.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import archive
from ._arrays import boxed, rays, vertices_and_faces
from ._work import work_options
from .build.choose import build_tree
from .build.compare import validate_mesh
from .query.all_hits import all_hits
from .query.any_hit import any_hit
from .query.closest_hit import closest_hit
from .query.hit_count import hit_count
from .results import AllHits, Counters, Hits
from .tree.statistics import Statistics
from .tree.triangle_tree import TriangleTree
from .tree.validate import validate_links

Progress: TypeAlias = Callable[[int, int], object]
Cull: TypeAlias = Literal["back", "front"] | None
StrPath: TypeAlias = str | os.PathLike[str]

KIND = "mesh"
TREE_NUMBERS = ("build_seconds", "degenerate")
TREE_ARRAYS = ("nodes", "blocks", "ids", "frame")
INFINITY = float("inf")


class Mesh:
    """A triangle mesh, open or closed, sound or broken, that can be asked what rays hit.

    Parameters
    ----------
    vertices : (n, 3) array_like
        float32 and float64 are kept and decide the precision of all answers; integers become float64.
    faces : (m, 3) array_like of integers
        Indices of each triangle's vertices, counterclockwise seen from its front. Triangles without area stay and
        keep their ids, but nothing ever hits them.
    copy : bool
        False borrows arrays that need no conversion; they must not be changed afterwards.

    Raises
    ------
    ValueError
        For wrong shapes, a vertex that is not finite, or a face that refers to no vertex; it names the first.

    Examples
    --------
    >>> import boxwood as bw
    >>> mesh = bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    >>> hits = mesh.raycast([0.25, 0.5, 2], [0, 0, -1])
    >>> float(hits.t_hit), int(hits.primitive_ids)
    (2.0, 0)
    """

    def __init__(self, vertices: ArrayLike, faces: ArrayLike, *, copy: bool = True) -> None:
        self._vertices, self._faces = vertices_and_faces(vertices, faces, copy=copy)
        self._tree: TriangleTree | None = None
        self._building = threading.Lock()

    @property
    def vertices(self) -> NDArray[Any]:
        """(n, 3) float32 or float64, read-only."""
        return self._vertices

    @property
    def faces(self) -> NDArray[np.int32]:
        """(m, 3) int32, read-only."""
        return self._faces

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the vertices, and so of the answers."""
        return self._vertices.dtype

    @property
    def bounds(self) -> NDArray[Any]:
        """(2, 3): the least and the greatest coordinates of all vertices; zeros when there are none."""
        if len(self._vertices) == 0:
            return np.zeros((2, 3), self.dtype)
        return np.stack([self._vertices.min(axis=0), self._vertices.max(axis=0)])

    def __len__(self) -> int:
        return len(self._faces)

    def __repr__(self) -> str:
        return f"<boxwood.Mesh of {len(self._vertices)} vertices and {len(self)} faces, {self.dtype}>"

    # The tree

    def build(
        self,
        builder: str | None = None,
        *,
        bins: int = 16,
        leaf_size: int = 4,
        quality: Literal["low", "medium", "high"] | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Mesh:
        """Build the tree now, in place of one that is there; otherwise the first question builds the default.

        Parameters
        ----------
        builder : {"midpoint", "median", "sweep", "binned", "linear"}, optional
            How to split: in the middle of the longest axis; into equal counts; by the surface area heuristic over all
            splits (sweep) or over bins; along a space-filling curve (linear: the fastest to build). Answers never
            depend on it.
        bins : int
            4 to 64, for "binned".
        leaf_size : int
            1 to 60: the most triangles in a leaf.
        quality : {"low", "medium", "high"}, optional
            Instead of a builder: quick to build, balanced (the default), or quick to ask.
        threads : int, optional
            How many may work at once; None for all.
        progress : callable, optional
            Called with (done, total).

        Returns
        -------
        Mesh
            This mesh.
        """
        work_options(threads, progress)
        tree = build_tree(
            self._vertices,
            self._faces,
            builder,
            bins=bins,
            leaf_size=leaf_size,
            quality=quality,
            threads=threads,
            progress=progress,
        )
        self._tree = tree
        return self

    @property
    def tree(self) -> TriangleTree:
        """The tree that answers; built on first use."""
        tree = self._tree
        if tree is None:
            with self._building:
                tree = self._tree
                if tree is None:
                    tree = self._tree = build_tree(self._vertices, self._faces)
        return tree

    def statistics(self) -> Statistics:
        """Size, shape and quality of the tree: nodes, leaves, depth, SAH cost, overlap, bytes, seconds to build."""
        return self.tree.statistics()

    def validate(self) -> None:
        """Check every invariant of the tree, and that it holds this mesh; ValueError naming the first one broken."""
        self.tree.validate()
        validate_mesh(self.tree, self._vertices, self._faces)

    # Keeping

    def save(self, path: StrPath) -> None:
        """Write the mesh and, where it is built, its tree to a safetensors file that `load` reads.

        The file takes the place of an older one only when all of it is written; OSError when it cannot be.
        """
        arrays: dict[str, NDArray[Any]] = {"vertices": self._vertices, "faces": self._faces}
        told = {}
        tree = self._tree
        if tree is not None:
            arrays |= {name: getattr(tree, name) for name in TREE_ARRAYS}
            told = {name: repr(getattr(tree, name)) for name in TREE_NUMBERS} | {"builder": tree.builder}
        archive.write_arrays(path, arrays, told, KIND)

    @classmethod
    def load(cls, path: StrPath, *, mmap: bool = False) -> Mesh:
        """Read what `save` wrote. With `mmap`, processes that load the same file share one copy of its arrays.

        ValueError for a file that is damaged, cut off or not a saved mesh.
        """
        arrays, told = archive.read_arrays(path, KIND, mmap=mmap)
        try:
            mesh = cls(arrays.pop("vertices"), arrays.pop("faces"), copy=False)
            if arrays:
                tree = TriangleTree(
                    **{name: arrays.pop(name) for name in TREE_ARRAYS},
                    builder=told["builder"],
                    build_seconds=float(told["build_seconds"]),
                    degenerate=int(told["degenerate"]),
                )
                # The checksum tells that the file is what was saved; this, that no walk can leave the arrays.
                validate_links(tree)
                ids = tree.ids if len(tree.ids) else np.full(1, -1)
                if tree.blocks.dtype != mesh.dtype or ids.min() < -1 or ids.max() >= len(mesh):
                    raise ValueError("its tree belongs to another mesh")
                mesh._tree = tree
        except (KeyError, ValueError) as reason:
            raise ValueError(f"{os.fspath(path)} is damaged: {reason}") from reason
        if arrays:
            raise ValueError(f"{os.fspath(path)} is damaged: it holds {', '.join(arrays)}, which no mesh has")
        return mesh

    def __getstate__(self) -> dict[str, Any]:
        return {"vertices": self._vertices, "faces": self._faces, "tree": self._tree}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._vertices, self._faces, self._tree = state["vertices"], state["faces"], state["tree"]
        self._vertices.flags.writeable = self._faces.flags.writeable = False
        self._building = threading.Lock()

    # Rays

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
        answers = closest_hit(self.tree, batch, cull=cull, **options)
        t_hit, primitive_ids, uvs = (boxed(batch.shape, answer) for answer in answers)
        return Hits(t_hit, primitive_ids, uvs, surface=(self._vertices, self._faces))

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
        answers = all_hits(self.tree, batch, cull=cull, **options)
        return AllHits(*answers, surface=(self._vertices, self._faces))

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
