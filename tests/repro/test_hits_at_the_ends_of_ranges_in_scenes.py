"""In a scene, a ray given the t of a hit as t_min or t_max lost that hit: half of all in float32, since t was rounded
after it was compared; and in float64 where the box of an instance was thinner than t is rounded far away."""

from __future__ import annotations

import numpy as np
import pytest

import boxwood as bw

pytestmark = pytest.mark.small


def check_ends(scene, origins, directions):
    found = scene.raycast(origins, directions)
    hit, t = found.hit, found.t_hit
    assert hit.sum() > 20
    least, most = np.where(hit, t, t.dtype.type(0)), np.where(hit, t, t.dtype.type(np.inf))
    for ends in ({"t_max": most}, {"t_min": least}, {"t_min": least, "t_max": most}):
        again = scene.raycast(origins, directions, **ends)
        assert np.array_equal(again.t_hit, t)
        assert np.array_equal(scene.occluded(origins, directions, **ends), hit)
        assert (scene.count_hits(origins, directions, **ends)[hit] > 0).all()
        assert (np.diff(scene.raycast_all(origins, directions, **ends).ray_splits)[hit] > 0).all()
    shorter, longer = np.nextafter(most, -most), np.nextafter(least, np.inf, dtype=t.dtype)
    assert not (scene.raycast(origins, directions, t_max=shorter).t_hit == t)[hit].any()
    assert not (scene.raycast(origins, directions, t_min=longer).t_hit == t)[hit].any()


def a_scene(dtype, turned):
    rng = np.random.default_rng(3)
    vertices = rng.normal(size=(60, 3)).astype(dtype)
    vertices[:, 2] = 0
    transforms = np.tile(np.eye(4), (10, 1, 1))
    transforms[:, :3, 3] = rng.normal(size=(10, 3)) * 3
    if turned:
        transforms[:, :3, :3] = np.linalg.qr(rng.normal(size=(10, 3, 3)))[0]
    scene = bw.Scene()
    scene.add(bw.Mesh(vertices, np.arange(60).reshape(20, 3)), transforms)
    return scene, rng


@pytest.mark.parametrize("turned", [False, True])
def test_in_float32(turned):
    scene, rng = a_scene(np.float32, turned)
    targets, directions = rng.normal(size=(2, 200, 3)).astype(np.float32)
    check_ends(scene, targets * 3 - directions * 5, directions)


@pytest.mark.parametrize("far", [1e3, 1e6, 1e9])
def test_from_far(far):
    scene, rng = a_scene(np.float64, False)
    scene.move(scene.ids, scene.transform(scene.ids) * [[0.3], [0.3], [0.3], [1]])
    targets, directions = rng.normal(size=(2, 1000, 3))
    check_ends(scene, targets - directions * far, directions)


def test_t_beyond_float32_is_no_hit():
    scene = bw.Scene()
    scene.add(bw.Mesh(np.float32([[0, 0, 0], [4, 0, 0], [0, 4, 0]]), [[0, 1, 2]]))
    ray = np.float32([1, 1, 1e20]), np.float32([0, 0, -1e-20])
    found = scene.raycast(*ray)
    assert found.primitive_ids == -1
    assert not scene.occluded(*ray)
    assert scene.count_hits(*ray) == 0
