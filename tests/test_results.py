"""Frozen answers: shapes, points and normals on demand, pickles and copies, and the counters."""

from __future__ import annotations

import copy
import math
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from boxwood.results import AllHits, Counters, Hits

pytestmark = pytest.mark.small

# Face 0 lies in z = 0 and faces up, face 1 stands in x = 0 and faces -x; the second is far away for its size.
VERTICES = np.array(
    [[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 3], [1e6, 1e6, 1e6], [1e6 + 1, 1e6, 1e6], [1e6, 1e6 + 1, 1e6]]
)
FACES = np.array([[0, 1, 2], [0, 3, 2], [4, 5, 6]], np.int32)
COPIES = [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))]


def hits(ids, uvs, dtype=np.float64, vertices=VERTICES):
    ids = np.array(ids, np.int64)
    t_hit = np.where(ids < 0, np.inf, 1).astype(dtype)[()]
    return Hits(t_hit, ids[()], np.array(uvs, dtype), surface=(vertices.astype(dtype), FACES))


def all_hits(vertices=VERTICES):
    ids = np.array([0, 1, 1, 0, 2])
    uvs = np.array([[0.5, 0], [0, 0.5], [0.25, 0.25], [0, 0], [0.5, 0.5]])
    return AllHits(
        np.array([0, 2, 2, 5]), np.array([0, 0, 2, 2, 2]), np.arange(5.0), ids, uvs, surface=(vertices, FACES)
    )


BATCH_IDS = [[0, -1, 1], [2, -1, 0]]
BATCH_UVS = [[[0.5, 0.25], [np.nan, np.nan], [0.5, 0]], [[0.25, 0.5], [np.nan, np.nan], [0, 1]]]
BATCH_POINTS = [[[1, 0.5, 0], [np.nan] * 3, [0, 0, 1.5]], [[1e6 + 0.25, 1e6 + 0.5, 1e6], [np.nan] * 3, [0, 2, 0]]]
BATCH_NORMALS = [[[0, 0, 1], [np.nan] * 3, [-1, 0, 0]], [[0, 0, 1], [np.nan] * 3, [0, 0, 1]]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_points_and_normals_of_a_batch(dtype):
    answer = hits(BATCH_IDS, BATCH_UVS, dtype)
    assert answer.hit.tolist() == [[True, False, True], [True, False, True]]
    assert answer.points.dtype == answer.normals.dtype == dtype
    np.testing.assert_array_equal(answer.points, np.array(BATCH_POINTS, dtype))
    np.testing.assert_array_equal(answer.normals, np.array(BATCH_NORMALS, dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_single_ray_has_scalars_and_vectors(dtype):
    answer = hits(1, [0.5, 0], dtype)
    assert answer.hit
    assert type(answer.hit) is np.bool
    assert type(answer.t_hit) is dtype
    assert answer.points.tolist() == [0, 0, 1.5]
    assert answer.normals.tolist() == [-1, 0, 0]
    missed = hits(-1, [np.nan, np.nan], dtype)
    assert not missed.hit
    assert missed.points.shape == missed.normals.shape == (3,)
    assert np.isnan(missed.points).all()
    assert np.isnan(missed.normals).all()


def test_no_rays_and_an_empty_mesh():
    none = hits(np.zeros((0, 4)), np.zeros((0, 4, 2)))
    assert none.points.shape == none.normals.shape == (0, 4, 3)
    empty = (np.zeros((0, 3)), np.zeros((0, 3), np.int32))
    missed = Hits(np.full(2, np.inf), np.full(2, -1), np.full((2, 2), np.nan), surface=empty)
    assert np.isnan(missed.points).all()
    assert missed.normals.shape == (2, 3)


def test_points_stay_on_the_surface_far_from_the_origin():
    vertices = VERTICES + np.array([5e5, 4e6, 100])
    uvs = np.random.default_rng(5).random((100, 2)) / 2
    points = hits([1] * 100, uvs, vertices=vertices).points
    assert (points[:, 0] == vertices[0, 0]).all()  # face 1 stands at one x
    exact = vertices[0] + uvs[:, :1] * (vertices[3] - vertices[0]) + uvs[:, 1:] * (vertices[2] - vertices[0])
    assert np.abs(points - exact).max() <= np.spacing(4e6)
    narrow = hits([1] * 100, uvs, np.float32, vertices)
    assert (narrow.points[:, 0] == np.float32(vertices[0, 0])).all()


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1e30, 1e150])
def test_normals_are_unit_at_any_scale(scale):
    sliver = np.array([[0, 0, 0], [1, 0, 0], [1, 0, -1e-9], [0, 1, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]) * scale
    normals = hits([0, 1], np.zeros((2, 2)), vertices=sliver).normals
    np.testing.assert_allclose(np.linalg.norm(normals[0]), 1, rtol=1e-15)
    np.testing.assert_allclose(normals[0], [0, 1, 0], atol=1e-15)


def test_without_a_surface_there_are_no_points():
    bare = Hits(np.ones(1), np.zeros(1, np.int64), np.zeros((1, 2)))
    assert bare.hit.all()
    for name in ("points", "normals"):
        with pytest.raises(ValueError, match="without a surface"):
            getattr(bare, name)


@pytest.mark.parametrize("name", ["t_hit", "points", "colour"])
def test_answers_are_frozen(name):
    for answer in (hits(0, [0, 0]), all_hits()):
        with pytest.raises(AttributeError):
            setattr(answer, name, 1)


@pytest.mark.parametrize("duplicate", COPIES)
@pytest.mark.parametrize("spare_vertices", [0, 10_000])
def test_hits_pickle_and_copy(duplicate, spare_vertices):
    vertices = np.concatenate([VERTICES, np.ones((spare_vertices, 3))])
    for original in (hits(BATCH_IDS, BATCH_UVS, vertices=vertices), hits(1, [0.5, 0], vertices=vertices)):
        answer = duplicate(original)
        for name in ("t_hit", "primitive_ids", "uvs", "hit", "points", "normals"):
            np.testing.assert_array_equal(getattr(answer, name), getattr(original, name))
        assert len(pickle.dumps(answer)) < 3000  # a few hits do not carry a large mesh along
        np.testing.assert_array_equal(duplicate(answer).points, original.points)


@pytest.mark.parametrize("duplicate", [lambda value: value, *COPIES])
@pytest.mark.parametrize("spare_vertices", [0, 10_000])
def test_all_hits_by_ray(duplicate, spare_vertices):
    every = duplicate(all_hits(np.concatenate([VERTICES, np.ones((spare_vertices, 3))])))
    assert len(every) == 3
    assert [of_ray.t_hit.tolist() for of_ray in every] == [[0, 1], [], [2, 3, 4]]
    assert every[2].primitive_ids.tolist() == every[np.int64(-1)].primitive_ids.tolist() == [1, 0, 2]
    assert every.points[:3].tolist() == [[1, 0, 0], [0, 1, 0], [0, 0.5, 0.75]]
    assert every.normals.shape == (5, 3)
    for ray, of_ray in enumerate(every):
        assert isinstance(of_ray, Hits)
        np.testing.assert_array_equal(of_ray.points, every.points[every.ray_ids == ray])
        np.testing.assert_array_equal(of_ray.normals, every.normals[every.ray_ids == ray])
    for ray in (3, -4):
        with pytest.raises(IndexError, match=f"no ray {ray} among 3"):
            every[ray]


def test_representations_tell_shapes():
    assert (
        repr(hits(BATCH_IDS, BATCH_UVS)) == "Hits(t_hit=float64[2, 3], primitive_ids=int64[2, 3], uvs=float64[2, 3, 2])"
    )
    assert repr(hits(1, [0.5, 0])) == "Hits(t_hit=1.0, primitive_ids=1, uvs=float64[2])"
    assert repr(all_hits()).startswith("AllHits(ray_splits=int64[4], ray_ids=int64[5], t_hit=float64[5], ")


def test_answers_compare_by_identity():
    answer = hits(BATCH_IDS, BATCH_UVS)
    assert answer == answer
    assert answer != hits(BATCH_IDS, BATCH_UVS)
    assert len({answer, answer}) == 1


def test_counters_add_up_over_threads():
    counters = Counters()
    assert math.isnan(counters.boxes_per_query)
    with ThreadPoolExecutor(4) as pool:
        for _ in range(1000):
            pool.submit(counters.add, queries=np.int64(2), boxes_tested=3, primitives_tested=1, hits=1)
    assert counters == Counters(queries=2000, boxes_tested=3000, primitives_tested=1000, hits=1000)
    assert (counters.boxes_per_query, counters.primitives_per_query) == (1.5, 0.5)
    assert repr(counters) == "Counters(queries=2000, boxes_tested=3000, primitives_tested=1000, hits=1000)"
    assert type(counters.queries) is int


@pytest.mark.parametrize("duplicate", COPIES)
def test_counters_copy_and_reset_apart(duplicate):
    counters = Counters(queries=1, hits=1)
    other = duplicate(counters)
    assert other == counters
    other.add(hits=4)
    counters.reset()
    assert counters == Counters()
    assert other == Counters(queries=1, hits=5)
