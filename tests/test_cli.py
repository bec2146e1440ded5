"""The command line: what it answers, in which formats, and how it refuses: one line, exit code 2, no file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import boxwood
from boxwood.cli import main
from boxwood.commands import compiling
from boxwood.mesh import Mesh

HEADER = "ox,oy,oz,dx,dy,dz\n"
GOOD = HEADER + "0.2,0.2,-2,0,0,1\n\n0.2,0.2,3,0,0,-2\n5,5,5,0,0,1\n"
CUBE = """OFF
8 6 0
0 0 0
1 0 0
1 1 0
0 1 0
0 0 1
1 0 1
1 1 1
0 1 1
4 0 3 2 1
4 4 5 6 7
4 0 1 5 4
4 1 2 6 5
4 2 3 7 6
4 3 0 4 7
"""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The current folder, with a cube and some rays in it."""
    monkeypatch.setattr(compiling, "NOTICEABLE", np.inf)
    monkeypatch.chdir(tmp_path)
    Path("cube.off").write_text(CUBE)
    Path("rays.csv").write_text(GOOD)
    return tmp_path


@pytest.fixture
def run(capsys):
    """Runs a command line in this process; exit code, standard output, standard error."""

    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return call


def start(*arguments: str, **options) -> subprocess.Popen:
    environment = {**os.environ, "PYTHONPATH": str(Path(boxwood.__file__).parents[1])}
    return subprocess.Popen([sys.executable, "-m", "boxwood", *arguments], env=environment, text=True, **options)


def columns_of(text: str) -> dict[str, list[str]]:
    head, *rows = [line.split(",") for line in text.splitlines()]
    return dict(zip(head, map(list, zip(*rows, strict=True)), strict=True))


# As a whole


def test_version_and_help(run):
    assert run("--version")[:2] == (0, boxwood.__version__ + "\n")
    for arguments in ((), ("--help",), ("-h",)):
        code, out, _ = run(*arguments)
        assert code == 0
        assert all(word in out for word in ("demo", "info", "rays", "render", "warm"))
    for command in ("demo", "info", "rays", "render", "warm"):
        code, out, _ = run(command, "--help")
        assert code == 0
        assert "Usage: boxwood" in out


BAD = [
    (("frob",), "No such command 'frob'"),
    (("info",), "Missing argument"),
    (("info", "cube.off", "--colour"), "No such option"),
    (("info", "none.stl"), "none.stl: No such file or directory"),
    (("info", "."), ".: Is a directory"),
    (("info", "rays.csv"), "cannot read rays.csv"),
    (("info", "cube.off", "--dtype", "int8"), "--dtype must be one of float32, float64, not 'int8'"),
    (("render", "cube.off", "--size", "0x10"), "width must be an integer of at least 1, not 0"),
    (("render", "cube.off", "--size", "99999x99999"), "99999 x 99999 pixels are too many"),
    (("render", "cube.off", "--size", "wide"), "--size must be a width and a height as in 1024x768, not 'wide'"),
    (("render", "cube.off", "--mode", "sketch"), "--mode must be one of shaded"),
    (("render", "cube.off", "-o", "a.gif"), "as .png or .jpg, not as a.gif"),
    (("render", "cube.off", "-o", "nowhere/a.png"), "nowhere: No such file or directory"),
    (("render", "cube.off", "--eye", "1,2,3"), "--eye and --target go together"),
    (("render", "cube.off", "--eye", "1,2", "--target", "0,0,0"), "--eye must be 3 numbers"),
    (("render", "cube.off", "--eye", "1,1,1", "--target", "1,1,1"), "must differ"),
    (("render", "cube.off", "--camera", "10"), "--camera must be 2 numbers"),
    (("render", "cube.off", "--camera", "10,90"), "elevation between -89.9 and 89.9"),
    (("render", "cube.off", "--up", "w"), "--up must be one of x, y, z"),
    (("render", "cube.off", "--samples", "3"), "samples must be one of 1, 4, 9, not 3"),
    (("render", "cube.off", "--threads", "0"), "Invalid value for '--threads'"),
    (("render", "cube.off", "--mode", "boxes", "--levels", "x"), "--levels must be numbers of levels"),
    (("render", "cube.off", "--mode", "boxes", "--levels", "1,40"), "levels names 40"),
    (("rays", "cube.off", "none.csv"), "none.csv: No such file or directory"),
    (("rays", "cube.off", "cube.off"), "cube.off: rays are read from .csv, .npy or .parquet files"),
    (("rays", "cube.off", "rays.csv", "-o", "hits.txt"), "hits.txt: answers are written to"),
    (("rays", "cube.off", "rays.csv", "-o", "nowhere/hits.csv"), "nowhere: No such file or directory"),
    (("rays", "cube.off", "rays.csv", "--any", "--all"), "--any and --all exclude each other"),
    (("rays", "cube.off", "rays.csv", "--t-max", "nan"), "--t-max must be a number"),
    (("rays", "cube.off", "rays.csv", "--t-max", "far"), "Invalid value for '--t-max'"),
    (("demo", "--output", "cube.off"), "cube.off"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[" ".join(arguments) for arguments, _ in BAD])
def test_what_cannot_be_used_ends_with_one_line(run, folder, arguments, message):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    code, out, err = run(*arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("boxwood: ")
    assert err.count("\n") == 1
    assert message in err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_warnings_are_one_line_each(run, folder):
    Path("mixed.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 2\n")
    code, _, err = run("info", "mixed.obj")
    assert code == 0
    assert [line[:17] for line in err.splitlines()] == ["boxwood: warning:"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a named pipe")
def test_interruption_is_one_line(folder):
    os.mkfifo("pipe.csv")
    process = start("rays", "cube.off", "pipe.csv", "-o", "hits.csv", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with open("pipe.csv", "w"):  # opens when the command has begun to read  # noqa: PTH123
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "boxwood: interrupted\n")
    assert not Path("hits.csv").exists()


@pytest.mark.skipif(os.name == "nt", reason="pipes break otherwise there")
def test_reader_that_goes_away_is_no_error(run, folder):
    Path("few.csv").write_text(HEADER + "0.2,0.2,-2,0,0,1\n")
    run("rays", "cube.off", "few.csv")  # compiles, which a first run tells
    Path("many.csv").write_text(HEADER + "0.2,0.2,-2,0,0,1\n" * 50_000)
    process = start("rays", "cube.off", "many.csv", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == "ray,t_hit,primitive_id,u,v\n"
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(timeout=60) == 0


def test_colours_only_on_a_terminal(run, folder, monkeypatch):
    assert "\x1b" not in run("info", "cube.off")[1]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b" in run("info", "cube.off")[1]
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert "\x1b[3" not in run("info", "cube.off")[1]


# info


def test_info_tells_what_there_is(run, folder):
    code, out, err = run("info", "cube.off", "--json", "--parts")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert (found["faces"], found["vertices"], found["degenerate faces"], found["dtype"]) == (12, 8, 0, "float64")
    assert (found["lower"], found["upper"], found["size"]) == ([0, 0, 0], [1, 1, 1], [1, 1, 1])
    assert found["area"] == pytest.approx(6)
    assert found["volume"] == pytest.approx(1)
    assert found["tree"]["depth"] >= 1
    assert found["tree"]["bytes per face"] > 20
    assert [part["faces"] for part in found["parts"]] == [12]
    assert found["parts"][0]["transform"] == np.eye(4).tolist()
    code, out, _ = run("info", "cube.off", "--parts")
    assert code == 0
    assert all(word in out for word in ("cube.off", "faces", "12", "volume", "builder", "cube"))


def test_info_counts_faces_without_area(run, folder):
    Path("flat.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 2 0 0\nf 1 2 3\nf 1 2 4\nf 1 1 3\n")
    assert json.loads(run("info", "flat.obj", "--json")[1])["degenerate faces"] == 2


# rays


def test_rays_go_to_standard_output_as_csv(run, folder):
    code, out, err = run("rays", "cube.off", "rays.csv")
    found = columns_of(out)
    assert (code, err) == (0, "")
    assert list(found) == ["ray", "t_hit", "primitive_id", "u", "v"]
    assert found["ray"] == ["0", "1", "2"]
    assert [float(t) for t in found["t_hit"]] == [2, 1, np.inf]
    assert found["primitive_id"][2] == "-1"
    assert found["u"][2] == "nan"


def test_questions(run, folder):
    assert columns_of(run("rays", "cube.off", "rays.csv", "--any")[1])["hit"] == ["1", "1", "0"]
    assert columns_of(run("rays", "cube.off", "rays.csv", "--count")[1])["count"] == ["2", "2", "0"]
    every = columns_of(run("rays", "cube.off", "rays.csv", "--all")[1])
    assert every["ray"] == ["0", "0", "1", "1"]
    assert [float(t) for t in every["t_hit"]] == [2, 3, 1, 1.5]
    limited = columns_of(run("rays", "cube.off", "rays.csv", "--t-min", "1.2", "--t-max", "2.5")[1])
    assert [float(t) for t in limited["t_hit"]] == [2, 1.5, np.inf]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_survive_csv(run, folder, dtype):
    rng = np.random.default_rng(3)
    table = np.concatenate([rng.uniform(-1, 2, (50, 3)), rng.normal(size=(50, 3))], axis=1)
    np.save("rays.npy", table)
    found = columns_of(run("rays", "cube.off", "rays.npy", "--dtype", dtype)[1])
    hits = boxwood.load("cube.off", dtype=dtype).raycast(table[:, :3].astype(dtype), table[:, 3:].astype(dtype))
    np.testing.assert_array_equal(np.array(found["t_hit"], dtype), hits.t_hit)
    np.testing.assert_array_equal(np.array(found["u"], dtype), hits.uvs[:, 0])
    assert np.count_nonzero(hits.hit) > 5


def test_rays_come_in_many_forms(run, folder, monkeypatch, capsys):
    expected = run("rays", "cube.off", "rays.csv")[1]
    rows = np.array([[0.2, 0.2, -2, 0, 0, 1], [0.2, 0.2, 3, 0, 0, -2], [5, 5, 5, 0, 0, 1]])
    np.save("six.npy", rows)
    np.save("pairs.npy", rows.reshape(3, 2, 3))
    Path("plain.csv").write_text("0.2,0.2,-2,0,0,1\n0.2,0.2,3,0,0,-2\r\n5,5,5,0,0,1")
    mixed = "name, DX ,dy,dz,oz,oy,ox\n" + "a,0,0,1,-2,0.2,0.2\nb,0,0,-2,3,0.2,0.2\nc,0,0,1,5,5,5\n"
    Path("mixed.csv").write_text("\ufeff" + mixed, encoding="utf-8")
    quoted = 'name,"dx","dy","dz","oz","oy","ox"\n' + '"a, 1_0","0","0","1",-2,"0.2","0.2"\n' + mixed.split("\n", 2)[2]
    Path("quoted.csv").write_text(quoted)
    for name in ("six.npy", "pairs.npy", "plain.csv", "mixed.csv", "quoted.csv"):
        assert run("rays", "cube.off", name) == (0, expected, "")
    with open("rays.csv") as file:  # noqa: PTH123
        monkeypatch.setattr(sys, "stdin", file)
        assert run("rays", "cube.off", "-") == (0, expected, "")


def test_rays_have_ranges_of_their_own(run, folder):
    Path("ranges.csv").write_text("ox,oy,oz,dx,dy,dz,t_min,t_max\n.2,.2,-2,0,0,1,0,1.5\n.2,.2,-2,0,0,1,2.5,inf\n")
    assert columns_of(run("rays", "cube.off", "ranges.csv")[1])["t_hit"] == ["inf", "3.0"]


BAD_RAYS = [
    (HEADER + "0,0,0,0,0,1\n\n0,0,0,zero,0,1\n", "rays.csv line 4: dx is 'zero', not a number"),
    (HEADER + "0,0,0,0,0,1\n0,0,0,0,1_0,1\n", "rays.csv line 3: dy is '1_0', not a number"),
    ("0,0,0,0,0,1\n0,0,0,0,1_0,1\n", "rays.csv line 2: dy is '1_0', not a number"),
    (HEADER + '0,0,0,0,0,"1,5"\n', "rays.csv line 2: dz is '1,5', not a number"),
    ("ox,oy,oz,dx,dy,dz,oy,dz\n0,0,0,0,0,1,0,1\n", "rays.csv has more than one column oy, dz"),
    (HEADER + "0,0,0,0,0,1\n0,0,0,0,0\n", "rays.csv line 3: 5 values, where the first line has 6"),
    (HEADER + "\n\n0,0,0,0,0,0\n", "rays.csv line 4: the direction is zero"),
    (HEADER + "0,0,0,0,0,1\n0,inf,0,0,0,1\n", "rays.csv line 3: oy is inf"),
    ("0,0,0,0,0,1\n0,0,nan,0,0,1\n", "rays.csv line 2: oz is nan"),
    ("0,0,0,0,0\n", "rays.csv line 1: 5 numbers without a header, where a ray has 6"),
    ("0,0,0,0,0,1\n0,0,0,0,0,1,7\n", "rays.csv line 2: 7 values, where the first line has 6"),
    ("ox,oy,oz,dx,dy\n0,0,0,0,0\n", "rays.csv has no column dz"),
    ("ox,oy,oz,dx,dy,dz,t_max\n0,0,0,0,0,1,nan\n", "rays.csv line 2: t_max is nan"),
    ("ox,oy,oz,dx,dy,dz,t_max\n0,0,0,0,0,1,\n", "rays.csv line 2: t_max is '', not a number"),
    ("", "rays.csv has no rays"),
    (" \n \n", "rays.csv has no rays"),
]


@pytest.mark.parametrize(("text", "message"), BAD_RAYS)
def test_bad_rows_are_named(run, folder, text, message):
    Path("rays.csv").write_text(text)
    code, out, err = run("rays", "cube.off", "rays.csv", "-o", "hits.csv")
    assert (code, out, err) == (2, "", err)
    assert err.startswith(f"boxwood: {message}")
    assert err.count("\n") == 1
    assert not Path("hits.csv").exists()


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((2, 5)), "shape (2, 5), where rays are (n, 6) or (n, 2, 3)"),
        (np.array([[0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0]]), "rays.npy row 1: the direction is zero"),
        (np.array([[0, np.nan, 0, 0, 0, 1]]), "rays.npy row 0: oy is nan"),
        (np.array([["a"] * 6]), "does not hold one array of real numbers"),
    ],
)
def test_bad_arrays_are_named(run, folder, array, message):
    np.save("rays.npy", array)
    code, out, err = run("rays", "cube.off", "rays.npy")
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("name", ["rays.npy", "rays.csv", "rays.parquet"])
def test_foreign_bytes_are_refused(run, folder, name):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    Path(name).write_bytes(bytes(range(256)))
    code, out, err = run("rays", "cube.off", name)
    assert (code, out) == (2, "")
    assert name in err
    assert err.count("\n") == 1


def test_no_rays_have_no_answers(run, folder):
    Path("rays.csv").write_text(HEADER)
    assert run("rays", "cube.off", "rays.csv") == (0, "ray,t_hit,primitive_id,u,v\n", "")


def test_answers_in_files(run, folder):
    expected = columns_of(run("rays", "cube.off", "rays.csv")[1])
    for suffix in ("csv", "npy", "json"):
        code, out, err = run("rays", "cube.off", "rays.csv", "--output", f"hits.{suffix}")
        assert (code, err) == (0, "")
        assert f"written to hits.{suffix}" in out
    assert columns_of(Path("hits.csv").read_text()) == expected
    records = np.load("hits.npy")
    assert records.dtype.names == tuple(expected)
    assert records["t_hit"].tolist() == [2, 1, np.inf]
    found = json.loads(Path("hits.json").read_text())
    assert found["t_hit"] == [2, 1, None]
    assert found["primitive_id"] == records["primitive_id"].tolist()
    assert sorted(path.suffix for path in folder.glob("hits*")) == [".csv", ".json", ".npy"]
    assert len(list(folder.iterdir())) == 5


def test_parquet_goes_in_and_out(run, folder):
    parquet, arrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    rows = {"ox": [0.2], "oy": [0.2], "oz": [-2], "dx": [0], "dy": [0], "dz": [1.0]}
    parquet.write_table(arrow.table(rows), "rays.parquet")
    assert run("rays", "cube.off", "rays.parquet", "-o", "hits.parquet")[0] == 0
    assert parquet.read_table("hits.parquet").column("t_hit").to_pylist() == [2.0]
    parquet.write_table(arrow.table({**rows, "oy": [None]}), "rays.parquet")
    assert run("rays", "cube.off", "rays.parquet")[2] == "boxwood: rays.parquet row 0: oy is nan\n"
    parquet.write_table(arrow.table({**rows, "oy": ["left"]}), "rays.parquet")
    assert "column oy does not hold numbers" in run("rays", "cube.off", "rays.parquet")[2]


def test_parquet_without_pyarrow_says_what_to_install(run, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    Path("rays.parquet").write_bytes(b"PAR1")
    for arguments in (("rays.parquet",), ("rays.csv", "-o", "hits.parquet")):
        code, out, err = run("rays", "cube.off", *arguments)
        assert (code, out) == (2, "")
        assert "pip install pyarrow" in err


def test_answers_for_machines(run, folder):
    found = json.loads(run("rays", "cube.off", "rays.csv", "--json")[1])
    assert (found["faces"], found["rays"], found["hits"]) == (12, 3, 2)
    assert found["answers"]["t_hit"] == [2, 1, None]
    found = json.loads(run("rays", "cube.off", "rays.csv", "--json", "-o", "hits.csv")[1])
    assert found["output"] == "hits.csv"
    assert "answers" not in found


def test_terminal_gets_a_summary(run, folder, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    code, out, _ = run("rays", "cube.off", "rays.csv")
    assert code == 0
    assert "first hits" in out
    assert "primitive_id" not in out


# render


@pytest.mark.parametrize("mode", ["shaded", "heat", "boxes"])
def test_render_writes_a_picture_and_tells_the_shares(run, folder, mode):
    code, out, err = run("render", "cube.off", "--size", "60x40", "--mode", mode, "--verify")
    assert (code, err) == (0, "")
    with Image.open(f"cube-{mode}.png") as picture:
        assert picture.size == (60, 40)
    assert all(phase in out for phase in ("build", "camera rays", "shadow rays", "shading", "other"))
    assert "agrees on 9,600 of 9,600 camera rays" in out


def test_render_for_machines(run, folder):
    options = ("--size", "40x30", "--samples", "1", "--json", "-o", "a.jpg", "--camera", "30,20", "--up", "y")
    code, out, err = run("render", "cube.off", *options)
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert found["picture"] == "a.jpg"
    assert found["rays"]["camera rays"] == 1200
    assert sum(found["shares"].values()) == pytest.approx(1)
    with Image.open("a.jpg") as picture:
        assert picture.format == "JPEG"


def test_render_looks_from_where_it_is_told(run, folder):
    options = ("--size", "30x30", "--samples", "1", "--mode", "ids")
    for name, more in (("a", ("--eye", "4,0.5,0.5", "--target", "0,0.5,0.5")), ("b", ("--camera", "0,0"))):
        assert run("render", "cube.off", *options, "-o", f"{name}.png", *more)[0] == 0
    images = [np.asarray(Image.open(f"{name}.png")) for name in "ab"]
    assert (images[0][15, 20] == images[1][15, 20]).all()  # the face towards +x
    assert (images[0][0, 0] == images[1][0, 0]).all()


def test_render_says_when_brute_force_differs(run, folder, monkeypatch):
    import boxwood.rendering.shot as shot

    honest = shot.closest_hit_brute_force
    monkeypatch.setattr(shot, "closest_hit_brute_force", lambda *a, **b: (honest(*a, **b)[0] + 1, *honest(*a, **b)[1:]))
    code, _, err = run("render", "cube.off", "--size", "20x20", "--verify")
    assert code == 1
    assert "differ from brute force" in err
    assert err.count("\n") == 1


# warm


def test_warm_compiles_once(run, monkeypatch):
    code, out, err = run("warm")
    assert code == 0
    assert "sets of kernels ready in" in out
    assert set(err.splitlines()) <= {err.split("\n")[0]}
    names = [name for name, _ in compiling.everything()]
    assert len(set(names)) == len(names)
    for word in ("build binned, float32", "raycast, float64", "all, float32 mesh, float64 rays", "picture heat"):
        assert any(word in name for name in names)
    assert isinstance(compiling.small_mesh("float32"), Mesh)
