"""What cannot be meant is refused by name and row, by all four questions alike; what is merely empty is answered."""

from __future__ import annotations

import numpy as np
import pytest

import boxwood as bw
from worlds import DTYPES, closed_mesh, everything, some

pytestmark = pytest.mark.small

QUESTIONS = ["raycast", "occluded", "raycast_all", "count_hits"]


@pytest.fixture(params=QUESTIONS)
def ask(request):
    return getattr(closed_mesh("cube", np.float64), request.param)


def good(*shape):
    return np.zeros((*shape, 3)), np.ones((*shape, 3))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["origins", "directions"])
@pytest.mark.parametrize("axis", range(3))
def test_the_first_bad_row_is_named(ask, name, bad, axis):
    rays = dict(zip(("origins", "directions"), good(9), strict=True))
    rays[name][4, axis] = bad
    rays[name][7] = bad
    with pytest.raises(ValueError, match=rf"{name}\[4\] is not finite"):
        ask(**rays)
    with pytest.raises(ValueError, match=rf"{name} is not finite"):
        ask(**{key: array[4] for key, array in rays.items()})
    with pytest.raises(ValueError, match=rf"{name}\[1, 1\] is not finite"):
        ask(**{key: array.reshape(3, 3, 3) for key, array in rays.items()})


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_directions_of_no_length(ask, zero):
    origins, directions = good(6)
    directions[3] = zero
    with pytest.raises(ValueError, match=r"directions\[3\] is zero"):
        ask(origins, directions)
    with pytest.raises(ValueError, match=r"directions\[1, 1\] is zero"):
        ask(origins.reshape(3, 2, 3), directions.reshape(3, 2, 3))
    with pytest.raises(ValueError, match=r"directions is zero"):
        ask(origins, [0, 0, 0])
    ask(origins[0], [0, 0, 5e-324])  # short, not zero


@pytest.mark.parametrize("threads", [1, 2, None])
def test_in_a_later_chunk_of_a_large_batch(ask, threads):
    count = some(50_000, 700)
    origins, directions = good(count)
    row = count - 3
    origins[row, 1] = np.nan
    with pytest.raises(ValueError, match=rf"origins\[{row}\] is not finite"):
        ask(origins, directions, threads=threads)
    origins[row, 1] = 0
    directions[[20, row]] = 0
    with pytest.raises(ValueError, match=r"directions\[20\] is zero"):
        ask(origins, directions, threads=threads)


def test_ranges_that_are_no_numbers(ask):
    origins, directions = good(5)
    for name in ("t_min", "t_max"):
        with pytest.raises(ValueError, match=rf"{name} is nan"):
            ask(origins, directions, **{name: np.nan})
        with pytest.raises(ValueError, match=rf"{name}\[2\] is nan"):
            ask(origins, directions, **{name: [0, 1, np.nan, 3, np.nan]})
        with pytest.raises(ValueError, match="shapes do not fit"):
            ask(origins, directions, **{name: [0, 1]})


@pytest.mark.parametrize(
    ("origins", "directions"),
    [
        ([0, 0], [0, 0, 1]),
        ([0, 0, 0], [[0, 0, 1, 0]]),
        (0.0, [0, 0, 1]),
        (np.zeros((4, 3)), np.ones((5, 3))),
        (np.zeros((2, 3, 3)), np.ones((2, 2, 3))),
        (np.zeros((3, 0)), [0, 0, 1]),
        ([["a", "b", "c"]], [0, 0, 1]),
        ([0, 0, 0], [0, 0, 1j]),
        (None, [0, 0, 1]),
        ([[0, 0, 0], [0, 0]], [0, 0, 1]),
    ],
)
def test_shapes_and_kinds_that_fit_nothing(ask, origins, directions):
    with pytest.raises(ValueError, match=r"origins|directions"):
        ask(origins, directions)


@pytest.mark.parametrize("threads", [0, -1, 1.5, "two", True])
def test_threads(ask, threads):
    with pytest.raises(ValueError, match="threads must be an integer of at least 1"):
        ask(*good(3), threads=threads)
    with pytest.raises(ValueError, match="threads must be an integer of at least 1"):
        ask(*good(0), threads=threads)


@pytest.mark.parametrize("cull", ["both", "", 0, True, "Back"])
def test_cull(ask, cull):
    with pytest.raises(ValueError, match="cull must be one of None, 'back', 'front'"):
        ask(*good(3), cull=cull)
    with pytest.raises(ValueError, match="cull must be one of"):
        ask(*good(0), cull=cull)


@pytest.mark.parametrize("shape", [(), (1,), (7,), (2, 3)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_an_empty_mesh_is_missed(shape, dtype):
    for mesh in (
        bw.Mesh(np.zeros((0, 3), dtype), np.zeros((0, 3), int)),
        bw.Mesh(np.ones((5, 3), dtype), np.zeros((0, 3), int)),
        bw.Mesh(np.ones((5, 3), dtype), [[0, 1, 2], [3, 3, 4]]),  # nothing with an area
    ):
        rays = [array.astype(dtype) for array in good(*shape)]
        hits = mesh.raycast(*rays)
        assert hits.t_hit.dtype == dtype
        assert hits.t_hit.shape == hits.primitive_ids.shape == shape
        assert hits.uvs.shape == (*shape, 2)
        assert np.isinf(hits.t_hit).all()
        assert (hits.primitive_ids == -1).all()
        assert np.isnan(hits.uvs).all()
        assert np.isnan(hits.points).all()
        assert not np.any(mesh.occluded(*rays))
        assert np.shape(mesh.occluded(*rays)) == np.shape(mesh.count_hits(*rays)) == shape
        assert not np.any(mesh.count_hits(*rays))
        every = mesh.raycast_all(*rays)
        assert len(every) == int(np.prod(shape))
        assert every.t_hit.shape == (0,)
        assert every.uvs.shape == (0, 2)
        with pytest.raises(ValueError, match="is zero"):
            mesh.raycast([0, 0, 0], [0, 0, 0])


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_no_rays(shape, dtype):
    mesh = closed_mesh("cube", dtype)
    told = []
    for rays in ([array.astype(dtype) for array in good(*shape)], (np.zeros((*shape, 3), dtype), np.ones(3, dtype))):
        hits = mesh.raycast(*rays, progress=lambda *state: told.append(state))
        assert hits.t_hit.shape == hits.primitive_ids.shape == hits.hit.shape == shape
        assert hits.t_hit.dtype == dtype
        assert hits.uvs.shape == (*shape, 2)
        assert hits.points.shape == hits.normals.shape == (*shape, 3)
        assert mesh.occluded(*rays).shape == mesh.count_hits(*rays).shape == shape
        assert mesh.occluded(*rays).dtype == bool
        every = mesh.raycast_all(*rays)
        assert every.ray_splits.tolist() == [0]
        assert len(every) == 0
    assert set(told) == {(0, 0)}
    assert mesh.raycast([], []).t_hit.shape == (0,)


def test_after_an_error_the_mesh_answers_as_before(ask):
    mesh = closed_mesh("sphere", np.float64)
    rays = good(20)
    wanted = everything(mesh, rays)
    for question in QUESTIONS:
        with pytest.raises(ValueError, match="is zero"):
            getattr(mesh, question)(rays[0], np.zeros((20, 3)))
    answers = everything(mesh, rays)
    for name in wanted:
        np.testing.assert_array_equal(wanted[name], answers[name])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"builder": "nonsense"}, "builder must be one of"),
        ({"quality": "best"}, "quality must be one of"),
        ({"builder": "binned", "quality": "low"}, "a builder or a quality"),
        ({"bins": 3}, "bins must be an integer from 4 to 64"),
        ({"bins": 65}, "bins must be an integer from 4 to 64"),
        ({"bins": 8.5}, "bins must be an integer"),
        ({"leaf_size": 0}, "leaf_size must be an integer from 1 to 60"),
        ({"leaf_size": 61}, "leaf_size must be an integer from 1 to 60"),
        ({"threads": 0}, "threads must be an integer of at least 1"),
    ],
)
@pytest.mark.parametrize("name", ["cube", "empty"])
def test_build_refuses_what_it_cannot_mean(options, message, name):
    mesh = bw.Mesh([], []) if name == "empty" else closed_mesh(name, np.float64)
    with pytest.raises(ValueError, match=message):
        mesh.build(**options)
    assert mesh.build() is mesh
