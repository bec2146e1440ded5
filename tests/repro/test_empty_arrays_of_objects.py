"""An empty table of a data frame is an array of objects; it ended in a TypeError of NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import boxwood as bw

pytestmark = pytest.mark.small


@pytest.mark.parametrize("dtype", [object, "U3", complex])
def test_nothing_is_nothing(dtype):
    empty = np.empty((0, 3), dtype)
    tree = bw.BoxTree(empty, empty)
    assert len(bw.Mesh(empty, empty)) == 0
    assert len(tree.query_box(empty, empty)) == 0
    assert tree.nearest(empty, 2).ids.shape == (0, 2)


def test_too_many_neighbours_are_named():
    tree = bw.BoxTree.from_points([[0, 0, 0]])
    with pytest.raises(ValueError, match="k must be an integer from 1 to"):
        tree.nearest([0, 0, 0], 2**62)
