"""A long direction through a tiny mesh: t had so few steps left that a limit on it hid hits of the same t and a smaller
id, and a ray whose speed is beyond float64 missed everything.
"""

from __future__ import annotations

import numpy as np
import pytest

from boxwood._arrays import rays
from boxwood.query.brute_force import closest_hit_brute_force, same_hits
from worlds import aimed_rays, some, soup_mesh

pytestmark = pytest.mark.small


@pytest.mark.parametrize(("dtype", "size", "length"), [
    (np.float32, 1e-28, 1e14), (np.float32, 1e-30, 1e14), (np.float32, 1e-30, 1e12), (np.float32, 1e-20, 1e30),
    (np.float64, 1e-200, 1e122), (np.float64, 1e-100, 1e222),
])  # fmt: skip
@pytest.mark.parametrize("kind", ["edge_on", "grid", "uniform"])
def test_ties_of_a_t_with_few_steps(kind, dtype, size, length):
    mesh = soup_mesh(kind, 1489, some(290, 20), dtype, scale=size)
    origins, directions = aimed_rays(mesh, 3, some(2000, 40), dtype)
    directions = directions / np.abs(directions).max(axis=1, keepdims=True) * dtype(length)
    hits = mesh.raycast(origins, directions)
    assert hits.hit.any()
    batch = rays(origins, directions, 0.0, np.inf, mesh.dtype)
    brute = closest_hit_brute_force(mesh.tree, batch)
    assert same_hits((hits.t_hit, hits.primitive_ids, hits.uvs), brute).all()
