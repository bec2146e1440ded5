"""recommend and tune: what they choose follows from what was measured, and what cannot be meant is refused."""

from __future__ import annotations

import copy
import dataclasses
import json

import numpy as np
import pytest

from boxwood import index
from boxwood.bench import calibration as measuring
from boxwood.bench.scenes import DISTRIBUTIONS
from boxwood.index import (
    BVH,
    BruteForce,
    KDTree,
    Octree,
    Quadtree,
    SpatialHash,
    SweepAndPrune,
    UniformGrid,
    arguments,
    calibration,
    recommend,
)
from boxwood.index.recommend import spread_of

pytestmark = pytest.mark.small

QUESTIONS = ("sphere", "box", "frustum", "ray", "nearest", "pairs")


def points(kind="uniform", n=1000, d=2, seed=1):
    return DISTRIBUTIONS[kind](np.random.default_rng(seed), n, d)


def table_where(winner, question, spread="uniform"):
    """The table that comes along, but one structure is built and answers that question in no time."""
    table = copy.deepcopy(calibration.shipped())
    for dimension in ("2", "3"):
        for what in ("build", question):
            times = table["nanoseconds"][dimension][spread][what]
            if winner in times:
                times[winner] = [0.001] * len(table["sizes"])
    return table


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("query", QUESTIONS)
@pytest.mark.parametrize("moving", [0.0, 0.05, 1.0])
def test_every_use_has_an_answer(moving, query, d):
    at = points(d=d)
    for kind in DISTRIBUTIONS:
        found = recommend(points(kind, d=d), points(kind, d=d), moving, query)
        structure = found.structure(at, at, **found.parameters)
        assert structure.query_box(at[0], at[0]).tolist() == [0]
        assert found.reason.endswith(".")
        assert found.structure.__name__ in found.reason
        assert list(found.seconds) == sorted(found.seconds, key=found.seconds.get)
        assert next(iter(found.seconds)) == found.structure.__name__
        assert ("Quadtree" in found.seconds, "Octree" in found.seconds) == (d == 2, d == 3)


@pytest.mark.parametrize("winner", [BruteForce, UniformGrid, SpatialHash, Quadtree, KDTree, SweepAndPrune, BVH])
@pytest.mark.parametrize("query", QUESTIONS)
def test_the_quickest_of_the_table_is_chosen(winner, query):
    at = points()
    table = table_where(winner.__name__, query)
    assert recommend(at, at, query=query, questions=10**6, table=table).structure is winner
    if winner is not Quadtree:
        at = points(d=3)
        assert recommend(at, at, query=query, questions=10**6, table=table).structure is winner


def test_few_are_for_brute_force_and_many_are_not():
    for query in QUESTIONS:
        end = calibration.end_of_brute_force(calibration.shipped(), 2, "uniform", 0.0, query)
        assert 16 <= end <= 2000
        few, many = points(n=max(end // 2, 4)), points(n=20 * end)
        assert recommend(few, few, query=query).structure is BruteForce
        assert recommend(many, many, query=query).structure is not BruteForce
        assert f"below about {end:,} objects" in recommend(many, many, query=query).reason
    assert recommend(points(), points(), questions=0).structure is BruteForce


def test_the_table_tells_where_brute_force_ends():
    table = calibration.shipped()
    assert table["brute_force_wins_below"] == calibration.brute_force_wins_below(table)
    assert table["machine"]["cpu"]
    assert table["date"]


@pytest.mark.parametrize("kind", DISTRIBUTIONS)
@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("n", [100, 3000])
def test_spreads_are_told_apart(n, d, kind):
    for seed in (1, 2):
        at = points(kind, n, d, seed)
        for boxes in (at, at * 1e6, at * 1e-6 - 1e3):
            assert spread_of(arguments.boxes(boxes, boxes)[0].rows, d) == kind


def test_cells_are_as_large_as_the_reach():
    at = points(n=3000)
    table = table_where("UniformGrid", "sphere")
    usual, wide = (recommend(at, at, table=table, reach=reach).parameters for reach in (None, 100.0))
    assert usual["cell_size"] == UniformGrid(at, at).cell_size
    assert wide == {"cell_size": 100.0}
    # in clusters, a grid of usual cells over all of the world would be too large
    at = points("clustered", 3000, 3)
    found = recommend(at, at, table=table_where("UniformGrid", "sphere", "clustered"), questions=10**7)
    assert found.structure is UniformGrid
    assert UniformGrid(at, at, **found.parameters).statistics().details["lists"] < 10_000


def test_very_different_sizes_rule_out_cells():
    at = points(n=3000)
    larger = at.copy()
    larger[::50] += 900
    for winner in ("UniformGrid", "SpatialHash"):
        table = table_where(winner, "sphere")
        assert recommend(at, at, table=table).structure.__name__ == winner
        found = recommend(at, larger, table=table)
        assert found.structure.__name__ != winner
        assert "very different sizes" in found.reason


def test_nothing_and_one_thing():
    none = np.zeros((0, 3))
    assert recommend(none, none).structure is BruteForce
    assert recommend([[1, 2]], [[1, 2]], query="pairs").structure is BruteForce
    same = np.ones((500, 2))
    assert recommend(same, same).reason


def test_a_recommendation_is_frozen():
    found = recommend(points(), points())
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.structure = KDTree


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"moving": 2}, "moving must be a number from 0 to 1, not 2"),
        ({"moving": np.nan}, "moving must be a number from 0 to 1"),
        ({"query": "cone"}, "query must be one of 'sphere', 'box'"),
        ({"questions": -1}, "questions must be an integer of at least 0"),
        ({"reach": 0}, "reach must be a positive number"),
        ({"table": "none.json"}, "none.json"),
    ],
)
def test_what_cannot_be_meant(options, message):
    with pytest.raises((ValueError, OSError), match=message):
        recommend(points(), points(), **options)


def test_tables_that_are_none(tmp_path):
    path = tmp_path / "table.json"
    for text in ("", "[]", "{}", '{"format": 99}', json.dumps(calibration.shipped() | {"sizes": [1]})):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"table\.json is no calibration of boxwood"):
            recommend(points(), points(), table=path)


def test_measured_anew(tmp_path, monkeypatch):
    """As on the user's machine; sizes and times are small here."""
    monkeypatch.setattr(measuring, "ASKED", 4)
    told = []
    table = measuring.calibrate((8, 40), seconds=0, progress=lambda *of: told.append(of))
    assert len(told) == 12
    path = tmp_path / "table.json"
    path.write_text(measuring.text_of(table))
    assert calibration.read(path) == table
    columns = table["nanoseconds"]["3"]["linear"]["tenth"]
    assert set(columns) == set(index.__all__) & set(calibration.shipped()["nanoseconds"]["3"]["linear"]["tenth"])
    assert all(time > 0 for times in columns.values() for time in times)
    assert recommend(points(), points(), table=path).structure.__name__ in columns | {"Quadtree": []}


def test_between_and_beyond_sizes():
    table = {
        "sizes": [10, 1000, 10_000],
        "nanoseconds": {"2": {"uniform": {"ray": {"A": [1.0, 100.0, None], "B": [5.0, 5.0, 5.0], "C": [None] * 3}}}},
    }

    def time(structure, count):
        return calibration.nanoseconds(table, 2, "uniform", "ray", structure, count)

    assert time("A", 100) == pytest.approx(10)
    assert time("A", 1) == 1
    assert time("A", 1e6) == pytest.approx(1e5)  # on as before
    assert time("B", 1e6) == pytest.approx(5)
    assert time("C", 10) == time("D", 10) == np.inf


# tune

TUNABLE = [(UniformGrid, 2), (SpatialHash, 3), (Quadtree, 2), (Octree, 3), (KDTree, 3), (BVH, 2)]


@pytest.mark.parametrize(("kind", "d"), TUNABLE, ids=lambda value: getattr(value, "__name__", str(value)))
def test_tuned_parameters_build(kind, d):
    at = points(n=300, d=d)
    tuned = kind.tune(at, at, rounds=1)
    assert tuned.structure is kind
    assert list(tuned.parameters) == [kind.TUNED]
    assert len(tuned.seconds) >= 5
    assert tuned.seconds[tuned.parameters[kind.TUNED]] == min(tuned.seconds.values())
    built = kind(at, at, **tuned.parameters)
    assert built.query_box(at[0], at[0]).tolist() == [0]


def test_what_is_asked_decides():
    """Not by its time, which a test cannot know: by how often it is asked."""
    at, asked = points(n=200), []

    def ask(grid):
        asked.append(grid.cell_size)

    tuned = UniformGrid.tune(at, at, ask, values=[50.0, 100.0], rounds=4)
    assert set(asked) == {50.0, 100.0}
    assert 3 <= len(asked) <= 9
    assert tuned.parameters["cell_size"] in (50.0, 100.0)


def test_values_that_are_too_large_are_left_out():
    at = points(n=200)
    tuned = UniformGrid.tune(at, at, values=[1e-6, 100.0], rounds=1)
    assert list(tuned.seconds) == [100.0]
    with pytest.raises(ValueError, match="max_bytes"):
        UniformGrid.tune(at, at, values=[1e-6])


def test_what_cannot_be_tuned():
    at = points(n=20)
    with pytest.raises(ValueError, match="BruteForce has no parameter to tune"):
        BruteForce.tune(at, at)
    with pytest.raises(ValueError, match="rounds must be"):
        KDTree.tune(at, at, rounds=0)
    with pytest.raises(ValueError, match="nothing to choose among"):
        KDTree.tune(at, at, values=[])
    with pytest.raises(ValueError, match="leaf_size must be"):
        KDTree.tune(at, at, values=[0])
    with pytest.raises(ValueError, match="must have shape"):
        Quadtree.tune(np.zeros((3, 3)), np.zeros((3, 3)))
    assert KDTree.tune(np.zeros((0, 2)), np.zeros((0, 2)), rounds=1).parameters
