"""Exact decisions as users ask for them: shapes, dtypes, bad input, threads."""

from __future__ import annotations

import numpy as np
import pytest

import boxwood as bw

pytestmark = pytest.mark.small

FLOOR = np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0]])
WALL = np.array([[1, 1, -1], [1, 1, 1], [2, 1, 1]])


def test_one_and_many():
    assert bw.orient2d([0, 0], [1, 0], [0, 1]) == 1
    assert np.ndim(bw.orient2d([0, 0], [1, 0], [0, 1])) == 0
    turns = bw.orient2d(np.zeros((5, 1, 2)), [[1, 0]], [[0, 1], [0, -1], [2, 0]])
    assert turns.shape == (5, 3)
    assert turns.dtype == np.int8
    assert turns[4].tolist() == [1, -1, 0]
    assert bw.orient3d(*FLOOR, np.zeros((2, 7, 3))).shape == (2, 7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, ">f8"])
def test_dtypes_of_triangles(dtype):
    found = bw.triangle_relations(FLOOR.astype(dtype), np.stack([WALL, WALL + 9]).astype(dtype)[::-1])
    assert found.relations.tolist() == [0, 2]
    assert found.segments.shape == (2, 2, 3)
    assert found.segments.dtype == (np.float32 if dtype is np.float32 else np.float64)
    single = bw.triangle_relations(FLOOR, WALL)
    assert single.relations == bw.Relation.CROSS
    assert single.segments.tolist() == [[1.5, 1.0, 0.0], [1.0, 1.0, 0.0]]
    assert bool(single.meet)
    assert "TriangleRelations(relations=" in repr(single)


def test_none_at_all():
    assert bw.orient2d([], [0, 0], [1, 1]).shape == (0,)
    assert bw.orient3d([], [], [], []).shape == (0,)
    found = bw.triangle_relations([], np.empty((0, 3, 3)))
    assert found.relations.shape == (0,)
    assert found.segments.shape == (0, 2, 3)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (lambda: bw.orient2d([0, 0], [[1, 1], [np.nan, 0]], [0, 1]), r"b\[1\] is not finite: \(nan, 0\)"),
        (lambda: bw.orient3d([0, 0, np.inf], *FLOOR), r"a is not finite"),
        (lambda: bw.orient3d([0, 0], *FLOOR), r"a must have shape \(3,\) or \(..., 3\)"),
        (lambda: bw.orient2d(np.zeros((2, 2)), np.zeros((3, 2)), [0, 0]), "shapes do not fit together"),
        (lambda: bw.triangle_relations(FLOOR, [0, 0, 0]), r"second must have shape \(3, 3\)"),
        (lambda: bw.triangle_relations([FLOOR, FLOOR * np.nan], WALL), r"first\[1, 0\] is not finite"),
        (lambda: bw.triangle_relations("floor", WALL), "first must be real numbers"),
        (lambda: bw.triangle_relations(FLOOR, WALL, threads=0), "threads must be"),
    ],
)
def test_what_cannot_be_meant(question, message):
    with pytest.raises(ValueError, match=message), np.errstate(all="ignore"):
        question()


def test_inputs_stay_as_they_are():
    first, second = FLOOR.astype(float) * 2.0**600, WALL.astype(float) * 2.0**600
    kept = first.copy()
    assert bw.triangle_relations(first, second).relations == bw.Relation.CROSS
    assert np.array_equal(first, kept)


def test_threads_change_nothing():
    first, second = np.random.default_rng(0).normal(size=(2, 1500, 3, 3))
    done = []
    one = bw.triangle_relations(first, second, threads=1, progress=lambda *now: done.append(now))
    two = bw.triangle_relations(first, second, threads=2)
    assert np.array_equal(one.relations, two.relations)
    assert np.array_equal(one.segments, two.segments, equal_nan=True)
    assert done[-1] == (1500, 1500)


def test_rows_of_every_size_beside_each_other():
    scales = np.ldexp(1.0, [-1000, -400, 0, 400, 1000])
    points = np.array([[0.1, 0.1], [0.3, 0.3], [0.7, np.nextafter(0.7, 1)]])
    assert bw.orient2d(*(scales[:, None] * point for point in points)).tolist() == [bw.orient2d(*points)] * 5
    corners = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.25, 0.25, np.nextafter(0.5, 1)]])
    assert bw.orient3d(*(scales[:, None] * point for point in corners)).tolist() == [bw.orient3d(*corners)] * 5
