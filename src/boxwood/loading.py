"""Meshes from outside: from files, whole or in parts, and from the objects of other libraries."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from . import archive, files, interop, scene
from .mesh import Mesh, StrPath

SAVED = (".boxwood", ".safetensors")
"""How the names of files end that `Mesh.save` and `Scene.save` wrote."""


class Part(NamedTuple):
    """One placed mesh of a scene; parts of the same geometry share one `Mesh`."""

    name: str
    mesh: Mesh
    transform: NDArray[np.float64]  # (4, 4), from the mesh's own space to the world


def load(path: StrPath, *, dtype: DTypeLike | None = None, mmap: bool = False) -> Mesh:
    """Read a mesh from a file: STL, OBJ, PLY, OFF, GLB, 3MF, DAE and what else trimesh reads, all parts as one.

    Parameters
    ----------
    path : str or path
        Mesh files may be compressed (``.stl.gz``). Files that `Mesh.save` wrote, ``.boxwood`` or ``.safetensors``, are
        read with their tree.
    dtype : float32 or float64, optional
        Of the vertices; None keeps the float64 in which files are read.
    mmap : bool
        For saved files: share the arrays with other processes.

    Raises
    ------
    ValueError
        For a file that cannot be read, or only in part: it says what would be lost.
    """
    if os.fspath(path).lower().endswith(SAVED):
        return _with_dtype(Mesh.load(path, mmap=mmap), dtype)
    if mmap:
        raise ValueError(f"mmap is for files that Mesh.save wrote ({', '.join(SAVED)}), and {os.fspath(path)} is none")
    vertices, faces = files.read_mesh(path)
    return Mesh(_as_dtype(vertices, dtype), faces, copy=False)


def load_scene(path: StrPath, *, dtype: DTypeLike | None = None) -> list[Part]:
    """Read the parts of a file, each with its place in the world; see `load`.

    A file that `Scene.save` wrote has a part for each instance, whatever its mask; one that `Mesh.save` wrote has one.
    """
    if os.fspath(path).lower().endswith(SAVED):
        return _saved_parts(path, dtype)
    meshes: dict[tuple[int, int], Mesh] = {}
    parts = []
    for name, vertices, faces, transform in files.read_scene(path):
        key = (id(vertices), id(faces))
        if key not in meshes:
            meshes[key] = Mesh(_as_dtype(vertices, dtype), faces, copy=False)
        parts.append(Part(name, meshes[key], transform))
    return parts


def _saved_parts(path: StrPath, dtype: DTypeLike | None) -> list[Part]:
    if archive.kind_of(path) != scene.KIND:
        return [Part(Path(path).stem, load(path, dtype=dtype), np.eye(4))]
    held = scene.Scene.load(path)
    meshes: dict[int, Mesh] = {}
    parts = []
    for instance in held:
        mesh = held.mesh(instance)
        if id(mesh) not in meshes:
            meshes[id(mesh)] = _with_dtype(mesh, dtype)
        parts.append(Part(f"instance {instance}", meshes[id(mesh)], held.transform(instance)))
    return parts


def as_mesh(thing: Any, *, copy: bool = True) -> Mesh:
    """A mesh from a pair (vertices, faces) or from an object of trimesh, Open3D, PyVista or meshio.

    ValueError for anything else. `copy=False` borrows arrays that need no conversion.
    """
    if isinstance(thing, Mesh):
        return thing
    return Mesh(*interop.arrays_of(thing), copy=copy)


def _with_dtype(mesh: Mesh, dtype: DTypeLike | None) -> Mesh:
    """Itself, tree and all, where its vertices have that dtype."""
    return mesh if dtype is None or mesh.dtype == dtype else Mesh(_as_dtype(mesh.vertices, dtype), mesh.faces)


def _as_dtype(vertices: NDArray[Any], dtype: DTypeLike | None) -> NDArray[Any]:
    if dtype is None:
        return vertices
    wanted = np.dtype(dtype)
    if wanted not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, not {wanted}")
    return vertices.astype(wanted, copy=False)
