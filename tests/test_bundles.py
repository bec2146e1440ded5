"""Rays that share a walk: which rays do, that their constants are those of each alone, and that answers are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boxwood._arrays import rays
from boxwood._jit import kernel
from boxwood._simd import smallest_like
from boxwood.descend import reach
from boxwood.geometry.bundle_box import ALL_LANES, BOXES, LANES, LIMITS, MOST, RAYS, Group
from boxwood.geometry.ray import frame_of, limit_of, make_ready
from boxwood.geometry.ray_group import box_of_lane, is_bundle, make_group, motion_of_lane, shear_of_lane
from boxwood.layout import NODE_FLOATS
from boxwood.query.engine import answer
from boxwood.query.question import CLOSEST, unanswered
from boxwood.query.ray_batch import SIDES
from worlds import DTYPES, Batch, aimed_rays, assert_same, closed_mesh, everything, some, soup_mesh, soups

small = pytest.mark.small

PAIRS = [(np.float32, np.float32), (np.float32, np.float64), (np.float64, np.float64)]
NOTHING, EVERYTHING = 0.0, float(np.finfo(np.float32).max)


@kernel
def which_are_bundles(room, frame, origins, directions, t_min, t_max, found):
    group = Group(*room)
    for i in range(found.shape[0]):
        ready = make_group(group, frame_of(frame), origins, directions, t_min, t_max, i * LANES)
        found[i] = ready == ALL_LANES and is_bundle(group)


def empty_group(dtype):
    return (
        np.empty(BOXES, np.float32),
        np.empty(RAYS, dtype),
        np.empty(LANES),
        np.empty(3, np.uint32),
        np.empty(6, np.int64),
    )


def bundled(mesh, batch):
    """Whether each sixteen rays are a bundle."""
    dtype = batch.origins.dtype
    found = np.zeros(len(batch.origins) // LANES, bool)
    ranges = np.array([NOTHING], dtype), np.array([EVERYTHING], dtype)
    which_are_bundles(empty_group(dtype), mesh.tree.frame, *batch, *ranges, found)
    return found


def alone(mesh, batch, **options):
    """The answers to the same rays with each other's neighbours far away, so that no bundle is made."""
    count = len(batch.origins)
    order = np.arange(count).reshape(-1, LANES).T.reshape(-1)
    away = Batch(np.repeat(batch.origins[order], 2, axis=0), np.repeat(batch.directions[order], 2, axis=0))
    away.directions[1::2] *= -1
    assert not bundled(mesh, away).any()
    back = np.argsort(order) * 2
    first = mesh.raycast(*away, **options)
    every = mesh.raycast_all(*away, **options)
    rows = [every[ray] for ray in back]
    return {
        "t_hit": first.t_hit[back],
        "primitive_ids": first.primitive_ids[back],
        "uvs": first.uvs[back],
        "occluded": mesh.occluded(*away, **options)[back],
        "count": mesh.count_hits(*away, **options)[back],
        "all_splits": np.cumsum([0, *(len(row.t_hit) for row in rows)]),
        "all_t": np.concatenate([row.t_hit for row in rows]),
        "all_ids": np.concatenate([row.primitive_ids for row in rows]),
        "all_uvs": np.concatenate([row.uvs for row in rows]),
    }


def fans(mesh, seed, count, dtype):
    """Sixteen rays side by side for each of so many aimed ones: itself, some just like it, and others close by."""
    rng = np.random.default_rng([seed, 2])
    aimed = aimed_rays(mesh, seed, count, dtype)
    radius = np.abs(mesh.bounds.astype(float)[1] - mesh.bounds[0]).max() / 2
    jitter = 10.0 ** rng.uniform(-9, -2.5, (count, LANES, 1)) * (rng.random((count, LANES, 1)) < 0.7)
    length = np.abs(aimed.directions).max(axis=1)[:, None, None]
    origins = aimed.origins[:, None] + rng.normal(size=(count, LANES, 3)) * jitter * radius
    turned = rng.normal(size=(count, LANES, 3)) * jitter
    in_plane = rng.random((count, 1, 1)) < 0.5  # a component that is zero stays zero
    directions = aimed.directions[:, None] + turned * np.where(in_plane, aimed.directions[:, None], length)
    return Batch(origins.reshape(-1, 3).astype(dtype), directions.reshape(-1, 3).astype(dtype))


@small
@pytest.mark.parametrize(("mesh_dtype", "ray_dtype"), PAIRS)
@given(world=soups(60))
def test_a_bundle_answers_like_each_ray_alone(mesh_dtype, ray_dtype, world):
    kind, seed, n = world
    mesh = soup_mesh(kind, seed, n, mesh_dtype)
    batch = fans(mesh, seed, some(40, 3), ray_dtype)
    assert_same(everything(mesh, batch), alone(mesh, batch))


@small
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["cube", "sphere", "torus", "block"])
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_bundles_at_vertices_edges_and_faces(name, noise, dtype):
    mesh = closed_mesh(name, dtype, noise=noise)
    batch = fans(mesh, 5, some(400, 6), dtype)
    assert bundled(mesh, batch).mean() > 0.25  # of the cube's diagonals none are
    for options in ({}, {"cull": "back"}, {"cull": "front"}, {"t_min": 0.3, "t_max": 1.7}):
        assert_same(everything(mesh, batch, **options), alone(mesh, batch, **options))
    lower, upper = mesh.bounds
    outside = ((batch.origins < lower) | (batch.origins > upper)).any(axis=1)
    assert outside.any()
    assert (mesh.count_hits(*batch)[outside] % 2 == 0).all()


@small
def test_each_ray_of_a_bundle_has_its_own_range():
    mesh = closed_mesh("sphere", np.float32)
    batch = fans(mesh, 6, some(100, 4), np.float32)
    t_hit = mesh.raycast(*batch).t_hit
    rng = np.random.default_rng(1)
    t_min = np.where(rng.random(len(t_hit)) < 0.5, t_hit, 0).astype(np.float32)
    t_min[~np.isfinite(t_min)] = 0
    t_max = np.where(rng.random(len(t_hit)) < 0.5, t_hit, np.inf).astype(np.float32)
    got = everything(mesh, batch, t_min=t_min, t_max=t_max)
    wanted = [everything(mesh, Batch(*(rows[i : i + 1] for rows in batch)), t_min=t_min[i], t_max=t_max[i])
              for i in range(0, len(t_hit), 7)]  # fmt: skip
    for name in ("t_hit", "primitive_ids", "uvs", "occluded", "count"):
        np.testing.assert_array_equal(got[name][::7], np.concatenate([answers[name] for answers in wanted]))


@kernel
def write(out, lane, box, shear, motion, limit, most):
    for axis in range(3):
        out[lane, axis], out[lane, 3 + axis] = shear.rows[axis], shear.origin[axis]
        out[lane, 6 + axis], out[lane, 9 + axis] = box.inverse[axis], box.near[axis]
        out[lane, 12 + axis], out[lane, 15 + axis] = box.far[axis], box.rows[axis]
    out[lane, 18], out[lane, 19] = shear.slope
    out[lane, 20], out[lane, 21], out[lane, 22] = shear.per_x, shear.per_y, shear.per_z
    out[lane, 23], out[lane, 24] = shear.slack_x, shear.slack_y
    out[lane, 25], out[lane, 26], out[lane, 27] = motion.shift, motion.speed, motion.offset
    out[lane, 28], out[lane, 29], out[lane, 30] = box.start, limit, most


@kernel
def constants(room, frame, origins, directions, t_min, t_max, nodes, apart, together, steps):
    """The lanes that are ready, and for each what `make_ready` gives and what the group has; if the group is a bundle,
    then the boxes of every node that its rays enter alone and that it enters."""
    group, space = Group(*room), frame_of(frame)
    ready = make_group(group, space, origins, directions, t_min, t_max, 0)
    bundle = ready == ALL_LANES and is_bundle(group)
    axes = np.empty(9, origins.dtype)
    most = -np.inf
    for lane in range(LANES):
        origin = (origins[lane, 0], origins[lane, 1], origins[lane, 2])
        direction = (directions[lane, 0], directions[lane, 1], directions[lane, 2])
        ray, _ = make_ready(space, origin, direction, t_min[lane], smallest_like(t_min[lane]), axes)
        limit = limit_of(ray.motion, t_max[lane])
        write(apart, lane, ray.box, ray.shear, ray.motion, limit, t_max[lane])
        box, shear, motion = box_of_lane(group, lane), shear_of_lane(group, lane), motion_of_lane(group, lane)
        most = max(most, group.boxes[LIMITS + lane])
        write(together, lane, box, shear, motion, group.boxes[LIMITS + lane], group.rays[MOST + lane])
        for node in range(steps.shape[0]):
            _, within = reach(ray.box, nodes, node * NODE_FLOATS, limit)
            steps[node, 0] |= within
    if bundle:
        for node in range(steps.shape[0]):
            _, within = reach(group, nodes, node * NODE_FLOATS, np.float32(most))
            steps[node, 1] = within
    return ready, bundle


@small
@pytest.mark.parametrize("dtype", DTYPES)
def test_constants_and_boxes_are_those_of_each_ray_alone(dtype):
    mesh = soup_mesh("uniform", 3, 200, dtype, offset=0.25)
    nodes = mesh.tree.nodes
    count = some(300, 10)
    batch = fans(mesh, 7, count, dtype)
    mixed = aimed_rays(mesh, 8, LANES * count, dtype)
    rng = np.random.default_rng(2)
    bundles = lanes = 0
    for each in (batch, mixed):
        for i in range(0, LANES * count, LANES):
            origins, directions = (np.ascontiguousarray(rows[i : i + LANES]) for rows in each)
            t_min, t_max = rng.uniform(0, 1, LANES).astype(dtype), rng.uniform(1, 9, LANES).astype(dtype)
            apart, together = np.zeros((LANES, 31)), np.zeros((LANES, 31))
            steps = np.zeros((len(nodes) // NODE_FLOATS, 2), np.int64)
            with np.errstate(all="ignore"):
                world = empty_group(dtype), mesh.tree.frame, origins, directions, t_min, t_max, nodes
                ready, bundle = constants(*world, apart, together, steps)
            right = np.flatnonzero([int(ready) >> lane & 1 for lane in range(LANES)])
            np.testing.assert_array_equal(together[right], apart[right])
            lanes += len(right)
            if bundle:
                bundles += 1
                np.testing.assert_array_equal(steps[:, 1], steps[:, 0])
    assert bundles > count / 3
    assert lanes > LANES * count * 1.5


def row_of_rays(dtype=np.float32):
    """A bundle beside the cube of half-width 1."""
    origins = np.zeros((LANES, 3), dtype) + dtype([0.1, 0.2, 3.0])
    directions = np.zeros((LANES, 3), dtype) + dtype([0.3, 0.2, -1.0])
    directions[:, 0] += np.arange(LANES, dtype=dtype) * dtype(1e-4)
    return Batch(origins, directions)


def spoiled(what):
    batch = row_of_rays()
    origins, directions = batch
    if what == "another largest axis":
        directions[5] = [2, 0.2, -1]
    elif what == "another way":
        directions[5] = -directions[5]
    elif what == "another sign":
        directions[7, 1] = -0.2
    elif what == "zeros of two signs":
        directions[:, 1], directions[3, 1] = 0.0, -0.0
    elif what == "far away":
        origins[:, 2] = 100
    elif what == "origins apart":
        origins[:, 0] = np.linspace(-0.5, 0.5, LANES)
    elif what == "directions apart":
        directions[:, 0] = np.linspace(0.1, 0.9, LANES)
    return batch


@small
@pytest.mark.parametrize(
    "what",
    [
        "another largest axis", "another way", "another sign", "zeros of two signs", "far away", "origins apart",
        "directions apart",
    ],
)  # fmt: skip
def test_rays_that_are_no_bundle(what):
    mesh = closed_mesh("cube", np.float32)
    assert bundled(mesh, row_of_rays()).all()
    batch = spoiled(what)
    assert not bundled(mesh, batch).any()
    single = [everything(mesh, Batch(*(rows[i : i + 1] for rows in batch))) for i in range(LANES)]
    got = everything(mesh, batch)
    for name in ("t_hit", "primitive_ids", "uvs", "occluded", "count"):
        np.testing.assert_array_equal(got[name], np.concatenate([answers[name] for answers in single]))


@small
def test_a_direction_too_long_for_a_speed_is_no_bundle():
    mesh = closed_mesh("cube", np.float64)
    tiny = type(mesh)(mesh.vertices * 1e-3, mesh.faces)
    origins, directions = (rows.astype(float) for rows in row_of_rays())
    batch = Batch(origins * 1e-3, directions / np.abs(directions).max() * 1.7e308)
    assert bundled(tiny, Batch(batch.origins, directions)).all()
    assert not bundled(tiny, batch).any()


@small
def test_few_leaps_are_borne():
    """An edge of what the camera sees: the rays after it begin or end elsewhere, but they still make a bundle."""
    mesh = closed_mesh("cube", np.float32)
    batch = row_of_rays()
    batch.origins[8:] -= np.float32([0.4, 0.3, 1.0])
    assert bundled(mesh, batch).all()
    assert_same(everything(mesh, batch), alone(mesh, batch))


@small
@given(count=st.integers(1, 70), offset=st.integers(0, 20))
def test_any_number_of_rays(count, offset):
    """Bundles in the middle, and what is left over alone."""
    mesh = closed_mesh("torus", np.float32)
    batch = fans(mesh, 8, 8, np.float32)
    part = Batch(*(rows[offset : offset + count] for rows in batch))
    whole = mesh.raycast(*batch)
    hits = mesh.raycast(*part)
    np.testing.assert_array_equal(hits.t_hit, whole.t_hit[offset : offset + count])
    np.testing.assert_array_equal(hits.primitive_ids, whole.primitive_ids[offset : offset + count])


@small
def test_counted_rays_walk_alone():
    """So that what a ray costs does not depend on its neighbours."""
    mesh = closed_mesh("sphere", np.float32)
    batch = rays(*row_of_rays(), 0.0, EVERYTHING, mesh.dtype)
    together, single = np.zeros(2, np.int64), np.zeros(2, np.int64)
    question = unanswered(CLOSEST, batch)
    answer(question, *mesh.tree.arrays, *batch[:4], SIDES[None], together, 0, LANES)
    for r in range(LANES):
        answer(question, *mesh.tree.arrays, *batch[:4], SIDES[None], single, r, r + 1)
    assert together.tolist() == single.tolist()
    assert (together > 0).all()
