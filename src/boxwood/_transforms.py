"""Checks and converts transforms that users pass: 4 x 4 matrices that move, turn, scale or mirror, and no more."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._arrays import Array, Shape, _numbers

ROUNDING = 2.0**-50
"""More than a few operations in float64 can be wrong by, relative to the sum of the magnitudes in them."""


class Transforms(NamedTuple):
    """Transforms (n, 3, 4) float64, of the shape () for one; and their inverses, with how far those may be off."""

    matrices: Array
    shape: Shape
    inverses: Array  # (n, 3, 3) of the linear parts
    errors: Array  # (n,): norm of what the inverse times the linear part differs from identity by, at most


def transforms(value: object, name: str = "transform") -> Transforms:
    """Matrices (..., 4, 4), or None for none.

    ValueError for other shapes and, naming the first, for a matrix that is not finite, whose last row is not
    (0, 0, 0, 1), or that cannot be undone.
    """
    if value is None:
        value = np.eye(4)
    array = _numbers(name, value)
    if array.shape[-2:] != (4, 4):
        raise ValueError(f"{name} must have shape (4, 4) or (..., 4, 4), not {array.shape}")
    shape = array.shape[:-2]
    rows = np.ascontiguousarray(array, np.float64).reshape(-1, 4, 4)
    _require(np.isfinite(rows).all(axis=(1, 2)), name, shape, "is not finite")
    last = (rows[:, 3] == [0, 0, 0, 1]).all(axis=1)
    _require(last, name, shape, "does not have (0, 0, 0, 1) as its last row")
    linear = rows[:, :3, :3]
    size = np.abs(linear).max(axis=(1, 2))
    _require(size > 0, name, shape, "is singular")
    power = np.exp2(-np.frexp(size)[1].astype(float))[:, None, None]  # so that no determinant vanishes or overflows
    with np.errstate(all="ignore"):
        inverses = _inverse(linear * power)
        errors = np.abs(np.eye(3) - inverses @ (linear * power)).sum(axis=2).max(axis=1)
        errors += ROUNDING * (np.abs(inverses) @ np.abs(linear * power)).sum(axis=2).max(axis=1)
        inverses *= power
    _require((errors < 0.25) & np.isfinite(inverses).all(axis=(1, 2)), name, shape, "is singular")
    return Transforms(np.ascontiguousarray(rows[:, :3]), shape, inverses, errors)


def _inverse(matrices: Array) -> Array:
    """By cofactors: one that is singular gives what is not finite, and no exception."""
    a, b, c = matrices[:, 0], matrices[:, 1], matrices[:, 2]
    columns = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=2)
    determinants = np.einsum("ij,ij->i", a, columns[:, :, 0])
    inverses: Array = columns / determinants[:, None, None]
    return inverses


def _require(good: Array, name: str, shape: Shape, fault: str) -> None:
    if not good.all():
        row = [int(i) for i in np.unravel_index(int(np.argmin(good)), shape)] if shape else ""
        raise ValueError(f"{name}{row} {fault}")
