"""A scene in which nothing can be met warned of an overflow, in the cost of its empty tree."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import boxwood as bw
from worlds import INTERPRETED

pytestmark = pytest.mark.small


@pytest.mark.parametrize("faces", [[], [[0, 1, 2]]])
def test_scenes_of_nothing(faces):
    scene = bw.Scene()
    with warnings.catch_warnings():
        if not INTERPRETED:  # interpreted kernels overflow on purpose, as compiled ones do, and NumPy says so
            warnings.filterwarnings("error", message="overflow")
        assert len(scene.collisions()) == 0
        scene.add(bw.Mesh(np.zeros((3, 3)), np.reshape(faces, (-1, 3)).astype(int)))
        assert len(scene.collisions()) == 0
        assert not scene.occluded([0, 0, 1], [0, 0, -1])
        scene.validate()
