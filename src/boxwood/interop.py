"""Vertices and faces out of the mesh objects of other libraries, none of which is imported.

A class is recognised by the package its definition comes from, so an object of a library that is not installed cannot
occur, and one of a subclass is understood. Arrays keep the library's dtype; whether they make a mesh is checked later.
Sources: the documentation of trimesh, Open3D, PyVista and meshio.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = tuple[Array, Array]  # vertices (n, 3), faces (m, 3)
Part: TypeAlias = tuple[str, Array, Array, NDArray[np.float64]]  # name, vertices, faces, transform (4, 4) to the world

ACCEPTED = (
    "a pair (vertices, faces), a trimesh Trimesh or Scene, an Open3D TriangleMesh, a PyVista PolyData, a meshio Mesh, "
    "or any object with vertices and faces"
)
VTK_TRIANGLE = 5
QUAD = [0, 1, 2, 0, 2, 3]  # as two triangles


def arrays_of(thing: Any) -> Arrays:
    """Take the vertices and faces out of a mesh of another library.

    Parameters
    ----------
    thing : a pair (vertices, faces); a trimesh Trimesh, or Scene (placed in the world); an Open3D TriangleMesh of
        either kind; a PyVista PolyData, or UnstructuredGrid of triangles; a meshio Mesh of triangles and quads; or
        any object with `vertices` and `faces`.

    Returns
    -------
    vertices (n, 3) and faces (m, 3), in the dtypes of the library; polygons are cut into triangles.

    Raises
    ------
    ValueError
        For another type, and for an object that has no faces or cells that are no triangles; names them.

    Examples
    --------
    >>> import trimesh
    >>> vertices, faces = arrays_of(trimesh.creation.box())
    >>> vertices.shape, faces.shape
    ((8, 3), (12, 3))
    """
    for kind in type(thing).__mro__:
        reader = READERS.get(kind.__module__.partition(".")[0])
        if reader is not None:
            return reader(thing)
    if isinstance(thing, (tuple, list)) and len(thing) == 2:
        return np.asarray(thing[0]), np.asarray(thing[1])
    if hasattr(thing, "vertices") and hasattr(thing, "faces"):
        return np.asarray(thing.vertices), np.asarray(thing.faces)
    raise _not_a_mesh(thing)


def scene_parts(scene: Any) -> list[Part]:
    """The placed meshes of a trimesh Scene, without points and paths; instances of one geometry share its arrays."""
    meshes = {
        name: (np.asarray(mesh.vertices), np.asarray(mesh.faces).reshape(-1, 3))
        for name, mesh in scene.geometry.items()
        if hasattr(mesh, "faces")
    }
    parts = []
    for node in scene.graph.nodes_geometry:
        transform, name = scene.graph[node]
        if name in meshes:
            if scene.geometry[name].metadata.get("from_gltf_primitive"):  # whose node got a name by chance
                node = f"{scene.graph.transforms.parents[node]}/{name}"
            parts.append((str(node), *meshes[name], np.array(transform, np.float64)))
    return parts


def in_world(parts: Sequence[Part]) -> Arrays:
    """All parts as one mesh, each placed by its transform; what a transform mirrors is wound anew: out stays out."""
    all_vertices, all_faces = [np.empty((0, 3))], [np.empty((0, 3), np.int64)]
    count = 0
    for _, vertices, faces, transform in parts:
        linear, offset = transform[:3, :3], transform[:3, 3]
        if not np.array_equal(transform[:3], np.eye(4)[:3]):
            vertices = vertices @ linear.T + offset
        if np.linalg.det(linear) < 0:
            faces = faces[:, [0, 2, 1]]
        all_vertices.append(vertices)
        all_faces.append(faces.astype(np.int64) + count)
        count += len(vertices)
    return np.concatenate(all_vertices), np.concatenate(all_faces)


def _trimesh(thing: Any) -> Arrays:
    if hasattr(thing, "graph") and hasattr(thing, "geometry"):
        return in_world(scene_parts(thing))
    if not hasattr(thing, "faces"):
        raise _not_a_mesh(thing)
    return np.asarray(thing.vertices), np.asarray(thing.faces)


def _open3d(thing: Any) -> Arrays:
    if hasattr(thing, "triangles"):
        return np.asarray(thing.vertices), np.asarray(thing.triangles)
    if not hasattr(thing, "triangle"):
        raise _not_a_mesh(thing)
    thing = thing.cpu()
    vertices = thing.vertex.positions.numpy() if "positions" in thing.vertex else np.empty((0, 3), np.float32)
    faces = thing.triangle.indices.numpy() if "indices" in thing.triangle else np.empty((0, 3), np.int64)
    return vertices, faces


def _pyvista(thing: Any) -> Arrays:
    if hasattr(thing, "celltypes") and (thing.celltypes == VTK_TRIANGLE).all():
        return np.asarray(thing.points), np.asarray(thing.cells).reshape(-1, 4)[:, 1:]
    if not hasattr(thing, "strips"):
        raise ValueError(f"a PyVista {type(thing).__name__} is not a surface; take its surface by extract_surface()")
    cells = (thing.GetPolys(), thing.GetStrips())
    wanted = sum(each.GetNumberOfConnectivityIds() - 2 * each.GetNumberOfCells() for each in cells)
    if thing.n_strips or not thing.is_all_triangles:
        thing = thing.triangulate()
    padded = np.asarray(thing.faces)  # each face's corners after their number
    if not wanted and thing.n_points:
        raise ValueError(f"the PyVista PolyData has {thing.n_points} points but no faces")
    if padded.size % 4 or (padded[::4] != 3).any():
        raise ValueError("the PyVista PolyData has faces with fewer than three corners")
    faces = padded.reshape(-1, 4)[:, 1:]
    if len(faces) != wanted:
        warnings.warn(f"PyVista made {len(faces)} triangles of polygons that need {wanted}", stacklevel=4)
    return np.asarray(thing.points), faces


def _meshio(thing: Any) -> Arrays:
    flat = {"triangle": [0, 1, 2], "quad": QUAD}
    others = sorted({block.type for block in thing.cells} - {*flat, "vertex", "line"})
    if others:
        raise ValueError(f"the meshio Mesh has cells that are no triangles or quads: {', '.join(others)}")
    faces = [np.asarray(block.data)[:, flat[block.type]].reshape(-1, 3) for block in thing.cells if block.type in flat]
    if not faces:
        raise ValueError(f"the meshio Mesh has {len(thing.points)} points but no faces")
    return np.asarray(thing.points), np.concatenate(faces)


def _not_a_mesh(thing: Any) -> ValueError:
    return ValueError(f"{type(thing).__module__}.{type(thing).__qualname__} is not a mesh; what is: {ACCEPTED}")


READERS: dict[str, Callable[[Any], Arrays]] = {
    "trimesh": _trimesh,
    "open3d": _open3d,
    "pyvista": _pyvista,
    "meshio": _meshio,
}
