"""No ray slips through a closed mesh, and each crossing counts once: from outside in and out again, so the whole line
of a ray meets as many fronts as backs, and a ray from inside meets one more back than fronts. Exactly, whatever it
meets: vertices, edges, planes of faces; in both dtypes, near the origin and far from it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import boxwood as bw
from worlds import AXES, CLOSED, DTYPES, closed_mesh, landmarks, needles, radius_of, some

small = pytest.mark.small

CONVEX = ["tetrahedron", "cube", "octahedron", "sphere", "block"]
OFFSETS = [0.0, 1e6]
RAY_DTYPES = {np.float32: (np.float32, np.float64), np.float64: (np.float64,)}
SUITES = [(dtype, ray_dtype) for dtype in DTYPES for ray_dtype in RAY_DTYPES[dtype]]
EVERYWHERE = {"t_min": -np.inf}


def assert_closed(mesh, origins, directions):
    """Whole lines cross the surface inwards as often as outwards; what is listed, counted and cast agrees."""
    fronts = mesh.count_hits(origins, directions, cull="back", **EVERYWHERE)
    backs = mesh.count_hits(origins, directions, cull="front", **EVERYWHERE)
    np.testing.assert_array_equal(fronts, backs)
    both = mesh.count_hits(origins, directions, **EVERYWHERE)
    np.testing.assert_array_equal(both, fronts + backs)
    np.testing.assert_array_equal(np.diff(mesh.raycast_all(origins, directions, **EVERYWHERE).ray_splits), both)
    hit = mesh.raycast(origins, directions, **EVERYWHERE).hit
    assert hit[both > 0].all()
    np.testing.assert_array_equal(mesh.occluded(origins, directions, **EVERYWHERE), hit)


def assert_inside(mesh, origins, directions):
    """Rays from within hit the surface, and leave once more than they enter."""
    assert mesh.raycast(origins, directions).hit.all()
    assert mesh.occluded(origins, directions).all()
    assert (mesh.count_hits(origins, directions) % 2 == 1).all()
    fronts, backs = (mesh.count_hits(origins, directions, cull=cull) for cull in ("back", "front"))
    np.testing.assert_array_equal(backs, fronts + 1)
    assert_closed(mesh, origins, directions)


def assert_outside(mesh, origins, directions):
    """Rays from without leave the solid as often as they enter it."""
    assert (mesh.count_hits(origins, directions) % 2 == 0).all()
    assert_closed(mesh, origins, directions)


def directions_for(rng, count):
    """Along axes, along diagonals of planes and of space, and anywhere."""
    diagonals = rng.integers(-1, 2, (count, 3)).astype(float)
    diagonals[~diagonals.any(axis=1)] = [0, 1, 0]
    way = rng.integers(0, 3, count)[:, None]
    return np.select([way == 0, way == 1], [AXES[rng.integers(0, 6, count)], diagonals], rng.normal(size=(count, 3)))


@small
@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize(("dtype", "ray_dtype"), SUITES)
@pytest.mark.parametrize("name", CONVEX)
def test_from_the_middle_of_a_convex_solid(name, dtype, ray_dtype, offset):
    mesh = closed_mesh(name, dtype, noise=0.01, offset=offset)
    targets = landmarks(mesh)[:: some(1, 31)]
    center = mesh.vertices.astype(float).mean(axis=0).astype(ray_dtype)
    through = (targets - center).astype(ray_dtype)
    assert_inside(mesh, center, through)
    assert_inside(mesh, center, AXES.astype(ray_dtype))
    assert_outside(mesh, (center - 3 * through.astype(float)).astype(ray_dtype), through)
    assert_outside(mesh, (center + 3 * through.astype(float)).astype(ray_dtype), through)
    outside = (center + 3 * through.astype(float)).astype(ray_dtype)
    assert mesh.occluded(outside, center - outside).all()


@small
@pytest.mark.parametrize("noise", [0.0, 0.05])
@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize(("dtype", "ray_dtype"), SUITES)
@pytest.mark.parametrize("name", sorted(CLOSED))
def test_lines_through_every_vertex_edge_and_face(name, dtype, ray_dtype, offset, noise):
    """At offset 1e6 float32 knows sixteenths only: noise flattens faces, folds them over, and takes their area away."""
    mesh = closed_mesh(name, dtype, noise=noise, offset=offset)
    targets = landmarks(mesh)[:: some(1, 47)]
    rng = np.random.default_rng(1)
    directions = directions_for(rng, len(targets))
    origins = targets - directions * rng.uniform(0, 4, (len(targets), 1))
    assert_closed(mesh, origins.astype(ray_dtype), directions.astype(ray_dtype))
    far = targets - directions * 1e4
    assert_closed(mesh, far.astype(ray_dtype), directions.astype(ray_dtype))


@small
@pytest.mark.parametrize(("dtype", "ray_dtype"), SUITES)
def test_rays_along_edges_and_in_planes(dtype, ray_dtype):
    """On integer and half-integer points of a cube of voxels, along axes and diagonals: every coincidence there is."""
    mesh = closed_mesh("block", dtype)
    steps = np.arange(-0.5, 4.0, some(0.5, 1.5))
    points = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 1, 3)
    ways = np.array([[1, 0, 0], [0, -1, 0], [0, 0, 1], [1, 1, 0], [0, 1, -1], [-1, 1, 1]][:: some(1, 3)])
    inside = ((points > 0) & (points < 3)).all(axis=(1, 2))
    outside = ((points < 0) | (points > 3)).any(axis=(1, 2))
    for chosen, check in ((inside, assert_inside), (outside, assert_outside)):
        shape = (chosen.sum(), len(ways), 3)
        origins = np.broadcast_to(points[chosen], shape).reshape(-1, 3).astype(ray_dtype)
        check(mesh, origins, np.broadcast_to(ways, shape).reshape(-1, 3).astype(ray_dtype))


@small
@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize(("dtype", "ray_dtype"), SUITES)
def test_from_inside_a_torus(dtype, ray_dtype, offset):
    mesh = closed_mesh("torus", dtype, offset=offset)
    targets = landmarks(mesh)[:: some(1, 47)]
    angle = np.random.default_rng(2).uniform(0, 2 * np.pi, len(targets))
    origins = (np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=-1) + offset).astype(ray_dtype)
    directions = targets - origins
    assert_inside(mesh, origins, directions.astype(ray_dtype))
    middle = np.full(3, offset, ray_dtype)
    assert_outside(mesh, middle, (targets - middle).astype(ray_dtype))


@small
@given(
    name=st.sampled_from(sorted(CLOSED)),
    seed=st.integers(0, 2**16),
    noise=st.sampled_from([0.0, 1e-7, 1e-3, 0.1, 2.0]),
    suite=st.sampled_from(SUITES),
    offset=st.sampled_from([0.0, 100.0, 1e6]),
    scale=st.sampled_from([1.0, 1e-20, 1e20]),
    distance=st.sampled_from([0.0, 2.0, 50.0, 1e5]),
)
def test_any_closed_mesh(name, seed, noise, suite, offset, scale, distance):
    """Even one that cuts itself in pieces; but without needles, see repro/test_needles_in_a_closed_mesh.py."""
    sound = closed_mesh(name, np.float64, noise=noise, offset=offset, seed=seed)
    mesh = bw.Mesh((sound.vertices * scale).astype(suite[0]), sound.faces)
    assume(not needles(mesh))
    rng = np.random.default_rng(seed)
    targets = landmarks(mesh)
    targets = targets[rng.integers(0, len(targets), some(300, 12))]
    directions = directions_for(rng, len(targets))
    origins = targets - directions * distance * radius_of(mesh)
    assert_closed(mesh, origins.astype(suite[1]), directions.astype(suite[1]))


@pytest.mark.skipif(some(False, True), reason="too many rays for interpreted kernels")
@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "file",
    [
        "vtk-data/turbineblade.ply",
        "manifold/samples/models/scallop.glb",
        "npm-bunny/bunny.ply",
        "manifold/test/models/hull-body.obj",
        "manifold/test/models/self_intersectA.obj",
        "moveit/panda_description/meshes/collision/link5.stl",
    ],
)
def test_real_meshes(shared, file, dtype, offset):
    loaded = bw.load(shared / file)
    scale = 100 / radius_of(loaded)  # so that 1e6 leaves float32 something of the shape
    mesh = bw.Mesh((loaded.vertices * scale + offset).astype(dtype), loaded.faces)
    rng = np.random.default_rng(4)
    targets = rng.permutation(landmarks(mesh))[:10_000]
    directions = directions_for(rng, len(targets))
    radius = radius_of(mesh)
    assert_closed(mesh, (targets - directions * radius * 0.3).astype(dtype), directions.astype(dtype))
    largest = np.abs(directions).max(axis=1, keepdims=True)
    outside = targets - directions / largest * radius * 6
    assert_outside(mesh, outside.astype(dtype), directions.astype(dtype))

    # A point well within: between the first two crossings of some ray, where they are furthest apart.
    every = mesh.raycast_all(outside.astype(dtype), directions.astype(dtype))
    starts = every.ray_splits[:-1][np.diff(every.ray_splits) == 2]
    widest = starts[np.argmax(every.t_hit[starts + 1] - every.t_hit[starts])]
    ray, t = every.ray_ids[widest], (every.t_hit[widest] + every.t_hit[widest + 1]) / 2
    within = (outside[ray] + directions[ray] * float(t)).astype(dtype)
    assert_inside(mesh, within, (targets - within).astype(dtype))
