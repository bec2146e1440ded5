"""BVH, BoxTree and brute force are of one mind, to the last bit, and stay so while objects come, move and go."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import box_worlds
import boxwood as bw
from boxes_to_ask import ask_all, assert_same, questions, world
from boxwood.index import BVH, BruteForce
from worlds import DTYPES, some

pytestmark = pytest.mark.small
dtypes = pytest.mark.parametrize("dtype", DTYPES, ids=["float32", "float64"])
dimensions = pytest.mark.parametrize("dimension", [2, 3])


@dtypes
@dimensions
@pytest.mark.parametrize("asked_dtype", DTYPES, ids=["asked float32", "asked float64"])
@pytest.mark.parametrize("kind", ["uniform", "clustered", "linear", "lattice"])
def test_tree_structure_and_brute_force_agree(kind, asked_dtype, dimension, dtype):
    boxes = world(kind, 21, some(1500, 60), dimension, dtype)
    asked = questions(kind, 22, some(1000, 12), dimension, asked_dtype)
    wanted = ask_all(BruteForce(*boxes), asked)
    assert_same(ask_all(BVH(*boxes), asked), wanted)
    assert_same(ask_all(bw.BoxTree(*boxes), asked), wanted)


@dtypes
@dimensions
def test_points_agree(dimension, dtype):
    points = world("lattice", 23, some(800, 60), dimension, dtype).lower
    asked = questions("lattice", 24, some(500, 12), dimension, dtype)
    wanted = ask_all(BruteForce.from_points(points), asked)
    assert_same(ask_all(BVH.from_points(points), asked), wanted)
    assert_same(ask_all(bw.BoxTree.from_points(points), asked), wanted)


@given(box_worlds.worlds(), box_worlds.worlds(12, near=True), st.integers(0, 2**16))
def test_any_set_agrees(boxes, other, seed):
    """Far from the origin too, and asked from near and far, in either dtype."""
    for which in (boxes, other):
        if which.dimension != boxes.dimension:
            continue
        lower, upper = box_worlds.boxes(which, seed, 8)
        center, radius = box_worlds.spheres(which, seed, 8)
        origins, directions = box_worlds.rays(which, seed, 8)
        planes = box_worlds.planes(which, seed, 8, 3)
        found = []
        for each in (BruteForce(*boxes), BVH(*boxes), bw.BoxTree(*boxes)):
            hits, nearest = each.raycast(origins, directions, t_max=1e3), each.nearest(center, 5)
            found.append([
                each.query_box(lower, upper).pairs, each.query_sphere(center, radius).pairs,
                each.query_sphere(center, radius.astype(which.dtype)).pairs, each.query_frustum(planes).pairs,
                hits.t_hit, hits.primitive_ids, nearest.distances, nearest.ids, each.pairs(),
            ])  # fmt: skip
        for answers in found[1:]:
            for answer, wanted in zip(answers, found[0], strict=True):
                np.testing.assert_array_equal(answer, wanted, strict=True)


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1e-40, 1e30, 1e150, 1e300])
def test_tiny_and_huge_sets_agree(size):
    boxes = world("lattice", 25, some(300, 40), 3, np.float64)
    asked = questions("lattice", 26, some(200, 12), 3, np.float64)
    small = bw.BoxTree(boxes.lower * size, boxes.upper * size)
    near = np.concatenate([asked.lower[:9] * size, asked.lower[:3]])
    for each in (BVH(small.lower, small.upper), small):
        wanted, found = (s.nearest(near, 5) for s in (BruteForce(small.lower, small.upper), each))
        np.testing.assert_array_equal(found.distances, wanted.distances)
        np.testing.assert_array_equal(found.ids, wanted.ids)
        spheres = [s.query_sphere(near, 2.0 * size).pairs for s in (BruteForce(small.lower, small.upper), each)]
        np.testing.assert_array_equal(*spheres)


def test_products_that_would_overflow_in_a_frustum():
    lower = np.array([[0, 0, 0], [1e200, -1e200, 0]])
    for each in (BruteForce(lower, lower), BVH(lower, lower), bw.BoxTree(lower, lower)):
        assert each.query_frustum([[1e200, 1e200, 0, 1]]).tolist() == [0, 1]


def small_steps(built, brute, boxes, rng):
    """Five rounds of moves that are small for most."""
    ids, (lower, upper) = brute.ids, boxes
    changed = []
    for _ in range(5):
        step = rng.normal(size=lower.shape) * 10.0 ** rng.uniform(-6, 0, (len(lower), 1))
        lower, upper = lower + step, upper + step
        brute.move(ids, lower, upper)
        changed.append(built.move(ids, lower, upper))
        built.validate()
    return changed


@dimensions
def test_moves_within_a_leaf_change_nothing(dimension):
    boxes = world("uniform", 27, some(800, 40), dimension, np.float64)
    built = BVH(*boxes)
    ids = np.arange(len(built))
    assert built.move(ids, *boxes) == 0
    middle = (boxes.lower + boxes.upper) / 2
    assert built.move(ids, middle * 0.5 + boxes.lower * 0.5, middle * 0.5 + boxes.upper * 0.5) == 0
    built.validate()
    told = built.statistics()
    assert (told.rebuilds, told.details["aside"], told.details["dead"]) == (0, 0, 0)


@dtypes
@dimensions
def test_a_few_stand_aside(dimension, dtype):
    """Together with the tree they answer; nothing is built anew."""
    count = some(1000, 60)
    boxes, rng = world("lattice", 28, count, dimension, dtype), np.random.default_rng(28)
    built, brute = BVH(*boxes), BruteForce(*boxes)
    some_ids = rng.permutation(count)[:20]
    other = world("lattice", 29, 40, dimension, dtype)
    for each in (built, brute):
        each.move(some_ids, other.lower[:20], other.upper[:20])
        each.insert(other.lower[20:], other.upper[20:])
        each.remove(some_ids[:7])
        each.remove(np.flatnonzero(~np.isin(np.arange(count), some_ids))[:9])
    built.validate()
    details = built.statistics().details
    assert built.statistics().rebuilds == 0
    assert details["aside"] > 5
    assert details["dead"] > 9
    asked = questions("lattice", 28, some(500, 12), dimension, dtype)
    assert_same(ask_all(built, asked), ask_all(brute, asked))
    for other in (pickle.loads(pickle.dumps(built)), copy.copy(built)):
        other.validate()
        other.remove(other.ids[:3])
        other.validate()
        built.validate()


@dimensions
def test_many_changes_build_anew(dimension):
    count = some(1500, 200)
    boxes, rng = world("clustered", 30, count, dimension, np.float64), np.random.default_rng(30)
    built, brute = BVH(*boxes), BruteForce(*boxes)
    changed = small_steps(built, brute, boxes, rng)
    assert 0 < sum(changed) < 5 * count
    assert built.statistics().rebuilds > 0
    asked = questions("clustered", 30, some(500, 12), dimension, np.float64)
    assert_same(ask_all(built, asked), ask_all(brute, asked))
    for each in (built, brute):
        each.remove(each.ids[::2])
        each.remove(each.ids[: count // 3])
    built.validate()
    assert_same(ask_all(built, asked), ask_all(brute, asked))


def test_float64_boxes_among_float32_ones():
    boxes = world("lattice", 31, 50, 2, np.float32)
    built, brute = BVH(*boxes), BruteForce(*boxes)
    assert built.dtype == np.float32
    for each in (built, brute):
        each.move(3, [0.1, 0.1], [0.3, 0.3])  # which float32 does not have
    built.validate()
    assert built.dtype == np.float64
    asked = questions("lattice", 31, 20, 2, np.float64)
    assert_same(ask_all(built, asked), ask_all(brute, asked))


def test_points_that_become_boxes():
    points = world("lattice", 32, 60, 3, np.float64).lower
    built, brute = BVH.from_points(points), BruteForce.from_points(points)
    for each in (built, brute):
        each.move([5, 6], points[5:7], points[5:7] + 0.5)
    built.validate()
    assert built.statistics().details["aside"] == 2
    asked = questions("lattice", 32, 20, 3, np.float64)
    assert_same(ask_all(built, asked), ask_all(brute, asked))


def test_how_it_is_built_is_chosen():
    boxes = world("uniform", 33, some(500, 60), 3, np.float64)
    asked = questions("uniform", 33, 20, 3, np.float64)
    wanted = ask_all(BVH(*boxes), asked)
    for options in ({"builder": "linear"}, {"quality": "high"}, {"leaf_size": 1}):
        assert_same(ask_all(BVH(*boxes, **options), asked), wanted)
    with pytest.raises(ValueError, match="builder must be one of"):
        BVH(*boxes, builder="best")
    with pytest.raises(ValueError, match="leaf_size must be"):
        BVH(*boxes, leaf_size=0)
