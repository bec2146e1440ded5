"""A ray that begins far from a small set of boxes is moved near it, and what that rounds was not allowed for: hits were
lost when the set was far from the origin for its size.
"""

from __future__ import annotations

import numpy as np
import pytest

import boxwood as bw

pytestmark = pytest.mark.small


@pytest.mark.parametrize(("place", "radius"), [(1e9, 0.08), (1e9, 0.02), (5.2e6, 1e-4), (1e9, 1e-3), (1.0, 1e-11)])
def test_aimed_at_points(place, radius):
    unit = np.spacing(place)
    rng = np.random.default_rng(1)
    points = place + np.round(rng.uniform(-radius, radius, (400, 3)) / unit) * unit
    directions = np.round(rng.uniform(-1, 1, (400, 3)) * 50 * radius / unit) * unit
    origins = points - directions  # exact, so that each ray is at its point when t is 1
    tree = bw.BoxTree.from_points(points)
    assert (tree.count_hits(origins, directions, t_min=1, t_max=1) > 0).all()
    assert (tree.sweep_box(origins, origins, directions).t_hit <= 1).all()
