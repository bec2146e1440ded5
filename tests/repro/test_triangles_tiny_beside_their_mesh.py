"""In float32 the products of a face's edges vanish when it is 1e-20 of the mesh's size: t came out as zero or anything
else, and depended on the tree through the boxes it let the walk skip."""

from __future__ import annotations

import numpy as np
import pytest

import boxwood as bw

pytestmark = pytest.mark.small


@pytest.mark.parametrize("size", [1e-18, 1e-20, 1e-21, 1e-22, 1e-25, 1e-30])
def test_t(size):
    tiny = np.array([[-1, -1, 0], [2, -1, 0], [-1, 2, 0]]) * size
    large = np.array([[5, 5, 5], [6, 5, 5], [5, 6, 5]])
    mesh = bw.Mesh(np.concatenate([tiny, large]).astype(np.float32), [[0, 1, 2], [3, 4, 5]])
    direction = np.array([0, 0, -1], np.float32)
    for x, y in ((0, 0), (size / 4, size / 8), (-size / 2, -size / 2)):
        hit = mesh.raycast(np.array([x, y, 2], np.float32), direction)
        assert hit.primitive_ids == 0
        assert hit.t_hit == 2
