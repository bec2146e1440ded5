"""Boxes in the plane are pillars, whose ends a refit rounded outward, so that a refitted tree was no valid one: it
could be saved, but not loaded again."""

from __future__ import annotations

import numpy as np
import pytest

import boxwood as bw

pytestmark = pytest.mark.small


@pytest.mark.parametrize("points", [False, True])
def test_refitted_boxes_in_the_plane(points, tmp_path):
    lower = np.random.default_rng(0).random((50, 2))
    upper = lower if points else lower + 0.1
    tree = bw.BoxTree.from_points(lower) if points else bw.BoxTree(lower, upper)
    tree.build()
    moved = (lower * 3,) if points else (lower * 3, upper * 3)
    tree.refit(*moved)
    tree.validate()
    tree.save(tmp_path / "boxes.safetensors")
    again = bw.BoxTree.load(tmp_path / "boxes.safetensors")
    np.testing.assert_array_equal(again.pairs(), bw.BoxTree(moved[0], moved[-1]).pairs())
