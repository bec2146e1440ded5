"""`boxwood collide`: which parts meet, what the exit code says, and what is in the picture and the file of faces."""

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
from boxwood.rendering.spots import LINE
from boxwood.samples import spot

CORNERS = [[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]
QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def cubes(path: str, places: dict[str, tuple[float, float, float]], size: float = 1.0) -> None:
    """An OBJ file of cubes, an object each."""
    lines, start = [], 1
    for name, place in places.items():
        lines.append(f"o {name}")
        lines += ["v {:.17g} {:.17g} {:.17g}".format(*(np.array(corner) * size + place)) for corner in CORNERS]
        lines += ["f " + " ".join(str(start + corner) for corner in quad) for quad in QUADS]
        start += 8
    Path(path).write_text("\n".join(lines) + "\n")


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The current folder: a row of three cubes of which two touch and two cross, a lone cube, a small one within it."""
    monkeypatch.setattr(compiling, "NOTICEABLE", np.inf)
    monkeypatch.chdir(tmp_path)
    cubes("row.obj", {"left": (0, 0, 0), "middle": (1, 0, 0), "right": (1.75, 0.25, 0.25), "far": (9, 9, 9)})
    cubes("large.obj", {"large": (0, 0, 0)}, 10.0)
    cubes("small.obj", {"small": (4, 4, 4)})
    return tmp_path


@pytest.fixture
def run(capsys):
    """Runs a command line in this process; exit code, standard output, standard error."""

    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["collide", *arguments])
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return call


def names(clash: dict) -> tuple[str, str, str]:
    return clash["first"]["part"], clash["relation"], clash["second"]["part"]


def test_parts_of_one_file(run, folder):
    code, out, err = run("row.obj", "--json")
    found = json.loads(out)
    assert (code, err) == (1, "")
    assert (found["parts"], found["pairs"], found["pairs_of_boxes"]) == (4, 6, 2)
    assert [names(clash) for clash in found["clashes"]] == [("middle", "crossing", "right")]
    assert found["allowed"] == {"touching": 1}
    (clash,) = found["clashes"]
    assert clash["depth"] == 0.25
    assert clash["overlap"] == [[1.75, 0.25, 0.25], [2, 1, 1]]
    assert clash["numbers"]["crossing"] > 0
    assert len(clash["faces"]) == len(clash["kinds"]) == len(clash["segments"]) == sum(clash["numbers"].values())
    segments = np.array(clash["segments"])
    assert ((segments >= [1.75, 0.25, 0.25]) & (segments <= [2, 1, 1])).all()
    parts = boxwood.load_scene("row.obj")
    assert clash["faces"] == parts[1].mesh.intersections(parts[2].mesh).pairs.tolist()


def test_table_says_what_meets_and_how(run, folder):
    code, out, err = run("row.obj", "--allow", "none")
    assert (code, err) == (1, "")
    lines = out.splitlines()
    rows = [line for line in lines if "│" in line]
    assert len(rows) == 2
    assert all(word in rows[0] for word in ("middle", "crossing", "right", "0.25"))
    assert all(word in rows[1] for word in ("left", "touching", "middle"))
    assert "2 clashes among 4 parts (2 pairs of boxes overlap)" in lines


@pytest.mark.parametrize(
    ("options", "code", "relations"),
    [
        ((), 1, ["crossing"]),
        (("--allow", "none"), 1, ["crossing", "touching"]),
        (("--allow", "touching,crossing"), 0, []),
        (("--allow", "crossing"), 1, ["touching"]),
        (("--min-depth", "0.3"), 0, []),
        (("--min-depth", "0.2"), 1, ["crossing"]),
    ],
)
def test_what_is_allowed_is_no_clash(run, folder, options, code, relations):
    told, out, _ = run("row.obj", "--json", *options)
    assert told == code
    assert [clash["relation"] for clash in json.loads(out)["clashes"]] == relations


def test_parts_of_two_files(run, folder):
    code, out, _ = run("large.obj", "small.obj", "--json")
    (clash,) = json.loads(out)["clashes"]
    assert code == 1
    assert names(clash) == ("large", "contains", "small")
    assert (clash["first"]["file"], clash["second"]["file"]) == ("large.obj", "small.obj")
    assert clash["depth"] == 1
    assert run("large.obj", "small.obj", "--allow", "inside")[0] == 0
    code, out, _ = run("small.obj", "large.obj", "row.obj", "--allow", "none")
    assert "row.obj:middle" in out
    assert code == 1


def test_tolerance_makes_near_parts_touch(run, folder):
    cubes("gap.obj", {"one": (0, 0, 0), "other": (1.01, 0, 0)})
    assert json.loads(run("gap.obj", "--allow", "none", "--json")[1])["clashes"] == []
    code, out, _ = run("gap.obj", "--allow", "none", "--tolerance", "0.02", "--json")
    (clash,) = json.loads(out)["clashes"]
    assert (code, clash["relation"], clash["depth"]) == (1, "touching", 0)
    assert clash["numbers"]["touching"] == len(clash["faces"]) > 0


def test_saved_meshes_meet_too(run, folder):
    boxwood.load("small.obj").save("small.boxwood")
    assert run("small.obj", "small.boxwood", "--allow", "touching,inside")[0] == 0
    assert run("small.obj", "small.boxwood")[0] == 1


def test_saved_scenes_meet_part_by_part(run, folder):
    """As the file of parts does that they were made of, and each mesh with itself once, however often it is placed."""
    boxwood.Scene.from_parts(boxwood.load_scene("row.obj")).save("row.boxwood")
    assert run("row.boxwood", "--json")[0] == 1
    wanted, found = (json.loads(run(name, "--json", "--allow", "none")[1]) for name in ("row.obj", "row.boxwood"))
    assert (found["parts"], found["pairs"], found["pairs_of_boxes"]) == (4, 6, 2)
    assert [names(clash) for clash in found["clashes"]] == [
        ("instance 1", "crossing", "instance 2"),
        ("instance 0", "touching", "instance 1"),
    ]
    for one, other in zip(wanted["clashes"], found["clashes"], strict=True):
        assert {**one, "first": 0, "second": 0} == {**other, "first": 0, "second": 0}
    scene, cube = boxwood.Scene(), boxwood.load("small.obj")
    places = np.tile(np.eye(4), (3, 1, 1))
    places[:, 0, 3] = [0, 0.5, 5]
    scene.add(cube, places)
    scene.add(boxwood.Mesh(np.zeros((0, 3)), np.zeros((0, 3), int)))
    scene.remove(0)
    scene.add(cube, places[0], mask=0)
    scene.save("placed.safetensors")
    code, out, _ = run("placed.safetensors", "--json")
    assert (code, json.loads(out)["parts"]) == (1, 3)
    assert [names(clash) for clash in json.loads(out)["clashes"]] == [("instance 0", "crossing", "instance 1")]
    code, out, _ = run("--self", "placed.safetensors", "--json")
    assert (code, json.loads(out)["parts"]) == (0, 1)
    boxwood.Scene().save("empty.boxwood")
    assert run("empty.boxwood")[::2] == (2, "boxwood: empty.boxwood has no faces\n")
    Path("broken.boxwood").write_bytes(Path("placed.safetensors").read_bytes()[:-1])
    assert run("broken.boxwood")[0] == 2
    assert run("broken.boxwood")[2].startswith("boxwood: broken.boxwood is damaged")


def cut() -> boxwood.Mesh:
    """The cow, and a triangle that cuts it in two."""
    vertices, faces = spot(3)
    knife = np.array([[-3, -3, 0.31], [3, -3, 0.32], [0, 3, 0.33]])
    return boxwood.Mesh(np.concatenate([vertices, knife]), np.concatenate([faces, [np.arange(3) + len(vertices)]]))


def test_a_mesh_and_itself(run, folder):
    mesh = cut()
    mesh.save("cow.boxwood")
    code, out, err = run("--self", "cow.boxwood", "--json", "--allow", "none")
    (told,) = json.loads(out)["meshes"]
    found = mesh.self_intersections()
    assert (code, err) == (1, "")
    assert told["faces"] == found.pairs.tolist() != []
    assert sum(told["numbers"].values()) == len(found)
    np.testing.assert_array_equal(told["segments"], found.segments)
    code, out, _ = run("--self", "cow.boxwood", "--top", "1")
    assert code == 1
    assert "pairs of faces meet" in out
    assert "more; --top says how many are listed" in out
    code, out, _ = run("--self", "small.obj", "row.obj")
    assert code == 0
    assert "0 pairs of faces meet" in out
    assert all(name in out for name in ("small.obj", "row.obj:left", "row.obj:far"))


@pytest.mark.parametrize("arguments", [("row.obj",), ("large.obj", "small.obj"), ("--self", "cow.boxwood")])
def test_picture_and_faces(run, folder, arguments):
    if "cow.boxwood" in arguments:
        cut().save("cow.boxwood")
    code, out, err = run(*arguments, "--picture", "spots.png", "--ply", "spots.ply", "--size", "300x200", "--json")
    found = json.loads(out)
    assert (code, err) == (1, "")
    assert found["picture"] == "spots.png"
    image = np.asarray(Image.open("spots.png")).astype(int)
    assert image.shape == (200, 300, 3)
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 500
    if "small.obj" not in arguments:  # where one is inside of the other, no faces have a place in common
        assert np.count_nonzero((abs(image - LINE) < 40).all(axis=2)) > 20
    written = boxwood.load("spots.ply")
    assert found["ply"] == {"path": "spots.ply", "faces": len(written)}
    told = found["clashes"] if "clashes" in found else found["meshes"]
    if "small.obj" in arguments:
        assert len(written) == 12
        assert written.bounds.tolist() == [[4, 4, 4], [5, 5, 5]]
    elif "clashes" in found:
        faces = [np.unique([pair[k] for pair in told[0]["faces"]]) for k in (0, 1)]
        parts = [part.mesh for part in boxwood.load_scene("row.obj")[1:3]]
        corners = [mesh.vertices[mesh.faces[some]] for mesh, some in zip(parts, faces, strict=True)]
        np.testing.assert_array_equal(written.vertices[written.faces], np.concatenate(corners))
    else:
        mesh, some = boxwood.load("cow.boxwood"), np.unique(told[0]["faces"])
        np.testing.assert_array_equal(written.vertices[written.faces], mesh.vertices[mesh.faces[some]])
    assert sorted(path.name for path in folder.iterdir() if path.suffix not in (".obj", ".boxwood")) == [
        "spots.ply",
        "spots.png",
    ]


def test_nothing_to_show(run, folder):
    """The files are written all the same, so that no older ones stay for the answer."""
    cubes("apart.obj", {"one": (0, 0, 0), "other": (3, 0, 0)})
    code, out, err = run("apart.obj", "--picture", "spots.png", "--ply", "spots.ply", "--size", "120x80")
    assert (code, err) == (0, "")
    assert "0 clashes among 2 parts" in out
    assert b"element face 0" in Path("spots.ply").read_bytes()
    assert Image.open("spots.png").size == (120, 80)


BAD = [
    (("none.stl", "small.obj"), "none.stl: No such file or directory"),
    (("small.obj",), "small.obj has one part only, which meets no other; --self tells where it meets itself"),
    (("small.obj", "empty.stl"), "cannot read empty.stl: it is empty"),
    (("small.obj", "nan.obj"), "cannot read nan.obj"),
    (("small.obj", "none.boxwood"), "none.boxwood has no faces"),
    ((), "Missing argument"),
    (("row.obj", "--tolerance", "-1"), "--tolerance must be a finite distance and not negative, not -1.0"),
    (("row.obj", "--tolerance", "nan"), "--tolerance must be a finite distance"),
    (("row.obj", "--min-depth", "inf"), "--min-depth must be a finite distance"),
    (("row.obj", "--self", "--tolerance", "1"), "--tolerance and --self exclude each other"),
    (("row.obj", "--allow", "kissing"), "--allow must be one of touching, crossing, inside, none, not 'kissing'"),
    (("row.obj", "--self", "--allow", "inside"), "--allow must be one of crossing, touching, coplanar, none"),
    (("row.obj", "--picture", "a.gif"), "as .png or .jpg, not as a.gif"),
    (("row.obj", "--picture", "nowhere/a.png"), "nowhere: No such file or directory"),
    (("row.obj", "--ply", "a.stl"), "a.stl: faces are written to .ply files"),
    (("row.obj", "--ply", "nowhere/a.ply"), "nowhere: No such file or directory"),
    (("row.obj", "--size", "wide"), "--size must be a width and a height"),
    (("row.obj", "--up", "w"), "--up must be one of x, y, z"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[" ".join(arguments) for arguments, _ in BAD])
def test_what_cannot_be_used_ends_with_one_line(run, folder, arguments, message):
    Path("empty.stl").write_bytes(b"")
    Path("nan.obj").write_text("v 0 0 0\nv nan 0 0\nv 0 1 0\nf 1 2 3\n")
    boxwood.Mesh(np.empty((0, 3)), np.empty((0, 3), int)).save("none.boxwood")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("boxwood: ")
    assert err.count("\n") == 1
    assert message in err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a named pipe")
def test_interruption_is_one_line(folder):
    os.mkfifo("pipe.off")
    environment = {**os.environ, "PYTHONPATH": str(Path(boxwood.__file__).parents[1])}
    command = [sys.executable, "-m", "boxwood", "collide", "small.obj", "pipe.off", "--ply", "spots.ply"]
    process = subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with open("pipe.off", "w"):  # opens when the command has begun to read  # noqa: PTH123
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "boxwood: interrupted\n")
    assert not Path("spots.ply").exists()
