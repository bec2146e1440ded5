"""Checks and converts boxes, points and what is asked about them, as `_arrays` does for meshes and rays.

Questions are computed in float64 whatever the dtype given: that is exact, and each kernel is compiled once for it. What
lies in the plane gets z = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ._arrays import (
    FLOAT32,
    FLOAT64,
    Array,
    Fault,
    Shape,
    _numbers,
    _place,
    _ready,
    _real_dtype,
    _text,
    _vectors,
    refuse_first,
)

MOST_BOXES = 2**31 - 1  # ids are int32 inside


def box_set(lower: object, upper: object, *, copy: bool = True) -> tuple[Array, Array]:
    """Boxes as kernels read them: lower and upper (n, 2) or (n, 3), both float32 or both float64, read-only.

    `copy=False` borrows arrays that need no conversion. ValueError for other shapes, for what is not finite, and for a
    box whose lower corner is above its upper one.
    """
    low, high = _table("lower", lower), _table("upper", upper)
    if low.shape != high.shape:
        raise ValueError(f"lower and upper must have the same shape, not {low.shape} and {high.shape}")
    dtype = FLOAT32 if _real_dtype(low) == _real_dtype(high) == FLOAT32 else FLOAT64
    faults = [_infinite("lower", low, low.shape[:1]), _infinite("upper", high, high.shape[:1])]
    if not (low <= high).all():
        row = int(np.argmin((low <= high).all(axis=1)))
        faults.append((row, f"lower[{row}] is above upper[{row}]: {_text(low[row])} and {_text(high[row])}"))
    refuse_first(*faults)
    return _held(low, dtype, copy), _held(high, dtype, copy)


def point_set(points: object, *, copy: bool = True) -> Array:
    """Points likewise: (n, 2) or (n, 3)."""
    table = _table("points", points)
    refuse_first(_infinite("points", table, table.shape[:1]))
    return _held(table, _real_dtype(table), copy)


def moved_boxes(lower: object, upper: object, older: Array, *, points: bool) -> tuple[Array, Array]:
    """Boxes that take the place of those of a set: as many, in the same dtype; one array, twice, for points."""
    if points != (upper is None):
        raise ValueError("points have one corner, give it alone" if points else "upper is missing")
    if points:
        low = high = point_set(lower)
    else:
        low, high = box_set(lower, upper)
    if low.shape != older.shape:
        raise ValueError(f"lower must have shape {older.shape}, as that of the set, not {low.shape}")
    if low.dtype != older.dtype:
        if older.dtype == FLOAT32:
            raise ValueError(f"the set has float32 corners, and {low.dtype} ones would have to be rounded")
        high = high.astype(older.dtype)
        low = high if points else low.astype(older.dtype)
        low.flags.writeable = high.flags.writeable = False
    return low, high


class Batch(NamedTuple):
    """What is asked, row by row."""

    arrays: tuple[Array, ...]  # each (n, 3) or (n,) float64
    shape: Shape  # of the batch, () for a single question
    dtype: np.dtype[Any]  # the wider of those of the set and of the arrays, for the answers

    @property
    def single(self) -> bool:
        return not self.shape

    def __len__(self) -> int:
        return len(self.arrays[0])


def box_batch(lower: object, upper: object, dtype: np.dtype[Any], dimension: int) -> Batch:
    """Boxes to ask about; ValueError as for `box_set`."""
    batch, rows, faults = _batch(dtype, dimension, {"lower": lower, "upper": upper}, {})
    refuse_first(*faults, _turned(batch, rows, dimension))
    return batch


def sphere_batch(center: object, radius: object, dtype: np.dtype[Any], dimension: int) -> Batch:
    """Spheres to ask about; ValueError for what is not finite and for a negative radius."""
    batch, rows, faults = _batch(dtype, dimension, {"center": center}, {"radius": radius})
    refuse_first(*faults, _negative("radius", batch, rows[1]))
    return batch


def point_batch(points: object, max_distance: object, dtype: np.dtype[Any], dimension: int) -> Batch:
    """Points to ask about, each with how far to look, which may be infinite."""
    batch, rows, faults = _batch(dtype, dimension, {"points": points}, {"max_distance": max_distance}, infinite=True)
    refuse_first(*faults, _negative("max_distance", batch, rows[1]))
    return batch


def moving_batch(lower: object, upper: object, displacement: object, dtype: np.dtype[Any], dimension: int) -> Batch:
    """Boxes that move; a displacement of zero is one that stands still."""
    batch, rows, faults = _batch(dtype, dimension, {"lower": lower, "upper": upper, "displacement": displacement}, {})
    refuse_first(*faults, _turned(batch, rows, dimension))
    return batch


def plane_batch(planes: object, dimension: int) -> Batch:
    """Sets of planes to ask about, (..., k, dimension + 1): one array (n, k, 4), the normal's z 0 in the plane."""
    array = _numbers("planes", planes)
    width = dimension + 1
    if array.shape == (0,):
        array = array.reshape(0, width)
    if array.ndim < 2 or array.shape[-1] != width:
        raise ValueError(f"planes must have shape (k, {width}) or (..., k, {width}), not {array.shape}")
    shape, number = array.shape[:-2], array.shape[-2]
    without = ~array[..., :dimension].any(axis=-1)
    zero = _first(without, without.shape, lambda place, at: f"planes{place} has a normal of zero: {_text(array[at])}")
    refuse_first(_infinite("planes", array, array.shape[:-1]), zero)
    full = np.zeros((*shape, number, 4))
    full[..., :dimension], full[..., 3] = array[..., :dimension], array[..., dimension]
    full = scaled_planes(full)
    return Batch((_frozen(full.reshape(int(np.prod(shape)), number, 4)),), shape, FLOAT64)


def scaled_planes(planes: Array) -> Array:
    """Planes (..., 4) with their normals scaled by a power of two to at most 1, so that no product overflows."""
    _, exponents = np.frexp(np.abs(planes[..., :3]).max(axis=-1, initial=0.0))
    most = np.finfo(planes.dtype).max
    with np.errstate(over="ignore"):
        scaled: Array = np.clip(np.ldexp(planes, -exponents[..., None]), -most, most)
    return scaled


def _batch(
    dtype: np.dtype[Any],
    dimension: int,
    vectors: dict[str, object],
    numbers: dict[str, object],
    *,
    infinite: bool = False,
) -> tuple[Batch, list[Shape], list[Fault | None]]:
    """Broadcast to one shape, the shape that each had before, and what is not a number that it may be."""
    given = {name: _vectors(name, _numbers(name, value), dimension) for name, value in vectors.items()}
    given |= {name: _numbers(name, value) for name, value in numbers.items()}
    rows = [array.shape[:-1] if name in vectors else array.shape for name, array in given.items()]
    try:
        shape = np.broadcast_shapes(*rows)
    except ValueError:
        told = ", ".join(f"{name} {array.shape}" for name, array in given.items())
        raise ValueError(f"shapes do not fit together: {told}") from None
    faults: list[Fault | None] = []
    for name, array in given.items():
        if not (infinite and name in numbers):
            faults.append(_infinite(name, array, shape, name in vectors))
        else:
            faults.append(_first(np.isnan(array), shape, lambda place, at, name=name: f"{name}{place} is nan"))
        if array.dtype.char != "f" and (name in vectors or array.ndim):
            dtype = FLOAT64
    arrays = []
    for name, array in given.items():
        if name in numbers:
            with np.errstate(over="ignore"):  # what float32 cannot hold is beyond all of its numbers
                arrays.append(_ready(array.astype(dtype), FLOAT64, shape, (-1,)))
        elif dimension == 3:
            arrays.append(_ready(array, FLOAT64, (*shape, 3), (-1, 3)))
        else:
            full = np.zeros((*shape, 3))
            full[..., :dimension] = array
            arrays.append(_frozen(full.reshape(-1, 3)))
    return Batch(tuple(arrays), shape, dtype), rows, faults


def _turned(batch: Batch, rows: list[Shape], dimension: int) -> Fault | None:
    """The first box whose lower corner is above its upper one, given first in the batch."""
    low, high = (array[:, :dimension] for array in batch.arrays[:2])
    bad = ~(low <= high).all(axis=1)
    if not bad.any():
        return None
    row = int(np.argmax(bad))
    return row, f"lower{_where(row, batch, rows[0])} is above upper: {_text(low[row])} and {_text(high[row])}"


def _negative(name: str, batch: Batch, given: Shape) -> Fault | None:
    """The first negative number, given second in the batch."""
    bad = batch.arrays[1] < 0
    if not bad.any():
        return None
    row = int(np.argmax(bad))
    return row, f"{name}{_where(row, batch, given)} is negative: {batch.arrays[1][row]:.9g}"


def _where(row: int, batch: Batch, given: Shape) -> str:
    return _place(np.unravel_index(row, batch.shape) if batch.shape else (), given)


def _infinite(name: str, array: Array, shape: Shape, vector: bool = True) -> Fault | None:
    """The first row of an array, of a batch of that shape, that is not finite."""
    finite = np.isfinite(array)
    if finite.all():
        return None

    def tell(place: object, at: Shape) -> str:
        return f"{name}{place} is not finite: {_text(array[at]) if vector else array[at]}"

    return _first(~finite.all(axis=-1) if vector else ~finite, shape, tell)


def _first(bad: Any, shape: Shape, tell: Callable[..., str]) -> Fault | None:
    """The first bad row of an array; `tell` is given its place, as text and as an index."""
    if not bad.any():
        return None
    at = tuple(int(i) for i in np.argwhere(bad)[0])
    row = int(np.argmax(np.broadcast_to(bad, shape))) if np.prod(shape) else 0  # it is the first of the batch, too
    return row, tell(str(list(at)) if at else "", at)


def _table(name: str, value: object) -> Array:
    """An array of shape (n, 2) or (n, 3), which an empty list is too."""
    array = _numbers(name, value)
    if array.shape == (0,):
        array = array.reshape(0, 3)
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise ValueError(f"{name} must have shape (n, 2) or (n, 3), not {array.shape}")
    if len(array) > MOST_BOXES:
        raise ValueError(f"{name} has {len(array)} rows, and a set can have {MOST_BOXES}")
    return array


def _held(array: Array, dtype: np.dtype[Any], copy: bool) -> Array:
    if copy:
        array = _frozen(np.array(array, dtype, order="C"))
    return _ready(array, dtype, array.shape, array.shape)


def _frozen(array: Array) -> Array:
    array.setflags(write=False)
    return array
