"""Arguments were looked at one after the other, so that the bad row named was not always the first of all."""

from __future__ import annotations

import numpy as np
import pytest

import boxwood as bw

pytestmark = pytest.mark.small
NAN = np.nan


def with_row(array, row, value):
    array = np.array(array, np.float64)
    array[row] = value
    return array


def test_rays_at_a_mesh():
    mesh = bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    places, ways = with_row(np.zeros((40, 3)), 35, NAN), np.ones((40, 3))
    with pytest.raises(ValueError, match=r"directions\[2\] is zero"):
        mesh.raycast(places, with_row(ways, 2, 0))
    with pytest.raises(ValueError, match=r"t_min\[3\] is nan"):
        mesh.raycast(places, ways, t_min=with_row(np.zeros(40), 3, NAN))
    with pytest.raises(ValueError, match=r"origins\[35\] is not finite"):
        mesh.raycast(places, ways, t_min=with_row(np.zeros(40), 36, NAN), t_max=with_row(np.ones(40), 37, NAN))


def test_boxes():
    low, high = with_row(np.zeros((6, 2)), 5, NAN), np.ones((6, 2))
    tree = bw.BoxTree([[0, 0]], [[1, 1]])
    for ask, fault in (
        (lambda: bw.BoxTree(low, with_row(high, 2, np.inf)), r"upper\[2\] is not finite"),
        (lambda: bw.BoxTree(low, with_row(high, 2, -1)), r"lower\[2\] is above upper\[2\]"),
        (lambda: tree.query_box(low, with_row(high, 2, -1)), r"lower\[2\] is above upper"),
        (lambda: tree.query_box([0, 0], with_row(with_row(high, 2, -1), 5, NAN)), r"lower is above upper"),
        (lambda: tree.query_sphere(low, with_row(np.ones(6), 2, -1)), r"radius\[2\] is negative"),
        (lambda: tree.nearest(low, max_distance=with_row(np.ones(6), 2, NAN)), r"max_distance\[2\] is nan"),
        (lambda: tree.sweep_box(low, high, with_row(high, 2, NAN)), r"displacement\[2\] is not finite"),
        (lambda: tree.query_frustum([[1, 0, 1], [0, 0, 1], [NAN, 0, 1]]), r"planes\[1\] has a normal of zero"),
        (lambda: tree.raycast(low, with_row(high, 2, 0)), r"directions\[2\] is zero"),
    ):
        with pytest.raises(ValueError, match=fault):
            ask()
