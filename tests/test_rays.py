"""What the four questions about rays answer on meshes small enough to know the answers by heart."""

from __future__ import annotations

import numpy as np
import pytest

import boxwood as bw
from worlds import DTYPES, assert_same, closed_mesh, cube, everything

pytestmark = pytest.mark.small

TRIANGLE = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
DOWN, UP = [0, 0, -1], [0, 0, 1]


def stack_of_triangles(heights, dtype=np.float64):
    """The same triangle at several heights, face i at heights[i]."""
    vertices = np.concatenate([np.array(TRIANGLE, float) + [0, 0, height] for height in heights])
    return bw.Mesh(vertices.astype(dtype), np.arange(len(vertices)).reshape(-1, 3))


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_triangle(dtype):
    mesh = bw.Mesh(np.array(TRIANGLE, dtype), [[0, 1, 2]])
    hit = mesh.raycast(np.array([0.25, 0.5, 2], dtype), np.array(DOWN, dtype))
    assert hit.t_hit == 2
    assert hit.t_hit.dtype == dtype
    assert hit.primitive_ids == 0
    assert hit.primitive_ids.dtype == np.int64
    assert hit.uvs.tolist() == [0.25, 0.5]
    assert hit.uvs.dtype == dtype
    assert hit.points.tolist() == [0.25, 0.5, 0]
    miss = mesh.raycast(np.array([0.75, 0.5, 2], dtype), np.array(DOWN, dtype))
    assert miss.t_hit == np.inf
    assert miss.primitive_ids == -1
    assert np.isnan(miss.uvs).all()
    assert not miss.hit


@pytest.mark.parametrize("origin", [(0, 0, 2), (1, 0, 2), (0, 1, 2), (0.5, 0, 2), (0, 0.5, 2), (0.5, 0.5, 2)])
@pytest.mark.parametrize("direction", [DOWN, [-0.0, 0.0, -1.0], [0.0, -0.0, -3.0]])
def test_corners_and_edges_count_for_raycast_and_occluded(origin, direction):
    mesh = bw.Mesh(TRIANGLE, [[0, 1, 2]])
    hit = mesh.raycast(origin, direction)
    assert hit.t_hit == 2 / -direction[2]
    assert mesh.occluded(origin, direction)
    assert hit.points.tolist() == [origin[0], origin[1], 0]
    assert mesh.count_hits(origin, direction) in (0, 1)


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("dtype", DTYPES)
def test_along_each_axis(axis, sign, dtype):
    mesh = closed_mesh("cube", dtype)
    direction, origin = np.zeros(3, dtype), np.array([0.25, 0.5, 0.125], dtype)
    direction[axis], origin[axis] = sign * 0.5, -3 * sign
    hit = mesh.raycast(origin, direction)
    assert hit.t_hit == 4
    np.testing.assert_array_equal(hit.points, origin + 4 * direction)
    np.testing.assert_array_equal(hit.normals, -2 * direction)
    assert mesh.raycast_all(origin, direction).t_hit.tolist() == [4, 8]


def test_t_counts_in_multiples_of_the_direction():
    mesh = bw.Mesh(TRIANGLE, [[0, 1, 2]])
    lengths = 2.0 ** np.arange(-60, 61, 10)
    hits = mesh.raycast([0.25, 0.25, 2], np.outer(lengths, DOWN))
    np.testing.assert_array_equal(hits.t_hit, 2 / lengths)


def test_shapes_follow_the_batch():
    mesh = closed_mesh("cube", np.float64)
    origins = np.zeros((2, 3, 3))
    hits = mesh.raycast(origins, [1, 0, 0])
    assert (hits.t_hit.shape, hits.primitive_ids.shape, hits.uvs.shape) == ((2, 3), (2, 3), (2, 3, 2))
    assert hits.points.shape == (2, 3, 3)
    assert mesh.occluded(origins, UP).shape == (2, 3)
    assert mesh.count_hits([0, 0, 0], origins + [1, 0, 0]).shape == (2, 3)
    assert mesh.count_hits(np.zeros((2, 1, 3)), np.ones((3, 3))).shape == (2, 3)
    assert len(mesh.raycast_all(origins, UP)) == 6
    one = mesh.raycast([0, 0, 0], UP)
    assert np.shape(one.t_hit) == np.shape(one.primitive_ids) == ()
    assert one.uvs.shape == (2,)
    assert np.shape(mesh.occluded([0, 0, 0], UP)) == np.shape(mesh.count_hits([0, 0, 0], UP)) == ()
    assert len(mesh.raycast_all([0, 0, 0], UP)) == 1


def test_lists_integers_and_strides_are_the_same_rays():
    mesh = closed_mesh("sphere", np.float64)
    origins = np.array([[3, 1, 0], [-3, 0, 1], [0, 0, 3]])
    directions = np.array([[-3, -1, 0], [6, 1, -2], [1, 0, -4]])
    wanted = everything(mesh, (origins.astype(float), directions.astype(float)))
    assert wanted["occluded"].all()
    assert_same(wanted, everything(mesh, (origins.tolist(), directions.tolist())))
    assert_same(wanted, everything(mesh, (origins, directions)))
    wide = np.zeros((6, 6))
    wide[::2, ::2], wide[::2, 1::2] = origins, directions
    wide.setflags(write=False)
    assert_same(wanted, everything(mesh, (wide[::2, ::2], wide[::2, 1::2])))


@pytest.mark.parametrize(
    ("mesh_dtype", "ray_dtype", "computed"),
    [
        (np.float32, np.float32, np.float32),
        (np.float32, np.float64, np.float64),
        (np.float64, np.float32, np.float64),
        (np.float64, np.float64, np.float64),
    ],
)
def test_the_wider_dtype_computes(mesh_dtype, ray_dtype, computed):
    mesh = closed_mesh("sphere", mesh_dtype)
    origin, direction = np.array([0.1, 0.2, 3], ray_dtype), np.array([0.01, 0.02, -1], ray_dtype)
    hit = mesh.raycast(origin, direction)
    assert hit.t_hit.dtype == hit.uvs.dtype == computed
    wide = bw.Mesh(mesh.vertices.astype(float), mesh.faces)
    exact = wide.raycast(origin.astype(float), direction.astype(float))
    assert hit.primitive_ids == exact.primitive_ids
    if computed == np.float64:
        assert hit.t_hit == exact.t_hit
    else:
        assert abs(hit.t_hit - exact.t_hit) < 1e-6


def test_cull_drops_one_side():
    mesh = bw.Mesh(TRIANGLE, [[0, 1, 2]])  # its front is up
    above, below = ([0.25, 0.25, 1], DOWN), ([0.25, 0.25, -1], UP)
    edge_above, edge_below = ([0.5, 0, 1], DOWN), ([0.5, 0, -1], UP)
    for cull, sees_front, sees_back in ((None, True, True), ("back", True, False), ("front", False, True)):
        for ray, seen in ((above, sees_front), (below, sees_back), (edge_above, sees_front), (edge_below, sees_back)):
            assert mesh.raycast(*ray, cull=cull).hit == seen
            assert mesh.occluded(*ray, cull=cull) == seen
        assert mesh.count_hits(*above, cull=cull) == sees_front
        assert mesh.count_hits(*below, cull=cull) == sees_back
        assert mesh.raycast_all(*above, cull=cull).t_hit.tolist() == [1] * sees_front


@pytest.mark.parametrize("name", ["cube", "sphere", "torus"])
def test_cull_splits_the_crossings_of_a_closed_mesh(name):
    mesh = closed_mesh(name, np.float64, noise=0.01)
    rng = np.random.default_rng(7)
    origins = rng.normal(size=(50, 3))
    origins *= 4 / np.linalg.norm(origins, axis=1, keepdims=True)
    rays = origins, rng.uniform(-0.5, 0.5, (50, 3)) - origins
    both, fronts, backs = (mesh.count_hits(*rays, cull=cull) for cull in (None, "back", "front"))
    np.testing.assert_array_equal(fronts, backs)
    np.testing.assert_array_equal(both, fronts + backs)
    np.testing.assert_array_equal(mesh.occluded(*rays, cull="front"), both > 0)
    entries, exits = mesh.raycast(*rays, cull="back").t_hit, mesh.raycast(*rays, cull="front").t_hit
    assert (entries[both > 0] < exits[both > 0]).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_ranges_include_both_ends(dtype):
    mesh = stack_of_triangles([1, 2, 3], dtype)
    ray = np.array([0.25, 0.25, 0], dtype), np.array(UP, dtype)
    down, up = np.nextafter(dtype(2), dtype(0)), np.nextafter(dtype(2), dtype(9))
    for t_min, t_max, faces in (
        (0, np.inf, [0, 1, 2]), (2, np.inf, [1, 2]), (up, np.inf, [2]), (down, np.inf, [1, 2]), (0, 2, [0, 1]),
        (0, down, [0]), (0, up, [0, 1]), (2, 2, [1]), (up, down, []), (3, 1, []), (-np.inf, np.inf, [0, 1, 2]),
        (np.inf, np.inf, []), (0, -1, []), (-5, 1, [0]), (3, 3, [2]), (1, 1, [0]),
    ):  # fmt: skip
        wanted = everything(mesh, (ray[0][None], ray[1][None]), t_min=t_min, t_max=t_max)
        assert wanted["all_ids"].tolist() == faces
        assert wanted["count"].tolist() == [len(faces)]
        assert wanted["occluded"].tolist() == [bool(faces)]
        assert wanted["primitive_ids"].tolist() == (faces[:1] or [-1])
        per_ray = everything(mesh, (ray[0][None], ray[1][None]), t_min=np.array([t_min], dtype), t_max=[t_max])
        np.testing.assert_array_equal(per_ray["all_ids"], faces)


def test_ranges_per_ray():
    mesh = stack_of_triangles([1, 2, 3])
    hits = mesh.raycast([0.25, 0.25, 0], [UP] * 4, t_min=[0, 1.5, 2.5, 3.5], t_max=[np.inf, 1.75, 3, 9])
    assert hits.primitive_ids.tolist() == [0, -1, 2, -1]
    assert mesh.occluded([0.25, 0.25, 0], [UP] * 2, t_max=[0.5, 1]).tolist() == [False, True]
    assert mesh.count_hits([0.25, 0.25, 0], [UP] * 2, t_min=[1, 1.5], t_max=2).tolist() == [2, 1]


def test_behind_the_origin_counts_where_t_min_says_so():
    mesh = stack_of_triangles([-2, -1, 1])
    assert mesh.raycast([0.25, 0.25, 0], UP).t_hit == 1
    assert mesh.raycast([0.25, 0.25, 0], UP, t_min=-1).t_hit == -1
    assert mesh.raycast([0.25, 0.25, 0], UP, t_min=-np.inf).t_hit == -2


def test_an_origin_on_the_surface_hits_at_zero():
    mesh = closed_mesh("cube", np.float64)
    assert mesh.raycast([0.25, 0.5, 1], UP).t_hit == 0
    assert mesh.raycast([0.25, 0.5, 1], DOWN).t_hit == 0
    assert mesh.raycast([0.25, 0.5, 1], DOWN, t_min=1e-9).t_hit == 2
    assert mesh.count_hits([0.25, 0.5, 1], UP) == 1
    assert not mesh.occluded([0.25, 0.5, 1], UP, t_min=1e-9)


def test_of_equal_t_the_smallest_id_wins():
    vertices = np.array(TRIANGLE, float)
    mesh = bw.Mesh(vertices, [[0, 1, 2], [1, 2, 0], [2, 1, 0], [0, 1, 2]] * 10)
    hit = mesh.raycast([0.25, 0.25, 1], DOWN)
    assert hit.primitive_ids == 0
    assert hit.uvs.tolist() == [0.25, 0.25]
    assert mesh.raycast_all([0.25, 0.25, 1], DOWN).primitive_ids.tolist() == list(range(40))
    assert mesh.raycast([0.25, 0.25, 1], DOWN, cull="front").primitive_ids == 2


def test_the_middle_of_a_cube_s_corner_belongs_to_the_smallest_face():
    vertices, faces = cube()
    mesh = bw.Mesh(vertices, faces)
    hit = mesh.raycast([2, 2, 2], [-1, -1, -1])
    assert hit.t_hit == 1
    assert hit.primitive_ids == min(i for i, face in enumerate(faces) if 7 in face)


def test_all_hits_are_sorted_by_ray_t_and_face():
    mesh = stack_of_triangles([3, 1, 2, 1, 3])
    every = mesh.raycast_all([[0.25, 0.25, 0], [5, 5, 0], [0.25, 0.25, 4]], [UP, UP, DOWN])
    assert every.ray_splits.tolist() == [0, 5, 5, 10]
    assert every.ray_ids.tolist() == [0] * 5 + [2] * 5
    assert every.t_hit.tolist() == [1, 1, 2, 3, 3] * 2
    assert every.primitive_ids.tolist() == [1, 3, 2, 0, 4, 0, 4, 2, 1, 3]


@pytest.mark.parametrize("count", [1, 3, 4, 5, 40, 300])
def test_many_hits_on_few_rays(count):
    """More than a chunk has room for at the beginning."""
    heights = np.random.default_rng(count).permutation(count)
    mesh = stack_of_triangles(heights + 1)
    every = mesh.raycast_all([[5, 5, 0]] + [[0.25, 0.25, 0]] * 3 + [[5, 5, 0]], UP)
    assert every.ray_splits.tolist() == [0, 0, count, 2 * count, 3 * count, 3 * count]
    for i in (1, 2, 3):
        assert every[i].t_hit.tolist() == list(range(1, count + 1))
        assert every[i].primitive_ids.tolist() == np.argsort(heights).tolist()


def test_rays_in_a_face_s_plane_miss_it_and_hit_its_neighbours():
    triangle = bw.Mesh(TRIANGLE, [[0, 1, 2]])
    assert not triangle.occluded([-1, 0.25, 0], [1, 0, 0])
    assert triangle.count_hits([-1, 0.25, 0], [1, 0, 0]) == 0
    mesh = closed_mesh("cube", np.float64)
    hit = mesh.raycast([-3, 0.25, 1], [1, 0, 0])
    assert hit.t_hit == 2
    assert mesh.count_hits([-3, 0.25, 1], [1, 0, 0]) % 2 == 0


def test_counters_tell_the_work_and_change_no_answer():
    mesh = closed_mesh("sphere", np.float64)
    rng = np.random.default_rng(0)
    origins = rng.normal(size=(40, 3)) * 2
    rays = origins, -origins
    plain = everything(mesh, rays)
    counters = bw.Counters()
    assert_same(plain, everything(mesh, rays, counters=counters))
    assert counters.queries == 160
    assert counters.hits == plain["occluded"].sum() * 2 + 2 * plain["count"].sum()
    assert 0 < counters.boxes_tested < 160 * 200
    assert 0 < counters.primitives_tested < 160 * len(mesh)


def test_progress_ends_with_all_rays():
    mesh, told = closed_mesh("cube", np.float64), []
    for ask in (mesh.raycast, mesh.occluded, mesh.raycast_all, mesh.count_hits):
        told.clear()
        ask(np.zeros((600, 3)), UP, progress=lambda *state: told.append(state))
        assert told[-1] == (600, 600)


def test_inputs_are_never_written_to():
    mesh = closed_mesh("cube", np.float64)
    origins, directions, t_max = np.zeros((5, 3)), np.ones((5, 3)), np.full(5, 2.0)
    before = origins.copy(), directions.copy(), t_max.copy()
    everything(mesh, (origins, directions), t_max=t_max)
    for array, copy in zip((origins, directions, t_max), before, strict=True):
        np.testing.assert_array_equal(array, copy)
        assert array.flags.writeable
