"""Exact signs against fractions, on points that rounding would get wrong."""

from __future__ import annotations

from fractions import Fraction

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boxwood.geometry.expansions import sum_of, two_sum
from boxwood.geometry.predicates import (
    EXPANSION_ROOM,
    collinear,
    exact_area,
    exact_volume,
    orient2d,
    orient3d,
)
from boxwood.geometry.ray_triangle import edge
from worlds import some

pytestmark = pytest.mark.small

compiled = numba.njit(error_model="numpy")


@compiled
def turn(ax, ay, bx, by, cx, cy):
    return orient2d(ax, ay, bx, by, cx, cy, np.empty(EXPANSION_ROOM, np.float64))


@compiled
def on_a_line(a, b, c):
    return collinear((a[0], a[1], a[2]), (b[0], b[1], b[2]), (c[0], c[1], c[2]), np.empty(EXPANSION_ROOM, np.float64))


@compiled
def side(a, b, c, d):
    return orient3d(a, b, c, d, np.empty(EXPANSION_ROOM, np.float64))


@compiled
def volume(a, b, c, d):
    return exact_volume(a, b, c, d, np.empty(EXPANSION_ROOM, np.float64))


@compiled
def area(ax, ay, bx, by, cx, cy):
    return exact_area(ax, ay, bx, by, cx, cy, np.empty(EXPANSION_ROOM, np.float64))


@compiled
def total(values):
    return sum_of(values, len(values))


@compiled
def sum_and_error(a, b):
    return two_sum(a, b)


@compiled
def edge_of(px, py, qx, qy):
    return edge(px, py, qx, qy)


def sign(x):
    return int(x > 0) - int(x < 0)


def exact_turn(*points):
    ax, ay, bx, by, cx, cy = map(Fraction, points)
    return sign((bx - ax) * (cy - ay) - (by - ay) * (cx - ax))


def exact_area_of(*points):
    ax, ay, bx, by, cx, cy = map(Fraction, points)
    return (ax - cx) * (by - cy) - (ay - cy) * (bx - cx)


def exact_volume_of(a, b, c, d):
    u, v, w = ([Fraction(x) - Fraction(y) for x, y in zip(point, d, strict=True)] for point in (a, b, c))
    return sum(u[i] * (v[i - 2] * w[i - 1] - v[i - 1] * w[i - 2]) for i in range(3))


def exactly_on_a_line(a, b, c):
    u = [Fraction(y) - Fraction(x) for x, y in zip(a, b, strict=True)]
    v = [Fraction(y) - Fraction(x) for x, y in zip(a, c, strict=True)]
    return all(u[i] * v[i - 1] == u[i - 1] * v[i] for i in range(3))


reals = st.floats(-1e100, 1e100, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-100)


@given(st.tuples(*[reals] * 6))
def test_orientation_of_anything(points):
    assert turn(*points) == exact_turn(*points)


def test_orientation_near_a_line():
    """Kettner's picture (2008): a point moved by single bits beside the line through two others."""
    step = 2.0**-53
    size = some(48, 12)
    wrong = 0
    for i in range(size):
        for j in range(size):
            points = 0.5 + i * step, 0.5 + j * step, 12.0, 12.0, 24.0, 24.0
            wanted = exact_turn(*points)
            assert turn(*points) == wanted
            ax, ay, bx, by, cx, cy = points
            wrong += sign((bx - ax) * (cy - ay) - (by - ay) * (cx - ax)) != wanted
    assert wrong > 0  # so these are points on which plain arithmetic fails


def test_orientation_is_antisymmetric_and_cyclic():
    rng = np.random.default_rng(1)
    for _ in range(some(300, 50)):
        a, b = rng.normal(size=(2, 2))
        c = a + (b - a) * rng.integers(-3, 4) / 2
        c = np.nextafter(c, c + rng.integers(-1, 2, 2))
        wanted = turn(*a, *b, *c)
        assert turn(*b, *c, *a) == turn(*c, *a, *b) == wanted
        assert turn(*b, *a, *c) == turn(*a, *c, *b) == -wanted


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_collinear_points_and_their_neighbours(dtype):
    rng = np.random.default_rng(2)
    found = 0
    for _ in range(some(400, 60)):
        a = (rng.normal(size=3) * 10.0 ** rng.integers(-6, 7)).astype(dtype)
        b = a + rng.integers(-9, 10, 3).astype(dtype) / dtype(8)
        c = a + (b - a) * dtype(rng.integers(-6, 7) / 4)
        if rng.random() < 0.5:
            c = np.nextafter(c, c + rng.integers(-1, 2, 3).astype(dtype), dtype=dtype)
        points = [tuple(point.astype(float).tolist()) for point in (a, b, c)]
        wanted = exactly_on_a_line(*points)
        found += wanted
        for order in ((0, 1, 2), (1, 2, 0), (2, 1, 0)):
            assert on_a_line(*(points[i] for i in order)) == wanted
    assert some(50, 5) < found < some(390, 59)


@pytest.mark.parametrize("scale", [1e-60, 1.0, 1e60])
def test_points_of_a_segment_and_single_points(scale):
    a, b = (0.1 * scale, 0.2 * scale, 0.3 * scale), (0.4 * scale, -0.7 * scale, scale)
    middle = tuple((x + y) / 2 for x, y in zip(a, b, strict=True))
    for points in ((a, a, a), (a, a, b), (a, b, a), (b, a, a), (a, b, middle)):
        assert on_a_line(*points) == exactly_on_a_line(*points)
    assert on_a_line(a, b, b)
    assert not on_a_line(a, b, (0.0, 0.0, 0.0))


@given(st.lists(reals, min_size=1, max_size=10))
def test_sums_are_exact_but_for_the_last_rounding(values):
    exact = sum(map(Fraction, values))
    found = total(np.array(values))
    assert sign(found) == sign(exact)
    assert abs(Fraction(found) - exact) <= abs(exact) * Fraction(2) ** -51
    assert total(np.array([*values, *(-value for value in reversed(values))])) == 0


@given(reals, reals)
def test_two_sum_loses_nothing(a, b):
    total, error = sum_and_error(a, b)
    assert total == a + b
    assert Fraction(total) + Fraction(error) == Fraction(a) + Fraction(b)


@given(st.tuples(*[reals] * 4), st.booleans())
def test_edge_functions_have_the_exact_sign(points, near):
    px, py, qx, qy = points
    if near:  # q nearly along p
        qx, qy = px * 3.0, float(np.nextafter(py * 3.0, qy))
    value = edge_of(px, py, qx, qy)
    assert sign(value) == sign(Fraction(px) * Fraction(qy) - Fraction(py) * Fraction(qx))
    assert edge_of(qx, qy, px, py) == -value


@pytest.mark.parametrize("seed", range(3))
def test_edge_functions_of_float32_are_exact(seed):
    rng = np.random.default_rng(seed)
    for _ in range(some(300, 40)):
        px, py = rng.normal(size=2).astype(np.float32)
        factor = np.float32(rng.integers(1, 9))
        qx, qy = px * factor, np.nextafter(py * factor, np.float32(rng.integers(-1, 2) * 100))
        exact = Fraction(float(px)) * Fraction(float(qy)) - Fraction(float(py)) * Fraction(float(qx))
        assert sign(edge_of(px, py, qx, qy)) == sign(exact)


def beside(rng, point):
    """The same point, or one moved by the last bits of some of its coordinates, away from zero."""
    moved = np.copysign(np.nextafter(np.abs(point), np.inf), point)
    return np.where((rng.random(len(point)) < 0.4) & (point != 0), moved, point)


def points_near_a_plane(seed):
    """Four points, the last nearly in the plane of the others, and sometimes exactly."""
    rng = np.random.default_rng(seed)
    for _ in range(some(400, 30)):
        points = rng.normal(size=(4, 3)) * 10.0 ** rng.integers(-3, 4)
        if rng.random() < 0.3:
            points = rng.integers(-6, 7, (4, 3)) * rng.choice([1, 0.1, 1 / 3])
        x, y = rng.integers(-4, 5, 2) / 4
        points[3] = x * points[0] + y * points[1] + (1 - x - y) * points[2]
        if rng.random() < 0.5:
            points[3] = beside(rng, points[3])
        yield [tuple(point) for point in points.tolist()]


@pytest.mark.parametrize("seed", range(3))
def test_sides_of_points_near_a_plane(seed):
    zeros = wrong = 0
    for a, b, c, d in points_near_a_plane(seed):
        exact = exact_volume_of(a, b, c, d)
        assert side(a, b, c, d) == side(b, c, a, d) == -side(b, a, c, d) == -side(d, b, c, a) == sign(exact)
        most = Fraction(abs(np.array([a, b, c, d])).max()) ** 3 * 48
        error = abs(Fraction(float(volume(a, b, c, d))) - exact)
        assert error <= abs(exact) * Fraction(2) ** -50 + most * Fraction(2) ** -100
        assert error <= abs(exact) / 4
        plain = np.linalg.det(np.array([a, b, c]) - np.array(d))
        zeros, wrong = zeros + (exact == 0), wrong + (sign(plain) != sign(exact))
    assert zeros > 0
    assert wrong > 0  # so these are points on which plain arithmetic fails


@given(st.lists(st.tuples(*[st.integers(-3, 3).map(float)] * 3), min_size=4, max_size=4))
def test_sides_on_a_grid(points):
    assert side(*points) == sign(exact_volume_of(*points))


def test_the_convention_of_sides():
    """Shewchuk's: positive below, where above is the side from which a, b, c turn left."""
    a, b, c = (0.0, 0.0, 5.0), (1.0, 0.0, 5.0), (0.0, 1.0, 5.0)
    assert turn(*a[:2], *b[:2], *c[:2]) == 1
    assert side(a, b, c, (0.3, 0.3, 4.0)) == 1
    assert side(a, b, c, (0.3, 0.3, 6.0)) == -1
    assert side(a, b, c, (9.0, 9.0, 5.0)) == 0


def within(rng, count, lowest, highest):
    """Numbers of both signs of every size between two powers of two, and some zeros."""
    sizes = np.ldexp(1 + rng.random(count), rng.integers(lowest, highest, count))
    return np.where(rng.random(count) < 0.1, 0.0, sizes * rng.choice([-1, 1], count))


@pytest.mark.parametrize("seed", range(2))
def test_the_whole_range_in_space(seed):
    """From the smallest to the largest coordinates for which signs are guaranteed, together and alone."""
    rng = np.random.default_rng(seed)
    for low, high in ((-306, 339), (-306, -304), (337, 339), (-306, 0), (0, 339)):
        for _ in range(some(150, 10)):
            points = within(rng, 12, low, high).reshape(4, 3)
            kind = rng.integers(3)
            if kind == 1:  # on a line, or in the last bit beside it
                points[3] = beside(rng, points[2])
            elif kind == 2:
                points[2:] = -points[:2]
                points[3, rng.integers(3)] = points[0, rng.integers(3)]
            corners = [tuple(point) for point in points.tolist()]
            assert side(*corners) == sign(exact_volume_of(*corners))


@pytest.mark.parametrize("seed", range(2))
def test_the_whole_range_in_the_plane(seed):
    rng = np.random.default_rng(seed)
    for low, high in ((-485, 510), (-485, -483), (508, 510), (-485, 0), (0, 510)):
        for _ in range(some(150, 10)):
            points = within(rng, 6, low, high)
            if rng.random() < 0.5:
                points[4:] = beside(rng, points[2:4])
            assert turn(*points.tolist()) == exact_turn(*points.tolist())
            exact = exact_area_of(*points.tolist())
            assert abs(Fraction(float(area(*points.tolist()))) - exact) <= abs(exact) * Fraction(2) ** -50


def test_where_the_range_ends():
    """At its lower end nothing is lost; with coordinates far below it products vanish, and signs with them."""
    for smallest, right in ((2.0**-306, True), (2.0**-360, False)):
        step = smallest * 2.0**-52
        a, b, c = (smallest, 0.0, 0.0), (0.0, smallest + step, 0.0), (0.0, 0.0, smallest + 3 * step)
        near = [(x, y, z) for x in (smallest, 0.0) for y in (step, 0.0) for z in (step, 0.0)]
        assert all(side(a, b, c, d) == sign(exact_volume_of(a, b, c, d)) for d in near) == right


def test_every_size_of_float32():
    rng = np.random.default_rng(5)
    limits = np.finfo(np.float32)
    sizes = [limits.max, limits.smallest_subnormal, limits.tiny, 1, 0]
    for _ in range(some(300, 20)):
        points = rng.choice(np.array(sizes, float), (4, 3)) * rng.choice([-1, 1, 1], (4, 3))
        corners = [tuple(point) for point in points.tolist()]
        assert side(*corners) == sign(exact_volume_of(*corners))
