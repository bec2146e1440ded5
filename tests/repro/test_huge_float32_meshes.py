"""Coordinates near the largest float32: the tree's scale stopped at 2**-120, so that a larger mesh reached beyond the
distance up to which rays are looked at; and origins whose coordinates add up to infinity were refused."""

from __future__ import annotations

import numpy as np
import pytest

import boxwood as bw
from worlds import cube

pytestmark = pytest.mark.small


@pytest.mark.parametrize("size", [1e38, 1.6e38, 3.4e38])
def test_rays_off_the_middle(size):
    vertices, faces = cube()
    mesh = bw.Mesh((vertices * size).astype(np.float32), faces)
    place = np.array([0.75, -0.125, -0.5]) * size
    hit = mesh.raycast(place.astype(np.float32), np.array([0, 0, 4], np.float32))
    assert hit.hit
    assert hit.t_hit == pytest.approx(1.5 * size / 4)


def test_origins_are_finite_whatever_their_sum():
    vertices, faces = cube()
    mesh = bw.Mesh(vertices.astype(np.float32), faces)
    origin = np.array([3e38, 3e38, 3e38], np.float32)
    assert mesh.raycast(origin, np.array([-1, -1, -1], np.float32)).t_hit == origin[0]
