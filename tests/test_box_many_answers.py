"""Where answers are many: subtrees taken whole, rows sorted by marking, heaps of neighbours, chunks that stop early."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import box_oracle
import box_worlds
import boxwood as bw
from box_worlds import DIMENSIONS, DTYPES, KINDS, make
from boxwood import index
from worlds import some

pytestmark = pytest.mark.small

BOTH = pytest.mark.parametrize("dtype", DTYPES)
PLANE_AND_SPACE = pytest.mark.parametrize("dimension", DIMENSIONS)


def assert_rows(found, wanted):
    np.testing.assert_array_equal(found.pairs, np.argwhere(wanted))


def large_regions(world, seed, n):
    """Boxes, spheres and planes that hold much of a set, and end exactly at its boxes."""
    rng = np.random.default_rng(seed)
    d, count = world.dimension, len(world.lower)
    which = rng.integers(0, count, (2, n, d))
    axes = np.arange(d)
    one, other = world.lower[which[0], axes], world.upper[which[1], axes]
    low, high = np.minimum(one, other), np.maximum(one, other)
    low[::3], high[::4] = world.lower.min(axis=0), world.upper.max(axis=0)
    center = world.lower[rng.integers(0, count, n)]
    farthest = np.maximum(abs(center - low.astype(float)), abs(center - high.astype(float)))
    with np.errstate(over="ignore"):
        radius = np.sqrt((farthest**2).sum(axis=1))
    normals = rng.normal(size=(n, 3, d))
    straight = normals[::2].shape[:2]
    normals[::2] = np.eye(d)[rng.integers(0, d, straight)] * rng.choice([-1, 1], (*straight, 1))
    through = np.where(normals >= 0, low.astype(float)[:, None], high.astype(float)[:, None])
    planes = np.concatenate([normals, -(normals * through).sum(axis=2, keepdims=True)], axis=2)
    return low, high, center, radius, planes


@BOTH
@PLANE_AND_SPACE
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("scale", "offset"), [(1.0, 0.0), (1.0, 1e6), (1e-3, -1e9)])
def test_regions_that_hold_much(kind, dimension, dtype, scale, offset):
    world = make(kind, 21, some(900, 120), dimension, dtype, scale=scale, offset=offset)
    tree = world.tree
    low, high, center, radius, planes = large_regions(world, 21, some(40, 10))
    assert_rows(tree.query_box(low, high), box_oracle.overlaps(*world, low, high))
    assert_rows(tree.query_sphere(center, radius), box_oracle.reached(*world, center, radius, np.float64))
    radius = radius.astype(dtype)
    assert_rows(tree.query_sphere(center, radius), box_oracle.reached(*world, center, radius, dtype))
    assert_rows(tree.query_frustum(planes), box_oracle.inside(*world, planes))


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_regions_that_hold_tiny_and_huge_sets(size):
    world = make("uniform", 22, some(900, 120), 3, np.float64, scale=size)
    low, high, _, _, planes = large_regions(world, 22, 20)
    assert_rows(world.tree.query_box(low, high), box_oracle.overlaps(*world, low, high))
    found = world.tree.query_frustum(planes)
    with np.errstate(over="ignore", invalid="ignore"):
        assert_rows(found, box_oracle.inside(*world, planes))
    assert len(world.tree.query_sphere(low[0], 4 * size)) == len(world.lower)


def test_what_lies_in_a_subtree_that_is_taken_whole_is_not_tested():
    world = make("uniform", 23, some(4000, 400), 3, np.float32)
    tree = world.tree
    for ask in (
        lambda counters: tree.query_box([-9] * 3, [9] * 3, counters=counters),
        lambda counters: tree.query_sphere([0] * 3, 9, counters=counters),
        lambda counters: tree.query_frustum([[1, 0, 0, 9], [0, -1, 1, 9]], counters=counters),
    ):
        counters = bw.Counters()
        assert ask(counters).tolist() == list(range(len(tree)))
        assert counters.hits == len(tree)
        assert 16 <= counters.primitives_tested < len(tree) / 2


def test_what_was_removed_from_a_subtree_stays_out_of_it():
    world = make("uniform", 24, some(600, 120), 2, np.float64)
    structure = index.BVH(*world)
    gone = np.arange(0, len(world.lower), 7)
    structure.remove(gone)
    left = np.setdiff1d(np.arange(len(world.lower)), gone).tolist()
    assert structure.query_box([-9, -9], [9, 9]).tolist() == left
    assert structure.query_sphere([0, 0], 9.0).tolist() == left
    assert structure.query_frustum([[1, 0, 9]]).tolist() == left


@BOTH
@pytest.mark.parametrize("kind", ["uniform", "grid", "one_place"])
@pytest.mark.parametrize("k", [47, 48, 49, 130])
def test_many_neighbours(kind, k, dtype):
    """Sorted as they come up to a number, and a heap beyond."""
    world = make(kind, 25, some(400, 120), 2, dtype)
    points = box_worlds.places(world, np.random.default_rng(25), some(30, 6))
    found, wanted = world.tree.nearest(points, k), box_oracle.nearest(*world, points, k, dtype)
    np.testing.assert_array_equal(found.distances, wanted[0], strict=True)
    np.testing.assert_array_equal(found.ids, wanted[1], strict=True)
    found = world.tree.nearest(points, k, max_distance=0.3)
    wanted = box_oracle.nearest(*world, points, k, dtype, 0.3)
    np.testing.assert_array_equal(found.distances, wanted[0], strict=True)
    np.testing.assert_array_equal(found.ids, wanted[1], strict=True)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("steps", [1, 50, 1000])
@PLANE_AND_SPACE
def test_answers_do_not_depend_on_when_a_chunk_stops(dimension, steps, threads, monkeypatch):
    world = make("clustered", 26, some(500, 90), dimension, np.float32)
    tree, other, n = world.tree, make("uniform", 27, some(200, 40), dimension, np.float64).tree, some(1500, 20)
    low, high = box_worlds.boxes(world, 26, n)
    planes = box_worlds.planes(world, 26, n, 3)
    origins, directions = box_worlds.rays(world, 26, n)

    def answers():
        counters, options = bw.Counters(), {"threads": threads}
        options["counters"] = counters
        for rows in (
            tree.query_box(low, high, **options),
            tree.query_sphere(low, 0.5, **options),
            tree.query_frustum(planes, **options),
        ):
            yield from (rows.splits, rows.ids)
        for k in (3, 60):
            yield from vars(tree.nearest(low, k, **options)).values()
        yield from (tree.raycast(origins, directions, **options).primitive_ids,)
        yield tree.occluded(origins, directions, **options)
        yield tree.count_hits(origins, directions, **options)
        every = tree.raycast_all(origins, directions, **options)
        yield from (every.ray_splits, every.ray_ids, every.t_hit, every.primitive_ids)
        yield tree.sweep_box(low, high, directions, **options).primitive_ids
        yield from (tree.pairs(**options), tree.pairs(other, **options))
        yield np.array([counters.queries, counters.boxes_tested, counters.primitives_tested, counters.hits])

    wanted = list(answers())
    for name in ("overlapping", "nearest", "box_cast", "box_pairs"):
        monkeypatch.setattr(importlib.import_module(f"boxwood.query.{name}"), "STEPS", steps)
    told = []
    tree.query_box(low, high, threads=threads, progress=lambda *state: told.append(state))
    assert told == sorted(set(told))
    assert told[-1] == (n, n)
    assert len(told) > 1 or steps == 1000
    for found, answer in zip(answers(), wanted, strict=True):
        np.testing.assert_array_equal(found, answer, strict=True)
