"""What a user holds: a triangle mesh that answers questions about rays and contacts.

A mesh is two arrays and, from the first question on, the tree over its triangles (`build`, `tree`). What it can be
asked is in `mesh_rays` and `mesh_collisions`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import archive
from ._arrays import moved_vertices, vertices_and_faces
from ._threads import new_lock
from ._work import work_options
from .build.choose import build_tree
from .build.compare import validate_mesh
from .build.renew import refit_tree
from .mesh_collisions import MeshCollisions
from .query.solids import Solid
from .tree.statistics import Statistics
from .tree.triangle_tree import TriangleTree
from .tree.validate import validate_links

Progress: TypeAlias = Callable[[int, int], object]
StrPath: TypeAlias = str | os.PathLike[str]

KIND = "mesh"
TREE_COUNTS = ("refits", "degenerate", "blotted")
TREE_ARRAYS = ("nodes", "blocks", "ids", "frame")


class Mesh(MeshCollisions):
    """A triangle mesh, open or closed, sound or broken, that can be asked what rays hit and what it meets.

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
        # vertices, faces and the tree, if built, in one: who looks at more than one of them must not read twice
        self._now = Solid(*vertices_and_faces(vertices, faces, copy=copy), None)
        self._building = new_lock()

    @property
    def vertices(self) -> NDArray[Any]:
        """(n, 3) float32 or float64, read-only."""
        return self._now.vertices

    @property
    def faces(self) -> NDArray[np.int32]:
        """(m, 3) int32, read-only."""
        return self._now.faces

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the vertices, and so of the answers."""
        return self.vertices.dtype

    @property
    def bounds(self) -> NDArray[Any]:
        """(2, 3): the least and the greatest coordinates of all vertices; zeros when there are none."""
        vertices = self.vertices
        if len(vertices) == 0:
            return np.zeros((2, 3), vertices.dtype)
        return np.stack([vertices.min(axis=0), vertices.max(axis=0)])

    def __len__(self) -> int:
        return len(self.faces)

    def __repr__(self) -> str:
        return f"<boxwood.Mesh of {len(self.vertices)} vertices and {len(self)} faces, {self.dtype}>"

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
        with self._building:
            now = self._now
            tree = build_tree(
                now.vertices,
                now.faces,
                builder,
                bins=bins,
                leaf_size=leaf_size,
                quality=quality,
                threads=threads,
                progress=progress,
            )
            self._now = now._replace(tree=tree)
        return self

    def refit(self, vertices: ArrayLike, *, threads: int | None = None) -> Mesh:
        """Move the vertices, and the tree with them: the same faces, the same tree, and every box of it fitted anew.

        It takes a small part of the time of a build. The tree's shape stays, so questions get slower as faces that
        were neighbours move apart; `build` makes a new one. Questions that other threads ask meanwhile are answered
        for the mesh as it was, or as it is then.

        Parameters
        ----------
        vertices : (n, 3) array_like
            As many as before. A mesh in float32 takes float32, and not float64, which it would have to round.
        threads : int, optional
            How many may work at once; None for all.

        Returns
        -------
        Mesh
            This mesh.

        Raises
        ------
        ValueError
            For another number of vertices, one that is not finite (it names the first), or a dtype to be narrowed.
            The mesh is then as it was.

        Examples
        --------
        >>> import boxwood as bw
        >>> mesh = bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
        >>> float(mesh.refit([[0, 0, 1], [1, 0, 1], [0, 1, 1]]).raycast([0.2, 0.2, 3], [0, 0, -1]).t_hit)
        2.0
        """
        moved = moved_vertices(vertices, self.vertices)
        with self._building:
            _, faces, tree = self._now
            if tree is not None:
                tree = refit_tree(tree, moved, faces, threads)
            self._now = Solid(moved, faces, tree)
        return self

    @property
    def tree(self) -> TriangleTree:
        """The tree that answers; built on first use."""
        return cast(TriangleTree, self._solid().tree)

    def _solid(self) -> Solid:
        now = self._now
        if now.tree is None:
            with self._building:
                now = self._now
                if now.tree is None:
                    now = self._now = now._replace(tree=build_tree(now.vertices, now.faces))
        return now

    def statistics(self) -> Statistics:
        """Size, shape and quality of the tree: nodes, leaves, depth, SAH cost, overlap, bytes, seconds to build."""
        return self.tree.statistics()

    def validate(self) -> None:
        """Check every invariant of the tree, and that it holds this mesh; ValueError naming the first one broken."""
        vertices, faces, tree = self._solid()
        tree.validate()
        validate_mesh(tree, vertices, faces)

    # Keeping

    def save(self, path: StrPath) -> None:
        """Write the mesh and, where it is built, its tree to a safetensors file that `load` reads.

        The file takes the place of an older one only when all of it is written; OSError when it cannot be.
        """
        archive.write_arrays(path, *self._packed(), KIND)

    def _packed(self) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
        """What a file holds of it: arrays and text."""
        vertices, faces, tree = self._now
        arrays: dict[str, NDArray[Any]] = {"vertices": vertices, "faces": faces}
        told = {}
        if tree is not None:
            arrays |= {name: getattr(tree, name) for name in TREE_ARRAYS}
            told = {name: repr(getattr(tree, name)) for name in ("build_seconds", *TREE_COUNTS)}
            told["builder"] = tree.builder
        return arrays, told

    @classmethod
    def load(cls, path: StrPath, *, mmap: bool = False) -> Mesh:
        """Read what `save` wrote. With `mmap`, processes that load the same file share one copy of its arrays.

        ValueError for a file that is damaged, cut off or not a saved mesh.
        """
        arrays, told = archive.read_arrays(path, KIND, mmap=mmap)
        try:
            return cls._unpacked(arrays, told)
        except (KeyError, ValueError) as reason:
            raise ValueError(f"{os.fspath(path)} is damaged: {reason}") from reason

    @classmethod
    def _unpacked(cls, arrays: dict[str, NDArray[Any]], told: dict[str, str]) -> Mesh:
        """What `_packed` tells; KeyError or ValueError for anything else."""
        mesh = cls(arrays.pop("vertices"), arrays.pop("faces"), copy=False)
        if arrays:
            held: dict[str, Any] = {name: arrays.pop(name) for name in TREE_ARRAYS}
            held |= {name: int(told[name]) for name in TREE_COUNTS}
            tree = TriangleTree(**held, builder=told["builder"], build_seconds=float(told["build_seconds"]))
            # The checksum tells that the file is what was saved; this, that no walk can leave the arrays.
            validate_links(tree)
            ids = tree.ids if len(tree.ids) else np.full(1, -1)
            if tree.blocks.dtype != mesh.dtype or ids.min() < -1 or ids.max() >= len(mesh):
                raise ValueError("its tree belongs to another mesh")
            mesh._now = mesh._now._replace(tree=tree)
        if arrays:
            raise ValueError(f"it holds {', '.join(arrays)}, which no mesh has")
        return mesh

    def __getstate__(self) -> dict[str, Any]:
        return self._now._asdict()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._now = Solid(**state)
        self.vertices.flags.writeable = self.faces.flags.writeable = False
        self._building = new_lock()
