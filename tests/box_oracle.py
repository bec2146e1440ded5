"""What every question about boxes must answer, by looking at all of them: plain NumPy, no code of the package.

The arithmetic is that of the documentation: float64, in the order of the axes. Tests compare bit for bit.
"""

from __future__ import annotations

import numpy as np


def wide(*arrays):
    return tuple(np.asarray(array, np.float64) for array in arrays)


def overlaps(lower, upper, low, high):
    """(queries, boxes) bool."""
    lower, upper, low, high = wide(lower, upper, low, high)
    return np.all((lower[None] <= high[:, None]) & (upper[None] >= low[:, None]), axis=2)


def squares(lower, upper, points):
    """(queries, boxes): squared distances."""
    lower, upper, points = wide(lower, upper, points)
    away = np.maximum(np.maximum(lower[None] - points[:, None], points[:, None] - upper[None]), 0)
    total = away[..., 0] * away[..., 0]
    for axis in range(1, lower.shape[1]):
        total = total + away[..., axis] * away[..., axis]
    return total


def distances(lower, upper, points, dtype):
    """(queries, boxes), rounded to the dtype."""
    with np.errstate(over="ignore"):
        return np.sqrt(squares(lower, upper, points)).astype(dtype)


def reached(lower, upper, center, radius, dtype):
    with np.errstate(over="ignore"):
        radius = np.broadcast_to(np.asarray(radius).astype(dtype), (len(center),))
    return distances(lower, upper, center, dtype) <= radius[:, None]


def inside(lower, upper, planes):
    """(queries, boxes): those that no plane leaves out."""
    lower, upper, planes = wide(lower, upper, planes)
    kept = np.ones((len(planes), len(lower)), bool)
    for k in range(planes.shape[1]):
        value = np.zeros(kept.shape)
        for axis in range(lower.shape[1]):
            normal = planes[:, k, axis, None]
            term = normal * np.where(normal >= 0, upper[None, :, axis], lower[None, :, axis])
            value = value + term if axis else term
        kept &= value + planes[:, k, -1, None] >= 0
    return kept


def nearest(lower, upper, points, k, dtype, max_distance=np.inf):
    """Distances and ids (queries, k)."""
    away = distances(lower, upper, points, dtype)
    away[~reached(lower, upper, points, max_distance, dtype)] = np.inf
    ids = np.where(np.isfinite(away), np.arange(len(lower)), -1)
    order = np.lexsort((np.arange(len(lower))[None].repeat(len(points), 0), away))[:, :k]
    found = np.full((len(points), k), np.inf, dtype), np.full((len(points), k), -1)
    for array, values in zip(found, (away, ids), strict=True):
        array[:, : order.shape[1]] = np.take_along_axis(values, order, axis=1)
    return found


def times(lower, upper, low, high, directions, t_min, t_max, dtype):
    """(queries, boxes): when a box from low to high that moves meets each box; inf for never."""
    lower, upper, low, high, directions = wide(lower, upper, low, high, directions)
    shape = len(low), len(lower)
    near, far, met = np.full(shape, -np.inf), np.full(shape, np.inf), np.ones(shape, bool)
    with np.errstate(all="ignore"):
        for axis in range(lower.shape[1]):
            first = lower[None, :, axis] - high[:, axis, None]
            last = upper[None, :, axis] - low[:, axis, None]
            along = directions[:, axis, None]
            met &= (along != 0) | ((first <= 0) & (last >= 0))
            one, other = first / along, last / along
            near = np.where(along == 0, near, np.maximum(near, np.minimum(one, other)))
            far = np.where(along == 0, far, np.minimum(far, np.maximum(one, other)))
        met &= near <= far
        near, far = near.astype(dtype), far.astype(dtype)
    t_min = np.broadcast_to(np.asarray(t_min, dtype), (len(low),))[:, None]
    t_max = np.broadcast_to(np.minimum(np.asarray(t_max, dtype), np.finfo(dtype).max), (len(low),))[:, None]
    t = np.maximum(near, t_min)
    return np.where(met & (far >= t_min) & (near <= t_max) & (t <= t_max), t, np.inf).astype(dtype)


def first(t):
    """t and ids of the first box that each query meets."""
    if t.shape[1] == 0:
        return np.full(len(t), np.inf, t.dtype), np.full(len(t), -1)
    least = t.min(axis=1)
    return least, np.where(np.isfinite(least), t.argmin(axis=1), -1)


def every(t):
    """Rows, t and ids of all boxes that queries meet, sorted by row, t and id."""
    rows, ids = np.nonzero(np.isfinite(t))
    order = np.lexsort((ids, t[rows, ids], rows))
    return rows[order], t[rows, ids][order], ids[order]


def pairs(lower, upper):
    return np.argwhere(np.triu(overlaps(lower, upper, lower, upper), 1))
