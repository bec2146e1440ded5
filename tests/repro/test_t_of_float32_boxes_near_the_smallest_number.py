"""The limit on t allowed for steps of float64 where t is told in float32: ties went to the wrong box, or to none."""

from __future__ import annotations

import numpy as np
import pytest

import boxwood as bw

pytestmark = pytest.mark.small


@pytest.mark.parametrize("length", [1e36, 1e37, 1e38, 3e38])
def test_ties_among_boxes(length):
    count = 300
    lower = np.zeros((count, 3), np.float32)
    lower[:, 0] = np.random.default_rng(0).permutation(count) * 1e-6 / count
    upper = (lower + np.float32(1e-6 / count / 4)).astype(np.float32)
    origin, direction = np.array([-1e-6, 0, 0], np.float32), np.array([length, 0, 0], np.float32)
    t = ((lower[:, 0].astype(float) - float(origin[0])) / float(direction[0])).astype(np.float32)
    for builder in ("binned", "midpoint", "linear"):
        tree = bw.BoxTree(lower, upper).build(builder)
        hits = tree.raycast(origin, direction)
        assert hits.t_hit == t.min()
        assert hits.primitive_ids == np.flatnonzero(t == t.min())[0]
        assert tree.occluded(origin, direction, t_max=float(hits.t_hit))
        assert tree.count_hits(origin, direction, t_max=float(hits.t_hit)) == np.count_nonzero(t == t.min())
