"""t was multiplied by the size of the mesh before it was divided by the area, and vanished for meshes of 1e-38."""

from __future__ import annotations

import numpy as np
import pytest

import boxwood as bw
from worlds import cube

pytestmark = pytest.mark.small


@pytest.mark.parametrize("exponent", [-100, -126, -133, -140])
def test_t_in_float32(exponent):
    size = np.float32(2.0**exponent)
    vertices, faces = cube()
    mesh = bw.Mesh(vertices.astype(np.float32) * size, faces)
    every = mesh.raycast_all(np.array([0.5, 0.25, -3], np.float32) * size, np.array([0, 0, 1], np.float32))
    assert every.t_hit.tolist() == [2 * size, 4 * size]
