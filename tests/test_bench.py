"""What `boxwood bench structures` measures, compares, prints, draws and refuses."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from boxwood import index
from boxwood.bench import structures
from boxwood.bench.scenes import DISTRIBUTIONS, scene, scene_of
from boxwood.bench.structures import COLUMNS, measure, structures_for
from boxwood.cli import main
from boxwood.commands import compiling
from worlds import some

QUICK = ("--sizes", "30", "--seconds", "0", "--asked", "8", "--distribution", "uniform", "--dimension", "2")


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Runs a command line in a folder of its own; exit code, standard output, standard error."""
    monkeypatch.setattr(compiling, "NOTICEABLE", np.inf)
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["bench", "structures", *arguments])
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return call


@pytest.mark.small
@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("kind", DISTRIBUTIONS)
def test_scenes_are_alike(kind, d):
    """About four objects are found, whatever their number and spread."""
    for n in (200, some(5000, 500)):
        each = scene(kind, n, d, 100)
        tree = index.KDTree(each.lower, each.upper)
        assert 2 < len(tree.query_sphere(each.centers, each.radius).ids) / 100 < 12
        assert len(tree.query_frustum(each.planes).ids) > 50
        assert each.dimension == d
    assert [len(array) for array in scene(kind, 1, d, 5)[1:3]] == [1, 1]


@pytest.mark.small
def test_boxes_at_one_place_make_a_scene():
    each = scene_of("same", np.ones((20, 3)), np.ones((20, 3)), 10)
    assert each.radius > 0
    assert all(row.same for row in measure(each, ("KDTree", "BVH"), seconds=0))


@pytest.mark.small
@pytest.mark.parametrize("d", [2, 3])
def test_rows_for_everything(d):
    rows = measure(scene("clustered", 40, d, 16), seconds=0)
    names = structures_for(d)
    assert len(names) == 7
    assert [(row.question, row.structure) for row in rows] == [(column, name) for column in COLUMNS for name in names]
    assert all(row.same and row.nanoseconds > 0 and row.objects == 40 and row.dimension == d for row in rows)
    compared = {row.question: row.compared for row in rows}
    assert compared == {"build": 0, **dict.fromkeys(COLUMNS[1:], 16)}
    items = {row.question: row.items for row in rows}
    assert (items["build"], items["move"], items["tenth"], items["sphere"], items["pairs"]) == (40, 80, 8, 16, 40)


@pytest.mark.small
@pytest.mark.parametrize("column", COLUMNS[1:])
def test_a_wrong_answer_is_noticed(column, monkeypatch):
    class Forgetful(index.KDTree):
        """Has lost an object, and does not follow moves."""

        def _build(self):
            super()._build()
            self._store.boxes = np.where(np.arange(len(self))[:, None] % 2 == 0, self._store.boxes, 1e9)

        def _relocate(self, rows, boxes):
            return 0

    monkeypatch.setitem(structures.STRUCTURES, "Forgetful", Forgetful)
    each = scene("uniform", 300, 2, 100)
    rows = measure(each, ("Forgetful", "Quadtree"), (column,), seconds=0)
    assert {row.structure: row.same for row in rows} == {"Forgetful": False, "Quadtree": True}


@pytest.mark.small
def test_pairs_of_many_are_compared_without_those_of_brute_force(monkeypatch):
    monkeypatch.setattr(structures, "MOST_BRUTE_PAIRS", 100)
    rows = measure(scene("uniform", 200, 2, 20), questions=("pairs",), seconds=0)
    assert "BruteForce" not in {row.structure for row in rows}
    assert all(row.same and row.compared == 20 for row in rows)


# The command


def test_one_command_prints_a_table_for_each_distribution(run):
    asked = ("--asked", "4", "--question", "build", "--question", "ray")
    code, out, err = run("--sizes", "20,40", "--seconds", "0", *asked)
    assert (code, err) == (0, "")
    for d, names in ((2, structures_for(2)), (3, structures_for(3))):
        for kind in DISTRIBUTIONS:
            for n in (20, 40):
                assert f"{n} {kind}, {d}-D" in out
        assert all(out.count(f"│ {name} ") in (6, 12) for name in names)
    assert "sphere" not in out


def test_json(run):
    code, out, err = run(*QUICK, "--json", "--structure", "BVH", "--structure", "UniformGrid")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert {row["structure"] for row in found["rows"]} == {"BVH", "UniformGrid"}
    assert {row["question"] for row in found["rows"]} == set(COLUMNS)
    assert found["machine"]["versions"]["boxwood"]
    assert found["threads"] == 1


@pytest.mark.parametrize("columns", [2, 3, 4, 6])
def test_data_of_the_user(run, columns):
    rng = np.random.default_rng(1)
    array = rng.uniform(0, 1, (50, columns)).astype(np.float32)
    if columns > 3:
        array[:, columns // 2 :] += 1
    np.save("parts.npy", array)
    code, out, err = run("--data", "parts.npy", "--seconds", "0", "--asked", "5", "--json")
    found = json.loads(out)["rows"]
    assert (code, err) == (0, "")
    assert {(row["scene"], row["objects"], row["dimension"]) for row in found} == {
        ("parts", 50, columns if columns < 4 else columns // 2)
    }
    assert all(row["same"] for row in found)


def test_plot(run):
    pytest.importorskip("matplotlib")
    code, _, err = run(*QUICK, "--plot", "times.svg")
    assert (code, err) == (0, "")
    text = Path("times.svg").read_text()
    assert "<svg" in text


def test_plot_takes_matplotlib(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, out, err = run(*QUICK, "--plot", "times.png")
    assert (code, out) == (2, "")
    assert err == "boxwood: times.png: plots take matplotlib; pip install 'boxwood[plots]'\n"


def test_calibration(run):
    code, out, _ = run("--calibrate", "table.json", "--sizes", "8,16")
    assert code == 0
    assert "table.json" in out
    at = np.random.default_rng(1).uniform(0, 1, (100, 2))
    assert index.recommend(at, at, table="table.json").reason


def test_a_wrong_answer_ends_with_1(run, monkeypatch):
    honest = index.KDTree.query_box
    monkeypatch.setattr(index.KDTree, "query_box", lambda self, lower, upper, **_: honest(self, lower, lower))
    code, _, err = run(*QUICK, "--question", "box", "--structure", "KDTree")
    assert code == 1
    assert err == "boxwood: answers differ from those of brute force: KDTree (box, uniform)\n"


BAD = [
    (("--sizes", "ten"), "--sizes must be numbers from 1 to 1,000,000 separated by commas, not 'ten'"),
    (("--sizes", "0"), "--sizes must be numbers from 1"),
    (("--sizes", "2000000"), "--sizes must be numbers from 1"),
    (("--distribution", "even"), "--distribution must be one of uniform, clustered, linear, not 'even'"),
    (("--structure", "Tree"), "--structure must be one of BruteForce"),
    (("--question", "why"), "--question must be one of build, move"),
    (("--dimension", "4"), "Invalid value for '--dimension'"),
    (("--dimension", "2", "--structure", "Octree"), "--structure Octree is not made for these boxes"),
    (("--data", "none.npy"), "none.npy: No such file or directory"),
    (("--data", "text.npy"), "text.npy cannot be read as .npy"),
    (("--data", "five.npy"), "five.npy must hold boxes (n, 4) or (n, 6), or points (n, 2) or (n, 3), not (3, 5)"),
    (("--data", "empty.npy"), "empty.npy holds no boxes"),
    (("--data", "nan.npy"), "nan.npy: lower[1] is not finite"),
    (("--data", "turned.npy"), "turned.npy: lower[2] is above upper[2]"),
    (("--data", "words.npy"), "words.npy: lower must be real numbers"),
    (("--plot", "times.txt"), "times.txt: plots are written to .png, .svg, .pdf files"),
    (("--plot", "nowhere/times.png"), "nowhere: No such file or directory"),
    (("--calibrate", "nowhere/table.json"), "nowhere: No such file or directory"),
    (("--colour",), "No such option"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[" ".join(arguments) for arguments, _ in BAD])
def test_what_cannot_be_used_ends_with_one_line(run, arguments, message):
    Path("text.npy").write_text("1,2,3")
    np.save("five.npy", np.zeros((3, 5)))
    np.save("empty.npy", np.zeros((0, 4)))
    np.save("nan.npy", np.array([[0.0, 0], [np.nan, 0]]))
    np.save("turned.npy", np.array([[0.0, 0, 1, 1]] * 2 + [[2.0, 0, 1, 1]]))
    np.save("words.npy", np.array([["a", "b"]]))
    before = sorted(path.name for path in Path.cwd().iterdir())
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("boxwood: ")
    assert err.count("\n") == 1
    assert message in err
    assert sorted(path.name for path in Path.cwd().iterdir()) == before
