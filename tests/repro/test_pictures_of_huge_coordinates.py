"""Coordinates near the largest number overflowed behind the camera; the error named a ray, and no file and part."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import boxwood as bw
from boxwood.cli import main
from boxwood.commands import compiling

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
FACES = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["collide", "huge.obj", "--picture", "p.png"], "huge.obj, part 'b': no camera can see it"),
        (["collide", "--self", "huge.obj", "--picture", "p.png"], "huge.obj, part 'b': no camera can see it"),
        (["render", "huge.obj", "-o", "p.png"], "huge.obj: no camera can see it"),
    ],
)
def test_pictures_name_what_is_too_far(tmp_path, monkeypatch, capsys, command, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(compiling, "NOTICEABLE", np.inf)
    lines = []
    for name, size, first in (("a", 1.0, 1), ("b", 1e308, 5)):
        lines += [f"o {name}", *("v {} {} {}".format(*corner) for corner in CORNERS * size)]
        lines += ["f {} {} {}".format(*(corner + first for corner in face)) for face in FACES]
    Path("huge.obj").write_text("\n".join(lines) + "\n")
    with pytest.raises(SystemExit) as ended:
        main(command)
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert err == f"boxwood: {message}: it reaches to 1e+308, which is not less than 1e+300\n"


@pytest.mark.small
@pytest.mark.parametrize("scale", [1e300, 1e308])
def test_cameras_that_would_stand_beyond_the_numbers(scale):
    for thing in (bw.Mesh(CORNERS * scale, FACES), [[0, 0, 0], [scale, 1, 1]], [[-scale, 0, 0], [1, 1, 1]]):
        with pytest.raises(ValueError, match="no camera can see it: it reaches to 1e"):
            bw.Camera.fit(thing)


def test_a_tolerance_beyond_the_numbers(tmp_path, monkeypatch, capsys):
    """Boxes that it made wider overflowed as well."""
    monkeypatch.chdir(tmp_path)
    for name, place in (("one", 0.0), ("other", 5e307)):
        bw.Mesh(CORNERS * 1e307 + place, FACES).save(f"{name}.boxwood")
    with pytest.raises(SystemExit) as ended:
        main(["collide", "one.boxwood", "other.boxwood", "--tolerance", "1.7e308", "--allow", "none"])
    out, _ = capsys.readouterr()
    assert ended.value.code == 1
    assert "1 clash among 2 parts" in out
