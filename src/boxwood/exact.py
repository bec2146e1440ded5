"""Exact decisions about points and triangles that are in no mesh: orientations, and how triangles lie to each other.

Arrays in, arrays out, row by row; the same functions decide what meshes have in common.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import FLOAT32, FLOAT64, Array, Shape, _numbers, _real_dtype, _text, _vectors, boxed
from .query.triangle_pairs import orientations, triangle_pairs
from .relations import TriangleRelations


def orient2d(a: ArrayLike, b: ArrayLike, c: ArrayLike, *, threads: int | None = None) -> Any:
    """Whether points of the plane turn left or right, without error.

    Parameters
    ----------
    a, b, c : array_like (..., 2)
        Points, which broadcast against each other.
    threads : int, optional
        How many threads may work at once; all by default.

    Returns
    -------
    int8 array (...)
        1 where a, b, c turn left, -1 where they turn right, 0 where they are on one line: the sign of
        ``det [a - c; b - c]``. A scalar for single points.

    Raises
    ------
    ValueError
        For other shapes and for what is not finite, naming the first bad row.

    Notes
    -----
    Adaptive predicates (Shewchuk 1997). Exact for all of float32, and for float64 as long as no coordinate of a row,
    other than 0, is less than 1e-299 times its largest one.

    Examples
    --------
    >>> import boxwood as bw
    >>> bw.orient2d([0, 0], [0.1, 0.1], [[0.3, 0.3], [0.3, 0.30000000000000004], [0.3, 0]]).tolist()
    [0, 1, -1]
    """
    return _oriented({"a": a, "b": b, "c": c}, 2, threads)


def orient3d(a: ArrayLike, b: ArrayLike, c: ArrayLike, d: ArrayLike, *, threads: int | None = None) -> Any:
    """Whether points d lie below or above the planes through a, b and c, without error.

    Parameters
    ----------
    a, b, c, d : array_like (..., 3)
        Points, which broadcast against each other.
    threads : int, optional
        How many threads may work at once; all by default.

    Returns
    -------
    int8 array (...)
        1 where d is below, -1 where it is above, 0 where all four are in one plane: the sign of
        ``det [a - d; b - d; c - d]``. Above is the side from which a, b, c turn left. A scalar for single points.

    Raises
    ------
    ValueError
        For other shapes and for what is not finite, naming the first bad row.

    Notes
    -----
    Adaptive predicates (Shewchuk 1997), whose convention this is. Exact for all of float32, and for float64 as long as
    no coordinate of a row, other than 0, is less than 1e-194 times its largest one.

    Examples
    --------
    >>> import boxwood as bw
    >>> bw.orient3d([0, 0, 0], [1, 0, 0], [0, 1, 0], [[0, 0, -1], [0, 0, 1e-300], [7, 7, 0]]).tolist()
    [1, -1, 0]
    """
    return _oriented({"a": a, "b": b, "c": c, "d": d}, 3, threads)


def triangle_relations(
    first: ArrayLike,
    second: ArrayLike,
    *,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> TriangleRelations:
    """How pairs of triangles lie to each other, without error, and where they meet.

    Parameters
    ----------
    first, second : array_like (..., 3, 3)
        The corners of triangles, which broadcast against each other. A triangle whose corners are on one line is the
        segment or the point that it is.
    threads : int, optional
        How many threads may work at once; all by default.
    progress : callable, optional
        Called with how many pairs are done, and of how many.

    Returns
    -------
    TriangleRelations
        ``relations``, values of `Relation`, and ``segments``.

    Raises
    ------
    ValueError
        For other shapes and for what is not finite, naming the first bad row.

    Notes
    -----
    Orientations alone decide (after Devillers and Guigue 2003; Shewchuk 1997), in the range that `orient3d` names.
    Segments are rounded, and lie within the bounding boxes of both triangles.

    Examples
    --------
    >>> import boxwood as bw
    >>> floor = [[0, 0, 0], [4, 0, 0], [0, 4, 0]]
    >>> walls = [[[1, 1, bottom], [1, 1, 2], [2, 1, 2]] for bottom in (-2, 0, 1)]
    >>> found = bw.triangle_relations(floor, walls)
    >>> [bw.Relation(relation).name for relation in found.relations]
    ['CROSS', 'TOUCH', 'DISJOINT']
    >>> found.segments[0].tolist()
    [[1.5, 1.0, 0.0], [1.0, 1.0, 0.0]]
    """
    given = {"first": _triangles("first", first), "second": _triangles("second", second)}
    shape, arrays = _together(given, 2)
    dtype = FLOAT32 if all(_real_dtype(array) == FLOAT32 for array in given.values()) else FLOAT64
    corners = np.ascontiguousarray(np.concatenate(arrays, axis=-2).reshape(-1, 6, 3))
    relations, segments = triangle_pairs(corners, threads=threads, progress=progress)
    return TriangleRelations(boxed(shape, relations), boxed(shape, segments.astype(dtype, copy=False)))


def _oriented(points: dict[str, ArrayLike], dimension: int, threads: int | None) -> NDArray[np.int8]:
    given = {name: _vectors(name, _numbers(name, value), dimension) for name, value in points.items()}
    shape, arrays = _together(given, 1)
    rows = np.ascontiguousarray(np.stack(arrays, axis=-2).reshape(-1, len(arrays), dimension))
    signs: NDArray[np.int8] = boxed(shape, orientations(rows, threads=threads))
    return signs


def _triangles(name: str, value: ArrayLike) -> Array:
    array = _numbers(name, value)
    if array.shape == (0,):
        return array.reshape(0, 3, 3)
    if array.shape[-2:] != (3, 3):
        raise ValueError(f"{name} must have shape (3, 3) or (..., 3, 3), not {array.shape}")
    return array


def _together(given: dict[str, Array], own: int) -> tuple[Shape, list[Array]]:
    """The shape of the batch, and the arrays broadcast to it, as float64; the last `own` dimensions are each row's."""
    for name, array in given.items():
        bad = ~np.isfinite(array).all(axis=-1)
        if bad.any():
            row = np.argwhere(bad)[0].tolist()
            raise ValueError(f"{name}{row or ''} is not finite: {_text(array[tuple(row)])}")
    try:
        shape = np.broadcast_shapes(*(array.shape[:-own] for array in given.values()))
    except ValueError:
        told = ", ".join(f"{name} {array.shape}" for name, array in given.items())
        raise ValueError(f"shapes do not fit together: {told}") from None
    return shape, [np.broadcast_to(array.astype(float), shape + array.shape[-own:]) for array in given.values()]
