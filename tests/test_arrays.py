"""What users may pass, what kernels get, and what the errors say."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from boxwood import _arrays
from boxwood._arrays import boxed, one_of, positive_int, raise_bad_ray, vertices_and_faces

pytestmark = pytest.mark.small

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
POINTS = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
FACES = [[0, 1, 2], [0, 1, 3]]


def rays(origins, directions, t_min=0.0, t_max=math.inf, dtype=F64):
    return _arrays.rays(origins, directions, t_min, t_max, dtype)


def refused(message):
    return pytest.raises(ValueError, match=re.escape(message))


def strided(values, dtype):
    wide = np.zeros((2 * len(values), 5), dtype)
    wide[::2, 1:4] = values
    return wide[::2, 1:4]


def unaligned(values, dtype):
    values = np.array(values, dtype)
    raw = np.frombuffer(b"\0" + values.tobytes(), np.uint8)[1:]
    return raw.view(dtype).reshape(values.shape)


def is_kernel_ready(array):
    flags = array.flags
    return type(array) is np.ndarray and flags.c_contiguous and flags.aligned and not flags.writeable


# -- meshes


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize(
    ("given", "kept"),
    [("f2", F64), ("f4", F32), (">f4", F32), ("f8", F64), (">f8", F64), ("i1", F64), ("u8", F64), (">i8", F64)],
)
@pytest.mark.parametrize("layout", [np.array, strided, unaligned, np.asfortranarray])
def test_vertices_of_any_kind_become_one_kind(given, kept, layout, copy):
    given_vertices = layout(POINTS, dtype=given)
    vertices, faces = vertices_and_faces(given_vertices, FACES, copy=copy)
    assert vertices.dtype == kept
    assert vertices.dtype.isnative
    assert faces.dtype == np.int32
    assert is_kernel_ready(vertices)
    assert is_kernel_ready(faces)
    assert vertices.tolist() == POINTS
    assert faces.tolist() == FACES


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">u8"])
@pytest.mark.parametrize("layout", [np.array, strided, unaligned])
def test_faces_of_any_integers(dtype, layout):
    assert vertices_and_faces(POINTS, layout(FACES, dtype=dtype))[1].tolist() == FACES


def test_copies_are_own_and_borrowed_arrays_are_the_users():
    points, corners = np.array(POINTS, F32), np.array(FACES, np.int32)
    vertices, faces = vertices_and_faces(points, corners)
    assert not np.shares_memory(vertices, points)
    assert not np.shares_memory(faces, corners)
    with pytest.raises(ValueError, match="WRITEABLE"):
        vertices.flags.writeable = True
    vertices, faces = vertices_and_faces(points, corners, copy=False)
    assert np.shares_memory(vertices, points)
    assert np.shares_memory(faces, corners)
    assert points.flags.writeable
    assert corners.flags.writeable
    points.flags.writeable = False
    assert np.shares_memory(vertices_and_faces(points, corners, copy=False)[0], points)


@pytest.mark.parametrize("empty", [[], np.zeros((0, 3)), np.zeros((0, 3), F32), np.zeros((0, 3), np.uint8)])
def test_empty_meshes_are_legal(empty):
    vertices, faces = vertices_and_faces(empty, empty)
    assert vertices.shape == faces.shape == (0, 3)
    assert vertices.dtype == (F32 if getattr(empty, "dtype", None) == F32 else F64)
    assert faces.dtype == np.int32
    assert vertices_and_faces(POINTS, [])[0].shape == (4, 3)


def test_unmasked_masked_arrays_are_arrays():
    assert is_kernel_ready(vertices_and_faces(np.ma.array(POINTS, dtype=float), FACES)[0])


@pytest.mark.parametrize(
    ("vertices", "faces", "message"),
    [
        (POINTS, [[0, 1, 2]] * 12 + [[0, 99, 1]], "faces[12] refers to vertex 99, but there are 4 vertices"),
        (POINTS, [[0, 1, 2], [3, 0, -1]], "faces[1] refers to vertex -1, but there are 4 vertices"),
        (POINTS, np.array([[0, 1, 2**63]], np.uint64), "faces[0] refers to vertex 9223372036854775808, but"),
        (POINTS, np.array([[0, 1, 2**32 + 1]]), "faces[0] refers to vertex 4294967297, but"),
        ([], [[0, 0, 0]], "faces[0] refers to vertex 0, but there are 0 vertices"),
        (POINTS, [[0.0, 1.0, 2.0]], "faces must be integers, not float64 of shape (1, 3)"),
        (POINTS, [[True, True, False]], "faces must be integers, not bool"),
        (POINTS, [[0, 1, 2, 3]], "faces must have shape (n, 3), not (1, 4)"),
        (POINTS, [0, 1, 2], "faces must have shape (n, 3), not (3,)"),
        (POINTS, [[0, 1, 2], [0, 1]], "faces cannot be read as an array"),
        ([[0, 0], [1, 1]], FACES, "vertices must have shape (n, 3), not (2, 2)"),
        (np.zeros((2, 2, 3)), FACES, "vertices must have shape (n, 3), not (2, 2, 3)"),
        (np.zeros((0, 2)), [], "vertices must have shape (n, 3), not (0, 2)"),
        (1.5, FACES, "vertices must have shape (n, 3), not ()"),
        (None, FACES, "vertices must be real numbers of at most 64 bits, not object of shape ()"),
        ([["a", "b", "c"]], FACES, "vertices must be real numbers"),
        (np.zeros((4, 3), complex), FACES, "vertices must be real numbers of at most 64 bits, not complex128"),
        (np.zeros((4, 3), bool), FACES, "vertices must be real numbers of at most 64 bits, not bool"),
        ([[10**30, 0, 0]], FACES, "vertices must be real numbers of at most 64 bits, not object"),
        (np.ma.masked_equal(POINTS, 1), FACES, "vertices has masked values, in shape (4, 3)"),
    ],
)
def test_bad_meshes_are_named(vertices, faces, message):
    with refused(message):
        vertices_and_faces(vertices, faces)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("dtype", [np.float16, F32, F64])
def test_vertices_that_are_not_finite_are_named_even_if_unused(bad, dtype):
    points = np.zeros((9, 3), dtype)
    points[7, 1] = points[8, 0] = bad
    with refused(f"vertices[7] is not finite: (0, {bad:g}, 0)"):
        vertices_and_faces(points, [])


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="long double is double here")
def test_long_double_is_never_narrowed():
    with refused("vertices must be real numbers of at most 64 bits"):
        vertices_and_faces(np.zeros((4, 3), np.longdouble), FACES)
    with refused("origins must be real numbers of at most 64 bits"):
        rays(np.zeros(3, np.longdouble), [0, 0, 1])


def test_too_many_vertices_are_refused(monkeypatch):
    monkeypatch.setattr(_arrays, "MOST_VERTICES", 3)
    with refused("vertices has 4 rows, and a mesh can have 3"):
        vertices_and_faces(POINTS, FACES)


# -- rays


@pytest.mark.parametrize("layout", [np.array, strided, unaligned, np.asfortranarray])
@pytest.mark.parametrize("dtype", ["f4", "f8", ">f4", ">f8", "i4", "f2"])
def test_rays_of_any_kind_become_one_kind(layout, dtype):
    batch = rays(layout(POINTS, dtype=dtype), layout(POINTS, dtype=dtype), dtype=F32)
    assert all(is_kernel_ready(array) for array in batch[:4])
    assert {array.dtype for array in batch[:4]} == {F32 if "f4" in dtype else F64}
    assert batch.origins.tolist() == batch.directions.tolist() == POINTS
    assert batch.t_min.tolist() == [0]
    assert batch.t_max.tolist() == [math.inf]
    assert batch.shape == (4,)
    assert not batch.single


def test_rays_that_fit_are_borrowed_with_their_flags_left_alone():
    origins = np.zeros((5, 3))
    batch = rays(origins, origins)
    assert np.shares_memory(batch.origins, origins)
    assert origins.flags.writeable


def test_a_single_ray():
    batch = rays([1, 2, 3], (0, 0, 1), 0.25, 4)
    assert batch.single
    assert batch.shape == ()
    assert batch.origins.tolist() == [[1, 2, 3]]
    assert batch.t_min.tolist() == [0.25]
    assert batch.t_max.tolist() == [4]


@pytest.mark.parametrize(
    ("shapes", "shape"),
    [
        (((5, 3), (3,), (), ()), (5,)),
        (((3,), (5, 3), (5,), (1,)), (5,)),
        (((3,), (3,), (4,), ()), (4,)),
        (((2, 1, 3), (4, 3), (2, 1), (4,)), (2, 4)),
        (((1, 3), (3,), (), ()), (1,)),
        (((0, 3), (3,), (), (1,)), (0,)),
        (((2, 0, 3), (2, 0, 3), (0,), ()), (2, 0)),
    ],
)
def test_shapes_broadcast(shapes, shape):
    arrays = [np.random.default_rng(1).random(shape) for shape in shapes]
    batch = rays(*arrays)
    count = math.prod(shape)
    assert batch.shape == shape
    assert batch.origins.tolist() == np.broadcast_to(arrays[0], (*shape, 3)).reshape(count, 3).tolist()
    assert batch.directions.tolist() == np.broadcast_to(arrays[1], (*shape, 3)).reshape(count, 3).tolist()
    for given, held in zip(arrays[2:], batch[2:4], strict=True):
        assert held.shape == ((1,) if given.ndim == 0 else (count,))
        assert np.broadcast_to(held, count).tolist() == np.broadcast_to(given, shape).ravel().tolist()


@pytest.mark.parametrize("empty", [[], np.zeros((0, 3))])
def test_no_rays_are_legal(empty):
    batch = rays(empty, [0, 0, 1])
    assert batch.shape == (0,)
    assert batch.origins.shape == batch.directions.shape == (0, 3)
    assert rays(empty, empty, [], []).t_min.shape == (0,)


def test_the_computing_dtype_is_the_widest_and_single_numbers_do_not_widen():
    narrow, wide = np.ones((2, 3), F32), np.ones((2, 3))
    for origins, directions, t_max, mesh, expected in [
        (narrow, narrow, 1.0, F32, F32),
        (narrow, narrow, np.float64(1), F32, F32),
        (narrow, narrow, np.array(1), F32, F32),
        (narrow, narrow, 1, F64, F64),
        (wide, narrow, 1.0, F32, F64),
        (narrow, [0, 0, 1], 1.0, F32, F64),
        (narrow, narrow, np.ones(2), F32, F64),
        (narrow, narrow, [1, 2], F32, F64),
        (narrow, narrow, np.ones(2, F32), F32, F32),
    ]:
        batch = rays(origins, directions, 0.0, t_max, mesh)
        assert {array.dtype for array in batch[:4]} == {expected}


def test_single_t_ranges_round_to_nearest():
    ones = np.ones(3, F32)
    earlier = np.float32(0.3)
    batch = rays(ones, ones, float(earlier), earlier, F32)
    assert batch.t_min[0] == batch.t_max[0] == earlier
    assert rays(ones, ones, 0.0, 0.1, F32).t_max[0] == np.float32(0.1)
    batch = rays(ones, ones, -1e300, 1e300, F32)
    assert (batch.t_min[0], batch.t_max[0]) == (-math.inf, math.inf)
    assert rays(ones, ones, -2.0, 1e300, F64).t_max[0] == 1e300


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 0], [0, 0, 1]), "origins must have shape (3,) or (..., 3), not (2,)"),
        ((0.0, [0, 0, 1]), "origins must have shape (3,) or (..., 3), not ()"),
        (([0, 0, 0], np.ones((2, 4))), "directions must have shape (3,) or (..., 3), not (2, 4)"),
        ((["a"] * 3, [0, 0, 1]), "origins must be real numbers of at most 64 bits, not <U1 of shape (3,)"),
        (([1j, 0, 0], [0, 0, 1]), "origins must be real numbers of at most 64 bits, not complex128 of shape (3,)"),
        (([True, False, True], [0, 0, 1]), "origins must be real numbers of at most 64 bits, not bool"),
        ((None, [0, 0, 1]), "origins must be real numbers"),
        (([[0, 0, 0], [1]], [0, 0, 1]), "origins cannot be read as an array"),
        (([0, 0, 0], np.ma.masked_equal([0, 0, 1], 1)), "directions has masked values, in shape (3,)"),
        (
            (np.ones((4, 3)), np.ones((5, 3))),
            "shapes do not fit together: origins (4, 3), directions (5, 3), t_min (), t_max ()",
        ),
        ((np.ones((4, 3)), [0, 0, 1], [0] * 3), "do not fit together: origins (4, 3), directions (3,), t_min (3,)"),
        (([0, 0, 0], [0, 0, 1], "0"), "t_min must be real numbers"),
        (([0, 0, 0], [0, 0, 1], 0, None), "t_max must be real numbers"),
        (([0, 0, 0], [0, 0, 1], math.nan), "t_min is nan"),
        (([0, 0, 0], [0, 0, 1], 0, np.float32("nan")), "t_max is nan"),
    ],
)
def test_bad_rays_are_named(arguments, message):
    with refused(message):
        rays(*arguments)


def test_anything_that_numpy_cannot_read_is_a_value_error():
    class Stubborn:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("on another device")

    with refused("origins cannot be read as an array: on another device"):
        rays(Stubborn(), [0, 0, 1])


def with_bad(shape, place, value):
    array = np.ones(shape)
    array[place] = value
    return array


@pytest.mark.parametrize(
    ("arguments", "row", "message"),
    [
        ((np.ones((9, 3)), with_bad((9, 3), 5, 0)), 5, "directions[5] is zero"),
        ((with_bad((9, 3), (3, 1), np.nan), np.ones((9, 3))), 3, "origins[3] is not finite: (1, nan, 1)"),
        (
            (np.ones((2, 4, 3)), with_bad((2, 4, 3), (1, 2, 0), np.inf)),
            6,
            "directions[1, 2] is not finite: (inf, 1, 1)",
        ),
        ((np.ones((9, 3)), np.zeros(3)), 0, "directions is zero"),
        ((np.ones((2, 1, 3)), with_bad((4, 3), 2, 0)), 2, "directions[2] is zero"),
        ((with_bad((2, 1, 3), 1, np.inf), np.ones((4, 3))), 4, "origins[1, 0] is not finite: (inf, inf, inf)"),
        ((np.zeros(3), np.zeros(3)), 0, "directions is zero"),
        (([0, 0, np.inf], np.ones(3)), 0, "origins is not finite: (0, 0, inf)"),
        ((np.zeros(3), np.ones(3), with_bad(4, 2, np.nan)), 2, "t_min[2] is nan"),
        ((np.zeros((4, 3)), np.ones(3), 0, [np.nan]), 0, "t_max[0] is nan"),
        ((np.zeros((4, 3)), np.ones(3), -np.inf, with_bad(4, 3, np.nan)), 3, "t_max[3] is nan"),
        ((np.zeros(3), [1e-310, 0, 0]), 0, "ray 0 cannot be followed: (0, 0, 0) along (1e-310, 0, 0)"),
    ],
)
def test_the_bad_row_is_named_where_the_user_gave_it(arguments, row, message):
    batch = rays(*arguments)
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        raise_bad_ray(batch, row)


# -- answers and options


def test_answers_get_the_shape_of_the_batch():
    assert boxed((2, 3), np.arange(6)).shape == (2, 3)
    assert boxed((2, 3), np.zeros((6, 2))).shape == (2, 3, 2)
    assert boxed((0,), np.zeros((0, 2))).shape == (0, 2)
    assert type(boxed((), np.ones(1, F32))) is np.float32
    assert boxed((), np.ones((1, 2))).shape == (2,)


def test_choices():
    assert one_of("cull", None, (None, "back")) is None
    with refused("builder must be one of 'median', 'sweep', not 'best'"):
        one_of("builder", "best", ("median", "sweep"))


def test_counts():
    assert positive_int("bins", np.uint8(4), 4, 64) == 4
    assert type(positive_int("bins", np.int64(7))) is int
    for value in (0, -1, 1.0, "2", True, np.True_, None, np.ones(2, int)):
        with refused("threads must be an integer of at least 1, not "):
            positive_int("threads", value)
    with refused("bins must be an integer from 4 to 64, not 65"):
        positive_int("bins", 65, 4, 64)
