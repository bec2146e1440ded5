"""How far two triangles that do not meet are from each other, and the two points that are nearest, in floating point.

The nearest points lie on two edges, or one is a corner: nine pairs of edges and six corners (Ericson 2005, 5.1).
"""

from __future__ import annotations

from .._jit import apart, inline


@inline
def minus(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inline
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inline
def along(p, d, t):
    return p[0] + t * d[0], p[1] + t * d[1], p[2] + t * d[2]


@inline
def held(t):
    """Within 0 and 1; 0 where it is not a number."""
    return min(t, 1.0) if t > 0.0 else 0.0


@apart
def edge_distance(p, q, a, b):
    """The squared distance of two segments, which may be points, and where on each the nearest points lie, 0 to 1."""
    d, e, w = minus(q, p), minus(b, a), minus(p, a)
    dd, ee, de, dw, ew = dot(d, d), dot(e, e), dot(d, e), dot(d, w), dot(e, w)
    s = held((de * ew - ee * dw) / (dd * ee - de * de))
    t = held((de * s + ew) / ee)
    s = held((de * t - dw) / dd)
    gap = minus(along(p, d, s), along(a, e, t))
    return dot(gap, gap), s, t


@apart
def corner_distance(p, a, b, c):
    """The squared distance of a point from the inside of a triangle, and the weights of b and c in the point straight
    below; inf where that lies outside, so that an edge is nearer."""
    u, v, w = minus(b, a), minus(c, a), minus(p, a)
    uu, uv, vv, uw, vw = dot(u, u), dot(u, v), dot(v, v), dot(u, w), dot(v, w)
    whole = uu * vv - uv * uv
    s, t = (vv * uw - uv * vw) / whole, (uu * vw - uv * uw) / whole
    if not (s >= 0.0 and t >= 0.0 and s + t <= 1.0):
        return float("inf"), 0.0, 0.0
    gap = minus(w, (s * u[0] + t * v[0], s * u[1] + t * v[1], s * u[2] + t * v[2]))
    return dot(gap, gap), s, t


@apart
def nearest_points(p, q, r, a, b, c):
    """The squared distance, and the nearest point of the first triangle and of the second."""
    best, here, there = float("inf"), p, a
    for _ in range(3):
        for _ in range(3):
            squared, s, t = edge_distance(p, q, a, b)
            if squared < best:
                best, here, there = squared, along(p, minus(q, p), s), along(a, minus(b, a), t)
            a, b, c = b, c, a
        squared, s, t = corner_distance(p, a, b, c)
        if squared < best:
            best, here, there = squared, p, along(along(a, minus(b, a), s), minus(c, a), t)
        squared, s, t = corner_distance(a, p, q, r)
        if squared < best:
            best, here, there = squared, along(along(p, minus(q, p), s), minus(r, p), t), a
        p, q, r = q, r, p
        a, b, c = b, c, a
    return best, here, there
