"""Boxes that nobody here made: candidate pairs of simulated cloth and rods, and the boxes of countries and counties."""

from __future__ import annotations

import json

import numpy as np
import pytest

import box_oracle
import boxwood as bw

SCENES = [("cloth-ball", "92"), ("rod-twist", "3036")]
MAPS = ["countries-10m_boxes.npz", "counties-10m_boxes.npz"]


class Moving:
    """Two frames of a simulation: a set of boxes for vertices, edges and faces, each around both frames."""

    def __init__(self, folder, dtype):
        frames = [bw.load(path) for path in sorted((folder / "frames").iterdir())]
        faces = frames[0].faces
        corners = np.arange(len(frames[0].vertices))[:, None], np.load(folder / "edges_igl.npy"), faces
        self.starts = np.cumsum([0, *map(len, corners)])  # ids count on from one kind to the next
        both = [np.concatenate([frame.vertices[kind] for frame in frames], axis=1) for kind in corners]
        self.arrays = [(one.min(axis=1).astype(dtype), one.max(axis=1).astype(dtype)) for one in both]
        self.vertices, self.edges, self.faces = (bw.BoxTree(*arrays) for arrays in self.arrays)


@pytest.fixture(scope="module")
def scene(request, shared):
    name, number = request.param[0]
    folder = shared / "ccd-scalable" / name
    if not folder.is_dir():
        pytest.skip(f"no folder {folder}")
    return Moving(folder, request.param[1]), folder / "boxes", number


every_scene = pytest.mark.parametrize(
    "scene",
    [(one, dtype) for one in SCENES for dtype in (np.float64, np.float32)],
    indirect=True,
    ids=lambda given: f"{given[0][0]}-{np.dtype(given[1])}",
)


def listed_in(path, starts):
    """Pairs of rows within each kind."""
    return np.array(json.loads(path.read_text(encoding="utf-8"))) - starts


def keys(pairs):
    """One number for each pair, in the same order."""
    return pairs[:, 0].astype(np.int64) << 32 | pairs[:, 1]


def missing(listed, found):
    """Those listed that are not among the pairs found, which are sorted."""
    one, other = keys(listed), keys(found)
    return listed[other[np.searchsorted(other, one).clip(max=len(other) - 1)] != one]


@every_scene
def test_every_listed_pair_of_edges_is_found(scene):
    moving, boxes, number = scene
    listed = listed_in(boxes / f"{number}ee.json", moving.starts[1])
    found = moving.edges.pairs()
    assert len(listed) > 4000
    assert missing(listed, found).tolist() == []
    assert_true_and_in_order(found, moving.arrays[1], moving.arrays[1])
    assert np.all(found[:, 0] < found[:, 1])


@every_scene
def test_every_listed_pair_of_vertex_and_face_is_found(scene):
    moving, boxes, number = scene
    listed = listed_in(boxes / f"{number}vf.json", [0, moving.starts[2]])
    found = moving.vertices.pairs(moving.faces)
    assert len(listed) > 800
    assert missing(listed, found).tolist() == []
    assert_true_and_in_order(found, moving.arrays[0], moving.arrays[2])
    turned = moving.faces.pairs(moving.vertices)[:, ::-1]
    np.testing.assert_array_equal(np.sort(keys(turned)), keys(found))


def assert_true_and_in_order(pairs, one, other):
    """All of them overlap, sorted by row, none twice."""
    i, j = pairs.T
    assert np.all((one[0][i] <= other[1][j]) & (one[1][i] >= other[0][j]))
    assert np.all(np.diff(keys(pairs)) > 0)


@every_scene
def test_faces_in_some_places_against_brute_force(scene):
    moving = scene[0]
    pairs = moving.faces.pairs()
    chosen = np.random.default_rng(3).choice(len(moving.faces), 50, replace=False)
    wanted = box_oracle.overlaps(*moving.arrays[2], *(array[chosen] for array in moving.arrays[2]))
    for row, face in enumerate(chosen):
        beside = np.sort(np.concatenate([pairs[pairs[:, 0] == face, 1], pairs[pairs[:, 1] == face, 0]]))
        np.testing.assert_array_equal(beside, np.setdiff1d(np.flatnonzero(wanted[row]), face))


@pytest.fixture(params=MAPS)
def map_boxes(request, shared):
    path = shared / "geo2d" / request.param
    if not path.exists():
        pytest.skip(f"no file {path}")
    with np.load(path, allow_pickle=False) as file:
        return file["boxes"]


both = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@both
def test_map_against_brute_force(map_boxes, dtype):
    lower, upper = np.ascontiguousarray(map_boxes[:, :2], dtype), np.ascontiguousarray(map_boxes[:, 2:], dtype)
    tree = bw.BoxTree(lower, upper)
    tree.validate()
    rng = np.random.default_rng(8)
    places = rng.uniform([-180, -90], [180, 90], (300, 2)).astype(dtype)
    places[::3] = lower[rng.integers(0, len(lower), 100)]  # corners, where boxes touch
    sizes = rng.uniform(0, 10, (300, 2)).astype(dtype)
    found = tree.query_box(places, places + sizes)
    np.testing.assert_array_equal(found.pairs, np.argwhere(box_oracle.overlaps(lower, upper, places, places + sizes)))
    radii = rng.uniform(0, 10, 300).astype(dtype)
    found = tree.query_sphere(places, radii)
    np.testing.assert_array_equal(found.pairs, np.argwhere(box_oracle.reached(lower, upper, places, radii, dtype)))
    nearest = tree.nearest(places, 5)
    distances, ids = box_oracle.nearest(lower, upper, places, 5, dtype)
    np.testing.assert_array_equal(nearest.ids, ids)
    np.testing.assert_array_equal(nearest.distances, distances)
    np.testing.assert_array_equal(tree.pairs(), box_oracle.pairs(lower, upper))


@both
def test_track_over_the_map_against_brute_force(map_boxes, dtype):
    lower, upper = np.ascontiguousarray(map_boxes[:, :2], dtype), np.ascontiguousarray(map_boxes[:, 2:], dtype)
    tree = bw.BoxTree(lower, upper)
    corners = np.unique(lower, axis=0)
    track = np.random.default_rng(9).permutation(corners)[:200]
    steps = np.diff(track, axis=0)
    met = tree.raycast_all(track[:-1], steps, t_max=1.0)
    times = box_oracle.times(lower, upper, track[:-1], track[:-1], steps, 0.0, 1.0, dtype)
    rows, t, ids = box_oracle.every(times)
    assert len(rows) > 100
    np.testing.assert_array_equal(met.ray_ids, rows)
    np.testing.assert_array_equal(met.t_hit, t)
    np.testing.assert_array_equal(met.primitive_ids, ids)
    first = tree.raycast(track[:-1], steps, t_max=1.0)
    np.testing.assert_array_equal(first.t_hit, box_oracle.first(times)[0])
    np.testing.assert_array_equal(first.primitive_ids, box_oracle.first(times)[1])
