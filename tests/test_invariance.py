"""Answers depend on nothing but the mesh and the ray: not on the builder, the shape of the tree, which boxes were
skipped, the threads, or how rays are batched. Everything is compared bit for bit."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boxwood as bw
from boxwood.build.choose import BUILDERS
from boxwood.layout import CHILDREN, NODE_FLOATS
from worlds import (
    DTYPES,
    Batch,
    aimed_rays,
    assert_same,
    closed_mesh,
    everything,
    landmarks,
    some,
    soup_mesh,
    soups,
)

small = pytest.mark.small

PAIRS = [(np.float32, np.float32), (np.float32, np.float64), (np.float64, np.float64)]
DISTANCES = [0.5, 2.0, 14.0, 20.0, 1e3, 1e5, 1e8, 1e12]  # in radii; beyond 16 the origin is moved


def with_open_boxes(mesh):
    """The mesh with a tree whose boxes are all endless, so that no triangle is ever skipped."""
    tree = mesh.tree
    nodes = tree.nodes.copy().reshape(-1, NODE_FLOATS)
    children = nodes[:, :8] <= nodes[:, 24:32]
    for axis in range(CHILDREN // 16):
        nodes[:, 8 * axis : 8 * axis + 8][children] = -3e38
        nodes[:, 24 + 8 * axis : 32 + 8 * axis][children] = 3e38
    opened = bw.Mesh(mesh.vertices, mesh.faces)
    opened._now = opened._now._replace(tree=dataclasses.replace(tree, nodes=nodes.reshape(-1)))
    return opened


def trees_of(mesh):
    """The mesh under trees of every builder, with leaves small and large."""
    for builder in BUILDERS:
        for leaf_size, bins in ((1, 4), (4, 16), (13, 64))[:: some(1, 2) if builder == "binned" else some(1, 3)]:
            tree = bw.Mesh(mesh.vertices, mesh.faces)
            yield f"{builder}, {leaf_size} in a leaf", tree.build(builder, leaf_size=leaf_size, bins=bins)


def assert_answers_agree(answers):
    """What must hold among the four questions, whatever the rays."""
    hit = answers["primitive_ids"] >= 0
    np.testing.assert_array_equal(answers["occluded"], hit)
    np.testing.assert_array_equal(np.isnan(answers["uvs"]).any(axis=1), ~hit)
    np.testing.assert_array_equal(answers["count"], np.diff(answers["all_splits"]))
    assert (answers["count"][~hit] == 0).all()  # an edge may count as none, never as more
    rays = np.repeat(np.arange(len(hit)), answers["count"])
    t, ids = answers["all_t"], answers["all_ids"]
    assert (t >= answers["t_hit"][rays]).all()
    order = np.lexsort((ids, t, rays))
    np.testing.assert_array_equal(order, np.arange(len(order)))
    assert not ((rays[1:] == rays[:-1]) & (ids[1:] == ids[:-1])).any()  # for equal ids would have equal t


@small
@given(
    soup=soups(),
    dtypes=st.sampled_from(PAIRS),
    distance=st.sampled_from(DISTANCES),
    offset=st.sampled_from([0.0, 0.0, 1e3, 1e6]),
    scale=st.sampled_from([1.0, 1.0, 1e-30, 1e25]),
    cull=st.sampled_from([None, None, "back", "front"]),
)
def test_no_tree_changes_an_answer(soup, dtypes, distance, offset, scale, cull):
    mesh = soup_mesh(*soup, dtypes[0], scale=scale, offset=offset * scale)
    rays = aimed_rays(mesh, soup[1], some(200, 25), dtypes[1], distance=distance)
    wanted = everything(with_open_boxes(mesh), rays, cull=cull)
    assert_answers_agree(wanted)
    for name, tree in trees_of(mesh):
        try:
            assert_same(wanted, everything(tree, rays, cull=cull))
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error


@small
@given(soup=soups(), dtypes=st.sampled_from(PAIRS), distance=st.sampled_from(DISTANCES))
def test_ranges_cut_exactly_at_t(soup, dtypes, distance):
    """The t of an answer as t_max or t_min finds that answer again; one bit less or more does not."""
    mesh = soup_mesh(*soup, dtypes[0])
    rays = aimed_rays(mesh, soup[1], some(200, 25), dtypes[1], distance=distance)
    wanted = everything(mesh, rays)
    hit = wanted["primitive_ids"] >= 0
    rays = Batch(*(array[hit] for array in rays))
    t = wanted["t_hit"][hit]
    below, above = np.nextafter(t, -np.inf, dtype=t.dtype), np.nextafter(t, np.inf, dtype=t.dtype)
    first = {name: wanted[name][hit] for name in ("t_hit", "primitive_ids", "uvs", "occluded")}
    for ranges in ({"t_max": t}, {"t_min": t}, {"t_min": t, "t_max": t}, {"t_min": below, "t_max": above}):
        answers = everything(mesh, rays, **ranges)
        assert_answers_agree(answers)
        assert_same(first, {name: answers[name] for name in first})
    assert not mesh.raycast(*rays, t_max=below).hit.any()
    assert not mesh.occluded(*rays, t_max=below).any()
    assert not mesh.count_hits(*rays, t_max=below).any()

    # The crossings in a range are those of the whole ray that lie in it.
    ray = np.repeat(np.arange(len(hit)), wanted["count"])
    rng = np.random.default_rng(soup[1])
    low, high = np.sort(rng.choice(t, (2, len(hit))), axis=0) if len(t) else np.zeros((2, 0))
    if len(t):
        rays = aimed_rays(mesh, soup[1], some(200, 25), dtypes[1], distance=distance)
        inside = (wanted["all_t"] >= low[ray]) & (wanted["all_t"] <= high[ray])
        every = mesh.raycast_all(*rays, t_min=low, t_max=high)
        np.testing.assert_array_equal(every.primitive_ids, wanted["all_ids"][inside])
        np.testing.assert_array_equal(every.t_hit, wanted["all_t"][inside])
        np.testing.assert_array_equal(mesh.count_hits(*rays, t_min=low, t_max=high), np.diff(every.ray_splits))


@small
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["block", "sphere"])
def test_every_builder_at_every_landmark(name, dtype):
    mesh = closed_mesh(name, dtype)
    targets = landmarks(mesh)[:: some(1, 29)]
    center = mesh.bounds.mean(axis=0).astype(float)
    origins = center + (targets - center) * 3
    rays = Batch(origins.astype(dtype), (center - origins).astype(dtype))
    wanted = everything(with_open_boxes(mesh), rays)
    assert_answers_agree(wanted)
    assert wanted["occluded"].all()
    for _, tree in trees_of(mesh):
        assert_same(wanted, everything(tree, rays))


@small
@pytest.mark.parametrize("kind", ["slivers", "grid"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_single_rays_are_rows_of_the_batch(kind, dtype):
    mesh = soup_mesh(kind, 3, 60, dtype)
    rays = aimed_rays(mesh, 3, some(200, 15), dtype)
    wanted = everything(mesh, rays)
    for i, (origin, direction) in enumerate(zip(*rays, strict=True)):
        one = mesh.raycast(origin, direction)
        assert one.t_hit == wanted["t_hit"][i]
        assert one.primitive_ids == wanted["primitive_ids"][i]
        np.testing.assert_array_equal(one.uvs, wanted["uvs"][i])
        assert mesh.occluded(origin, direction) == wanted["occluded"][i]
        assert mesh.count_hits(origin, direction) == wanted["count"][i]
        part = slice(*wanted["all_splits"][i : i + 2])
        every = mesh.raycast_all(origin, direction)
        np.testing.assert_array_equal(every.primitive_ids, wanted["all_ids"][part])
        np.testing.assert_array_equal(every.t_hit, wanted["all_t"][part])
        np.testing.assert_array_equal(every.uvs, wanted["all_uvs"][part])


@small
@pytest.mark.parametrize("size", [1, 2, 3, 5, 23, 24, 25, 49][:: some(1, 3)])
def test_batches_of_any_size(size):
    mesh = soup_mesh("uniform", 5, 80, np.float32)
    rays = aimed_rays(mesh, 5, 100, np.float32)
    wanted = everything(mesh, rays)
    parts = [Batch(*(array[i : i + size] for array in rays)) for i in range(0, 100, size)]
    answers = [everything(mesh, part) for part in parts]
    for name in wanted:
        joined = np.concatenate([answer[name] for answer in answers])
        if name != "all_splits":
            np.testing.assert_array_equal(joined, wanted[name], err_msg=name)


@pytest.mark.skipif(some(False, True), reason="too many rays for interpreted kernels")
@pytest.mark.parametrize("dtype", DTYPES)
def test_threads_chunks_and_order(dtype):
    mesh = closed_mesh("sphere", dtype, noise=0.02)
    rays = aimed_rays(mesh, 11, 40_000, dtype)
    wanted = everything(mesh, rays, threads=1)
    for threads in (2, 3, 7, None):
        assert_same(wanted, everything(mesh, rays, threads=threads))
    counters = bw.Counters()
    assert_same(wanted, everything(mesh, rays, counters=counters))
    assert counters.queries == 160_000

    order = np.random.default_rng(0).permutation(40_000)
    shuffled = everything(mesh, Batch(rays.origins[order], rays.directions[order]))
    for name in ("t_hit", "primitive_ids", "uvs", "occluded", "count"):
        np.testing.assert_array_equal(shuffled[name], wanted[name][order], err_msg=name)

    shape = (8, 50, 100)
    boxed = Batch(*(array.reshape(*shape, 3) for array in rays))
    np.testing.assert_array_equal(mesh.raycast(*boxed).t_hit.reshape(-1), wanted["t_hit"])
    np.testing.assert_array_equal(mesh.count_hits(*boxed).reshape(-1), wanted["count"])
    np.testing.assert_array_equal(mesh.raycast_all(*boxed).primitive_ids, wanted["all_ids"])


@pytest.mark.skipif(some(False, True), reason="too many rays for interpreted kernels")
@pytest.mark.parametrize("builder", BUILDERS)
def test_a_mesh_large_enough_for_threads_to_build(builder):
    mesh = soup_mesh("clustered", 2, 20_000, np.float32)
    rays = aimed_rays(mesh, 2, 2000, np.float32)
    wanted = everything(bw.Mesh(mesh.vertices, mesh.faces).build(threads=1), rays)
    for threads in (1, 2, 5):
        tree = bw.Mesh(mesh.vertices, mesh.faces).build(builder, threads=threads)
        assert_same(wanted, everything(tree, rays))


@small
@given(soup=soups(), dtype=st.sampled_from(DTYPES))
def test_the_order_of_faces_only_renames_them(soup, dtype):
    mesh = soup_mesh(*soup, dtype)
    rays = aimed_rays(mesh, soup[1], some(200, 25), dtype)
    order = np.random.default_rng(soup[1]).permutation(len(mesh))
    renamed = bw.Mesh(mesh.vertices, mesh.faces[order])
    one, other = everything(mesh, rays), everything(renamed, rays)
    np.testing.assert_array_equal(one["t_hit"], other["t_hit"])
    np.testing.assert_array_equal(one["count"], other["count"])
    np.testing.assert_array_equal(one["all_t"], other["all_t"])
    ray = np.repeat(np.arange(len(one["count"])), one["count"])
    for answers, names in ((one, np.arange(len(mesh))), (other, order)):
        answers["named"] = names[answers["all_ids"]]
        answers["sorted"] = np.lexsort((answers["named"], answers["all_t"], ray))
    np.testing.assert_array_equal(one["named"][one["sorted"]], other["named"][other["sorted"]])


@small
@pytest.mark.parametrize("dtype", DTYPES)
def test_faces_without_area_change_nothing(dtype):
    mesh = soup_mesh("uniform", 9, 50, dtype)
    rays = aimed_rays(mesh, 9, some(300, 50), dtype)
    wanted = everything(mesh, rays)
    # A point, segments with a doubled corner, and faces whose third corner lies within an edge, after the real faces.
    faces = [[0, 0, 0], [3, 4, 3], [0, 1, 1]]
    middle = (mesh.vertices[0] + mesh.vertices[1]) / 2
    on_line = np.array([[0, 0, 0], [1, 1, 1], [3, 3, 3]], dtype)
    vertices = np.concatenate([mesh.vertices, middle[None], on_line])
    count = len(mesh.vertices)
    faces += [[count + 1, count + 2, count + 3]] * 20
    more = bw.Mesh(vertices, np.concatenate([mesh.faces, faces]))
    assert_same(wanted, everything(more, rays))
