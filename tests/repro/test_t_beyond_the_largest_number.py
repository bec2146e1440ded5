"""A hit whose t is too large for the dtype was a hit with t = inf, which is what a miss has: the smallest id among all
of those was named, not the nearest, and t_min at that t missed it."""

from __future__ import annotations

import numpy as np
import pytest

import boxwood as bw
from worlds import cube, everything

pytestmark = pytest.mark.small


@pytest.mark.parametrize(("size", "length"), [(3e38, 1.0), (1.0, 1e-38)])
def test_no_hit_is_infinitely_far(size, length):
    vertices, faces = cube()
    mesh = bw.Mesh((vertices * size).astype(np.float32), faces)
    origin, direction = np.array([[0.25, 0.5, -0.9]]) * size, np.array([[0, 0, length]])
    if size == 1:
        origin[0, 2] = -9
    answers = everything(mesh, (origin.astype(np.float32), direction.astype(np.float32)))
    assert np.isfinite(answers["all_t"]).all()
    assert answers["primitive_ids"].tolist() == [-1]
    assert answers["count"].tolist() == [0]
    assert answers["occluded"].tolist() == [False]
