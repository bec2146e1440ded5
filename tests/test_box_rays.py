"""Rays and moving boxes against sets of boxes: every answer is that of brute force, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import box_oracle
import box_worlds
import boxwood as bw
from box_worlds import DIMENSIONS, DTYPES, KINDS, make, worlds

pytestmark = pytest.mark.small

BOTH = pytest.mark.parametrize("dtype", DTYPES)
PLANE_AND_SPACE = pytest.mark.parametrize("dimension", DIMENSIONS)


def check(world, tree, origins, directions, t_min=0.0, t_max=np.inf):
    """All four questions about rays."""
    dtype = np.result_type(world.dtype, origins.dtype)
    t = box_oracle.times(*world, origins, origins, directions, t_min, t_max, dtype)
    span = {"t_min": t_min, "t_max": t_max}
    assert_hits(tree.raycast(origins, directions, **span), t)
    np.testing.assert_array_equal(tree.occluded(origins, directions, **span), np.isfinite(t).any(axis=1))
    np.testing.assert_array_equal(tree.count_hits(origins, directions, **span), np.isfinite(t).sum(axis=1))
    every, (rows, times, ids) = tree.raycast_all(origins, directions, **span), box_oracle.every(t)
    np.testing.assert_array_equal(every.ray_ids, rows)
    np.testing.assert_array_equal(every.t_hit, times, strict=True)
    np.testing.assert_array_equal(every.primitive_ids, ids)
    assert every.uvs.shape == (len(ids), 2)
    assert len(every) == len(origins)


def assert_hits(hits, t):
    wanted = box_oracle.first(t)
    np.testing.assert_array_equal(hits.t_hit, wanted[0], strict=True)
    np.testing.assert_array_equal(hits.primitive_ids, wanted[1])
    assert not np.signbit(hits.t_hit[hits.t_hit == 0]).any()
    assert np.isnan(hits.uvs).all()
    assert hits.uvs.shape == (len(t), 2)
    assert hits.uvs.dtype == t.dtype


def check_sweep(world, tree, seed, n, stretch=1.0):
    low, high = box_worlds.boxes(world, seed, n)
    way = (box_worlds.rays(world, seed, n)[1] * stretch).astype(world.dtype)
    way[::5] = 0
    t = box_oracle.times(*world, low, high, way, 0, 1, world.dtype)
    assert_hits(tree.sweep_box(low, high, way), t)


@given(worlds(), st.integers(0, 2**16))
def test_any_set(world, seed):
    tree = world.tree
    check(world, tree, *box_worlds.rays(world, seed, 24))
    check_sweep(world, tree, seed, 24, box_worlds.extent(world))


@BOTH
@PLANE_AND_SPACE
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind(kind, dimension, dtype):
    world = make(kind, 6, 150, dimension, dtype)
    check(world, world.tree, *box_worlds.rays(world, 6, 40))
    check_sweep(world, world.tree, 6, 40)


@BOTH
@PLANE_AND_SPACE
def test_ranges(dimension, dtype):
    world = make("grid", 7, 200, dimension, dtype)
    origins, directions = box_worlds.rays(world, 7, 40)
    rng = np.random.default_rng(7)
    t_min = rng.choice([0, 0.5, 1, 2, -1, -np.inf], 40).astype(dtype)
    t_max = np.where(rng.random(40) < 0.5, np.inf, t_min + rng.integers(0, 3, 40)).astype(dtype)
    t_min[t_min == -np.inf] = -100
    check(world, world.tree, origins, directions, t_min, t_max)
    hits = world.tree.raycast(origins, directions)
    again = world.tree.raycast(origins, directions, t_max=hits.t_hit)
    np.testing.assert_array_equal(again.primitive_ids, hits.primitive_ids)
    check(world, world.tree, origins, directions, hits.t_hit)


@BOTH
@pytest.mark.parametrize("distance", [1e2, 1e4, 1e8, 1e12, 1e16])
def test_rays_and_boxes_from_far_away(distance, dtype):
    world = make("uniform", 8, 200, 3, dtype)
    origins, directions = box_worlds.rays(world, 8, 40)
    origins = (origins - distance * directions.astype(float)).astype(dtype)
    check(world, world.tree, origins, directions)
    low, high = box_worlds.boxes(world, 8, 40)
    shift = (distance * directions.astype(float)).astype(dtype)
    low, high = low - shift, high - shift
    for stretch in (1, 2):
        t = box_oracle.times(*world, low, high, shift * dtype(stretch), 0, 1, dtype)
        assert_hits(world.tree.sweep_box(low, high, shift * dtype(stretch)), t)


@BOTH
def test_boxes_larger_than_the_set(dtype):
    world = make("uniform", 9, 120, 3, dtype)
    rng = np.random.default_rng(9)
    low = rng.uniform(-60, 30, (60, 3)).astype(dtype)
    high = low + rng.uniform(0, 60, (60, 3)).astype(dtype)
    way = (rng.normal(size=(60, 3)) * 40).astype(dtype)
    t = box_oracle.times(*world, low, high, way, 0, 1, dtype)
    assert_hits(world.tree.sweep_box(low, high, way), t)


@PLANE_AND_SPACE
@pytest.mark.parametrize("scale", [1e-5, 1e-3, 1.0])
@pytest.mark.parametrize("kind", ["grid", "uniform"])
def test_moving_boxes_whose_middles_are_rounded(kind, scale, dimension):
    """Far from the origin the middle between two corners is no number, and what it is rounded by is much to the set."""
    for seed in range(4):
        world = make(kind, seed, 12, dimension, np.float64, scale=scale, offset=1e9)
        check_sweep(world, world.tree, seed, 60, box_worlds.extent(world))


@pytest.mark.parametrize(("dtype", "size"), [(np.float32, 2.0**126), (np.float64, 2.0**1000), (np.float64, 2.0**-980)])
def test_huge_and_tiny_coordinates(dtype, size):
    usual = make("uniform", 3, 90, 3, np.float32, scale=2.0**-4)
    world = box_worlds.World(*(array.astype(dtype) * dtype(size) for array in usual))
    origins, directions = (array.astype(dtype) for array in box_worlds.rays(usual, 3, 40))
    check(world, world.tree, origins * dtype(size), directions)
    same = bw.BoxTree(*(array.astype(dtype) for array in usual)).raycast(origins, directions)
    hits = world.tree.raycast(origins * dtype(size), directions * dtype(size * 2.0**-12))
    np.testing.assert_array_equal(hits.t_hit, same.t_hit * 2**12)


def test_float64_rays_at_a_float32_set():
    world = make("uniform", 4, 100, 3, np.float32)
    origins, directions = box_worlds.rays(make("uniform", 4, 100, 3, np.float64), 4, 40)
    check(world, world.tree, origins, directions)
    assert world.tree.raycast(origins, directions).t_hit.dtype == np.float64


def test_where_rays_enter():
    tree = bw.BoxTree([[1, 0, 0], [1, 0, 0], [4, 0, 0]], [[2, 1, 1], [2, 1, 1], [5, 1, 1]])
    hits = tree.raycast([0, 0.5, 0.5], [2, 0, 0])
    assert (hits.t_hit, hits.primitive_ids) == (0.5, 0)
    assert tree.raycast([1.5, 0.5, 0.5], [-1, 0, 0]).t_hit == 0
    assert tree.raycast([1.5, 0.5, 0.5], [1, 0, 0], t_min=0.25).t_hit == 0.25
    assert tree.raycast([0, 1, 1], [1, 0, 0]).t_hit == 1  # along an edge
    assert not tree.raycast([0, np.nextafter(1, 2), 1], [1, 0, 0]).hit
    assert tree.raycast([0, 2, 0.5], [1, -1, 0]).t_hit == 1  # through a corner of the outline
    assert tree.count_hits([0, 0.5, 0.5], [1, 0, 0]) == 3
    assert tree.count_hits([0, 0.5, 0.5], [1, 0, 0], t_max=3.5) == 2
    every = tree.raycast_all([0, 0.5, 0.5], [1, 0, 0])
    assert every.t_hit.tolist() == [1, 1, 4]
    assert every.primitive_ids.tolist() == [0, 1, 2]
    assert tree.raycast([9, 0.5, 0.5], [-1, 0, 0]).t_hit == 4


def test_many_hits_on_few_rays():
    """More than a chunk has room for at first, and rows long enough for the sort's larger steps."""
    lower = np.random.default_rng(1).permutation(150)[:, None] * [1.0, 0] // 2
    tree = bw.BoxTree(lower, lower + [0.25, 1])
    every = tree.raycast_all([[-1, 0.5], [-1, 5], [200, 0.5]], [[1, 0], [1, 0], [-1, 0]])
    assert np.diff(every.ray_splits).tolist() == [150, 0, 150]
    order = np.lexsort((np.arange(150), lower[:, 0]))
    np.testing.assert_array_equal(every[0].primitive_ids, order)
    assert np.all(np.diff(every[2].t_hit) >= 0)


def test_first_contact_of_moving_boxes():
    tree = bw.BoxTree([[4, 0], [8, 0]], [[5, 1], [9, 1]])
    assert tree.sweep_box([0, 0], [1, 1], [6, 0]).t_hit == 0.5
    assert tree.sweep_box([0, 0], [1, 1], [3, 0]).t_hit == 1  # touches at the end
    assert not tree.sweep_box([0, 0], [1, 1], [2.9, 0]).hit
    assert tree.sweep_box([4.5, 0], [7, 1], [1, 0]).t_hit == 0
    assert tree.sweep_box([0, 1], [1, 2], [6, 0]).t_hit == 0.5  # slides along the side
    assert not tree.sweep_box([0, 1.1], [1, 2], [6, 0]).hit
    assert tree.sweep_box([5, 0], [6, 1], [0, 0]).primitive_ids == 0
    assert not tree.sweep_box([5.5, 0], [6, 1], [0, 0]).hit
    hits = tree.sweep_box(np.zeros((2, 3, 2)), np.ones(2), [[6, 0], [0, 6], [12, 0]])
    assert hits.t_hit.shape == (2, 3)
    assert hits.uvs.shape == (2, 3, 2)
    assert hits.t_hit[1].tolist() == [0.5, np.inf, 0.25]
    with pytest.raises(ValueError, match="without a surface"):
        _ = hits.points


def test_shapes():
    tree = bw.BoxTree([[1, 0]], [[2, 1]])
    hits = tree.raycast(np.zeros((2, 3, 2)), [1, 0.25])
    assert hits.t_hit.shape == (2, 3)
    assert tree.occluded(np.zeros((2, 3, 2)), [1, 0.25]).shape == (2, 3)
    assert tree.count_hits([0, 0], [1, 0.25]).shape == ()
    assert np.shape(tree.raycast([0, 0], [1, 0.25]).t_hit) == ()
    assert tree.raycast(np.empty((0, 2)), [1, 0]).t_hit.shape == (0,)
    assert len(tree.raycast_all([0, 0], [1, 0.25])) == 1


@PLANE_AND_SPACE
def test_an_empty_set(dimension):
    nothing = np.empty((0, dimension))
    tree = bw.BoxTree(nothing, nothing)
    start, along = np.zeros((4, dimension)), np.ones(dimension)
    assert not tree.raycast(start, along).hit.any()
    assert not tree.occluded(start, along).any()
    assert tree.count_hits(start, along).tolist() == [0] * 4
    assert len(tree.raycast_all(start, along)) == 4
    assert not tree.sweep_box(start, start + 1, along).hit.any()


def test_counters_tell_the_work():
    world = make("uniform", 4, 300, 3, np.float32)
    counters = bw.Counters()
    every = world.tree.raycast_all(*box_worlds.rays(world, 4, 60), counters=counters)
    assert (counters.queries, counters.hits) == (60, len(every.t_hit))
    assert 0 < counters.primitives_tested < 60 * 300
