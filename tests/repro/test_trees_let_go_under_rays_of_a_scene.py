"""Rays of a scene crashed: a second Ctrl-C left a thread at work, and the trees whose addresses it had were let go."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import boxwood as bw
from boxwood.query import placed_walk

pytestmark = pytest.mark.small


class Stop(Exception):
    pass


def test_who_has_the_addresses_of_trees_has_the_trees(monkeypatch):
    kept = []

    def interrupted(ask, *others):
        kept.append(ask)
        raise Stop

    monkeypatch.setattr(placed_walk, "cast_rays", interrupted)
    mesh, scene = bw.Mesh(np.eye(3), [[0, 1, 2]]), bw.Scene()
    scene.add(mesh)
    arrays = [weakref.ref(getattr(mesh.tree, name)) for name in ("nodes", "blocks", "ids")]
    with pytest.raises(Stop):
        scene.raycast([0, 0, 0], [1, 1, 1])
    del mesh, scene
    gc.collect()
    assert all(array() is not None for array in arrays)
    kept.clear()
    gc.collect()
    assert all(array() is None for array in arrays)
