"""What the questions of structures tell about their work: progress and counters; and a reach for each point."""

from __future__ import annotations

import numpy as np
import pytest

import boxwood as bw
from boxwood import index

pytestmark = pytest.mark.small

STRUCTURES = [
    index.BruteForce, index.UniformGrid, index.SpatialHash, index.Octree, index.KDTree, index.SweepAndPrune, index.BVH,
]  # fmt: skip


@pytest.fixture(scope="module")
def corners():
    lower = np.random.default_rng(1).uniform(0, 10, (60, 3))
    return lower, lower + 1


@pytest.mark.parametrize("kind", STRUCTURES)
def test_counters_tell_queries_and_hits(kind, corners):
    lower, upper = corners
    structure = kind(lower, upper)
    structure.insert([[3, 3, 3]], [[4, 4, 4]])  # which stands aside in a BVH
    places = lower[:7]
    for ask, queries, hits_of in (
        (lambda **work: structure.query_box(places, places + 2, **work), 7, lambda found: len(found.ids)),
        (lambda **work: structure.query_sphere(places, 1.5, **work), 7, lambda found: len(found.ids)),
        (lambda **work: structure.query_frustum([[1, 0, 0, -5]], **work), 1, len),
        (lambda **work: structure.raycast(places, [1, 0, 0], **work), 7, lambda found: found.hit.sum()),
        (lambda **work: structure.nearest(places, k=2, **work), 7, lambda found: (found.ids >= 0).sum()),
        (lambda **work: structure.pairs(**work), 1, len),
    ):
        counters, told = bw.Counters(), []
        found = ask(counters=counters, progress=lambda done, total, told=told: told.append((done, total)))
        assert (counters.queries, counters.hits) == (queries, hits_of(found))
        assert told
        assert told[-1][0] == told[-1][1]
        if kind is index.BruteForce:
            assert counters.primitives_tested == (
                61 * 61 if queries == 1 and len(np.shape(found)) == 2 else 61 * queries
            )
        elif kind is index.BVH:
            assert counters.boxes_tested > 0
            assert 0 < counters.primitives_tested <= 62 * 62
        else:
            assert counters.boxes_tested == counters.primitives_tested == 0


@pytest.mark.parametrize("kind", STRUCTURES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nearest_takes_a_reach_for_each_point(kind, dtype, corners):
    lower, upper = (corner.astype(dtype) for corner in corners)
    structure, tree = kind(lower, upper), bw.BoxTree(lower, upper)
    points = np.random.default_rng(2).uniform(-2, 12, (20, 3)).astype(dtype)
    reaches = np.linspace(0, 3, 20).astype(dtype)
    reaches[5] = np.inf
    for some, far in ((points, reaches), (points[0], reaches), (points, 1.0)):
        found, wanted = structure.nearest(some, 3, far), tree.nearest(some, 3, max_distance=far)
        assert found.distances.dtype == wanted.distances.dtype
        assert np.array_equal(found.distances, wanted.distances)
        assert np.array_equal(found.ids, wanted.ids)
