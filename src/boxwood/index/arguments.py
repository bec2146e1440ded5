"""Checks and converts what users pass to structures: boxes, points, spheres, planes, rays and ids.

All coordinates leave here as float64 with three columns, z = 0 in 2-D; float32 is exact in it. What cannot be meant is
a ValueError that names the argument and the first bad row.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._arrays import Fault, Shape, _numbers, refuse_first
from .._jit import kernel
from .._regions import scaled_planes

Floats: TypeAlias = NDArray[np.float64]


@kernel
def first_bad_box(rows):
    """The first that has a corner that is not finite, or lower > upper; -1 when all are good."""
    for i in range(rows.shape[0]):
        for axis in range(3):
            if not (-np.inf < rows[i, axis] <= rows[i, 3 + axis] < np.inf):
                return i
    return -1


class Batch(NamedTuple):
    """Rows of float64, and the shape of the batch they came in: () for a single one."""

    rows: Floats
    shape: Shape
    single: bool  # float32 is what the user gave, and sees


def boxes(lower: object, upper: object, dimension: int | None = None, least: Shape | None = None) -> tuple[Batch, int]:
    """(n, 6) lower and upper corners, broadcast against each other and to `least`; and whether they are 2-D or 3-D."""
    low, high = _numbers("lower", lower), _numbers("upper", upper)
    dimension = dimension or dimension_of("lower", low)
    low, high = _vectors("lower", low, dimension), _vectors("upper", high, dimension)
    shape = together(lower=low.shape, upper=high.shape)
    if least is not None:
        if together(ids=least, boxes=shape[:-1]) != least:
            raise ValueError(f"there are {least} ids, but boxes of shape {shape[:-1]}")
        shape = (*least, dimension)
    low, high = np.broadcast_to(low, shape), np.broadcast_to(high, shape)
    rows = np.zeros((low.size // dimension, 6))
    rows[:, :dimension], rows[:, 3 : 3 + dimension] = low.reshape(-1, dimension), high.reshape(-1, dimension)
    bad = int(first_bad_box(rows))
    if bad >= 0:
        place = _place(bad, shape[:-1])
        a, b = low.reshape(-1, dimension)[bad], high.reshape(-1, dimension)[bad]
        for name, corner in (("lower", a), ("upper", b)):
            if not np.isfinite(corner).all():
                raise ValueError(f"{name}{place} is not finite: {_text(corner)}")
        raise ValueError(f"lower{place} is above upper{place}: {_text(a)}, {_text(b)}")
    return Batch(rows, shape[:-1], _single(low, high)), dimension


def points(value: object, max_distance: object, dimension: int, single: bool) -> tuple[Batch, Floats]:
    """(n, 3) points, and (n,) how far from each something may be; inf for any distance."""
    array, most = _vectors("points", _numbers("points", value), dimension), _numbers("max_distance", max_distance)
    shape = together(points=array.shape[:-1], max_distance=most.shape)
    rows = _three(_spread(array, (*shape, dimension)), dimension)
    reaches = _spread(most.astype(np.float64), shape).reshape(-1)
    faults = [_infinite("points", rows, shape, array)]
    if reaches.size and not reaches.min() >= 0:
        row = int((~(reaches >= 0)).argmax())
        place = _place(row, shape) if most.ndim else ""
        faults.append((row, f"max_distance{place} must be a number of at least 0, not {reaches[row]:.9g}"))
    refuse_first(*faults)
    single = single and _single(array) and (most.ndim == 0 or _single(most))
    return Batch(rows, shape, single), seen(reaches, single)


def spheres(center: object, radius: object, dimension: int, single: bool) -> tuple[Batch, Floats]:
    """(n, 3) centers, and (n,) radii."""
    where, size = _vectors("center", _numbers("center", center), dimension), _numbers("radius", radius)
    shape = together(center=where.shape[:-1], radius=size.shape)
    middle = _three(_spread(where, (*shape, dimension)), dimension)
    radii = _spread(size.astype(np.float64), shape).reshape(-1)
    refuse_first(_infinite("center", middle, shape, where), _not_a_radius(radii, shape, size))
    single = single and _single(where) and (size.ndim == 0 or _single(size))
    return Batch(middle, shape, single), seen(radii, single)


def planes(value: object, dimension: int) -> Batch:
    """(n, k, 4) planes of n frustums."""
    array = _numbers("planes", value)
    if array.ndim < 2 or array.shape[-1] != dimension + 1:
        told = f"(k, {dimension + 1}) or (..., k, {dimension + 1})"
        raise ValueError(f"planes must have shape {told}, not {array.shape}")
    shape = array.shape[:-2]
    count = int(np.prod(shape))
    rows = np.zeros((count, array.shape[-2], 4))
    rows[..., :dimension] = array[..., :-1].reshape(count, -1, dimension)
    rows[..., 3] = array[..., -1].reshape(count, -1)
    found: list[Fault | None] = []
    for fault, bad in (
        ("is not finite", ~np.isfinite(rows).all(axis=2)),
        ("has no normal", ~rows[..., :3].any(axis=2)),
    ):
        if bad.any():
            row = int(bad.argmax())
            place = _place(row, array.shape[:-1])
            found.append((row, f"planes{place} {fault}: {_text(array.reshape(-1, dimension + 1)[row])}"))
    refuse_first(*found)
    return Batch(scaled_planes(rows), shape, _single(array))


class Rays(NamedTuple):
    origins: Floats  # (n, 3)
    directions: Floats  # (n, 3)
    t_min: Floats  # (n,)
    t_max: Floats  # (n,)
    shape: Shape
    single: bool


def rays(origins: object, directions: object, t_min: object, t_max: object, dimension: int, single: bool) -> Rays:
    """Origins and directions (n, 3), t ranges (n,)."""
    start = _vectors("origins", _numbers("origins", origins), dimension)
    along = _vectors("directions", _numbers("directions", directions), dimension)
    low, high = _numbers("t_min", t_min), _numbers("t_max", t_max)
    shape = together(origins=start.shape[:-1], directions=along.shape[:-1], t_min=low.shape, t_max=high.shape)
    a, b = (_three(_spread(v, (*shape, dimension)), dimension) for v in (start, along))
    faults = [_infinite("origins", a, shape, start), _infinite("directions", b, shape, along)]
    still = ~b.any(axis=1)
    if still.any():
        row = int(still.argmax())
        faults.append((row, f"directions{_place(row, shape) if along.ndim > 1 else ''} is zero"))
    single = single and _single(start, along) and all(v.ndim == 0 or _single(v) for v in (low, high))
    ranges = []
    for name, value in (("t_min", low), ("t_max", high)):
        numbers = _spread(value, shape).reshape(-1)
        if np.isnan(numbers).any():
            row = int(np.isnan(numbers).argmax())
            faults.append((row, f"{name}{_place(row, shape) if value.ndim else ''} is nan"))
        ranges.append(seen(numbers.astype(np.float64), single))
    refuse_first(*faults)
    most = float(np.finfo(np.float32 if single else np.float64).max)  # a t beyond the numbers is no hit
    return Rays(a, b, np.maximum(ranges[0], -most), np.minimum(ranges[1], most), shape, single)


def seen(values: Floats, single: bool) -> Floats:
    """As float32 has them, when that is what the user sees."""
    if not single:
        return values
    with np.errstate(over="ignore"):  # what it cannot hold is beyond all of its numbers
        return values.astype(np.float32).astype(np.float64)


def ids(value: object) -> tuple[NDArray[np.int64], Shape]:
    """(n,) int64, and the shape of the batch."""
    array = _numbers("ids", value, "iu", "integers")
    if array.ndim > 1:
        raise ValueError(f"ids must be one id or have shape (n,), not {array.shape}")
    return np.ascontiguousarray(array.reshape(-1), np.int64), array.shape


def positive_number(name: str, value: Any) -> float:
    """A number above zero."""
    number = _numbers(name, value)
    if number.ndim or not 0 < float(number) < np.inf:
        raise ValueError(f"{name} must be a positive number, not {value!r}")
    return float(number)


def share(name: str, value: Any) -> float:
    """A number from 0 to 1."""
    number = _numbers(name, value)
    if number.ndim or not 0 <= float(number) <= 1:
        raise ValueError(f"{name} must be a number from 0 to 1, not {value!r}")
    return float(number)


def dimension_of(name: str, array: NDArray[Any]) -> int:
    if array.shape == (0,):
        return 3
    if array.ndim and array.shape[-1] in (2, 3):
        return int(array.shape[-1])
    raise ValueError(f"{name} must have shape (n, 2) or (n, 3), not {array.shape}")


def together(**shapes: Shape) -> Shape:
    """The shape to which all broadcast."""
    first, *others = shapes.values()
    if all(shape in ((), first) for shape in others):
        return first
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        told = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"shapes do not fit together: {told}") from None


def _vectors(name: str, array: NDArray[Any], dimension: int) -> NDArray[Any]:
    if array.shape == (0,):
        return array.reshape(0, dimension)
    if array.shape[-1:] != (dimension,):
        raise ValueError(f"{name} must have shape ({dimension},) or (..., {dimension}), not {array.shape}")
    return array


def _three(array: NDArray[Any], dimension: int) -> Floats:
    rows = np.zeros((array.size // dimension, 3))
    rows[:, :dimension] = array.reshape(-1, dimension)
    return rows


def _spread(array: NDArray[Any], shape: Shape) -> NDArray[Any]:
    """The array, broadcast where it needs to be: NumPy takes microseconds even where it does not."""
    return array if array.shape == shape else np.broadcast_to(array, shape)


def _infinite(name: str, rows: Floats, shape: Shape, given: NDArray[Any]) -> Fault | None:
    """The first row that is not finite."""
    finite = np.isfinite(rows)
    if finite.all():
        return None
    row = int((~finite.all(axis=1)).argmax())
    place = _place(row, shape) if given.ndim > 1 else ""
    return row, f"{name}{place} is not finite: {_text(rows[row][: given.shape[-1]])}"


def _not_a_radius(radii: Floats, shape: Shape, given: NDArray[Any]) -> Fault | None:
    if not radii.size or 0 <= radii.min() <= radii.max() < np.inf:
        return None
    row = int((~((radii >= 0) & (radii < np.inf))).argmax())
    place = _place(row, shape) if given.ndim else ""
    return row, f"radius{place} is {'negative' if radii[row] < 0 else 'not finite'}: {radii[row]:.9g}"


def _single(*arrays: NDArray[Any]) -> bool:
    return all(array.dtype.char == "f" for array in arrays)


def _place(row: int, shape: Shape) -> str:
    """Where the row lies in its batch: `[5]`, `[1, 2]`, or nothing for a single one."""
    return str([int(i) for i in np.unravel_index(row, shape)]) if shape else ""


def _text(vector: NDArray[Any]) -> str:
    return "(" + ", ".join(f"{float(number):.9g}" for number in vector) + ")"
