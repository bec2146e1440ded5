"""A closed mesh whose one face has its three different corners on one line, as where a long edge meets two short ones.

Faces without area are left out of the tree, but beside it the line is rounded differently for the long edge than for
the short ones, so of the rays aimed at that edge exactly, about one in twelve finds no face, or two.
"""

from __future__ import annotations

import numpy as np
import pytest

import boxwood as bw
from worlds import DTYPES, needles, some

pytestmark = pytest.mark.small

VERTICES = np.array([[1, 7, 3], [9, -4, 5], [5, 1.5, 4], [-8, -3, 2], [3, 2, -9]]) / 16
FACES = [[0, 1, 3], [2, 0, 4], [1, 2, 4], [1, 0, 2], [0, 3, 4], [3, 1, 4]]  # the fourth has no area


@pytest.mark.xfail(reason="needles are left out of the tree, so the edges beside them do not match", strict=True)
@pytest.mark.parametrize("dtype", DTYPES)
def test_parity(dtype):
    mesh = bw.Mesh(VERTICES.astype(dtype), FACES)
    assert needles(mesh) == [3]
    rng = np.random.default_rng(0)
    count = some(2000, 200)
    targets = VERTICES[0] + (VERTICES[1] - VERTICES[0]) * rng.uniform(0, 1, (count, 1))
    directions = rng.normal(size=(count, 3))
    origins = (targets - directions * 3).astype(dtype)
    counts = mesh.count_hits(origins, directions.astype(dtype), t_min=-np.inf)
    np.testing.assert_array_equal(counts % 2, 0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_needle_itself_is_never_hit(dtype):
    needle = bw.Mesh(VERTICES.astype(dtype), FACES[3:4])
    rng = np.random.default_rng(1)
    targets = VERTICES[0] + (VERTICES[1] - VERTICES[0]) * rng.uniform(0, 1, (200, 1))
    directions = rng.normal(size=(200, 3))
    assert not needle.occluded((targets - directions).astype(dtype), directions.astype(dtype)).any()
