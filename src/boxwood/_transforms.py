"""Checks and converts transforms that users pass: 4 x 4 matrices that move, turn, scale or mirror, and no more."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ._arrays import Array, Shape, _numbers
from ._jit import kernel

ROUNDING = 2.0**-50
"""More than a few operations in float64 can be wrong by, relative to the sum of the magnitudes in them."""

FAULTS = ("", "is not finite", "does not have (0, 0, 0, 1) as its last row", "is singular")
NOT_FINITE, LAST_ROW, SINGULAR = 1, 2, 3


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
        return Transforms(np.eye(3, 4)[None], (), np.eye(3)[None], np.array([ROUNDING]))
    array = _numbers(name, value)
    if array.shape[-2:] != (4, 4):
        raise ValueError(f"{name} must have shape (4, 4) or (..., 4, 4), not {array.shape}")
    shape = array.shape[:-2]
    rows = np.array(array, np.float64, order="C").reshape(-1, 4, 4)  # kernels compile anew for what is read-only
    number = len(rows)
    found = Transforms(np.empty((number, 3, 4)), shape, np.empty((number, 3, 3)), np.empty(number))
    row, fault = fill_transforms(rows, found.matrices, found.inverses, found.errors)
    if fault:
        place = [int(i) for i in np.unravel_index(row, shape)] if shape else ""
        raise ValueError(f"{name}{place} {FAULTS[fault]}")
    return found


@kernel
def fill_transforms(rows, matrices, inverses, errors):  # type: ignore[no-untyped-def]
    """The first row that is no transform and its fault, of FAULTS.

    Inverses are by cofactors, of matrices times a power of two, so that no determinant vanishes or overflows.
    """
    linear = np.empty((3, 3))
    for i in range(len(rows)):
        for axis in range(4):
            for k in range(4):
                if not abs(rows[i, axis, k]) < np.inf:
                    return i, NOT_FINITE
                if axis < 3:
                    matrices[i, axis, k] = rows[i, axis, k]
                elif rows[i, axis, k] != (1.0 if k == 3 else 0.0):
                    return i, LAST_ROW
        size = 0.0
        for axis in range(3):
            for k in range(3):
                size = max(size, abs(rows[i, axis, k]))
        power = math.ldexp(1.0, min(-math.frexp(size)[1], 1000))
        for axis in range(3):
            for k in range(3):
                linear[axis, k] = rows[i, axis, k] * power
        for axis in range(3):
            one, two = (axis + 1) % 3, (axis + 2) % 3
            for k in range(3):
                after, last = (k + 1) % 3, (k + 2) % 3
                inverses[i, k, axis] = linear[one, after] * linear[two, last] - linear[one, last] * linear[two, after]
        determinant = 0.0
        for k in range(3):
            determinant += linear[0, k] * inverses[i, k, 0]
        off = far = 0.0
        for axis in range(3):
            for k in range(3):
                inverses[i, axis, k] = inverses[i, axis, k] / determinant
        for axis in range(3):
            differ = reach = 0.0
            for k in range(3):
                product = 0.0
                for j in range(3):
                    product += inverses[i, axis, j] * linear[j, k]
                    reach += abs(inverses[i, axis, j]) * abs(linear[j, k])
                differ += abs((1.0 if axis == k else 0.0) - product)
            # written so that nan is kept
            off = off if differ <= off else differ
            far = far if reach <= far else reach
        errors[i] = off + ROUNDING * far
        good = errors[i] < 0.25
        for axis in range(3):
            for k in range(3):
                inverses[i, axis, k] *= power
                good &= abs(inverses[i, axis, k]) < np.inf
        if not good:
            return i, SINGULAR
    return 0, 0
