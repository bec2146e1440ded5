"""Pictures: cameras, each mode, shadows without acne, the boxes of the tree, and what a picture tells about itself."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

import boxwood.rendering.shot as shot_module
from boxwood._arrays import rays
from boxwood.mesh import Mesh
from boxwood.query.brute_force import closest_hit_brute_force
from boxwood.query.visit_count import visit_count
from boxwood.rendering import Camera, Picture, render
from boxwood.rendering.color import map_table, srgb_table
from boxwood.rendering.modes import MODES
from boxwood.rendering.wireframe import edges_of, project
from boxwood.results import Counters
from boxwood.samples import spot
from boxwood.tree.levels import levels_of

FLOOR = np.array([[-4, -4, 0], [4, -4, 0], [4, 4, 0], [-4, 4, 0]], float), np.array([[0, 1, 2], [0, 2, 3]])
DOWN = Camera((0.0, 0.0, 10.0), (0.0, 0.0, 0.0), (0.0, 1.0, 0.0))


def ball(columns: int = 24, rows: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """A convex closed mesh around the origin, of radius one."""
    around, down = np.meshgrid(np.arange(columns) * 2 * np.pi / columns, np.arange(1, rows) * np.pi / rows)
    ring = np.stack([np.sin(down) * np.cos(around), np.sin(down) * np.sin(around), np.cos(down)], axis=-1)
    vertices = np.concatenate([ring.reshape(-1, 3), [[0, 0, 1], [0, 0, -1]]])
    top, bottom = len(vertices) - 2, len(vertices) - 1
    faces = []
    for c in range(columns):
        n = (c + 1) % columns
        faces += [(top, c, n), (bottom, (rows - 2) * columns + n, (rows - 2) * columns + c)]
        for r in range(rows - 2):
            a, b = r * columns + c, r * columns + n
            faces += [(a, a + columns, b + columns), (a, b + columns, b)]
    return vertices, np.array(faces)


def joined(*parts: tuple[np.ndarray, np.ndarray]) -> Mesh:
    starts = np.cumsum([0] + [len(vertices) for vertices, _ in parts])
    return Mesh(
        np.concatenate([vertices for vertices, _ in parts]),
        np.concatenate([faces + start for (_, faces), start in zip(parts, starts[:-1], strict=True)]),
    )


@pytest.fixture(scope="module")
def cow() -> Mesh:
    return Mesh(*spot(2))


# The camera


@pytest.mark.small
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_camera_rays_pass_through_pixel_centres(dtype):
    camera = Camera((1.0, -5.0, 2.0), (1.0, 0.0, 2.0), field_of_view=90.0)
    origin, directions = camera.rays(4, 2, dtype=dtype)
    assert origin.dtype == directions.dtype == dtype
    assert directions.shape == (2, 4, 3)
    # at depth one, a pixel is one unit wide: columns -1.5 .. 1.5, rows from the top
    np.testing.assert_allclose(directions[0, :, 0], [-1.5, -0.5, 0.5, 1.5], rtol=1e-6)
    np.testing.assert_allclose(directions[:, 0, 2], [0.5, -0.5], rtol=1e-6)
    np.testing.assert_allclose(directions[..., 1], 1.0)


@pytest.mark.small
@pytest.mark.parametrize("direction", [(0, 1, 0), (-0.5, 0.7, -0.4), (1, 0.2, 3), (0.1, 0, -1)])
@pytest.mark.parametrize("aspect", [0.5, 1.0, 3.0])
def test_fit_has_all_points_in_view_and_no_more_room_than_asked(direction, aspect):
    points = np.random.default_rng(5).normal(size=(200, 3)) * [3, 1, 0.2] + [100, -50, 7]
    camera = Camera.fit(Mesh(points, np.empty((0, 3), int)), direction, aspect=aspect, margin=0.1)
    right, up, forward = (points - camera.position) @ camera.axes().T.copy() @ np.eye(3)[:, :, None]
    tangent = math.tan(math.radians(camera.field_of_view) / 2)
    aside = np.stack([right.ravel() / forward.ravel() / aspect, up.ravel() / forward.ravel()]) / tangent
    reach = np.abs(aside).max(axis=1)
    assert reach.max() == pytest.approx(0.8)  # the whole but the margins
    np.testing.assert_allclose(aside.max(axis=1), -aside.min(axis=1), atol=1e-3)  # in the middle


@pytest.mark.small
@pytest.mark.parametrize(
    "points", [np.empty((0, 3)), np.zeros((1, 3)), np.full((3, 3), 1e6), np.array([[0, 0, 0], [0, 1e-30, 0]])]
)
def test_fit_finds_a_place_even_for_points_without_extent(points):
    camera = Camera.fit(Mesh(points, np.empty((0, 3), int)))
    assert np.isfinite(camera.position).all()
    assert camera.position != camera.target


@pytest.mark.small
def test_fit_takes_bounds():
    by_bounds = Camera.fit([[-1, -1, -1], [1, 1, 1]])
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    assert by_bounds == Camera.fit(Mesh(corners, np.empty((0, 3), int)))


@pytest.mark.small
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"position": (0, 0, np.nan), "target": (0, 0, 0)}, "position is not finite"),
        ({"position": (0, 0), "target": (0, 0, 0)}, "position must be three numbers"),
        ({"position": (1, 1, 1), "target": (1, 1, 1)}, "must differ"),
        ({"position": (0, 0, 5), "target": (0, 0, 0)}, "up .* along the view"),
        ({"position": (5, 0, 0), "target": (0, 0, 0), "up": (0, 0, 0)}, "up .* must not be zero"),
        ({"position": (5, 0, 0), "target": (0, 0, 0), "field_of_view": 180}, "field_of_view"),
        ({"position": (5, 0, 0), "target": (0, 0, 0), "near": -1}, "near"),
    ],
)
def test_camera_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        Camera(**arguments)


def test_near_cuts_away_what_is_before_it():
    mesh = joined(FLOOR, (FLOOR[0] * 0.25 + [0, 0, 5], FLOOR[1]))
    seen, cut = render(mesh, 9, 9, DOWN, "ids"), render(mesh, 9, 9, replace(DOWN, near=6.0), "ids")
    np.testing.assert_array_equal(seen.image[0], cut.image[0])
    assert (seen.image[4, 4] != cut.image[4, 4]).any()
    np.testing.assert_array_equal(cut.image, render(joined(FLOOR), 9, 9, DOWN, "ids").image)


# All modes


@pytest.mark.parametrize("mode", MODES)
def test_picture_depends_neither_on_threads_nor_on_bands(cow, mode, monkeypatch):
    whole = render(cow, 61, 47, mode=mode, samples=4, ambient=2, threads=1)
    monkeypatch.setattr(shot_module, "BAND", 1000)
    pieces = render(cow, 61, 47, mode=mode, samples=4, ambient=2, threads=3)
    np.testing.assert_array_equal(whole.image, pieces.image)
    assert whole.image.shape == (47, 61, 3)
    assert whole.image.dtype == np.uint8
    assert whole.rays == pieces.rays
    assert len(np.unique(whole.image.reshape(-1, 3), axis=0)) > 20


@pytest.mark.small
@pytest.mark.parametrize("mode", MODES)
def test_empty_mesh_shows_the_background(mode):
    picture = render(Mesh(np.empty((0, 3)), np.empty((0, 3), int)), 8, 6, mode=mode, verify=True, ambient=1)
    assert picture.image.shape == (6, 8, 3)
    assert np.ptp(picture.image[..., 0].astype(int), axis=1).max() < 20  # nothing but a smooth gradient
    assert picture.counters.hits == 0
    assert picture.differing == 0


@pytest.mark.small
@pytest.mark.parametrize("mode", MODES)
def test_every_mode_on_one_triangle(mode):
    picture = render(Mesh([[0, 0, 0], [1, 0, 0], [0, 0, 1]], [[0, 1, 2]]), 12, 9, mode=mode, verify=True)
    colors = len(np.unique(picture.image.reshape(-1, 3), axis=0))
    assert colors == 1 if mode == "heat" else colors > 1  # every ray tests the one box
    assert picture.verified == 108
    assert picture.differing == 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [2.0**-100, 2.0**100])
def test_size_of_the_mesh_does_not_matter(mode, size):
    vertices, faces = ball()
    expected = render(Mesh(vertices, faces), 40, 30, mode=mode, verify=True)
    picture = render(Mesh(vertices * size, faces), 40, 30, mode=mode, verify=True)
    assert picture.differing == 0
    different = (np.abs(picture.image.astype(int) - expected.image) > 8).any(axis=-1)
    assert different.mean() < 0.02


@pytest.mark.small
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"width": 0}, "width .* 0"),
        ({"height": -3}, "height .* -3"),
        ({"width": 2.5}, "width .* 2.5"),
        ({"width": 10**6, "height": 10**6}, "1000000 x 1000000 pixels are too many"),
        ({"width": 12000, "height": 9000, "samples": 9}, "12000 x 9000 pixels of 9 samples are too many"),
        ({"mode": "sketch"}, "mode must be one of"),
        ({"samples": 2}, "samples must be one of"),
        ({"ambient": -1}, "ambient"),
        ({"threads": 0}, "threads"),
        ({"mode": "boxes", "levels": [7]}, "levels names 7, but the tree has levels 0 to 1"),
        ({"mode": "boxes", "levels": [-1]}, "levels"),
    ],
)
def test_render_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        render(Mesh(*FLOOR), **arguments)


@pytest.mark.small
def test_render_refuses_what_is_no_mesh():
    with pytest.raises(TypeError, match="mesh must be a Mesh, not tuple"):
        render(FLOOR)


# Light


def test_broken_winding_looks_the_same():
    vertices, faces = ball()
    flipped = faces.copy()
    flipped[::3] = flipped[::3, [0, 2, 1]]
    sound, broken = (render(Mesh(vertices, f), 60, 60).image.astype(int) for f in (faces, flipped))
    assert np.abs(sound - broken).max() <= 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("size", "offset"), [(1, 0), (1, 300), (1e-6, 0), (1e5, 2e6)])
def test_convex_mesh_casts_no_shadow_on_itself(dtype, size, offset):
    vertices, faces = ball(96, 48)
    mesh = Mesh((vertices * size + offset).astype(dtype), faces)
    dark, light = render(mesh, 120, 120, shadows=True), render(mesh, 120, 120, shadows=False)
    assert dark.rays["shadow rays"] > 1000
    assert light.rays["shadow rays"] == 0
    np.testing.assert_array_equal(dark.image, light.image)


def test_shadow_falls_where_the_light_is_hidden():
    roof = (FLOOR[0] * 0.2 + [0, 0, 1.5], FLOOR[1])
    camera = Camera((0, -12, 9), (0, 0, 0))
    with_roof, alone = render(joined(FLOOR, roof), 160, 120, camera), render(joined(FLOOR), 160, 120, camera)
    ids = render(joined(FLOOR, roof), 160, 120, camera, "ids").image
    on_floor = (ids == render(joined(FLOOR), 160, 120, camera, "ids").image).all(axis=-1)
    darker = with_roof.image.sum(axis=-1).astype(int) < alone.image.sum(axis=-1).astype(int) - 60
    assert 100 < np.count_nonzero(darker & on_floor) < 3000
    np.testing.assert_array_equal(with_roof.image[on_floor & ~darker], alone.image[on_floor & ~darker])
    assert np.count_nonzero(darker & on_floor & (ids.sum(axis=-1) < 100)) == 0


def test_ambient_darkens_corners_only():
    wall = (FLOOR[0][:, [0, 2, 1]] + [0, 4, 4], FLOOR[1])
    camera = Camera((0, -14, 9), (0, 3, 2))
    mesh = joined(FLOOR, wall)
    plain = render(mesh, 80, 60, camera, shadows=False).image.sum(axis=-1).astype(int)
    ambient = render(mesh, 80, 60, camera, shadows=False, ambient=64).image.sum(axis=-1).astype(int)
    assert (ambient <= plain).all()
    corner = project(np.array([[[0.0, 3.7, 0.0], [0.0, 4.0, 0.3]]]), camera, 80, 60)[0]
    near_corner = plain - ambient
    assert near_corner[round(corner[1]), 40] > 2 * near_corner[55, 40] + 10


# Single modes


def test_normals_are_colours():
    picture = render(joined(FLOOR), 9, 9, DOWN, "normals")
    assert picture.image[4, 4].tolist() == [128, 128, 255]
    flipped = render(Mesh(FLOOR[0], FLOOR[1][:, ::-1]), 9, 9, DOWN, "normals")
    np.testing.assert_array_equal(flipped.image, picture.image)


def test_depth_is_brightest_where_near():
    slope = FLOOR[0] + [[0, 0, 0], [0, 0, 3], [0, 0, 3], [0, 0, 0]]
    row = render(Mesh(slope, FLOOR[1]), 33, 33, Camera((0, 0, 20), (0, 0, 0), (0, 1, 0)), "depth").image[16, :, 0]
    inside = row[row > 40].astype(int)
    assert len(inside) > 20
    assert (np.diff(inside) > 0).all()
    assert inside[-1] == 255


def test_faces_have_colours_of_their_own():
    image = render(joined(FLOOR), 33, 33, Camera((0, 0, 8), (0, 0, 0), (0, 1, 0)), "ids").image
    assert (image[30, 20] != image[2, 12]).any()
    assert np.abs(image[30, 20].astype(int) - image[28, 20]).max() <= 3


def test_samples_smooth_edges():
    one, nine = (render(joined(FLOOR), 40, 40, Camera((3, -12, 9), (0, 0, 0)), "ids", samples=n).image for n in (1, 9))
    assert len(np.unique(nine.reshape(-1, 3), axis=0)) > 2 * len(np.unique(one.reshape(-1, 3), axis=0))
    assert abs(nine.mean() - one.mean()) < 2


# Work per ray


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_visits_are_those_of_the_walk(cow, dtype):
    mesh = Mesh(cow.vertices.astype(dtype), cow.faces)
    origin, directions = Camera.fit(mesh).rays(40, 30, dtype=dtype)
    batch = rays(origin, directions, 0.0, np.inf, mesh.dtype)
    sums, own = Counters(), Counters()
    hits = mesh.raycast(origin, directions, counters=sums)
    t_hit, ids, uvs, boxes, triangles = visit_count(mesh.tree, batch, counters=own)
    np.testing.assert_array_equal(t_hit, hits.t_hit.ravel())
    np.testing.assert_array_equal(ids, hits.primitive_ids.ravel())
    np.testing.assert_array_equal(uvs, hits.uvs.reshape(-1, 2))
    assert own == sums
    assert boxes.sum() == sums.boxes_tested
    assert triangles.sum() == sums.primitives_tested
    assert (triangles[ids >= 0] > 0).all()


def test_heat_is_brighter_where_more_boxes_are_tested(cow):
    image = render(cow, 200, 150, mode="heat").image.astype(int).sum(axis=-1)
    assert image[0, 0] < 100  # only the root's boxes
    assert image.max() > 600


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_brute_force_agrees_bit_for_bit(cow, dtype):
    mesh = Mesh(cow.vertices.astype(dtype) + dtype(7), cow.faces)
    rng = np.random.default_rng(11)
    origins, directions = rng.uniform(4, 10, (500, 3)).astype(dtype), rng.normal(size=(500, 3)).astype(dtype)
    for t_max in (np.inf, 1.0):
        batch = rays(origins, directions, 0.1, t_max, mesh.dtype)
        hits = mesh.raycast(origins, directions, t_min=0.1, t_max=t_max)
        t_hit, ids, uvs = closest_hit_brute_force(mesh.tree, batch)
        assert np.count_nonzero(ids >= 0) > 10
        np.testing.assert_array_equal(t_hit, hits.t_hit)
        np.testing.assert_array_equal(ids, hits.primitive_ids)
        np.testing.assert_array_equal(uvs, hits.uvs)


def test_verify_counts_what_differs(cow, monkeypatch):
    def one_face_off(*arguments, **options):
        t_hit, ids, uvs = closest_hit_brute_force(*arguments, **options)
        return t_hit, np.where(ids == ids.max(), 0, ids), uvs

    assert render(cow, 64, 48, verify=True).differing == 0
    assert render(cow, 64, 48).differing is None
    monkeypatch.setattr(shot_module, "closest_hit_brute_force", one_face_off)
    picture = render(cow, 64, 48, verify=True)
    assert picture.verified == 64 * 48
    assert 0 < picture.differing < 64 * 48


def test_verify_takes_a_sample_where_all_would_take_long(cow, monkeypatch):
    monkeypatch.setattr(shot_module, "VERIFY_TESTS", 100 * len(cow))
    monkeypatch.setattr(shot_module, "BAND", 700)
    picture = render(cow, 64, 48, verify=True)
    assert 90 < picture.verified <= 100


# Boxes


@pytest.mark.small
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_levels_are_nested_and_hold_the_mesh(offset):
    vertices, faces = ball()
    mesh = Mesh(vertices + offset, faces)
    levels = levels_of(mesh.tree)
    assert len(levels) == mesh.tree.depth + 1
    lower, upper = levels[0]
    assert lower.shape == upper.shape == (1, 3)
    assert (lower[0] <= mesh.bounds[0]).all()
    assert (upper[0] >= mesh.bounds[1]).all()
    np.testing.assert_allclose([lower[0], upper[0]], mesh.bounds, atol=1e-5)
    assert 1 < len(levels[1][0]) <= 8
    for (lower, upper), (inner_lower, inner_upper) in pairwise(levels):
        inside = (lower[None] <= inner_lower[:, None]) & (inner_upper[:, None] <= upper[None])
        assert inside.all(axis=-1).any(axis=1).all()


@pytest.mark.small
def test_empty_tree_has_no_levels():
    assert levels_of(Mesh(np.empty((0, 3)), np.empty((0, 3), int)).tree) == []


def test_boxes_are_drawn_before_and_fainter_behind():
    """The box of everything around a ball, seen along an axis."""
    mesh = Mesh(*ball())
    camera = Camera((0, -8, 0), (0, 0, 0))
    plain = render(mesh, 300, 300, camera).image.astype(int)
    drawn = render(mesh, 300, 300, camera, "boxes", levels=[0]).image.astype(int)
    white = (drawn > 200).all(axis=-1)
    assert np.count_nonzero(white) > 300
    rows, columns = np.nonzero(white[:260])  # without the legend
    front = 150 + 150 * np.array([-1, 1]) / (math.tan(math.radians(17.5)) * 7)  # the edges of the near side
    assert abs(columns.min() - front[0]) < 2
    assert abs(columns.max() - front[1]) < 2
    assert abs(rows.min() - front[0]) < 2
    ball_seen = plain[150, 150]
    assert (np.abs(drawn[150, 150] - 0.62 * ball_seen) < 2).all()  # dimmed, not covered


@pytest.mark.small
def test_edges_behind_the_camera_are_cut_away():
    camera = Camera((0, 0, 0), (0, 1, 0))
    behind = edges_of(np.array([[-1.0, -3.0, -1.0]]), np.array([[1.0, -2.0, 1.0]]))
    assert len(project(behind, camera, 100, 100)) == 0
    wide = replace(camera, field_of_view=120.0)
    around = project(edges_of(np.full((1, 3), -1.0), np.full((1, 3), 1.0)), wide, 100, 100)
    assert len(around) > 0
    assert np.isfinite(around).all()
    assert around[:, [0, 1, 3, 4]].min() >= -8.001
    assert around[:, [0, 1, 3, 4]].max() <= 108.001


# The picture


def test_picture_tells_what_it_took(cow):
    mesh = Mesh(cow.vertices, cow.faces)
    first, second = render(mesh, 80, 60), render(mesh, 80, 60)
    assert list(first.seconds) == ["build", "camera rays", "shadow rays", "shading", "other"]
    assert first.seconds["build"] > 0
    assert second.seconds["build"] == 0
    assert sum(first.shares().values()) == pytest.approx(1)
    assert min(first.seconds.values()) >= 0
    assert first.rays["camera rays"] == 4800
    assert first.counters.queries == sum(first.rays.values())
    assert first.counters.boxes_tested > first.counters.queries
    assert "80 x 60" in repr(first)


def test_progress_counts_pixels(cow, monkeypatch):
    monkeypatch.setattr(shot_module, "BAND", 1500)
    calls = []
    render(cow, 50, 40, samples=4, progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (2000, 2000)
    assert len(calls) > 3
    assert calls == sorted(calls)


@pytest.mark.small
def test_picture_is_saved_as_it_is(tmp_path):
    image = np.random.default_rng(2).integers(0, 256, (6, 9, 3), np.uint8)
    picture = Picture(image, Counters(), {}, {"other": 1.0})
    picture.save(tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as saved:
        np.testing.assert_array_equal(np.asarray(saved), image)
    picture.save(str(tmp_path / "a.JPG"))
    with Image.open(tmp_path / "a.JPG") as saved:
        assert saved.format == "JPEG"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.JPG", "a.png"]


@pytest.mark.small
def test_picture_that_cannot_be_saved_leaves_nothing(tmp_path):
    picture = Picture(np.zeros((2, 2, 3), np.uint8), Counters(), {}, {"other": 1.0})
    with pytest.raises(ValueError, match=r"as \.png or \.jpg, not as .*a\.gif"):
        picture.save(tmp_path / "a.gif")
    with pytest.raises(OSError, match="nowhere"):
        picture.save(tmp_path / "nowhere" / "a.png")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.small
def test_tables_rise():
    brightness = map_table().astype(int) @ [2126, 7152, 722]
    assert (np.diff(brightness) >= -7000).all()  # perceived brightness rises, but for rounding
    table = srgb_table().astype(int)
    assert (table[0], table[-1]) == (0, 255)
    assert np.diff(table).min() >= 0
    assert table[round(0.2140 * 8191)] == 127 or table[round(0.2140 * 8191)] == 128  # half as bright to the eye
