"""The demo, and the mesh that comes along."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from boxwood.cli import main
from boxwood.commands import demo as demo_module
from boxwood.mesh import Mesh
from boxwood.samples import spot
from boxwood.samples.subdivision import Polygons, catmull_clark, triangles

CUBE = np.array([[x, y, z] for z in (0.0, 1.0) for y in (0.0, 1.0) for x in (0.0, 1.0)]) - 0.5
QUADS = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["demo", "--small", *arguments])
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def volume(vertices: np.ndarray, faces: np.ndarray) -> float:
    corners = vertices[faces].astype(float)
    return float(np.linalg.det(corners).sum() / 6)


@pytest.mark.small
@pytest.mark.parametrize("plinth", [False, True])
def test_spot_is_closed_and_turned_outward(plinth):
    vertices, faces = spot(2, plinth=plinth)
    edges = Counter((int(face[k]), int(face[(k + 1) % 3])) for face in faces for k in range(3))
    assert set(edges.values()) == {1}
    assert all((b, a) in edges for a, b in edges)
    bodies = 2 if plinth else 1
    assert len(vertices) - len(edges) // 2 + len(faces) == 2 * bodies
    assert volume(vertices, faces) > 0.5
    assert vertices.dtype == np.float32
    assert faces.dtype == np.int32


@pytest.mark.small
def test_spot_grows_fourfold_and_converges():
    sizes = [len(spot(levels, plinth=False)[1]) for levels in (1, 2, 3)]
    assert sizes[1] == 4 * sizes[0]
    assert sizes[2] == 4 * sizes[1]
    volumes = [volume(*spot(levels, plinth=False)) for levels in (1, 2, 3)]
    assert 0 < volumes[1] - volumes[2] < volumes[0] - volumes[1]


@pytest.mark.small
def test_subdivision_of_a_cube():
    """After one step: corners at 5/18, middles of edges at 3/8, middles of sides at 1/2, worked out by hand."""
    vertices, polygons = catmull_clark(CUBE, Polygons.of(QUADS))
    np.testing.assert_allclose(vertices[:8], CUBE * 2 * 5 / 18)
    assert sorted(np.abs(vertices[8:20]).max(axis=1)) == pytest.approx([3 / 8] * 12)
    assert sorted(np.abs(vertices[20:]).max(axis=1)) == pytest.approx([1 / 2] * 6)
    assert len(triangles(polygons)) == 48
    assert volume(CUBE, triangles(Polygons.of(QUADS))) == pytest.approx(1)


@pytest.mark.small
def test_polygons_become_fans():
    assert triangles(Polygons.of([[3, 4, 5], [0, 1, 2, 6, 7]])).tolist() == [[3, 4, 5], [0, 1, 2], [0, 2, 6], [0, 6, 7]]


def test_demo_shows_and_checks(capsys, tmp_path):
    code, out, _ = run(capsys, "--output", str(tmp_path / "new"))
    assert code == 0
    assert "40,000 camera rays" in out
    assert "40,000 shadow rays" in out
    assert "agrees bit for bit on 1,000 of 1,000" in out
    assert "boxwood-demo.png" in out
    assert "boxwood render" in out
    with Image.open(tmp_path / "new" / "boxwood-demo.png") as picture:
        assert picture.size == (600, 400)
        assert len(np.unique(np.asarray(picture).reshape(-1, 3), axis=0)) > 1000
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["boxwood-demo.png"]


def test_demo_for_machines(capsys, tmp_path):
    code, out, _ = run(capsys, "--output", str(tmp_path), "--json", "--threads", "1")
    found = json.loads(out)
    assert code == 0
    assert found["check"]["differing"] == 0
    assert found["check"]["seconds_for_all"] == pytest.approx(40 * found["check"]["seconds"])
    assert found["camera"]["rays"] == found["shadow"]["rays"] == 40_000
    assert 5_000 < found["camera"]["hits"] < 40_000
    assert 1_000 < found["shadow"]["hits"] < 39_000
    assert found["camera"]["rays_per_second"] > 0
    assert Path(found["picture"]["path"]).is_file()


def test_demo_fails_when_brute_force_differs(capsys, tmp_path, monkeypatch):
    honest = demo_module.closest_hit_brute_force

    def one_off(*arguments, **options):
        t_hit, ids, uvs = honest(*arguments, **options)
        return np.where(np.arange(len(t_hit)) == 500, 7.0, t_hit), ids, uvs

    monkeypatch.setattr(demo_module, "closest_hit_brute_force", one_off)
    code, _, err = run(capsys, "--output", str(tmp_path))
    assert code == 1
    assert "1 of 1000 rays differ" in err


def test_demo_that_fails_leaves_no_picture(capsys, tmp_path, monkeypatch):
    def broken(*_, **__):
        raise OSError(28, "No space left on device", "somewhere")

    monkeypatch.setattr(demo_module, "render", broken)
    code, out, err = run(capsys, "--output", str(tmp_path))
    assert (code, out, err) == (2, "", "boxwood: somewhere: No space left on device\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.small
def test_shadow_rays_start_off_the_surface_towards_the_lamp():
    mesh = Mesh([[-1, -1, 0], [1, -1, 0], [0, 1, 0]], [[0, 1, 2]])
    hits = mesh.raycast([[0, 0, 2], [9, 9, 2], [0.1, 0, 2]], [0, 0, -1])
    origins, directions = demo_module.shadow_rays(hits, 10)
    assert origins.shape == directions.shape == (10, 3)
    assert (origins[:, 2] > 0).all()
    assert len(np.unique(np.concatenate([origins, directions], axis=1), axis=0)) == 10
    cosines = directions @ demo_module.LAMP / np.linalg.norm(directions, axis=1) / np.linalg.norm(demo_module.LAMP)
    assert cosines.min() > 0.98
