"""Checks and converts what users pass: meshes, rays, choices and counts.

Whatever an array is (list, strided, read-only, big-endian, integer), kernels get one kind: C-contiguous, aligned,
native and read-only, float32 or float64, so that none is compiled twice. The user's array is never written to.
What cannot be meant is a ValueError that names the argument and, where there is one, the first bad row.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Collection, Hashable
from typing import Any, NamedTuple, NoReturn, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Shape: TypeAlias = tuple[int, ...]
Choice = TypeVar("Choice")

FLOAT32, FLOAT64, INT32 = np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int32)
LARGEST_FLOAT32 = float(np.finfo(np.float32).max)
MOST_VERTICES = 2**31 - 1  # faces are int32


def vertices_and_faces(vertices: object, faces: object, *, copy: bool = True) -> tuple[Array, Array]:
    """A mesh as kernels read it: vertices (n, 3) float32 or float64, faces (m, 3) int32, both read-only.

    `copy=False` borrows an array that needs no conversion. ValueError for any other shape, a vertex that is
    not finite (whether a face uses it or not), faces that are not integers, and a face that refers to no vertex.
    """
    points = _table("vertices", _numbers("vertices", vertices))
    corners = _table("faces", _numbers("faces", faces, "iu", "integers"))
    count = len(points)
    if count > MOST_VERTICES:
        raise ValueError(f"vertices has {count} rows, and a mesh can have {MOST_VERTICES}")
    _raise_unless_finite("vertices", points)
    if corners.size and (corners.min() < 0 or corners.max() >= count):
        row, column = np.argwhere((corners < 0) | (corners >= count))[0]
        raise ValueError(f"faces[{row}] refers to vertex {corners[row, column]}, but there are {count} vertices")
    return _held(points, _real_dtype(points), copy), _held(corners, INT32, copy)


def moved_vertices(vertices: object, older: Array) -> Array:
    """Vertices that take the place of those of a mesh: as many, in the same dtype, finite."""
    points = _table("vertices", _numbers("vertices", vertices))
    if points.shape != older.shape:
        raise ValueError(f"vertices must have shape {older.shape}, as those of the mesh, not {points.shape}")
    if older.dtype == FLOAT32 and _real_dtype(points) == FLOAT64:
        raise ValueError(f"the mesh has float32 vertices, and {points.dtype} ones would have to be rounded")
    _raise_unless_finite("vertices", points)
    return _held(points, older.dtype, True)


class Rays(NamedTuple):
    """Rays as kernels read them, in the computing dtype; and what is needed to shape answers and to name a bad ray."""

    origins: Array  # (n, 3)
    directions: Array  # (n, 3)
    t_min: Array  # (n,), or (1,) for all rays
    t_max: Array  # (n,), or (1,) for all rays
    shape: Shape  # of the batch, () for a single ray
    given: tuple[Shape, ...]  # the same of each of the four arrays, before they were broadcast

    @property
    def single(self) -> bool:
        return not self.shape


def rays(
    origins: object, directions: object, t_min: object, t_max: object, mesh_dtype: np.dtype[Any], dimension: int = 3
) -> Rays:
    """Rays against a mesh of `mesh_dtype`, in the wider dtype of the mesh and the arrays; lists are float64.

    A single number as t range does not widen: it is rounded to the nearest of the computing dtype, so that a t_hit
    of earlier float32 rays is itself again, and 0.1 is the 0.1 of float32. Rows are not looked at here, since a kernel
    does that faster and leaves the naming to `raise_bad_ray`; single numbers are.
    """
    start = _vectors("origins", _numbers("origins", origins), dimension)
    along = _vectors("directions", _numbers("directions", directions), dimension)
    low, high = _range("t_min", t_min), _range("t_max", t_max)
    given = (start.shape[:-1], along.shape[:-1], np.shape(low), np.shape(high))
    shape = _common_shape(given)
    dtype = mesh_dtype
    for array in (start, along, low, high):
        if not isinstance(array, float) and array.dtype.char != "f":
            dtype = FLOAT64
    return Rays(
        _ready(start, dtype, (*shape, dimension), (-1, dimension)),
        _ready(along, dtype, (*shape, dimension), (-1, dimension)),
        _ready_range(low, dtype, shape),
        _ready_range(high, dtype, shape),
        shape,
        given,
    )


def raise_bad_ray(rays: Rays, row: int) -> NoReturn:
    """Raise the ValueError that says what is wrong with ray `row` of the flattened batch."""
    index = np.unravel_index(row, rays.shape) if rays.shape else ()
    for name, array, given in zip(("origins", "directions", "t_min", "t_max"), rays[:4], rays.given, strict=True):
        value = array[row if len(array) > 1 else 0]
        if value.ndim == 0:
            fault = "is nan" if np.isnan(value) else ""
        elif not np.isfinite(value).all():
            fault = f"is not finite: {_text(value)}"
        else:
            fault = "" if name == "origins" or value.any() else "is zero"
        if fault:
            raise ValueError(f"{name}{_place(index, given)} {fault}")
    raise ValueError(f"ray {row} cannot be followed: {_text(rays.origins[row])} along {_text(rays.directions[row])}")


def boxed(shape: Shape, array: Array) -> Any:
    """One row per ray gets the shape of the batch back; the row of a single ray becomes a scalar or a 1-D array."""
    return array.reshape(shape + array.shape[1:]) if shape else array[0]


def one_of(name: str, value: Choice, choices: Collection[Choice]) -> Choice:
    """The value, if it is among the choices."""
    if isinstance(value, Hashable) and value in choices:  # an array would be compared number by number
        return value
    raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")


def not_negative(name: str, value: object) -> float:
    """The value as a float, if it is a finite number of at least 0."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if 0 <= number < math.inf:
        return number
    raise ValueError(f"{name} must be a finite number of at least 0, not {value!r}")


def positive_int(name: str, value: object, low: int = 1, high: int | None = None) -> int:
    """The value as an int, if it is an integer of any kind from `low` to `high`."""
    try:
        number = low - 1 if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = low - 1
    if low <= number and (high is None or number <= high):
        return number
    allowed = f"of at least {low}" if high is None else f"from {low} to {high}"
    raise ValueError(f"{name} must be an integer {allowed}, not {value!r}")


def _numbers(name: str, value: object, kinds: str = "iuf", wanted: str = "real numbers of at most 64 bits") -> Array:
    """The value as an array of such numbers, however it lies in memory; an empty one may be of any dtype."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ValueError(f"{name} has masked values, in shape {value.shape}")
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError, OverflowError) as reason:
        raise ValueError(f"{name} cannot be read as an array: {reason}") from reason
    if array.dtype.kind in kinds and array.dtype.itemsize <= 8:
        return array
    if array.size:
        raise ValueError(f"{name} must be {wanted}, not {array.dtype} of shape {array.shape}")
    return np.empty(array.shape)


def _raise_unless_finite(name: str, points: Array) -> None:
    finite = np.isfinite(points)
    if not finite.all():
        row = np.argmin(finite.all(axis=1))
        raise ValueError(f"{name}[{row}] is not finite: {_text(points[row])}")


def _vectors(name: str, array: Array, dimension: int = 3) -> Array:
    """An array of shape (..., dimension), which an empty list is too."""
    if array.shape == (0,):
        return array.reshape(0, dimension)
    if array.shape[-1:] != (dimension,):
        raise ValueError(f"{name} must have shape ({dimension},) or (..., {dimension}), not {array.shape}")
    return array


def _table(name: str, array: Array) -> Array:
    """An array of shape (n, 3), which an empty list is too."""
    if array.shape == (0,):
        return array.reshape(0, 3)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"{name} must have shape (n, 3), not {array.shape}")
    return array


def _range(name: str, value: object) -> float | Array:
    """One end of the t range: a number for all rays, or an array."""
    if type(value) is not float:
        array = _numbers(name, value)
        if array.ndim:
            return array
        value = float(array)
    if math.isnan(value):
        raise ValueError(f"{name} is nan")
    return value


def _common_shape(given: tuple[Shape, ...]) -> Shape:
    """The shape to which all four broadcast."""
    origins, directions, t_min, t_max = given
    if origins == directions and t_min in ((), origins) and t_max in ((), origins):
        return origins
    try:
        return np.broadcast_shapes(*given)
    except ValueError:
        told = f"origins {(*origins, 3)}, directions {(*directions, 3)}, t_min {t_min}, t_max {t_max}"
        raise ValueError(f"shapes do not fit together: {told}") from None


def _ready(array: Array, dtype: np.dtype[Any], shape: Shape, rows: Shape) -> Array:
    """Broadcast to `shape`, then flattened to `rows`; what needs no conversion is borrowed."""
    if array.shape != shape:
        array = np.broadcast_to(array, shape)
    array = np.ascontiguousarray(array, dtype)
    if not array.flags.aligned:
        array = array.copy()
    array = array.reshape(rows)  # always a new view, so that the next line leaves the user's flags alone
    array.setflags(write=False)
    return array


def _ready_range(value: float | Array, dtype: np.dtype[Any], shape: Shape) -> Array:
    return _constant(value, dtype) if isinstance(value, float) else _ready(value, dtype, shape, (-1,))


@functools.lru_cache(maxsize=64)
def _constant(value: float, dtype: np.dtype[Any]) -> Array:
    """One number for all rays, rounded to nearest; what float32 cannot hold is beyond every float32 t."""
    if dtype == FLOAT32 and abs(value) > LARGEST_FLOAT32:
        value = math.copysign(math.inf, value)
    array = np.array([value], dtype)
    array.setflags(write=False)
    return array


def _held(array: Array, dtype: np.dtype[Any], copy: bool) -> Array:
    if copy:
        array = np.array(array, dtype, order="C")
        array.setflags(write=False)
    return _ready(array, dtype, array.shape, (-1, 3))


def _real_dtype(array: Array) -> np.dtype[Any]:
    return FLOAT32 if array.dtype.char == "f" else FLOAT64


def _place(index: tuple[Any, ...], given: Shape) -> str:
    """Where a ray of the batch lies in an array that was broadcast to it: `[5]`, `[1, 2]`, or nothing at all."""
    own = [0 if size == 1 else int(i) for i, size in zip(index[len(index) - len(given) :], given, strict=True)]
    return str(own) if own else ""


Fault: TypeAlias = tuple[int, str]
"""A bad row of a batch, and what is wrong with it."""


def refuse_first(*faults: Fault | None) -> None:
    """ValueError for the fault in the first row of all; of two in one row for that given first."""
    found = [fault for fault in faults if fault is not None]
    if found:
        raise ValueError(min(found, key=lambda fault: fault[0])[1])


def _text(vector: Array) -> str:
    return "(" + ", ".join(f"{float(number):.9g}" for number in vector) + ")"
