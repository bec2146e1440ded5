"""A mesh as a value: what it holds, how it is built, kept and handed on."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import boxwood as bw

TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])

pytestmark = pytest.mark.small


def rays(count=40):
    generator = np.random.default_rng(5)
    return generator.normal(size=(count, 3)).astype(np.float32), generator.normal(size=(count, 3)).astype(np.float32)


@pytest.fixture
def mesh():
    return bw.Mesh(TETRAHEDRON, FACES)


def assert_same(mesh, other):
    assert np.array_equal(mesh.vertices, other.vertices)
    assert mesh.dtype == other.dtype
    assert np.array_equal(mesh.faces, other.faces)
    first, second = mesh.raycast(*rays()), other.raycast(*rays())
    assert np.array_equal(first.t_hit, second.t_hit)
    assert np.array_equal(first.primitive_ids, second.primitive_ids)


def test_what_it_holds(mesh):
    assert len(mesh) == 4
    assert mesh.bounds.tolist() == [[0, 0, 0], [1, 1, 1]]
    assert mesh.faces.dtype == np.int32
    assert repr(mesh) == "<boxwood.Mesh of 4 vertices and 4 faces, float32>"
    with pytest.raises(ValueError, match="read-only"):
        mesh.vertices[0] = 1


def test_a_copy_is_kept_and_a_borrowed_array_is_not_copied():
    vertices = TETRAHEDRON.copy()
    kept, borrowed = bw.Mesh(vertices, FACES), bw.Mesh(vertices, FACES, copy=False)
    vertices[0] = 9
    assert kept.vertices[0, 0] == 0
    assert borrowed.vertices[0, 0] == 9
    assert vertices.flags.writeable


def test_an_empty_mesh_answers_misses():
    empty = bw.Mesh(np.empty((0, 3)), np.empty((0, 3), int))
    hits = empty.raycast(np.zeros((2, 5, 3)), [0, 0, 1])
    assert hits.t_hit.shape == (2, 5)
    assert np.isinf(hits.t_hit).all()
    assert not empty.occluded([0, 0, 0], [0, 0, 1])
    assert len(empty.raycast_all([0, 0, 0], [0, 0, 1]).t_hit) == 0
    assert empty.bounds.tolist() == [[0, 0, 0], [0, 0, 0]]
    empty.validate()


@pytest.mark.parametrize("built", [False, True])
@pytest.mark.parametrize("hand_on", [copy.copy, copy.deepcopy, lambda mesh: pickle.loads(pickle.dumps(mesh))])
def test_copies_and_pickles_answer_alike(mesh, hand_on, built):
    if built:
        mesh.build()
    other = hand_on(mesh)
    assert (other._now.tree is not None) == built
    assert_same(mesh, other)
    assert not other.vertices.flags.writeable
    other.validate()


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("built", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_saved_and_loaded(tmp_path, built, mmap, dtype):
    mesh = bw.Mesh(TETRAHEDRON.astype(dtype), FACES)
    if built:
        mesh.build()
    path = tmp_path / "part.boxwood"
    mesh.save(path)
    for other in (bw.Mesh.load(path, mmap=mmap), bw.load(path, mmap=mmap)):
        assert (other._now.tree is not None) == built
        assert_same(mesh, other)
    assert bw.load(path, dtype=np.float32).dtype == np.float32


def test_every_damage_to_a_saved_mesh_is_noticed(mesh, tmp_path):
    path = tmp_path / "part.boxwood"
    mesh.build().save(path)
    whole = path.read_bytes()
    for place in range(0, len(whole), max(1, len(whole) // 97)):
        damaged = bytearray(whole)
        damaged[place] ^= 0x40
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"part\.boxwood"):
            bw.load(path)
        path.write_bytes(whole[:place])
        with pytest.raises(ValueError, match=r"part\.boxwood"):
            bw.load(path)


def test_a_sound_file_with_unsound_contents_is_refused(mesh, tmp_path):
    from boxwood import archive

    path = tmp_path / "part.boxwood"
    tree = mesh.tree
    arrays = {"vertices": mesh.vertices, "faces": mesh.faces, "nodes": tree.nodes, "blocks": tree.blocks}
    arrays |= {"ids": tree.ids, "frame": tree.frame}
    told = {"builder": "binned", "build_seconds": "0.0", "degenerate": "0"}
    nodes = tree.nodes.copy()
    nodes.view(np.int32)[48] = 1 << 20  # a child far outside
    for unsound in ({"nodes": nodes}, {"ids": tree.ids + 7}, {"faces": mesh.faces + 2}, {"frame": tree.frame[:2]}):
        archive.write_arrays(path, arrays | unsound, told, "mesh")
        with pytest.raises(ValueError, match=r"part\.boxwood is damaged"):
            bw.load(path)
    archive.write_arrays(path, {"vertices": mesh.vertices}, {}, "mesh")
    with pytest.raises(ValueError, match="faces"):
        bw.load(path)


def test_saving_where_nothing_can_be_written_leaves_the_old_file(mesh, tmp_path):
    with pytest.raises(OSError, match="missing"):
        mesh.save(tmp_path / "missing" / "part.boxwood")
    path = tmp_path / "part.boxwood"
    mesh.save(path)
    before = path.read_bytes()
    script = (
        "import resource, signal, sys, numpy as np, boxwood as bw\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: bw.Mesh(np.random.default_rng(0).random((999, 3)), [[0, 1, 2]]).save(sys.argv[1])\n"
        "except OSError: print('refused')\n"
    )
    pytest.importorskip("resource")
    run = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=False)
    assert run.stdout == "refused\n", run.stderr
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_loading_only_maps_what_was_saved(tmp_path):
    (tmp_path / "part.stl").write_text("solid\nendsolid\n")
    with pytest.raises(ValueError, match="mmap"):
        bw.load(tmp_path / "part.stl", mmap=True)
    with pytest.raises(ValueError, match="int"):
        bw.load(_written_obj(tmp_path), dtype=np.int32)


def _written_obj(folder):
    path = folder / "part.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    return path


def test_the_dtype_asked_for_is_given(tmp_path):
    assert bw.load(_written_obj(tmp_path)).dtype == np.float64
    assert bw.load(_written_obj(tmp_path), dtype="float32").dtype == np.float32


def test_building_again_replaces_the_tree(mesh):
    first = mesh.tree
    assert mesh.tree is first
    assert mesh.build(leaf_size=1) is mesh
    assert mesh.tree is not first
    assert mesh.statistics().leaves == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"builder": "magic"}, "builder.*magic"),
        ({"quality": "best"}, "quality.*best"),
        ({"builder": "binned", "quality": "low"}, "not both"),
        ({"bins": 3}, "bins"),
        ({"bins": 65}, "bins"),
        ({"leaf_size": 0}, "leaf_size"),
        ({"threads": 0}, "threads"),
    ],
)
def test_wrong_ways_to_build_are_named(mesh, arguments, message):
    with pytest.raises(ValueError, match=message):
        mesh.build(**arguments)


def test_meshes_of_others_are_taken():
    assert_same(bw.as_mesh((TETRAHEDRON, FACES)), bw.Mesh(TETRAHEDRON, FACES))
    mesh = bw.Mesh(TETRAHEDRON, FACES)
    assert bw.as_mesh(mesh) is mesh
    with pytest.raises(ValueError, match="str"):
        bw.as_mesh("part.stl")
