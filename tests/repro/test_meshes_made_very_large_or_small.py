"""Meshes that a transform made 1e75 times smaller or larger lost the signs that decide: contacts were missed or made
up, and segments were no numbers. Against rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import boxwood as bw
import triangle_oracle as oracle
from triangle_oracle import dot, exact, minus
from worlds import some

pytestmark = pytest.mark.small

SCALES = [1e-150, 1e-108, 1e-60, 1.0, 1e75, 1e120, 1e150]
TURN = np.array([[0.6, -0.8, 0, 0.3], [0.8, 0.6, 0, -0.2], [0, 0, 1, 0.1], [0, 0, 0, 1]])


def moved(vertices, matrix):
    """In float64, with the roundings that the library promises."""
    x, y, z = np.asarray(vertices, float).T
    return np.stack([((row[0] * x + row[1] * y) + row[2] * z) + row[3] for row in np.asarray(matrix)[:3]], axis=1)


def scaled(matrix, scale):
    matrix = matrix.copy()
    matrix[:3] *= scale
    return matrix


def lattice(seed):
    """Many triangles that touch, lie in one plane or nearly do."""
    rng = np.random.default_rng(seed)
    count = some(12, 5)
    vertices = rng.integers(0, 4, (3 * count, 3)).astype(float)
    vertices[::7, 2] += 2.0**-51
    return bw.Mesh(vertices, np.arange(3 * count).reshape(-1, 3))


def squared_distance(first, second):
    """Of two triangles that do not meet, exactly."""
    p, q = exact(first), exact(second)
    edges = [(p[i - 1], p[i]) for i in range(3)], [(q[i - 1], q[i]) for i in range(3)]
    found = [of_edges(*one, *other) for one in edges[0] for other in edges[1]]
    found += [of_corner(corner, q) for corner in p] + [of_corner(corner, p) for corner in q]
    return min(one for one in found if one is not None)


def of_edges(p, q, a, b):
    d, e, w = minus(q, p), minus(b, a), minus(p, a)
    dd, ee, de, dw, ew = dot(d, d), dot(e, e), dot(d, e), dot(d, w), dot(e, w)
    whole = dd * ee - de * de
    places = [(s, between((de * s + ew) / ee)) for s in (Fraction(0), Fraction(1))]
    places += [(between((de * t - dw) / dd), t) for t in (Fraction(0), Fraction(1))]
    if whole:
        s, t = (de * ew - ee * dw) / whole, (dd * ew - de * dw) / whole
        places += [(s, t)] if 0 <= s <= 1 and 0 <= t <= 1 else []
    gaps = [tuple(w[k] + s * d[k] - t * e[k] for k in range(3)) for s, t in places]
    return min(dot(gap, gap) for gap in gaps)


def between(t):
    return min(max(t, Fraction(0)), Fraction(1))


def of_corner(p, triangle):
    a, b, c = triangle
    u, v, w = minus(b, a), minus(c, a), minus(p, a)
    uu, uv, vv, uw, vw = dot(u, u), dot(u, v), dot(v, v), dot(u, w), dot(v, w)
    whole = uu * vv - uv * uv
    s, t = (vv * uw - uv * vw) / whole, (uu * vw - uv * uw) / whole
    if s < 0 or t < 0 or s + t > 1:
        return None
    gap = tuple(w[k] - s * u[k] - t * v[k] for k in range(3))
    return dot(gap, gap)


def expected(first, second, tolerance):
    """Pairs of faces that meet, and their relations, which is NEAR for those that are within the tolerance."""
    found = {}
    for i, one in enumerate(first):
        for j, other in enumerate(second):
            if not (oracle.has_area(exact(one)) and oracle.has_area(exact(other))):
                continue
            relation = oracle.relation(one, other)
            if relation == oracle.DISJOINT and tolerance:
                squared, most = squared_distance(one, other), Fraction(tolerance) ** 2
                assert not Fraction(1 - 2**-30) < squared / most < Fraction(1 + 2**-30)
                relation = oracle.TOUCH if squared < most else relation
            if relation:
                found[i, j] = relation
    return found


@pytest.mark.parametrize("tolerance", [0.0, 0.2111])
@pytest.mark.parametrize("scale", SCALES)
def test_against_rational_arithmetic(scale, tolerance):
    first, second = lattice(1), lattice(2)
    scene = bw.Scene()
    scene.add(first, scaled(TURN, scale))
    scene.add(second, scaled(np.eye(4), scale))
    corners = moved(first.vertices, scaled(TURN, scale))[first.faces]
    others = moved(second.vertices, scaled(np.eye(4), scale))[second.faces]
    wanted = expected(corners, others, tolerance * scale)
    assert len(wanted) > some(20, 2)
    collisions = scene.collisions(tolerance=tolerance * scale, faces=True)
    assert collisions.pairs.tolist() == [[0, 1]]
    assert dict(zip(map(tuple, collisions[0].pairs.tolist()), collisions[0].relations, strict=True)) == wanted
    segments = collisions[0].segments
    bounds = [np.concatenate([corners, others]).reshape(-1, 3).min(axis=0)]
    bounds += [np.concatenate([corners, others]).reshape(-1, 3).max(axis=0)]
    assert ((bounds[0] <= segments) & (segments <= bounds[1])).all()
    found = bw.Mesh(corners.reshape(-1, 3), first.faces).intersections(
        second, scaled(np.eye(4), scale), tolerance=tolerance * scale
    )
    assert dict(zip(map(tuple, found.pairs.tolist()), found.relations, strict=True)) == wanted


@pytest.mark.parametrize("power", [-1000, -700, -300, 300, 700, 990])
def test_a_power_of_two_changes_nothing(power):
    first, second = lattice(3), lattice(4)
    scene, other = bw.Scene(), bw.Scene()
    for place, world in ((np.eye(4), scene), (np.diag([2.0**power] * 3 + [1.0]), other)):
        world.add(first, place)
        world.add(second, scaled(TURN, place[0, 0]))
    for tolerance in (0.0, 0.1):
        wanted = scene.collisions(faces=True, tolerance=tolerance).contacts
        found = other.collisions(faces=True, tolerance=tolerance * 2.0**power).contacts
        np.testing.assert_array_equal(found.pairs, wanted.pairs)
        np.testing.assert_array_equal(found.relations, wanted.relations)
        np.testing.assert_array_equal(found.segments, wanted.segments * 2.0**power)


def test_pairs_of_every_size_in_one_question():
    """Each pair is decided in its own size, whatever others are there."""
    mesh = bw.Mesh([[0, 0, 0], [4, 0, 0], [0, 4, 0]], [[0, 1, 2]])
    upright = np.array([[0.6, 0.0, 0.8, 2], [0.8, 0, -0.6, 0.1], [0, 1, 0, -0.1], [0, 0, 0, 1]])
    above = np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.25], [0, 0, 0, 1]])
    sizes = [2.0**power for power in (-900, -400, 0, 300, 990)]
    scene = bw.Scene()
    scene.add(mesh, np.stack([scaled(np.eye(4), size) for size in sizes]))
    flat, across = ([scaled(matrix, size) for size in sizes] for matrix in (above, upright))
    meets = [[row for row in rows.tolist() if row == i] for i, rows in enumerate(scene.intersects(mesh, across))]
    assert meets == [[i] for i in range(len(sizes))]
    assert [i in rows for i, rows in enumerate(scene.intersects(mesh, flat))] == [False] * len(sizes)
    for i, size in enumerate(sizes):
        for reach, near in ((0.24, False), (0.26, True)):
            found = scene.intersects(mesh, flat[i], tolerance=reach * size)
            assert (i in found) == near


def test_what_is_beyond_the_numbers_is_named():
    mesh = bw.Mesh([[0, 0, 0], [4, 0, 0], [0, 4, 0]], [[0, 1, 2]])
    grown = [np.eye(4), scaled(np.eye(4), 1e308), np.eye(4)]
    with pytest.raises(ValueError, match=r"transform\[0, 1\] moves the mesh beyond the numbers"):
        mesh.intersects(mesh, [grown])
    with pytest.raises(ValueError, match="transform moves the mesh beyond the numbers"):
        mesh.intersections(mesh, grown[1])
    large = bw.Mesh(np.array([[0, 0, 0], [1.7e308, 0, 0], [0, 1.7e308, 0]]), [[0, 1, 2]])
    assert large.intersects(large)
    assert large.intersects(large, np.eye(4))
    assert large.intersections(large).segments.max() == 1.7e308
