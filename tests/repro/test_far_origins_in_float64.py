"""An origin very far away was moved near the mesh by a rounded step, which put the ray aside by as much as the last
digit of the origin, although a ray along a diagonal from there passes exactly where one would think."""

from __future__ import annotations

import numpy as np
import pytest

import boxwood as bw
from worlds import cube

pytestmark = pytest.mark.small


@pytest.mark.parametrize("steps", [2**20, 2**30, 3 * 2**40])
def test_a_ray_through_a_known_point(steps):
    vertices, faces = cube()
    mesh = bw.Mesh(vertices * 4, faces)
    direction = np.array([1, 0.75, 0.375]) / 3
    point = np.array([-4, 1, 2.5])
    origin = point - direction * steps
    exact = [float(o) + float(d) * steps for o, d in zip(origin.astype(np.longdouble), direction, strict=True)]
    hit = mesh.raycast(origin, direction)
    assert hit.hit
    t = (-4 - origin.astype(np.longdouble)[0]) / np.longdouble(direction[0])
    exactly = origin.astype(np.longdouble), direction.astype(np.longdouble)
    place = [float(o + t * d) for o, d in zip(*exactly, strict=True)]
    assert np.abs(np.array(exact) - point).max() < 1e-2
    np.testing.assert_allclose(hit.points, place, rtol=0, atol=1e-14 + 2e-19 * steps)
