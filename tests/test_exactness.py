"""Answers against oracles that share no code with the package: fractions, and NumPy in the widest float.

The contract. Rays and vertices are rounded relative to the ray's origin in the dtype that computes, nothing is rounded
more than a few times. So a triangle is hit if the ray passes within and keeps clear of its edges by more than such a
rounding; nearer than that, either answer is right, but never both at once (test_watertight). And t is as good as the
corners so rounded make it, which is the worse the thinner the triangle looks along the ray."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boxwood as bw
from oracle import brute, exact_crossings
from worlds import (
    AXES,
    DTYPES,
    SOUPS,
    Batch,
    aimed_rays,
    closed_mesh,
    cube,
    everything,
    landmarks,
    radius_of,
    some,
    soup_mesh,
)

pytestmark = pytest.mark.small

ROUNDINGS = 2
"""Of numbers as large as what separates the ray's origin from the mesh."""


def rounding_of(mesh, rays, dtype, distance):
    """How far rounding may move a ray beside a triangle: one value for each ray.

    An origin further away than 16 radii is moved near first, in float64, and then rounded like a vertex."""
    eps, radius = np.finfo(dtype).eps, radius_of(mesh)
    rounding = np.full(len(rays.origins), eps * radius * (min(distance, 16) + 2))
    if distance > 16:
        rounding += eps * np.abs(mesh.bounds.astype(float)).max()
        rounding += np.finfo(np.float64).eps * np.abs(rays.origins.astype(float)).max(axis=1)
    return ROUNDINGS * rounding


def assert_agrees(mesh, rays, answers, rounding, t_eps):
    """Each certain crossing is listed, each certain miss is not, and t is as right as it can be."""
    wanted = brute(mesh.vertices, mesh.faces, *rays)
    count, faces = wanted.hit.shape
    listed = np.zeros((count, faces), bool)
    t = np.full((count, faces), np.nan)
    ray = np.repeat(np.arange(count), answers["count"])
    listed[ray, answers["all_ids"]] = True
    t[ray, answers["all_ids"]] = answers["all_t"]

    slack = rounding[:, None] * wanted.condition + 4 * t_eps * np.nan_to_num(abs(wanted.t))
    clear = wanted.margin > rounding[:, None]
    in_range = wanted.hit & (wanted.t > slack)
    out_of_range = ~wanted.hit | (wanted.t < -slack)
    assert not (clear & in_range & ~listed).any()
    assert not (clear & out_of_range & listed).any()
    both = listed & wanted.hit & clear
    assert (abs(t - wanted.t)[both] <= slack[both]).all()

    # The first hit is one of the first, where all before it are certain.
    first = np.where(clear & in_range, np.nan_to_num(wanted.t) + slack, np.inf).min(axis=1)
    assert (answers["t_hit"] <= first * (1 + t_eps)).all()
    hit = answers["primitive_ids"] >= 0
    named = np.flatnonzero(hit), answers["primitive_ids"][hit]
    assert not (clear & ~wanted.hit)[named].any()
    close = clear[named]
    assert (abs(answers["t_hit"][hit] - wanted.t[named])[close] <= slack[named][close]).all()
    return int((clear & in_range).sum())


@pytest.mark.parametrize("distance", [0.5, 2.0, 15.0, 17.0, 1e3, 1e6])
@pytest.mark.parametrize(
    ("mesh_dtype", "ray_dtype"), [(np.float32, np.float32), (np.float32, np.float64), (np.float64, np.float64)]
)
@pytest.mark.parametrize("kind", sorted(set(SOUPS) - {"many_scales"}))
def test_soups(kind, mesh_dtype, ray_dtype, distance):
    mesh = soup_mesh(kind, 21, some(40, 15), mesh_dtype)
    rays = aimed_rays(mesh, 21, some(300, 10), ray_dtype, distance=distance)
    dtype = np.promote_types(mesh_dtype, ray_dtype)
    answers = everything(mesh, rays)
    certain = assert_agrees(mesh, rays, answers, rounding_of(mesh, rays, dtype, distance), np.finfo(dtype).eps)
    assert certain > 0 or distance > 100 or kind in ("slivers", "coplanar", "edge_on")


@pytest.mark.parametrize("offset", [1e3, 1e6])
@pytest.mark.parametrize("ray_dtype", DTYPES)
def test_float64_meshes_far_from_the_origin(offset, ray_dtype):
    """A small mesh at large coordinates keeps the digits that float64 has there."""
    mesh = soup_mesh("uniform", 22, 40, np.float64, offset=offset)
    rays = aimed_rays(mesh, 22, some(300, 40), ray_dtype, distance=0.5)
    rounding = rounding_of(mesh, rays, np.float64, 0.5)
    assert assert_agrees(mesh, rays, everything(mesh, rays), rounding, np.finfo(float).eps) > 0


@pytest.mark.parametrize("kind", ["uniform", "grid", "slivers"])
@pytest.mark.parametrize("scale", [1e-290, 1e-150, 1e150, 1e300])
def test_float64_of_any_size(kind, scale):
    assert_any_size(kind, scale, np.float64)


@pytest.mark.parametrize("kind", ["uniform", "grid", "slivers"])
@pytest.mark.parametrize("scale", [1e-28, 1e-20, 1e20, 1e30, 1e35])
def test_float32_of_any_size(kind, scale):
    assert_any_size(kind, scale, np.float32)


def assert_any_size(kind, scale, dtype):
    """All sizes are one size: the mesh and the rays scaled by a power of two answer alike, but for t."""
    scale = 2.0 ** int(np.log2(scale))
    mesh = soup_mesh(kind, 23, some(40, 20), dtype)
    rays = aimed_rays(mesh, 23, some(300, 40), dtype)
    rays = Batch(rays.origins, (rays.directions / np.abs(rays.directions).max(axis=1, keepdims=True)).astype(dtype))
    scaled = bw.Mesh(mesh.vertices * dtype(scale), mesh.faces)
    origins = rays.origins * dtype(scale)
    wanted = everything(mesh, rays)
    for answers, times in (
        (everything(scaled, (origins, rays.directions)), scale),  # t as large as the mesh
        (everything(scaled, (origins, rays.directions * dtype(scale))), 1.0),  # directions as large as the mesh
    ):
        for name in ("primitive_ids", "occluded", "count", "uvs"):
            np.testing.assert_array_equal(answers[name], wanted[name], err_msg=name)
        np.testing.assert_array_equal(answers["t_hit"], wanted["t_hit"] * dtype(times))


@pytest.mark.parametrize("dtype", DTYPES)
def test_denormal_meshes(dtype):
    """Coordinates so small that they have lost digits are still a closed mesh."""
    tiny = np.finfo(dtype).smallest_subnormal * dtype(1000)
    vertices, faces = cube()
    mesh = bw.Mesh(vertices.astype(dtype) * tiny, faces)
    for axis in AXES.astype(dtype):
        hit = mesh.raycast(axis * tiny * 2, -axis)
        assert hit.t_hit == tiny
        assert mesh.count_hits(axis * tiny * 2, -axis) == 2
        assert mesh.count_hits([0, 0, 0], axis) == 1


@pytest.mark.parametrize("length", [1e-37, 1e-30, 1e-10, 1e10, 1e30, 1e37])
def test_directions_of_any_length_in_float32(length):
    assert_any_length(length, np.float32)


@pytest.mark.parametrize("length", [1e-307, 1e-200, 1e-30, 1e30, 1e200, 1e307])
def test_directions_of_any_length_in_float64(length):
    assert_any_length(length, np.float64)


def assert_any_length(length, dtype):
    """t counts in lengths, and nothing else changes; on coordinates where edges and corners are met exactly."""
    length = dtype(2.0 ** int(np.log2(length)))
    mesh = closed_mesh("block", dtype)
    targets = landmarks(mesh)[:: some(1, 23)]
    origins = (targets + [0, 0, 8]).astype(dtype)
    directions = np.concatenate([np.broadcast_to([0, 0, -1], targets.shape), [1.5, 1.5, 1.5] - origins])
    rays = Batch(np.concatenate([origins, origins]), directions.astype(dtype))
    wanted = everything(mesh, rays)
    answers = everything(mesh, Batch(rays.origins, rays.directions * length))
    assert wanted["occluded"].sum() > len(targets)
    for name in ("primitive_ids", "occluded", "count", "all_ids", "uvs"):
        np.testing.assert_array_equal(answers[name], wanted[name], err_msg=name)
    with np.errstate(over="ignore", under="ignore"):
        np.testing.assert_allclose(answers["t_hit"], wanted["t_hit"] / length, rtol=1e-6)


@given(
    corners=st.lists(st.tuples(*[st.integers(-3, 3)] * 3), min_size=3, max_size=15),
    origins=st.lists(st.tuples(*[st.integers(-6, 6)] * 3), min_size=1, max_size=6),
    directions=st.lists(st.tuples(*[st.integers(-4, 4)] * 3).filter(any), min_size=1, max_size=6),
    dtype=st.sampled_from(DTYPES),
)
def test_integer_worlds_are_exact(corners, origins, directions, dtype):
    """Directions along an axis or a diagonal of it are not rounded at all on integers: then every decision is exact."""
    directions = [d for d in directions if len({abs(x) for x in d if x}) == 1] or [(0, 1, 0)]
    corners = corners[: len(corners) // 3 * 3]
    mesh = bw.Mesh(np.array(corners, dtype), np.arange(len(corners)).reshape(-1, 3))
    pairs = [(origin, direction) for origin in origins for direction in directions]
    rays = Batch(*(np.array(part, dtype) for part in zip(*pairs, strict=True)))
    answers = everything(mesh, rays)
    for i, (origin, direction) in enumerate(pairs):
        crossings = [c for c in exact_crossings(mesh.vertices, mesh.faces, origin, direction) if c.t >= 0]
        assert answers["occluded"][i] == bool(crossings)
        if crossings:
            # Two crossings less than a rounding apart may come in either order.
            assert abs(Fraction(float(answers["t_hit"][i])) - crossings[0].t) <= crossings[0].t * Fraction(1, 2**20)
            best = {c.face for c in crossings if c.t <= crossings[0].t * (1 + Fraction(1, 2**20))}
            assert answers["primitive_ids"][i] in best
        listed = set(answers["all_ids"][slice(*answers["all_splits"][i : i + 2])].tolist())
        assert {c.face for c in crossings if not c.on_edge} <= listed <= {c.face for c in crossings}


@given(
    kind=st.sampled_from(["uniform", "slivers", "duplicates", "coplanar"]),
    seed=st.integers(0, 2**16),
    distance=st.sampled_from([1.0, 30.0, 1e6, 1e12]),
)
def test_float64_against_fractions(kind, seed, distance):
    """Also from so far that float64 itself could not tell where the ray passes, were it not moved with care."""
    mesh = soup_mesh(kind, seed, 6, np.float64)
    rng = np.random.default_rng(seed)
    directions = rng.integers(-8, 9, (4, 3)) / 8 + [0.0625, 0, 0]
    steps = int(distance)
    targets = mesh.vertices[mesh.faces].mean(axis=1)[rng.integers(0, 6, 4)]
    origins = targets - directions * steps
    answers = everything(mesh, (origins, directions))
    for i, (origin, direction) in enumerate(zip(origins, directions, strict=True)):
        exact = {c.face: c.t for c in exact_crossings(mesh.vertices, mesh.faces, origin, direction)}
        # The oracle that knows margins works near the mesh, where the steps are taken back without a rounding but one.
        near = [float(Fraction(x) + Fraction(d) * steps) for x, d in zip(origin, direction, strict=True)]
        there = brute(mesh.vertices, mesh.faces, [near], [direction])
        rounding = (1e-14 * there.condition[0]).astype(float)
        part = slice(*answers["all_splits"][i : i + 2])
        listed = dict(zip(answers["all_ids"][part].tolist(), answers["all_t"][part].tolist(), strict=True))
        for face in np.flatnonzero(there.margin[0] > 1e-13):
            if face not in exact or abs(exact[face]) > rounding[face]:
                assert (face in listed) == (exact.get(face, -1) >= 0)
            if face in listed and face in exact:
                assert abs(Fraction(listed[face]) - exact[face]) <= rounding[face] + 4 * 2**-52 * abs(exact[face])
