"""Every structure gives what brute force gives, to the last bit; and brute force gives what plain NumPy gives."""

from __future__ import annotations

import copy
import doctest
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import boxwood as bw
from boxes_to_ask import KINDS, NAMES, all_by_numpy, ask_all, assert_same, questions, world
from boxwood import index
from boxwood.index import BruteForce
from worlds import DTYPES, some

COUNT, ASKED = some(2000, 60), some(1000, 12)
WORLDS = ("uniform", "clustered", "linear", "lattice")
pytestmark = pytest.mark.small
dtypes = pytest.mark.parametrize("dtype", DTYPES, ids=["float32", "float64"])


@dtypes
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("kind", WORLDS)
def test_brute_force_is_what_numpy_says(kind, dimension, dtype):
    boxes, asked = world(kind, 1, some(300, 40), dimension, dtype), questions(kind, 2, some(300, 12), dimension, dtype)
    assert_same(ask_all(BruteForce(*boxes), asked), all_by_numpy(boxes, asked))


@dtypes
@pytest.mark.parametrize(("structure", "dimension"), KINDS, ids=NAMES)
@pytest.mark.parametrize("kind", WORLDS)
def test_every_structure_equals_brute_force(kind, structure, dimension, dtype):
    boxes, asked = world(kind, 3, COUNT, dimension, dtype), questions(kind, 3, ASKED, dimension, dtype)
    built = structure(*boxes)
    built.validate()
    assert_same(ask_all(built, asked), ask_all(BruteForce(*boxes), asked))


@pytest.mark.parametrize(("structure", "dimension"), KINDS, ids=NAMES)
def test_after_all_objects_moved(structure, dimension):
    count = some(5000, 60)
    boxes, other = (world(kind, 4, count, dimension, np.float64) for kind in ("uniform", "clustered"))
    built, brute = structure(*boxes), BruteForce(*boxes)
    ids = np.random.default_rng(5).permutation(count)
    for each in (built, brute):
        each.move(ids, other.lower[ids], other.upper[ids])
    built.validate()
    asked = questions("clustered", 4, some(300, 12), dimension, np.float64)
    assert_same(ask_all(built, asked), ask_all(brute, asked))


@pytest.mark.parametrize(("structure", "dimension"), KINDS, ids=NAMES)
def test_small_moves_keep_answers(structure, dimension):
    count = some(2000, 60)
    boxes, rng = world("uniform", 6, count, dimension, np.float64), np.random.default_rng(7)
    built, brute = structure(*boxes), BruteForce(*boxes)
    ids = np.arange(count)
    for _ in range(5):
        step = rng.normal(size=(count, dimension)) * 0.05
        boxes = boxes._replace(lower=boxes.lower + step, upper=boxes.upper + step)
        for each in (built, brute):
            each.move(ids, *boxes)
        built.validate()
    asked = questions("uniform", 6, some(300, 12), dimension, np.float64)
    assert_same(ask_all(built, asked), ask_all(brute, asked))


@pytest.mark.parametrize(("structure", "dimension"), KINDS, ids=NAMES)
def test_one_and_many(structure, dimension):
    boxes = world("uniform", 8, some(500, 40), dimension, np.float64)
    built = structure(*boxes)
    asked = questions("uniform", 9, 6, dimension, np.float64)
    by_row = built.query_box(asked.lower, asked.upper)
    for row in range(6):
        assert built.query_box(asked.lower[row], asked.upper[row]).tolist() == by_row[row].tolist()
    shaped = built.query_box(asked.lower.reshape(2, 3, -1), asked.upper.reshape(2, 3, -1))
    assert shaped.ids.tolist() == by_row.ids.tolist()
    assert shaped.splits.tolist() == by_row.splits.tolist()
    hits = built.raycast(asked.points.reshape(2, 3, -1), asked.directions[0])
    assert (hits.t_hit.shape, hits.primitive_ids.shape, hits.uvs.shape) == ((2, 3), (2, 3), (2, 3, 2))
    one = built.raycast(asked.points[1], asked.directions[0])
    assert (float(one.t_hit), int(one.primitive_ids)) == (hits.t_hit[0, 1], hits.primitive_ids[0, 1])
    assert one.uvs.shape == (2,)
    assert built.nearest(asked.points.reshape(2, 3, -1), k=2).ids.shape == (2, 3, 2)
    assert built.nearest(asked.points[0]).ids.shape == (1,)
    assert isinstance(built.query_sphere(asked.points[:1], 1), bw.Ragged)
    assert built.query_frustum(asked.planes[0]).tolist() == built.query_frustum(asked.planes)[0].tolist()
    assert built.query_box(np.zeros((0, dimension)), np.zeros((0, dimension))).splits.tolist() == [0]


@pytest.mark.parametrize(("structure", "dimension"), [(BruteForce, 3), *KINDS], ids=["BruteForce", *NAMES])
def test_nothing_in_it(structure, dimension):
    built = structure(np.zeros((0, dimension)), np.zeros((0, dimension)))
    built.validate()
    corner = np.zeros(dimension)
    assert built.query_box(corner, corner).tolist() == []
    assert built.query_sphere([corner, corner], 1).splits.tolist() == [0, 0, 0]
    assert built.query_frustum(np.ones((1, dimension + 1))).tolist() == []
    hits = built.raycast(corner, corner + 1)
    assert (float(hits.t_hit), int(hits.primitive_ids)) == (np.inf, -1)
    nearest = built.nearest(corner, k=2)
    assert (nearest.distances.tolist(), nearest.ids.tolist()) == ([np.inf, np.inf], [-1, -1])
    assert built.pairs().shape == (0, 2)
    assert built.insert(corner, corner) == 0
    assert built.query_box(corner, corner).tolist() == [0]
    built.remove(0)
    built.validate()
    assert (len(built), built.ids.tolist()) == (0, [])
    assert built.query_box(corner, corner).tolist() == []


@pytest.mark.parametrize(("structure", "dimension"), [(BruteForce, 3), *KINDS], ids=["BruteForce", *NAMES])
def test_copies_are_independent(structure, dimension):
    boxes = world("uniform", 10, 30, dimension, np.float32)
    built = structure(*boxes)
    asked = questions("uniform", 10, 5, dimension, np.float32)
    wanted = ask_all(built, asked)
    for other in (pickle.loads(pickle.dumps(built)), copy.deepcopy(built), copy.copy(built)):
        other.validate()
        assert_same(ask_all(other, asked), wanted)
        other.remove(np.arange(20))
        other.insert(boxes.lower, boxes.upper)
        other.validate()
        built.validate()
        assert_same(ask_all(built, asked), wanted)


@pytest.mark.parametrize("name", index.__all__)
def test_examples_of_docstrings(name):
    thing = getattr(index, name)
    assert thing.__doc__
    runner = doctest.DocTestRunner()
    for example in doctest.DocTestFinder(recurse=False).find(thing, name):
        runner.run(example)
    assert runner.failures == 0
    if isinstance(thing, type) and issubclass(thing, index.Structure) and thing is not index.Structure:
        assert runner.tries > 0


def test_index_is_imported_when_it_is_used():
    code = "import sys, boxwood; assert 'boxwood.index' not in sys.modules; print(boxwood.index.KDTree.__name__)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "KDTree"


def test_threads_do_not_change_answers():
    boxes, asked = world("uniform", 11, 300, 3, np.float64), questions("uniform", 11, some(5000, 20), 3, np.float64)
    for structure, dimension in KINDS:
        if dimension == 3:
            built = structure(*boxes)
            one, two = (built.query_box(asked.lower, asked.upper, threads=n) for n in (1, 3))
            assert one.splits.tolist() == two.splits.tolist()
            assert one.ids.tolist() == two.ids.tolist()


def test_many_threads_ask_at_once():
    boxes, asked = world("uniform", 12, 200, 3, np.float64), questions("uniform", 12, 20, 3, np.float64)
    for structure, dimension in KINDS:
        if dimension == 3:
            built = structure(*boxes)
            wanted, failures = ask_all(BruteForce(*boxes), asked), []

            def ask(built=built, wanted=wanted, failures=failures):
                try:
                    assert_same(ask_all(built, asked), wanted)
                except BaseException as error:
                    failures.append(error)

            threads = [threading.Thread(target=ask) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert failures == []


@pytest.mark.parametrize(("structure", "dimension"), KINDS, ids=NAMES)
def test_statistics_tell_of_the_structure(structure, dimension):
    built = structure(*world("uniform", 13, 50, dimension, np.float64))
    told = built.statistics()
    assert (told.objects, told.rebuilds) == (50, 0)
    assert told.bytes > 50 * 48
    assert told.build_seconds > 0
    assert told.details
