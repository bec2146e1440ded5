"""Objects come, move and go: ids are stable, answers stay right, and what fails changes nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from boxes_to_ask import BY_DIMENSION, KINDS, NAMES, ask_all, assert_same, questions
from boxwood.index import BruteForce
from worlds import INTERPRETED

pytestmark = pytest.mark.small
ALL, ALL_NAMES = [(BruteForce, 2), (BruteForce, 3), *KINDS], ["BruteForce-2D", "BruteForce-3D", *NAMES]


class Changes(RuleBasedStateMachine):
    """All structures of a dimension beside brute force; any change is made to all of them."""

    @initialize(seed=st.integers(0, 2**20), dimension=st.sampled_from([2, 3]), count=st.integers(0, 60))
    def begin(self, seed, dimension, count):
        self.rng, self.dimension = np.random.default_rng(seed), dimension
        boxes = self.some_boxes(count)
        self.brute = BruteForce(*boxes)
        self.structures = [structure(*boxes) for structure in BY_DIMENSION[dimension]]

    def some_boxes(self, count):
        scale = 10.0 ** self.rng.integers(-1, 3)
        lower = self.rng.integers(-9, 10, (count, self.dimension)) * 0.5 * scale
        return lower, lower + self.rng.integers(0, 4, (count, self.dimension)) * 0.5 * self.rng.choice([0, 1, scale])

    def some_ids(self, part, replace=False):
        ids = self.brute.ids
        return self.rng.choice(ids, min(len(ids), int(len(ids) * part) + 1), replace=replace) if len(ids) else ids

    @rule(count=st.sampled_from([0, 1, 3, 30]))
    def insert(self, count):
        boxes = self.some_boxes(count)
        ids = self.brute.insert(*boxes)
        for structure in self.structures:
            assert structure.insert(*boxes).tolist() == ids.tolist()

    @rule()
    def insert_one(self):
        lower, upper = self.some_boxes(1)
        number = self.brute.insert(lower[0], upper[0])
        assert [structure.insert(lower[0], upper[0]) for structure in self.structures] == [number] * len(
            self.structures
        )

    @rule(part=st.sampled_from([0, 0.3, 1]), replace=st.booleans())
    def move(self, part, replace):
        ids = self.some_ids(part, replace)
        boxes = self.some_boxes(len(ids))
        for structure in (self.brute, *self.structures):
            structure.move(ids, *boxes)

    @rule(part=st.sampled_from([0, 0.3, 1]))
    def nudge(self, part):
        ids = self.some_ids(part)
        lower, upper = self.brute.boxes(ids)
        step = self.rng.normal(size=lower.shape) * 0.01
        for structure in (self.brute, *self.structures):
            structure.move(ids, lower + step, upper + step)

    @rule(part=st.sampled_from([0, 0.3, 0.6]))
    def remove(self, part):
        ids = self.some_ids(part)
        for structure in (self.brute, *self.structures):
            structure.remove(ids)

    @rule()
    def ask(self):
        asked = questions("lattice", int(self.rng.integers(1000)), 6, self.dimension, np.float64)
        wanted = ask_all(self.brute, asked)
        for structure in self.structures:
            assert_same(ask_all(structure, asked), wanted)

    @invariant()
    def sound(self):
        for structure in self.structures:
            structure.validate()
            assert structure.ids.tolist() == self.brute.ids.tolist()

    def teardown(self):
        if hasattr(self, "brute"):
            self.ask()


TestChanges = Changes.TestCase
if INTERPRETED:
    TestChanges.settings = __import__("hypothesis").settings(max_examples=3, stateful_step_count=8)


@pytest.mark.parametrize(("structure", "dimension"), ALL, ids=ALL_NAMES)
def test_ids_count_up_and_are_never_given_twice(structure, dimension):
    corner = np.zeros((3, dimension))
    built = structure(corner, corner)
    built.remove([0, 2])
    assert built.insert(corner, corner + 1).tolist() == [3, 4, 5]
    assert built.ids.tolist() == [1, 3, 4, 5]
    number = built.insert(corner[0], corner[0])
    assert number == 6
    assert np.ndim(number) == 0
    lower, upper = built.boxes(4)
    assert (lower.tolist(), upper.tolist()) == ([0] * dimension, [1] * dimension)
    assert built.query_box(corner[0] + 1, corner[0] + 1).tolist() == [3, 4, 5]


@pytest.mark.parametrize(("structure", "dimension"), ALL, ids=ALL_NAMES)
def test_ids_that_are_not_there(structure, dimension):
    corner = np.zeros((5, dimension))
    built = structure(corner, corner)
    built.remove(3)
    for ids, fault in (
        ([0, 7], "id 7 was never given to an object"),
        ([0, -1], "id -1 was never given"),
        ([2, 3], "id 3 was removed"),
        (3, "id 3 was removed"),
    ):
        with pytest.raises(KeyError, match=fault):
            built.remove(ids)
        with pytest.raises(KeyError, match=fault):
            built.move(ids, corner[0], corner[0] + 9)
        with pytest.raises(KeyError, match=fault):
            built.boxes(ids)
    with pytest.raises(KeyError, match="id 1 is given twice"):
        built.remove([1, 0, 1])
    built.validate()
    assert built.ids.tolist() == [0, 1, 2, 4]
    assert built.query_box(corner[0], corner[0]).tolist() == [0, 1, 2, 4]
    assert built.query_box(corner[0] + 1, corner[0] + 9).tolist() == []


@pytest.mark.parametrize(("structure", "dimension"), ALL, ids=ALL_NAMES)
def test_the_last_box_of_an_id_counts(structure, dimension):
    corner = np.zeros((2, dimension))
    built = structure(corner, corner)
    built.move([0, 0], [corner[0] + 5, corner[0] + 9], [corner[0] + 6, corner[0] + 9])
    built.validate()
    assert built.nearest(corner[0] + 9).ids.tolist() == [0]
    assert built.query_box(corner[0] + 5, corner[0] + 6).tolist() == []


@pytest.mark.parametrize(("structure", "dimension"), KINDS, ids=NAMES)
def test_what_fails_changes_nothing(structure, dimension):
    rng = np.random.default_rng(1)
    lower = rng.uniform(0, 9, (20, dimension))
    built = structure(lower, lower + 1)
    asked = questions("lattice", 1, 5, dimension, np.float64)
    wanted = ask_all(built, asked)
    bad = lower.copy()
    bad[4, 1] = np.nan
    for change in (
        lambda: built.insert(bad, lower + 1),
        lambda: built.insert(lower + 2, lower + 1),
        lambda: built.move(np.arange(20), bad, bad),
        lambda: built.move([0, 1], lower[:3], lower[:3]),
        lambda: built.move(np.arange(19), lower[:1, :1], lower[:19]),
        lambda: built.move([0.5], lower[:1], lower[:1]),
        lambda: built.remove([[0]]),
    ):
        with pytest.raises(ValueError):  # noqa: PT011  (what it says is tested elsewhere)
            change()
        built.validate()
        assert_same(ask_all(built, asked), wanted)


@pytest.mark.parametrize(("structure", "dimension"), ALL, ids=ALL_NAMES)
def test_float64_makes_float32_wider(structure, dimension):
    corner = np.zeros((1, dimension), np.float32)
    built = structure(corner, corner)
    assert built.dtype == np.float32
    assert built.nearest(corner).distances.dtype == np.float32
    assert built.nearest(corner.astype(np.float64)).distances.dtype == np.float64
    built.insert(corner + np.float64(0.1), corner + np.float64(0.1))
    assert built.dtype == np.float64
    assert built.query_box(corner[0] + 0.1, corner[0] + 1.0).tolist() == []  # 0.1 of float32 is more
    assert built.query_box(wide(corner[0]) + 0.1, wide(corner[0]) + 1.0).tolist() == [1]


def wide(array):
    return array.astype(np.float64)
