"""Pairs of overlapping boxes, within a set and between two: all of them, once, in order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import box_oracle
import boxwood as bw
from box_worlds import DIMENSIONS, DTYPES, KINDS, World, make, worlds
from boxwood.build.choose import BUILDERS
from worlds import some

pytestmark = pytest.mark.small


def assert_pairs(found, wanted):
    assert found.dtype == np.int64
    assert found.shape == (len(wanted), 2)
    np.testing.assert_array_equal(found, wanted)


def between(one, other):
    return np.argwhere(box_oracle.overlaps(other.lower, other.upper, one.lower, one.upper))


@given(worlds(), worlds())
def test_any_two_sets(one, other):
    assert_pairs(one.tree.pairs(), box_oracle.pairs(*one))
    if one.dimension == other.dimension:
        assert_pairs(one.tree.pairs(other.tree), between(one, other))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind(kind, dimension, dtype):
    world = make(kind, 11, some(400, 60), dimension, dtype)
    assert_pairs(world.tree.pairs(), box_oracle.pairs(*world))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("offset", [0.0, 1e6, -1e9])
@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0, 1e6])
def test_sets_of_other_sizes_and_dtypes(scale, offset, dtype):
    """Each tree has a space of its own; what lies between them must not lose a pair."""
    one = make("uniform", 12, some(300, 40), 3, np.float64, offset=offset)
    size = np.random.default_rng(12).choice(len(one.lower), some(200, 30))
    at = one.lower[size]
    other = World(at.astype(dtype), (at + scale).astype(dtype))
    other = World(other.lower, np.maximum(*other))
    assert_pairs(one.tree.pairs(other.tree), between(one, other))
    assert_pairs(other.tree.pairs(one.tree), between(other, one))


@pytest.mark.parametrize("builder", BUILDERS)
@pytest.mark.parametrize("leaf_size", [1, 4, 60])
def test_no_tree_changes_an_answer(builder, leaf_size):
    world = make("clustered", 13, some(300, 80), 2, np.float32)
    tree = world.tree.build(builder, leaf_size=leaf_size)
    assert_pairs(tree.pairs(), box_oracle.pairs(*world))
    assert_pairs(tree.pairs(world.tree), between(world, world))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_change_nothing(threads):
    world = make("uniform", 14, some(3000, 100), 3, np.float32)
    assert_pairs(world.tree.pairs(threads=threads), box_oracle.pairs(*world))


def test_a_set_with_itself_as_another():
    world = make("grid", 15, 90, 2, np.float64)
    assert_pairs(world.tree.pairs(world.tree), between(world, world))


def test_touching_is_overlapping():
    tree = bw.BoxTree([[0, 0], [1, 1], [2.5, 0], [1, 0]], [[1, 1], [2, 2], [3, 1], [1, 0.5]])
    assert tree.pairs().tolist() == [[0, 1], [0, 3]]


def test_many_at_one_point():
    count = some(1500, 40)
    tree = bw.BoxTree.from_points(np.full((count, 3), 7.5))
    pairs = tree.pairs()
    assert len(pairs) == count * (count - 1) // 2
    np.testing.assert_array_equal(pairs, np.argwhere(np.triu(np.ones((count, count), bool), 1)))


def test_huge_and_tiny_together():
    """From the size of an atom's nucleus to farther than float32 goes."""
    big = bw.BoxTree([[-1e300, -1e300], [1e299, 1e299]], [[0, 0], [1e300, 1e300]])
    small = bw.BoxTree.from_points([[-1e-300, -1e-300], [1e-300, 1e-300], [0, 0]])
    assert big.pairs(small).tolist() == [[0, 0], [0, 2]]
    assert small.pairs(big).tolist() == [[0, 0], [2, 0]]
    far = bw.BoxTree.from_points(np.float32([[3e38, 3e38], [-3e38, -3e38]]))
    assert big.pairs(far).tolist() == [[0, 1]]
    assert far.pairs().tolist() == []


def test_empty_sets():
    nothing, one = bw.BoxTree(np.empty((0, 2)), np.empty((0, 2))), bw.BoxTree([[0, 0]], [[1, 1]])
    for pairs in (nothing.pairs(), one.pairs(), nothing.pairs(one), one.pairs(nothing), nothing.pairs(nothing)):
        assert_pairs(pairs, np.empty((0, 2)))


def test_sets_of_other_dimensions_do_not_meet():
    with pytest.raises(ValueError, match="other has 3 dimensions, and this set 2"):
        bw.BoxTree([[0, 0]], [[1, 1]]).pairs(bw.BoxTree([[0, 0, 0]], [[1, 1, 1]]))


def test_what_is_no_set_does_not_meet():
    with pytest.raises(ValueError, match="other must be a set of boxes, not Mesh"):
        bw.BoxTree([[0, 0]], [[1, 1]]).pairs(bw.Mesh([], []))


def test_progress_ends_with_all():
    told = []
    counters = bw.Counters()
    tree = make("uniform", 16, some(2000, 60), 2, np.float32).tree
    pairs = tree.pairs(progress=lambda done, total: told.append((done, total)), counters=counters)
    assert told[-1][0] == told[-1][1]
    assert counters.hits == len(pairs)
    assert counters.queries == 1
    assert counters.boxes_tested > 0
    assert len(pairs) <= counters.primitives_tested <= len(tree) ** 2


def test_counting_changes_nothing_and_depends_on_no_threads():
    tree = make("uniform", 16, some(2000, 60), 2, np.float32).tree
    other = bw.BoxTree(tree.lower + 1, tree.upper + 2)
    for ask in (tree.pairs, lambda **options: tree.pairs(other, **options)):
        one, many = bw.Counters(), bw.Counters()
        found = ask(counters=one, threads=1)
        assert np.array_equal(found, ask(counters=many, threads=3))
        assert np.array_equal(found, ask())
        assert one == many
    nothing, counters = bw.BoxTree([], []), bw.Counters()
    nothing.pairs(counters=counters)
    assert (counters.queries, counters.boxes_tested, counters.primitives_tested, counters.hits) == (1, 0, 0, 0)
