"""Trees whose primitives have moved: they answer like trees built anew, and hold all that they must."""

from __future__ import annotations

import copy
import pickle
import threading

import numpy as np
import pytest

import boxwood as bw
from worlds import DTYPES, aimed_rays, faces_of, icosphere, some, soup_mesh

pytestmark = pytest.mark.small


def bent(vertices, step):
    """Another shape for each step, larger, smaller and elsewhere."""
    size = (1.0, 300.0, 1e-4, 1.0)[step % 4]
    return (vertices + 0.4 * np.sin(3 * vertices[:, ::-1] + step)) * size + step * size


def same_answers(mesh, seed):
    """Whether the mesh answers rays and contacts like one that is made of its vertices now."""
    mesh.validate()
    other = bw.Mesh(mesh.vertices, mesh.faces)
    rays = aimed_rays(other, seed, some(400, 12), mesh.dtype)
    one, two = mesh.raycast(*rays), other.raycast(*rays)
    np.testing.assert_array_equal(one.primitive_ids, two.primitive_ids)
    np.testing.assert_array_equal(one.t_hit, two.t_hit)
    np.testing.assert_array_equal(mesh.self_intersections().pairs, other.self_intersections().pairs)


@pytest.mark.parametrize("dtype", DTYPES)
def test_refitted_trees_answer_like_new_ones(dtype):
    vertices, faces = icosphere(some(4, 1))
    mesh = bw.Mesh(vertices.astype(dtype), faces).build()
    nodes = len(mesh.tree.nodes)
    for step in range(4):
        moved = bent(vertices, step).astype(dtype)
        assert mesh.refit(moved) is mesh
        np.testing.assert_array_equal(mesh.vertices, moved)
        assert not np.shares_memory(mesh.vertices, moved)
        assert (mesh.tree.refits, len(mesh.tree.nodes)) == (step + 1, nodes)
        same_answers(mesh, step)
    assert mesh.build().tree.refits == 0


def test_a_tree_large_enough_for_threads_to_refit():
    vertices, faces = icosphere(some(6, 1))
    first, second = bw.Mesh(vertices, faces).build(), bw.Mesh(vertices, faces).build()
    first.refit(bent(vertices, 5), threads=1)
    second.refit(bent(vertices, 5), threads=4)
    for name in ("nodes", "blocks", "ids", "frame"):
        np.testing.assert_array_equal(getattr(first.tree, name), getattr(second.tree, name))
    first.validate()


def test_a_mesh_without_a_tree_only_moves():
    vertices, faces = icosphere(1)
    mesh = bw.Mesh(vertices, faces).refit(vertices + 1)
    assert mesh.tree.refits == 0
    same_answers(mesh, 0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_faces_that_lose_their_area_and_get_it_back(dtype):
    vertices, faces = icosphere(2)
    mesh = bw.Mesh(vertices.astype(dtype), faces).build()
    flat = vertices.astype(dtype)
    flat[faces[::5, 0]] = flat[faces[::5, 1]]
    mesh.refit(flat)
    lost = bw.Mesh(flat, faces).tree.degenerate
    assert mesh.tree.degenerate == mesh.tree.blotted == lost > 0
    same_answers(mesh, 1)
    mesh.refit(vertices.astype(dtype))
    assert (mesh.tree.degenerate, mesh.tree.refits) == (0, 2)
    same_answers(mesh, 2)
    mesh.refit(np.zeros_like(flat))
    assert mesh.tree.degenerate == len(faces)
    mesh.validate()
    assert not mesh.raycast([0, 0, 1], [0, 0, -1]).hit
    mesh.refit(vertices.astype(dtype))
    same_answers(mesh, 3)


def test_faces_that_the_tree_does_not_hold_get_an_area():
    vertices, faces = icosphere(2)
    flat = vertices.copy()
    flat[faces[::5, 0]] = flat[faces[::5, 1]]
    mesh = bw.Mesh(flat, faces).build("sweep")
    assert mesh.tree.degenerate > 0
    mesh.refit(vertices)
    assert (mesh.tree.degenerate, mesh.tree.refits, mesh.tree.builder) == (0, 0, "sweep")
    same_answers(mesh, 4)


def test_vertices_of_no_face_far_away():
    vertices, faces = icosphere(2)
    mesh = bw.Mesh(np.concatenate([vertices, [[0, 0, 0]]]), faces).build()
    mesh.refit(np.concatenate([vertices, [[1e12, 0, 0]]]))
    same_answers(mesh, 5)


def test_a_soup_of_every_awkward_kind():
    mesh = soup_mesh("no_area", 6, some(300, 20), np.float32).build()
    mesh.refit(mesh.vertices[::-1] * np.float32(3))
    same_answers(mesh, 6)


def test_refitted_trees_can_be_kept(tmp_path):
    vertices, faces = icosphere(2)
    flat = vertices.copy()
    flat[faces[::7, 0]] = flat[faces[::7, 1]]
    mesh = bw.Mesh(vertices, faces).build().refit(flat)
    mesh.save(tmp_path / "mesh.safetensors")
    for kept in (bw.Mesh.load(tmp_path / "mesh.safetensors"), pickle.loads(pickle.dumps(mesh)), copy.deepcopy(mesh)):
        kept.validate()
        assert (kept.tree.refits, kept.tree.blotted) == (1, mesh.tree.blotted)
        kept.refit(vertices).validate()
    loaded = bw.Mesh.load(tmp_path / "mesh.safetensors", mmap=True)
    same_answers(loaded.refit(vertices), 7)


@pytest.mark.parametrize(
    ("vertices", "message"),
    [
        (np.zeros((3, 3)), r"vertices must have shape \(18, 3\), as those of the mesh, not \(3, 3\)"),
        (np.full((18, 3), np.nan), r"vertices\[0\] is not finite"),
        ("no", "vertices"),
    ],
)
def test_vertices_that_cannot_take_the_place(vertices, message):
    corners, faces = icosphere(1)
    mesh = bw.Mesh(corners, faces).build()
    with pytest.raises(ValueError, match=message):
        mesh.refit(vertices)
    np.testing.assert_array_equal(mesh.vertices, corners)
    mesh.validate()


def test_float64_is_not_narrowed():
    vertices, faces = icosphere(1)
    mesh = bw.Mesh(vertices.astype(np.float32), faces)
    with pytest.raises(ValueError, match="float32 vertices, and float64 ones would have to be rounded"):
        mesh.refit(vertices)
    wide = bw.Mesh(vertices, faces).refit(vertices.astype(np.float32))
    assert wide.dtype == np.float64


def test_questions_while_a_mesh_moves():
    vertices, faces = icosphere(some(3, 1))
    mesh = bw.Mesh(vertices, faces).build()
    stop, wrong = threading.Event(), []

    def ask():
        while not stop.is_set():
            t = float(mesh.raycast([0, 0, 9], [0, 0, -1]).t_hit)
            if t not in (8.0, 7.0):
                wrong.append(t)

    thread = threading.Thread(target=ask)
    thread.start()
    for step in range(some(200, 3)):
        mesh.refit(vertices + [0, 0, step % 2])
    stop.set()
    thread.join()
    assert not wrong


# Boxes


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dimension", [2, 3])
def test_boxes_that_move(dimension, dtype):
    rng = np.random.default_rng(dimension)
    lower = rng.uniform(-1, 1, (some(3000, 40), dimension)).astype(dtype)
    tree = bw.BoxTree(lower, lower + dtype(0.01)).build()
    for step in range(3):
        lower = (lower * dtype(10) ** step + rng.normal(size=lower.shape).astype(dtype)).astype(dtype)
        upper = lower + rng.uniform(0, 0.1, lower.shape).astype(dtype)
        tree.refit(lower, upper).validate()
        assert tree.tree.refits == step + 1
        other = bw.BoxTree(lower, upper)
        np.testing.assert_array_equal(tree.pairs(), other.pairs())
        asked = rng.normal(size=(20, dimension)).astype(dtype)
        np.testing.assert_array_equal(tree.nearest(asked, 3).ids, other.nearest(asked, 3).ids)
        np.testing.assert_array_equal(tree.query_box(asked, asked + 1).pairs, other.query_box(asked, asked + 1).pairs)


def test_points_that_move(tmp_path):
    rng = np.random.default_rng(9)
    points = rng.normal(size=(some(2000, 30), 3))
    tree = bw.BoxTree.from_points(points).build().refit(points * 100)
    tree.validate()
    tree.save(tmp_path / "points.safetensors")
    for kept in (tree, bw.BoxTree.load(tmp_path / "points.safetensors")):
        assert kept.tree.refits == 1
        np.testing.assert_array_equal(kept.nearest(points * 100).ids[:, 0], np.arange(len(points)))
    with pytest.raises(ValueError, match="points have one corner"):
        tree.refit(points, points + 1)
    with pytest.raises(ValueError, match="upper is missing"):
        bw.BoxTree(points, points + 1).refit(points)
    with pytest.raises(ValueError, match="lower must have shape"):
        tree.refit(points[1:])


def test_boxes_that_become_points_stay_boxes():
    lower = np.arange(30.0).reshape(-1, 3)
    tree = bw.BoxTree(lower, lower + 1).build().refit(lower, lower)
    tree.validate()
    assert tree.query_box([0, 0, 0], [2, 2, 2]).tolist() == [0]


def test_nothing_that_moves():
    nothing = bw.Mesh(np.zeros((0, 3)), faces_of([])).build().refit(np.zeros((0, 3)))
    nothing.validate()
    bw.BoxTree(np.zeros((0, 2)), np.zeros((0, 2))).build().refit(np.zeros((0, 2)), np.zeros((0, 2))).validate()
