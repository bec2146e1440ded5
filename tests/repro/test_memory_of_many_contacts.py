"""Answers of very many contacts took nearly four times their own size in a scene, and three times in float32."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import boxwood as bw
from worlds import INTERPRETED

pytestmark = pytest.mark.skipif(INTERPRETED, reason="many contacts take long")


def heap(seed, dtype, count=3000):
    """Triangles in a heap, many of which meet many others."""
    rng = np.random.default_rng(seed)
    corners = rng.uniform(-1, 1, (count, 1, 3)) + rng.uniform(-0.5, 0.5, (count, 3, 3))
    return bw.Mesh(corners.reshape(-1, 3).astype(dtype), np.arange(3 * count).reshape(-1, 3)).build()


def scene_of(*meshes):
    scene = bw.Scene()
    for mesh in meshes:
        scene.add(mesh)
    return scene


QUESTIONS = {
    "own": lambda one, other: lambda: one.self_intersections(),
    "pair": lambda one, other: lambda: one.intersections(other),
    "one batch": lambda one, other: lambda: scene_of(one, one, one).collisions(faces=True).contacts,
    "batches": lambda one, other: lambda: scene_of(one, other, other, one).collisions(faces=True).contacts,
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("question", QUESTIONS)
def test_peak_is_hardly_more_than_the_answer(question, dtype):
    ask = QUESTIONS[question](heap(1, dtype), heap(2, dtype))
    ask()  # compiled
    tracemalloc.start()
    try:
        found = ask()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    size = found.pairs.nbytes + found.relations.nbytes + found.segments.nbytes
    assert len(found) > 40_000
    assert peak < 2.2 * size
