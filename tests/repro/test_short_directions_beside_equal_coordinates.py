"""With a direction of 1e-30, or a mesh of 1e36, the constants of the slab test of a face overflowed in float32, and
zero times infinity lost the hit where a vertex had the very coordinate of the origin."""

from __future__ import annotations

import numpy as np
import pytest

import boxwood as bw
from worlds import closed_mesh, landmarks, some

pytestmark = pytest.mark.small


@pytest.mark.parametrize(("size", "length"), [(1.0, 2.0**-100), (1.0, 2.0**-124), (2.0**118, 1.0), (2.0**118, 2.0**-3)])
def test_rays_along_an_axis(size, length):
    mesh = closed_mesh("block", np.float32)
    origins = (landmarks(mesh)[:: some(1, 7)] + [0, 0, 8]).astype(np.float32)
    down = np.array([0, 0, -1], np.float32)
    wanted, count = mesh.raycast(origins, down), mesh.count_hits(origins, down)
    mesh = bw.Mesh(mesh.vertices * np.float32(size), mesh.faces)
    origins, down = origins * np.float32(size), down * np.float32(length)
    hits = mesh.raycast(origins, down)
    np.testing.assert_array_equal(hits.primitive_ids, wanted.primitive_ids)
    np.testing.assert_array_equal(hits.t_hit, wanted.t_hit * np.float32(size / length))
    np.testing.assert_array_equal(mesh.count_hits(origins, down), count)
    np.testing.assert_array_equal(mesh.occluded(origins, down), wanted.hit)
