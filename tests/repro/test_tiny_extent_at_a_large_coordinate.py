"""A flat mesh of 1e-33 by 1e-33 at x = 1e6 was scaled by its extent alone, which made its x infinite in float32."""

from __future__ import annotations

import numpy as np
import pytest

import boxwood as bw

pytestmark = pytest.mark.small


@pytest.mark.parametrize(("dtype", "extent", "x"), [(np.float32, 1e-33, 1e6), (np.float64, 1e-300, 1e10)])
def test_a_flat_mesh(dtype, extent, x):
    vertices = np.array([[x, 0, 0], [x, extent, 0], [x, 0, extent]], dtype)
    mesh = bw.Mesh(vertices, [[0, 1, 2]])
    origin = np.array([0, extent / 4, extent / 4], dtype)
    assert mesh.raycast(origin, np.array([1, 0, 0], dtype)).t_hit == vertices[0, 0]
