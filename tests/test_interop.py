"""Meshes of other libraries: the same vertices and faces come out of each, and what is no mesh is named."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from boxwood.interop import arrays_of, in_world, scene_parts

SQUARE = np.array([[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0.0]])
HALVES = [[0, 1, 2], [0, 2, 3]]
APEX = np.array([[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0.0], [1, 1, 5]])


def area_vector(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    a, b, c = np.asarray(vertices, float)[np.asarray(faces).T]
    return np.cross(b - a, c - a).sum(axis=0) / 2


@pytest.mark.parametrize(
    "thing",
    [(SQUARE, HALVES), [SQUARE.tolist(), HALVES], SimpleNamespace(vertices=SQUARE, faces=HALVES)],
    ids=["tuple", "list", "attributes"],
)
def test_pairs_and_things_with_vertices_and_faces(thing):
    vertices, faces = arrays_of(thing)
    assert np.array_equal(vertices, SQUARE)
    assert np.array_equal(faces, HALVES)


@pytest.mark.parametrize("thing", [None, 5, "part.stl", (SQUARE,), (SQUARE, HALVES, 1), {"vertices": 1}, SQUARE[:3]])
def test_anything_else_is_named(thing):
    with pytest.raises(ValueError, match=rf"{type(thing).__name__} is not a mesh; what is: a pair \(vertices, faces\)"):
        arrays_of(thing)


def test_no_library_is_imported():
    code = (
        "import sys, boxwood.interop as interop\n"
        "interop.arrays_of(([], []))\n"
        "print(*{'trimesh', 'open3d', 'pyvista', 'vtk', 'meshio'}.intersection(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""


def test_trimesh():
    trimesh = pytest.importorskip("trimesh")

    class Part(trimesh.Trimesh):
        pass

    for kind in (trimesh.Trimesh, Part):
        vertices, faces = arrays_of(kind(SQUARE, HALVES, process=False))
        assert np.array_equal(vertices, SQUARE)
        assert np.array_equal(faces, HALVES)
        assert type(vertices) is type(faces) is np.ndarray
    with pytest.raises(ValueError, match=r"trimesh.points.PointCloud is not a mesh"):
        arrays_of(trimesh.PointCloud(SQUARE))


def test_a_scene_is_placed_and_mirrors_are_wound_anew():
    trimesh = pytest.importorskip("trimesh")
    scene = trimesh.Scene()
    box = trimesh.creation.box()
    scene.add_geometry(trimesh.PointCloud(SQUARE))
    scene.add_geometry(box, node_name="a", geom_name="box")
    turned = trimesh.transformations.rotation_matrix(0.7, [1, 2, 3], [4, 5, 6])
    scene.graph.update("b", geometry="box", matrix=turned @ np.diag([-2, 1, 1, 1]))
    parts = scene_parts(scene)
    assert [part[0] for part in parts] == ["a", "b"]
    assert parts[0][1] is parts[1][1]
    assert parts[0][2] is parts[1][2]
    vertices, faces = arrays_of(scene)
    expected = trimesh.Trimesh(*in_world(parts), process=False)
    assert np.array_equal(expected.vertices, vertices)
    assert len(faces) == 24
    assert np.array_equal(vertices[:8], box.vertices)
    assert np.allclose(vertices[8:], trimesh.transform_points(box.vertices * [-2, 1, 1], turned))
    assert expected.volume == pytest.approx(3)  # 1 and 2: neither is inside out


def test_an_empty_scene_is_an_empty_mesh():
    trimesh = pytest.importorskip("trimesh")
    vertices, faces = arrays_of(trimesh.Scene())
    assert vertices.shape == faces.shape == (0, 3)
    assert faces.dtype.kind == "i"


@pytest.mark.parametrize("tensor", [False, True], ids=["legacy", "tensor"])
def test_open3d(tensor: bool):
    open3d = pytest.importorskip("open3d")
    mesh = open3d.geometry.TriangleMesh(
        open3d.utility.Vector3dVector(SQUARE), open3d.utility.Vector3iVector(np.array(HALVES, np.int32))
    )
    cloud, empty = open3d.geometry.PointCloud(), open3d.geometry.TriangleMesh()
    if tensor:
        mesh = open3d.t.geometry.TriangleMesh.from_legacy(mesh, open3d.core.float32)
        cloud, empty = open3d.t.geometry.PointCloud(), open3d.t.geometry.TriangleMesh()
    vertices, faces = arrays_of(mesh)
    del mesh  # whose memory they may use
    assert np.array_equal(vertices, SQUARE)
    assert np.array_equal(faces, HALVES)
    assert vertices.dtype == (np.float32 if tensor else np.float64)
    assert [array.shape for array in arrays_of(empty)] == [(0, 3), (0, 3)]
    with pytest.raises(ValueError, match="PointCloud is not a mesh"):
        arrays_of(cloud)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pyvista_polygons(dtype: type):
    pyvista = pytest.importorskip("pyvista")
    mesh = pyvista.PolyData(APEX.astype(dtype), [4, 3, 2, 1, 0, 3, 0, 1, 4, 3, 1, 2, 4, 3, 2, 3, 4, 3, 3, 0, 4])
    vertices, faces = arrays_of(mesh)
    assert vertices.dtype == dtype
    assert np.array_equal(vertices, APEX)
    assert faces.shape == (6, 3)
    assert np.allclose(area_vector(vertices, faces), 0)
    assert np.array_equal(arrays_of(mesh.triangulate())[1], faces)
    grid = arrays_of(mesh.triangulate().cast_to_unstructured_grid())
    assert np.array_equal(grid[0], APEX)
    assert np.array_equal(grid[1], faces)


def test_pyvista_concave_polygons_and_strips():
    pyvista = pytest.importorskip("pyvista")
    arrow = pyvista.PolyData(np.array([[0, 0, 0], [4, 0, 0], [1, 1, 0], [0, 4, 0.0]]), [4, 1, 2, 3, 0])
    vertices, faces = arrays_of(arrow)
    assert np.allclose(area_vector(vertices, faces), [0, 0, 4])
    a, b, c = vertices[faces.T]
    assert (np.cross(b - a, c - a)[:, 2] > 0).all()  # no part of it is folded back
    strip = pyvista.PolyData()
    strip.points, strip.strips = SQUARE[[0, 1, 3, 2]], np.array([4, 0, 1, 2, 3])
    assert np.allclose(area_vector(*arrays_of(strip)), [0, 0, 4])


def test_pyvista_without_a_surface():
    pyvista = pytest.importorskip("pyvista")
    with pytest.raises(ValueError, match="the PyVista PolyData has 4 points but no faces"):
        arrays_of(pyvista.PolyData(SQUARE))
    for kind in (pyvista.CellType.TETRA, pyvista.CellType.QUAD):
        with pytest.raises(ValueError, match=r"a PyVista UnstructuredGrid is not a surface; take .*extract_surface"):
            arrays_of(pyvista.UnstructuredGrid({kind: np.array([[0, 1, 2, 4]])}, APEX))
    with pytest.raises(ValueError, match="fewer than three corners"):
        arrays_of(pyvista.PolyData(SQUARE, faces=[2, 0, 1, 3, 0, 1, 2]))
    with pytest.warns(UserWarning, match="PyVista made 1 triangles of polygons that need 4"):
        assert len(arrays_of(pyvista.PolyData(SQUARE * [1, 0, 0], [5, 0, 0, 0, 0, 0, 3, 0, 1, 2]))[1]) == 1
    assert arrays_of(pyvista.PolyData())[1].shape == (0, 3)


def test_meshio():
    meshio = pytest.importorskip("meshio")
    cells = [("vertex", [[0]]), ("triangle", [[0, 1, 4]]), ("line", [[0, 1]]), ("quad", [[3, 2, 1, 0], [0, 1, 2, 3]])]
    vertices, faces = arrays_of(meshio.Mesh(APEX.astype(np.float32), cells))
    assert vertices.dtype == np.float32
    assert faces.tolist() == [[0, 1, 4], [3, 2, 1], [3, 1, 0], [0, 1, 2], [0, 2, 3]]
    with pytest.raises(ValueError, match="cells that are no triangles or quads: tetra, triangle6"):
        arrays_of(meshio.Mesh(np.zeros((6, 3)), [("triangle6", [range(6)]), ("tetra", [[0, 1, 2, 3]]), *cells]))
    with pytest.raises(ValueError, match="the meshio Mesh has 5 points but no faces"):
        arrays_of(meshio.Mesh(APEX, cells[::2]))
