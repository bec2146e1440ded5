"""Exact signs against fractions, on points that rounding would get wrong."""

from __future__ import annotations

from fractions import Fraction

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boxwood.geometry.predicates import collinear, grow, orientation, sign_of, two_sum
from boxwood.geometry.ray_triangle import edge
from worlds import some

pytestmark = pytest.mark.small

compiled = numba.njit(error_model="numpy")


@compiled
def turn(ax, ay, bx, by, cx, cy):
    return orientation(ax, ay, bx, by, cx, cy, np.empty(12, np.float64))


@compiled
def on_a_line(a, b, c):
    return collinear((a[0], a[1], a[2]), (b[0], b[1], b[2]), (c[0], c[1], c[2]), np.empty(12, np.float64))


@compiled
def sum_of(values, expansion):
    size = 0
    for value in values:
        size = grow(expansion, size, value)
    return sign_of(expansion, size)


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
def test_expansions_are_exact_sums(values):
    expansion = np.zeros(12)
    assert sum_of(np.array(values), expansion) == sign(sum(map(Fraction, values)))
    assert sum(map(Fraction, expansion[: len(values)].tolist())) == sum(map(Fraction, values))


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
