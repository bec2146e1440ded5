"""Where structures break: far away, huge, all in one place, one object as large as the world."""

from __future__ import annotations

import numpy as np
import pytest

from boxes_to_ask import KINDS, NAMES, Questions, ask_all, assert_same, questions, world
from boxwood.index import BruteForce, SpatialHash, UniformGrid
from worlds import DTYPES, some

pytestmark = pytest.mark.small
kinds = pytest.mark.parametrize(("structure", "dimension"), KINDS, ids=NAMES)


@kinds
@pytest.mark.parametrize("offset", [1e4, -1e4, 1e9, -1e9, 1e15])
def test_far_from_the_origin(structure, dimension, offset):
    boxes = world("uniform", 1, some(500, 40), dimension, np.float64)
    asked = questions("uniform", 1, some(200, 10), dimension, np.float64)
    far = boxes._replace(lower=boxes.lower + offset, upper=boxes.upper + offset)
    asked = asked._replace(lower=asked.lower + offset, upper=asked.upper + offset)
    built = structure(*far)
    built.validate()
    assert_same(ask_all(built, asked), ask_all(BruteForce(*far), asked))


@kinds
@pytest.mark.parametrize("dtype", DTYPES, ids=["float32", "float64"])
def test_near_and_far_at_once(structure, dimension, dtype):
    """Objects about the origin, at 1e9, at -1e9 and at the end of float32."""
    rng = np.random.default_rng(2)
    places = np.array([0, 1e9, -1e9, 3e38, -3e38, 1e-30])
    center = places[rng.integers(0, 6, (some(300, 40), dimension))] + rng.normal(size=(some(300, 40), dimension))
    half = rng.choice([0, 1, 1e9], (len(center), 1))
    lower, upper = (center - half).astype(dtype), (center + half).astype(dtype)
    points = np.concatenate([lower[::5], np.zeros((1, dimension), dtype)])
    far = np.where(np.arange(len(points)) % 2 == 0, 1.0, 1e9).astype(dtype)
    asked = Questions(
        points,
        points + far[:, None],
        far,
        np.concatenate([np.sign(points)[:, None] + 0.5, far[:, None, None]], axis=2).astype(dtype),
        (rng.choice([-1, 0, 1], points.shape) + np.eye(dimension)[0] * 0.5).astype(dtype),
    )
    built, brute = structure(lower, upper), BruteForce(lower, upper)
    built.validate()
    assert_same(ask_all(built, asked), ask_all(brute, asked))
    for each in (built, brute):
        each.move(np.arange(len(center)), lower[::-1], upper[::-1])
    built.validate()
    assert_same(ask_all(built, asked), ask_all(brute, asked))


@kinds
def test_the_largest_numbers(structure, dimension):
    largest = np.finfo(np.float64).max
    lower = np.array([[-largest] * dimension, [0] * dimension, [largest] * dimension])
    upper = np.array([[-largest] * dimension, [largest] * dimension, [largest] * dimension])
    built, brute = structure(lower, upper), BruteForce(lower, upper)
    built.validate()
    for point in lower:
        assert built.query_box(point, point).tolist() == brute.query_box(point, point).tolist()
        assert built.query_sphere(point, 1e300).tolist() == brute.query_sphere(point, 1e300).tolist()
        assert built.nearest(point, k=2).ids.tolist() == brute.nearest(point, k=2).ids.tolist()
        hits = [each.raycast(point, [1] * dimension) for each in (built, brute)]
        assert hits[0].primitive_ids == hits[1].primitive_ids
    assert built.pairs().tolist() == [[1, 2]]


def test_distances_whose_square_is_beyond_the_numbers():
    brute = BruteForce.from_points([[0, 0], [3e200, 4e200], [3e-200, 4e-200]])
    assert brute.nearest([0, 0], k=3).distances == pytest.approx([0, 5e-200, 5e200], rel=1e-15, abs=0)
    assert brute.query_sphere([0, 0], 4e-200).tolist() == [0]
    assert brute.query_sphere([0, 0], 5.01e-200).tolist() == [0, 2]


@kinds
def test_many_objects_at_one_point(structure, dimension):
    count = some(10000, 300)
    corner = np.ones((count, dimension))
    built = structure(corner, corner)
    built.validate()
    assert len(built.query_sphere(corner[0], 0.0)) == count
    assert built.nearest(corner[0] * 3, k=3).ids.tolist() == [0, 1, 2]
    assert built.raycast(corner[0] * 0, corner[0]).primitive_ids == 0
    ids = np.arange(0, count, 2)
    built.move(ids, corner[ids] + 1e-9, corner[ids] + 1e-9)
    built.remove(np.arange(1, count, 2)[: count // 4])
    built.insert(corner[:10], corner[:10])
    built.validate()
    assert len(built) == count - count // 4 + 10
    assert len(built.query_box(corner[0], corner[0])) == count - len(ids) - count // 4 + 10


@kinds
def test_one_object_as_large_as_the_world(structure, dimension):
    rng = np.random.default_rng(3)
    lower = rng.uniform(-1, 1, (some(500, 40), dimension))
    upper = lower + 0.01
    lower[7], upper[7] = -1e12, 1e12
    built, brute = structure(lower, upper), BruteForce(lower, upper)
    asked = questions("lattice", 3, some(100, 10), dimension, np.float64)
    assert_same(ask_all(built, asked), ask_all(brute, asked))
    for each in (built, brute):
        each.move(7, lower[8], upper[8])
        each.move(9, [-1e15] * dimension, [1e15] * dimension)
        each.remove(11)
    built.validate()
    assert_same(ask_all(built, asked), ask_all(brute, asked))


@kinds
def test_questions_as_large_as_the_world(structure, dimension):
    boxes = world("clustered", 4, some(300, 40), dimension, np.float64)
    built = structure(*boxes)
    count = len(boxes.lower)
    assert built.query_box([-1e300] * dimension, [1e300] * dimension).tolist() == list(range(count))
    assert built.query_sphere([1e18] * dimension, 1e19).tolist() == list(range(count))
    assert built.query_sphere([1e200] * dimension, 1e199).tolist() == []  # squares of both are beyond the numbers
    assert built.query_sphere([1e200] * dimension, 1e201).tolist() == list(range(count))
    assert built.query_frustum(np.zeros((0, dimension + 1))).tolist() == list(range(count))
    assert built.nearest([1e200] * dimension, k=count).ids.min() == 0
    assert sorted(built.nearest([1e12] * dimension, k=count + 1).ids.tolist()) == [-1, *range(count)]


@kinds
def test_objects_beyond_the_first_bounds(structure, dimension):
    boxes = world("uniform", 5, some(300, 40), dimension, np.float64)
    built, brute = structure(*boxes), BruteForce(*boxes)
    asked = questions("uniform", 5, some(100, 10), dimension, np.float64)
    asked = asked._replace(lower=asked.lower * 3, upper=asked.lower * 3 + 5)
    for factor in (2, -3, 100):
        for each in (built, brute):
            each.insert(boxes.lower[:50] + factor * 50, boxes.upper[:50] + factor * 50)
            each.move(np.arange(20), boxes.lower[:20] - factor * 50, boxes.upper[:20] - factor * 50)
        built.validate()
        assert_same(ask_all(built, asked), ask_all(brute, asked))


def test_negative_places_are_floored_not_truncated():
    for structure in (UniformGrid, SpatialHash):
        built = structure.from_points([[-0.5, -0.5], [0.5, 0.5], [-1.5, 0.5]], cell_size=1.0)
        for lower, upper, ids in (
            ([-1, -1], [-0.25, -0.25], [0]),
            ([0, 0], [1, 1], [1]),
            ([-2, 0], [-1, 1], [2]),
            ([-0.75, -0.75], [0.75, 0.75], [0, 1]),
        ):
            assert built.query_box(lower, upper).tolist() == ids
        # Truncation would put these in one cell of the hash. A grid begins at its lowest place, so its rim is between.
        assert built.move(0, [0.25, -0.25], [0.25, -0.25]) == (structure is SpatialHash)


def test_hash_cells_that_share_a_list():
    """Few lists for many cells: ids seen through several cells and through other cells' lists come once."""
    rng = np.random.default_rng(6)
    lower = rng.uniform(-1e6, 1e6, (60, 3))
    built = SpatialHash.from_points(lower, cell_size=1.0)
    built.move(np.arange(60), lower, lower + 4)
    told = built.statistics().details
    assert told["lists"] == 64
    assert told["entries"] > 20 * told["lists"]
    assert built.query_box(lower, lower + 4).pairs.tolist() == [[i, i] for i in range(60)]
    built.validate()
    built.remove(np.arange(60))
    assert built.statistics().details["entries"] == 0


def test_staying_in_its_cells_changes_nothing():
    rng = np.random.default_rng(7)
    cells = rng.integers(-20, 20, (200, 3)).astype(float)
    for structure in (UniformGrid, SpatialHash):
        built = structure.from_points(cells + 0.25, cell_size=1.0)
        before = built.statistics().details
        offset = 0.25 if structure is UniformGrid else 0.5  # a grid begins at its lowest object
        assert built.move(np.arange(200), cells + offset + 0.1, cells + offset + 0.2) == 0
        assert built.statistics().details == before


def test_a_grid_is_built_anew_when_too_much_lies_beyond_it():
    rng = np.random.default_rng(8)
    built = UniformGrid.from_points(rng.uniform(0, 1, (200, 2)))
    built.insert(*[rng.uniform(5, 9, (200, 2))] * 2)
    assert built.statistics().rebuilds == 1
    assert built.statistics().details["beyond_rim"] == 0
    small = UniformGrid.from_points(rng.uniform(0, 1, (200, 2)), cell_size=0.1, max_bytes=2000)
    small.insert(*[rng.uniform(1000, 2000, (200, 2))] * 2)
    assert small.statistics().rebuilds == 0
    assert small.statistics().details["beyond_rim"] == 200
    small.validate()
    assert len(small.query_box([900, 900], [2000, 2000])) == 200
