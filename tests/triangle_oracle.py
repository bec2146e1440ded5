"""The relation of two triangles in rational arithmetic: one is clipped by all that bounds the other.

Slow and plain, and unlike the package in every step: here the intersection itself is computed, as a list of points
whose convex hull it is.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

DISJOINT, TOUCH, CROSS, COPLANAR = range(4)


def minus(p, q):
    return tuple(x - y for x, y in zip(p, q, strict=True))


def dot(p, q):
    return sum(x * y for x, y in zip(p, q, strict=True))


def cross(p, q):
    return tuple(p[i - 2] * q[i - 1] - p[i - 1] * q[i - 2] for i in range(3))


def exact(triangle):
    return [tuple(Fraction(float(x)) for x in corner) for corner in triangle]


def ends_of(points):
    """The two points of a line that are farthest apart."""
    return max(combinations(points, 2), key=lambda pair: dot(minus(*pair), minus(*pair)))


def has_area(points):
    return any(any(cross(minus(q, p), minus(r, p))) for p, q, r in combinations(points, 3))


def bounds_of(triangle):
    """Pairs (n, d) such that the triangle is where n . x >= d for all of them."""
    p, q, r = triangle
    normal = cross(minus(q, p), minus(r, p))
    if any(normal):
        sides = [(cross(normal, minus(y, x)), x) for x, y in ((p, q), (q, r), (r, p))]
        through = [normal]
    else:
        p, q = ends_of(triangle)
        along = minus(q, p)
        sides = [(along, p), (minus(p, q), q)] if any(along) else []
        units = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
        through = [cross(along, unit) for unit in units] if any(along) else units
    bounds = [(n, dot(n, x)) for n, x in sides]
    for n in through:
        bounds += [(n, dot(n, p)), (minus((0, 0, 0), n), -dot(n, p))]
    return bounds


def clipped(points, bound):
    n, d = bound
    kept = []
    for i, here in enumerate(points):
        before = points[i - 1]
        h, b = dot(n, here) - d, dot(n, before) - d
        if h * b < 0:
            kept.append(tuple(x + (y - x) * b / (b - h) for x, y in zip(before, here, strict=True)))
        if h >= 0:
            kept.append(here)
    return list(dict.fromkeys(kept))


def intersection(first, second):
    """Points whose convex hull is what two triangles have in common."""
    points = list(dict.fromkeys(exact(second)))
    if not has_area(points) and len(points) == 3:
        points = list(ends_of(points))
    for bound in bounds_of(exact(first)):
        points = clipped(points, bound)
    return points


def inside(point, triangle):
    """Whether the point is in the interior of the triangle, segment or point, in whose plane or line it lies."""
    p, q, r = triangle
    normal = cross(minus(q, p), minus(r, p))
    if any(normal):
        return all(dot(cross(minus(y, x), minus(point, x)), normal) > 0 for x, y in ((p, q), (q, r), (r, p)))
    p, q = ends_of(triangle)
    return p == q or dot(minus(point, p), minus(point, q)) < 0


def in_one_plane(points):
    base = points[0]
    edges = [minus(point, base) for point in points[1:]]
    return not any(dot(cross(x, y), z) for x, y, z in combinations(edges, 3))


def how(points, first, second):
    if in_one_plane(exact(first) + exact(second)):
        return COPLANAR if has_area(points) else TOUCH
    middle = tuple(sum(xs) / len(points) for xs in zip(*points, strict=True))
    return CROSS if inside(middle, exact(first)) and inside(middle, exact(second)) else TOUCH


def relation(first, second):
    points = intersection(first, second)
    return how(points, first, second) if points else DISJOINT


def relation_of_neighbours(first, second):
    """What they have in common beyond corners and edges that they share."""
    shared = [corner for corner in exact(first) if corner in exact(second)]
    points = intersection(first, second)
    if len(shared) == 3:
        return COPLANAR
    beyond = [point for point in points if len(shared) < 2 or any(cross(minus(point, shared[0]), minus(*shared)))]
    beyond = [point for point in beyond if point not in shared]
    return how(points, first, second) if beyond else DISJOINT
