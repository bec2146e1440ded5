"""query_box, query_sphere, query_frustum and nearest against brute force: every answer to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import box_oracle
import box_worlds
import boxwood as bw
from box_worlds import DIMENSIONS, DTYPES, KINDS, make, worlds

pytestmark = pytest.mark.small

BOTH = pytest.mark.parametrize("dtype", DTYPES)
PLANE_AND_SPACE = pytest.mark.parametrize("dimension", DIMENSIONS)


def assert_rows(found, wanted):
    """A Ragged against a matrix of (queries, boxes)."""
    assert isinstance(found, bw.Ragged)
    assert found.splits.dtype == found.ids.dtype == np.int64
    assert len(found) == len(wanted)
    np.testing.assert_array_equal(found.pairs, np.argwhere(wanted))


def assert_nearest(found, wanted):
    np.testing.assert_array_equal(found.distances, wanted[0], strict=True)
    np.testing.assert_array_equal(found.ids, wanted[1], strict=True)


def check(world, tree, seed, n=24):
    """All questions of this file about one set."""
    low, high = box_worlds.boxes(world, seed, n)
    assert_rows(tree.query_box(low, high), box_oracle.overlaps(*world, low, high))
    center, radius = box_worlds.spheres(world, seed, n)
    assert_rows(tree.query_sphere(center, radius), box_oracle.reached(*world, center, radius, np.float64))
    radius = radius.astype(world.dtype)
    assert_rows(tree.query_sphere(center, radius), box_oracle.reached(*world, center, radius, world.dtype))
    planes = box_worlds.planes(world, seed, n, seed % 5)
    assert_rows(tree.query_frustum(planes), box_oracle.inside(*world, planes))
    k = 1 + seed % 7
    assert_nearest(tree.nearest(center, k), box_oracle.nearest(*world, center, k, world.dtype))
    wanted = box_oracle.nearest(*world, center, k, world.dtype, radius)
    found = tree.nearest(center, k, max_distance=radius)
    assert_nearest(found, wanted)
    if len(tree) >= k:  # spheres that reach as far as was found find at least these
        wide = tree.nearest(center, k).distances[:, -1]
        assert_rows(tree.query_sphere(center, wide), box_oracle.reached(*world, center, wide, world.dtype))
        assert (np.diff(tree.query_sphere(center, wide).splits) >= k).all()


@given(worlds(), st.integers(0, 2**16))
def test_any_set(world, seed):
    check(world, world.tree, seed)


@BOTH
@PLANE_AND_SPACE
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind(kind, dimension, dtype):
    world = make(kind, 5, 150, dimension, dtype)
    check(world, world.tree, 5, 40)


@given(worlds(40), worlds(40, near=True), st.integers(0, 2**16))
def test_questions_from_another_world(world, other, seed):
    """In another dtype, and often far from the set."""
    if world.dimension != other.dimension:
        return
    tree = world.tree
    low, high = box_worlds.boxes(other, seed, 20)
    assert_rows(tree.query_box(low, high), box_oracle.overlaps(*world, low, high))
    radius = np.linalg.norm(low.astype(float) - high, axis=1)
    assert_rows(tree.query_sphere(low, radius), box_oracle.reached(*world, low, radius, np.float64))
    dtype = np.result_type(world.dtype, other.dtype)
    assert_nearest(tree.nearest(low, 3), box_oracle.nearest(*world, low, 3, dtype))


@BOTH
@pytest.mark.parametrize("distance", [1e3, 1e6, 1e9, 1e12, 1e15])
def test_points_far_from_the_set(distance, dtype):
    """The distances of many boxes are then one number, and the smallest ids win."""
    world = make("uniform", 7, 200, 3, dtype)
    way = np.random.default_rng(7).normal(size=(10, 3))
    points = (way * distance).astype(dtype)
    assert_nearest(world.tree.nearest(points, 5), box_oracle.nearest(*world, points, 5, dtype))
    radius = np.linalg.norm(points.astype(float), axis=1)
    assert_rows(world.tree.query_sphere(points, radius), box_oracle.reached(*world, points, radius, np.float64))


@PLANE_AND_SPACE
def test_touching_counts(dimension):
    one = np.ones(dimension)
    tree = bw.BoxTree([0 * one, 3 * one], [one, 4 * one])
    above = np.nextafter(1.0, 2.0)
    assert tree.query_box(one, 2 * one).tolist() == [0]
    assert tree.query_box(above * one, 2 * one).tolist() == []
    assert tree.query_sphere([2, *one[1:]], 1).tolist() == [0]
    assert tree.query_sphere([1.5, *one[1:]], 0.5).tolist() == [0]
    assert tree.query_sphere([1.5, *one[1:]], np.nextafter(0.5, 0)).tolist() == []
    assert tree.query_sphere(one, 0).tolist() == [0]
    plane = np.append(np.eye(dimension)[0], -1.0)
    assert tree.query_frustum([plane]).tolist() == [0, 1]
    plane[-1] = -above
    assert tree.query_frustum([plane]).tolist() == [1]


def test_float32_is_not_widened_or_narrowed():
    """0.1 in float32 lies above 0.1, and below nothing that is greater in float64."""
    tenth = np.float32(0.1)
    tree = bw.BoxTree.from_points(np.array([[tenth, 0]], np.float32))
    assert tree.dtype == np.float32
    assert tree.query_box(np.float32([0, 0]), np.array([tenth, 1], np.float32)).tolist() == [0]
    assert tree.query_box([0, 0], [0.1, 1]).tolist() == []
    assert tree.nearest(np.float32([0, 0])).distances.dtype == np.float32
    assert tree.nearest([0, 0]).distances.dtype == np.float64
    assert tree.nearest([0, 0]).distances[0] == np.float64(tenth)


def test_float64_beyond_what_float32_tells_apart():
    """Nodes are float32, and boxes that they cannot tell apart are."""
    x = 1e9 + np.arange(200) * 2.0**-20
    points = np.stack([x, -x], axis=1)
    points[0] = [-1e9, 1e9]  # so that all others lie within one rounding
    tree = bw.BoxTree.from_points(points)
    tree.validate()
    for i in (1, 57, 199):
        assert tree.query_box(points[i], points[i]).tolist() == [i]
        assert tree.query_sphere(points[i], 0).tolist() == [i]
        assert tree.nearest(points[i]).ids.tolist() == [i]


@pytest.mark.parametrize(
    ("dtype", "size"), [(np.float32, 3e38), (np.float32, 1e-40), (np.float64, 1e300), (np.float64, 1e-300)]
)
def test_huge_and_tiny_coordinates(dtype, size):
    """As for the same set at a usual size, where sizes differ by a power of two."""
    power = 2.0 ** np.floor(np.log2(size))
    wanted = make("uniform", 3, 90, 3, np.float32, scale=2.0**-10)
    if size < 1e-30:
        wanted = make("grid", 3, 90, 3, np.float32)
        power = np.finfo(dtype).tiny
    wanted = box_worlds.World(*(array.astype(dtype) for array in wanted))
    world = box_worlds.World(*((array.astype(float) * power).astype(dtype) for array in wanted))
    tree, usual = world.tree, wanted.tree
    tree.validate()
    low, high = box_worlds.boxes(wanted, 3, 50)
    scaled = [(array.astype(float) * power).astype(dtype) for array in (low, high)]
    assert_rows(tree.query_box(*scaled), box_oracle.overlaps(*wanted, low, high))
    radius = np.float64(2.0**-11)
    found = tree.query_sphere(scaled[0], radius * power)
    assert_rows(found, box_oracle.reached(*wanted, low, radius, dtype))
    there, here = tree.nearest(scaled[0], 4), usual.nearest(low, 4)
    np.testing.assert_array_equal(there.ids, here.ids)
    if size > 1:
        np.testing.assert_array_equal(there.distances, here.distances.astype(float) * power)


@pytest.mark.parametrize("size", [1e-30, 1e-200, 1.0])
def test_questions_farther_away_than_the_space_of_the_set_reaches(size):
    """A tiny set is magnified by a power of two, with which a coordinate of the question overflows."""
    world = make("grid", 9, 60, 3, np.float64, scale=size)
    tree = world.tree
    points = np.array([[1e300, 0, 0], [-1e300, 1e300, 1e-300], [0, 0, 1e308], [1e140, 1e150, -1e160]])
    found = tree.nearest(points, 3)
    assert found.ids.tolist() == [[0, 1, 2]] * 4
    np.testing.assert_allclose(found.distances[:, 0], [1e300, np.sqrt(2) * 1e300, 1e308, 1e160])
    assert tree.query_sphere(points, 1e299).ids.tolist() == list(range(60))  # of the last alone
    assert tree.query_box(-abs(points) - 10, abs(points) + 10).ids.tolist() == list(range(60)) * 4
    assert tree.query_box(points, points).ids.tolist() == []
    planes = [[1e-300, 0, 0, 1], [1, 0, 0, 1e300], [0, -1e300, 0, 1e300], [0, 1, 1, 1e-300 + 10 * size]]
    assert tree.query_frustum(planes).tolist() == np.flatnonzero(box_oracle.inside(*world, [planes])[0]).tolist()
    hits = tree.raycast(points, -points)
    assert hits.t_hit[:3] == pytest.approx(1)


@BOTH
def test_of_equally_near_ones_the_smaller_id_is_first(dtype):
    world = make("grid", 1, 300, 2, dtype)
    points = box_worlds.places(world, np.random.default_rng(1), 40)
    found = world.tree.nearest(points, 30)
    same = found.distances[:, 1:] == found.distances[:, :-1]
    assert same.any()
    assert np.all((found.ids[:, 1:] > found.ids[:, :-1]) | ~same)


def test_k_beyond_the_number_of_boxes():
    tree = bw.BoxTree.from_points([[0, 0], [3, 4]])
    found = tree.nearest([0, 0], 4)
    assert found.distances.tolist() == [0, 5, np.inf, np.inf]
    assert found.ids.tolist() == [0, 1, -1, -1]
    found = tree.nearest([0, 0], 4, max_distance=5)
    assert found.ids.tolist() == [0, 1, -1, -1]
    assert tree.nearest([0, 0], 4, max_distance=np.nextafter(5, 0)).ids.tolist() == [0, -1, -1, -1]


@PLANE_AND_SPACE
def test_shapes(dimension):
    world = make("uniform", 2, 50, dimension, np.float64)
    tree = world.tree
    low, high = (array.reshape(2, 3, dimension) for array in box_worlds.boxes(world, 2, 6))
    rows = tree.query_box(low, high)
    assert len(rows) == 6
    one = tree.query_box(low[1, 0], high[1, 0])
    assert one.dtype == np.int64
    np.testing.assert_array_equal(one, rows[3])
    least = low.min(axis=(0, 1))
    np.testing.assert_array_equal(tree.query_box(least, high[0]).ids, tree.query_box([least] * 3, high[0]).ids)
    assert len(tree.query_sphere(low[0], 1.0)) == 3
    assert len(tree.query_sphere(low[0, 0], [1.0, 2.0])) == 2
    assert len(tree.query_sphere(low, np.ones((2, 1)))) == 6
    assert tree.query_sphere(low[0, 0], 1).ndim == 1
    found = tree.nearest(low, 4)
    assert found.distances.shape == found.ids.shape == (2, 3, 4)
    single = tree.nearest(low[0, 0])
    assert single.distances.shape == single.ids.shape == (1,)
    np.testing.assert_array_equal(tree.nearest(low[0, 0], 4).ids, found.ids[0, 0])
    planes = box_worlds.planes(world, 2, 6, 4)
    rows = tree.query_frustum(planes.reshape(2, 3, 4, -1))
    assert len(rows) == 6
    np.testing.assert_array_equal(tree.query_frustum(planes[4]), rows[4])
    assert tree.query_frustum(np.empty((0, dimension + 1))).tolist() == list(range(50))
    assert len(tree.query_box(np.empty((0, dimension)), np.empty((0, dimension)))) == 0
    assert tree.nearest(np.empty((0, dimension)), 3).ids.shape == (0, 3)


@PLANE_AND_SPACE
@BOTH
def test_an_empty_set(dimension, dtype):
    nothing = np.empty((0, dimension), dtype)
    for tree in (bw.BoxTree(nothing, nothing), bw.BoxTree.from_points(nothing)):
        tree.validate()
        zero = np.zeros(dimension, dtype)
        assert tree.query_box(zero, zero).tolist() == []
        assert len(tree.query_box([zero] * 4, zero)) == 4
        assert tree.query_sphere(zero, 1e30).tolist() == []
        assert tree.query_frustum(np.ones((1, dimension + 1))).tolist() == []
        found = tree.nearest([zero, zero], 2)
        assert found.ids.tolist() == [[-1, -1]] * 2
        assert found.distances.dtype == dtype
        assert np.all(found.distances == np.inf)


def test_a_set_in_the_plane_is_not_asked_in_space():
    tree = bw.BoxTree([[0, 0]], [[1, 1]])
    with pytest.raises(ValueError, match=r"lower must have shape \(2,\) or \(\.\.\., 2\), not \(3,\)"):
        tree.query_box([0, 0, 0], [1, 1, 1])


def test_counters_tell_the_work():
    world = make("uniform", 4, 400, 3, np.float32)
    tree, counters = world.tree, bw.Counters()
    rows = tree.query_box(*box_worlds.boxes(world, 4, 30), counters=counters)
    assert (counters.queries, counters.hits) == (30, len(rows.ids))
    assert 0 < counters.primitives_tested < 30 * 400
    assert counters.boxes_tested > 30
    counters.reset()
    found = tree.nearest(world.lower[:20], 3, max_distance=0.1, counters=counters)
    assert (counters.queries, counters.hits) == (20, np.count_nonzero(found.ids >= 0))


@BOTH
@PLANE_AND_SPACE
def test_tiny_distances_in_a_usual_set(dimension, dtype):
    """Whose squares vanish although those of the set do not."""
    tiny = np.finfo(dtype).tiny * np.array([0, 1, 2, 4, 8])
    corner = np.zeros((7, dimension), dtype)
    corner[:5, 0], corner[5], corner[6] = tiny, 1, -1
    tree = bw.BoxTree.from_points(corner)
    found = tree.nearest(corner[0], 5)
    assert found.distances.tolist() == tiny.astype(dtype).tolist()
    assert found.ids.tolist() == [0, 1, 2, 3, 4]
    assert tree.nearest(corner[0], 5, max_distance=tiny[3]).ids.tolist() == [0, 1, 2, 3, -1]
    for i in range(5):
        assert tree.query_sphere(corner[0], tiny[i]).tolist() == list(range(i + 1))


def test_a_sphere_reaches_what_nearest_found():
    """Although the square of the root of 3 is less than 3."""
    tree = bw.BoxTree.from_points([[1, 1, 1], [9, 9, 9]])
    distance = float(tree.nearest([0, 0, 0]).distances[0])
    assert distance * distance < 3
    assert tree.query_sphere([0, 0, 0], distance).tolist() == [0]
    assert tree.nearest([0, 0, 0], max_distance=distance).ids.tolist() == [0]
    assert tree.query_sphere([0, 0, 0], np.nextafter(distance, 0)).tolist() == []
