"""Every builder on every awkward mesh: the tree is valid, holds the mesh, answers right, and is the same every time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boxwood as bw
from boxwood._arrays import rays as as_rays
from boxwood.build.binned import Binned
from boxwood.build.choose import BUILDERS, QUALITIES, build_tree
from boxwood.build.construct import GRAIN, construct
from boxwood.build.linear import sorted_by_curve, sorted_keys
from boxwood.build.records import bounds_of, make_frame, make_records
from boxwood.build.sweep import Sweep, sorted_by_axis
from boxwood.layout import CHILDREN, FRAME_SCALE, RECORD_FLOATS
from boxwood.query.brute_force import closest_hit_brute_force
from boxwood.tree.binary_tree import MAX_DEPTH
from worlds import DTYPES, SOUPS, aimed_rays, icosphere, some, soup_mesh, soups

small = pytest.mark.small
builders = pytest.mark.parametrize("builder", BUILDERS)
dtypes = pytest.mark.parametrize("dtype", DTYPES)
compiled_only = pytest.mark.skipif(some(False, True), reason="too many triangles for interpreted kernels")


def concentric(n):
    """All have the same centroid of their boxes."""
    size = np.arange(1.0, n + 1)[:, None, None]
    return size * np.array([[-1, -1, -1], [1, 1, 1], [-1, 1, 0.5]])


def copies(n):
    return np.tile([[[0.0, 0, 0], [1, 2, 0], [0, 1, 1]]], (n, 1, 1))


def powers(n):
    """Each half as far from the origin and half as large as the one before it: trees by position become chains.

    It ends where the products of coordinates would vanish in float64.
    """
    return 0.5 ** np.minimum(np.arange(n), 400)[:, None, None] * np.array([[1.0, 0, 0], [1.25, 0.25, 0], [1, 0, 0.25]])


def flat(n):
    """In one plane across an axis, so that all boxes are flat."""
    rng = np.random.default_rng(n)
    corners = rng.uniform(-1, 1, (n, 1, 3)) + rng.uniform(-0.1, 0.1, (n, 3, 3))
    corners[..., 1] = 0.3
    return corners


def in_a_row(n):
    """Sorted already, with equal steps, as meshes of tools often are."""
    return np.arange(n)[:, None, None] * [1.0, 0, 0] + np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])


def needle(n):
    """A triangle as long as the mesh among small ones."""
    corners = SOUPS["uniform"](np.random.default_rng(n), n) * [1, 0.01, 0.01]
    corners[0] = [[-2, 0, 0], [2, 0, 0], [0, 1e-6, 0]]
    return corners


AWKWARD = {kind.__name__: kind for kind in (concentric, copies, powers, flat, in_a_row, needle)}
AWKWARD |= {name: lambda n, kind=kind: kind(np.random.default_rng(n), n) for name, kind in SOUPS.items()}


def mesh_of(corners, dtype):
    corners = np.asarray(corners).reshape(-1, 3)
    return bw.Mesh(corners.astype(dtype), np.arange(len(corners)).reshape(-1, 3))


def check(mesh):
    """The tree is sound and finds what no tree would find."""
    mesh.validate()
    batch = aimed_rays(mesh, 5, some(200, 20), mesh.dtype)
    hits = mesh.raycast(*batch)
    wanted = closest_hit_brute_force(mesh.tree, as_rays(*batch, 0.0, math.inf, mesh.dtype))
    np.testing.assert_array_equal(hits.t_hit, wanted[0])
    np.testing.assert_array_equal(hits.primitive_ids, wanted[1])


@small
@builders
@dtypes
@pytest.mark.parametrize("kind", AWKWARD)
def test_awkward_meshes(builder, dtype, kind):
    for n in (1, 2, 5, 8, some(700, 30)):
        mesh = mesh_of(AWKWARD[kind](n), dtype).build(builder)
        assert mesh.statistics().triangles + mesh.statistics().degenerate == n
        check(mesh)


@small
@given(soup=soups(), builder=st.sampled_from(BUILDERS), dtype=st.sampled_from(DTYPES), leaf_size=st.integers(1, 60))
def test_soups(soup, builder, dtype, leaf_size):
    check(soup_mesh(*soup, dtype).build(builder, leaf_size=leaf_size, bins=4 + leaf_size))


@small
@builders
@pytest.mark.parametrize(
    ("dtype", "scale", "offset"),
    [
        (np.float32, 1e-38, 0),
        (np.float32, 1.7e38, 0),
        (np.float32, 1, 1e6),
        (np.float64, 1e-300, 0),
        (np.float64, 8e307, 0),
        (np.float64, 1e-3, 1e9),
    ],
)
def test_coordinates_of_any_size(builder, dtype, scale, offset):
    mesh = soup_mesh("uniform", 3, some(300, 30), dtype, scale=scale, offset=offset).build(builder)
    mesh.validate()
    assert mesh.statistics().degenerate == 0 or offset
    finest = np.isfinite(mesh.tree.nodes.reshape(-1, 64)[:, :24]).sum()
    assert finest == 3 * (mesh.statistics().nodes - 1 + mesh.statistics().leaves)


@small
@builders
@dtypes
def test_nothing_to_hold(builder, dtype):
    empty = bw.Mesh(np.empty((0, 3), dtype), np.empty((0, 3), np.int32)).build(builder)
    points = bw.Mesh(np.ones((4, 3), dtype), [[0, 1, 2], [3, 3, 3], [0, 0, 1]]).build(builder)
    lines = bw.Mesh(np.arange(12).reshape(4, 3).astype(dtype), [[0, 1, 2], [3, 3, 1]]).build(builder)
    for mesh, left_out in ((empty, 0), (points, 3), (lines, 2)):
        mesh.validate()
        assert mesh.statistics().triangles == 0
        assert mesh.statistics().degenerate == left_out
        assert not mesh.raycast([0, 0, 0], [1, 1, 1]).hit


@compiled_only
@builders
def test_a_million_copies(builder):
    mesh = mesh_of(copies(1_000_000), np.float32).build(builder)
    mesh.tree.validate()
    assert mesh.statistics().blocks == 250_000  # all full
    assert mesh.raycast([0.3, 1, 5], [0, 0, -1]).primitive_ids == 0


@small
@builders
@dtypes
def test_depth_is_bounded(builder, dtype):
    n = 100 if dtype == np.float32 else 400
    corners = powers(n)
    for order in (slice(None), slice(None, None, -1), np.random.default_rng(1).permutation(n)):
        mesh = mesh_of(corners[order], dtype).build(builder, leaf_size=1)
        mesh.tree.validate()
        assert mesh.tree.depth <= MAX_DEPTH


@compiled_only
def test_depth_is_bounded_where_every_cut_takes_one_record():
    # midpoint and linear peel one triangle off at a time until the bound forces halves
    corners = np.concatenate([powers(100), np.full((50_000, 1, 1), 0.5**100) * copies(50_000)])
    for builder in BUILDERS:
        mesh = mesh_of(corners, np.float64).build(builder, leaf_size=1)
        mesh.tree.validate()


@small
@builders
@pytest.mark.parametrize("leaf_size", [1, 2, 3, 4, 5, 8, 13, 60])
def test_leaves_hold_no_more_than_asked(builder, leaf_size):
    mesh = soup_mesh("clustered", 4, some(2000, 80), np.float32).build(builder, leaf_size=leaf_size)
    assert len(mesh.statistics().leaf_sizes) <= leaf_size + 1
    mesh.validate()


@compiled_only
@builders
def test_trees_do_not_depend_on_threads(builder):
    mesh = soup_mesh("many_scales", 6, 5 * GRAIN, np.float32)
    trees = [build_tree(mesh.vertices, mesh.faces, builder, threads=threads) for threads in (1, 2, 3, 7)]
    for tree in trees[1:]:
        for one, other in zip(trees[0].arrays, tree.arrays, strict=True):
            np.testing.assert_array_equal(one, other)
    trees[0].validate()


@compiled_only
@pytest.mark.parametrize("cut", ["binned", "linear"])
def test_single_nodes_above_subtrees_may_have_leaves(cut):
    # a few triangles far from a crowd make leaves among the children of the root
    crowd = SOUPS["uniform"](np.random.default_rng(1), 3 * GRAIN) * 1e-3
    few = SOUPS["uniform"](np.random.default_rng(2), 9) * 1e-3 + np.repeat(np.diag([1.0, 2, 3]), 3, axis=0)[:, None]
    mesh = mesh_of(np.concatenate([few, crowd]), np.float32).build(cut)
    mesh.validate()
    children = mesh.tree.nodes.view(np.int32)[CHILDREN : CHILDREN + 8]
    assert children.min() < 0 < children.max()


@small
@builders
def test_progress(builder):
    told = []
    n = some(3 * GRAIN, 50)
    soup_mesh("uniform", 1, n, np.float32).build(builder, progress=lambda done, total: told.append((done, total)))
    done = [number for number, _ in told]
    assert {total for _, total in told} == {n}
    assert done == sorted(done)
    assert done[-1] == n


@small
def test_qualities_name_builders():
    mesh = soup_mesh("uniform", 1, some(200, 20), np.float32)
    for quality, builder in QUALITIES.items():
        by_quality, by_name = mesh.build(quality=quality).tree, mesh.build(builder).tree
        assert by_quality.builder == by_name.builder == builder
        np.testing.assert_array_equal(by_quality.ids, by_name.ids)
    assert mesh.build().tree.builder == QUALITIES["medium"]


@small
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"builder": "sah"}, "builder must be one of 'midpoint'.*'sah'"),
        ({"quality": "best"}, "quality must be one of 'low'.*'best'"),
        ({"builder": "binned", "quality": "low"}, "a builder or a quality"),
        ({"bins": 3}, "bins must be an integer from 4 to 64, not 3"),
        ({"bins": 65}, "bins must be an integer from 4 to 64, not 65"),
        ({"leaf_size": 0}, "leaf_size must be an integer from 1 to 60, not 0"),
        ({"leaf_size": 61}, "leaf_size must be an integer from 1 to 60, not 61"),
        ({"threads": 0}, "threads must be an integer of at least 1, not 0"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        soup_mesh("uniform", 1, 5, np.float32).build(**options)


# Records


def records_of(mesh):
    lower, upper = bounds_of(mesh.vertices)
    frame = make_frame(lower, upper, mesh.dtype)
    return make_records(mesh.vertices, mesh.faces, frame), frame


@small
@dtypes
@pytest.mark.parametrize("kind", SOUPS)
def test_records_are_tight_boxes_rounded_outward(dtype, kind):
    mesh = soup_mesh(kind, 8, some(500, 40), dtype, offset=3.0)
    records, frame = records_of(mesh)
    ids = records.view(np.int32)[3::RECORD_FLOATS]
    corners = mesh.vertices[mesh.faces[ids]] * dtype(frame[FRAME_SCALE]) - frame[:3]
    rows = records.reshape(-1, RECORD_FLOATS).astype(float)
    low, high = corners.min(axis=1), corners.max(axis=1)
    assert np.all(-rows[:, :3] <= low)
    assert np.all(rows[:, 4:7] >= high)
    np.testing.assert_allclose(-rows[:, :3], low, atol=3e-7)
    np.testing.assert_allclose(rows[:, 4:7], high, atol=3e-7)
    assert np.all(rows[:, 7] == 0)


@small
@dtypes
def test_vertices_of_no_face_do_not_coarsen_boxes(dtype):
    vertices, faces = icosphere(2)
    plain = bw.Mesh(vertices.astype(dtype), faces)
    stray = bw.Mesh(np.append(vertices, [[1e6, -1e9, 3e7]], axis=0).astype(dtype), faces)
    stray.validate()
    np.testing.assert_array_equal(plain.tree.frame, stray.tree.frame)
    np.testing.assert_array_equal(plain.tree.nodes, stray.tree.nodes)


@small
def test_bounds_of_any_number_of_vertices():
    rng = np.random.default_rng(0)
    for n in (1, 3, 63, 64, 65, 640, 1001):
        vertices = rng.normal(size=(n, 3))
        lower, upper = bounds_of(vertices)
        np.testing.assert_array_equal(lower, vertices.min(axis=0))
        np.testing.assert_array_equal(upper, vertices.max(axis=0))


# Quality


def half_area(lower, upper):
    x, y, z = upper - lower
    return x * y + y * z + z * x


def reference_cost(lower, upper):
    """The cost of a binary tree over boxes by the exact greedy sweep, in plain NumPy: areas of leaves of up to four."""
    if len(lower) <= 4:
        return half_area(lower.min(axis=0), upper.max(axis=0))
    best = (np.inf, None, None)
    for axis in range(3):
        order = np.argsort(lower[:, axis] + upper[:, axis], kind="stable")
        for i in range(1, len(order)):
            left, right = order[:i], order[i:]
            cost = sum(
                half_area(lower[part].min(axis=0), upper[part].max(axis=0)) * -(-len(part) // 4)
                for part in (left, right)
            )
            if cost < best[0] * (1 - 1e-6):
                best = (cost, left, right)
    return sum(reference_cost(lower[part], upper[part]) for part in best[1:])


def leaf_areas(binary):
    """The sum of the half areas of a binary tree's leaves."""
    nodes, links, total, pending = binary.nodes, binary.nodes.view(np.int32), 0.0, [0]
    while pending:
        place = pending.pop() * RECORD_FLOATS
        if links[place + 7] < 0:
            pending += [links[place + 3], links[place + 3] + 1]
        else:
            total += half_area(-nodes[place : place + 3].astype(float), nodes[place + 4 : place + 7].astype(float))
    return total


@small
@pytest.mark.parametrize("kind", ["uniform", "clustered", "slivers", "line"])
def test_sweep_is_the_exact_greedy_sweep_and_bins_come_near_it(kind):
    records, _ = records_of(soup_mesh(kind, 9, some(150, 40), np.float32))
    rows = records.reshape(-1, RECORD_FLOATS).astype(float)
    wanted = reference_cost(-rows[:, :3], rows[:, 4:7])
    swept = leaf_areas(construct(Sweep(sorted_by_axis(records)), records.copy(), 4))
    assert swept == pytest.approx(wanted, rel=0.02)  # of equal cuts, rounding may take another
    binned = leaf_areas(construct(Binned(64), records.copy(), 4))
    assert binned < 1.15 * wanted


@compiled_only
def test_builders_rank_as_they_should():
    mesh = bw.Mesh(*icosphere(5))
    cost = {builder: mesh.build(builder).statistics().sah_cost for builder in BUILDERS}
    assert cost["sweep"] < 1.02 * cost["binned"]
    assert cost["binned"] < cost["linear"]
    assert cost["binned"] < cost["median"]
    assert cost["binned"] < cost["midpoint"]


@small
@pytest.mark.parametrize("leaf_size", [1, 4, 12])
def test_wide_nodes_cost_the_least(leaf_size):
    """Against the same choice by plain recursion over the binary tree."""
    mesh = soup_mesh("clustered", 2, some(300, 60), np.float64)
    records, _ = records_of(mesh)
    binary = construct(Binned(16), records, leaf_size)
    links = binary.nodes.view(np.int32)
    with np.errstate(invalid="ignore"):  # integers among them, and nodes that are not used
        nodes = binary.nodes.astype(float)
    memory = {}

    def cost(node, places):
        place = node * RECORD_FLOATS
        if (node, places) not in memory:
            area = half_area(-nodes[place : place + 3], nodes[place + 4 : place + 7])
            count = links[place + 7]
            left = links[place + 3]
            options = [area * -(-abs(count) // 4)] if count > 0 or -count <= leaf_size else []
            if count < 0 and places == 1:
                options.append(area + min(cost(left, k) + cost(left + 1, 8 - k) for k in range(1, 8)))
            elif count < 0:
                options += [cost(left, k) + cost(left + 1, places - k) for k in range(1, places)] + [cost(node, 1)]
            memory[node, places] = min(options)
        return memory[node, places]

    statistics = build_tree(mesh.vertices, mesh.faces, leaf_size=leaf_size).statistics()
    root = half_area(-nodes[:3], nodes[4:7])
    assert statistics.sah_cost == pytest.approx(cost(0, 1) / root, rel=1e-4)


# Single builders


@small
def test_median_makes_full_blocks_and_the_shallowest_tree():
    for n in (64, some(4096, 256)):
        mesh = mesh_of(SOUPS["uniform"](np.random.default_rng(n), n), np.float32).build("median")
        assert mesh.statistics().blocks == n // 4
        assert mesh.tree.depth <= math.ceil(math.log(n / 4, 4)) + 1


@small
def test_symmetric_meshes_have_the_same_tree_at_any_size():
    vertices, faces = icosphere(2)
    for builder in ("binned", "sweep"):
        meshes = [bw.Mesh(vertices * size, faces).build(builder) for size in (1, 1.1, 3.7, 1e30)]
        assert len({(mesh.statistics().nodes, *mesh.statistics().leaf_sizes) for mesh in meshes}) == 1


def morton(cells, bits):
    """Bit by bit, x first."""
    places = [(axis, bit, 3 * bit + 2 - axis) for bit in range(bits) for axis in range(3)]
    return [sum(((int(cell[axis]) >> bit) & 1) << to for axis, bit, to in places) for cell in cells]


@small
@pytest.mark.parametrize("bits", [1, 11, 17])
def test_keys_are_morton_codes_in_order(bits):
    mesh = soup_mesh("uniform", 3, some(1000, 50), np.float32)
    records, frame = records_of(mesh)
    count = len(records) // RECORD_FLOATS
    lower, upper = bounds_of(mesh.vertices)
    reach = (upper - lower) / 2 * frame[FRAME_SCALE]
    keys = sorted_keys(records, reach, bits, 10, None)
    assert np.all(np.diff(keys) > 0)
    index = keys & 1023
    np.testing.assert_array_equal(np.sort(index), np.arange(count))
    rows = records.reshape(-1, RECORD_FLOATS)[index].astype(float)
    cells = (rows[:, 4:7] - rows[:, :3] + 2 * reach) / (4 * reach.max()) * 2**bits
    sure = np.all(np.abs(cells - np.round(cells)) > 2**bits * 1e-6, axis=1)
    codes = np.array(morton(np.minimum(cells, 2**bits - 1), bits))
    assert sure.mean() > 0.3
    np.testing.assert_array_equal((keys >> 10)[sure], codes[sure])


@small
def test_crowded_cells_get_longer_codes():
    n = some(3000, 100)
    crowd = SOUPS["uniform"](np.random.default_rng(3), n) * 1e-3
    records, frame = records_of(mesh_of(np.append(crowd, [[[1, 1, 1], [1, 1, 0], [0, 1, 1.0]]], axis=0), np.float32))
    keys, moved = sorted_by_curve(records, np.full(3, frame[FRAME_SCALE]))
    codes = keys >> n.bit_length()
    assert len(np.unique(codes)) > n / 2
    ids = moved.view(np.int32)[3::RECORD_FLOATS]
    np.testing.assert_array_equal(np.sort(ids), np.arange(n + 1))


def test_real_meshes(shared):
    trimesh = pytest.importorskip("trimesh")
    for name in ("npm-bunny/bunny.ply", "manifold/test/models/Cray_right.obj", "manifold/test/models/Cray_left.obj"):
        path = shared / name
        if not path.exists():
            continue
        loaded = trimesh.load(path, process=False, force="mesh")
        with np.errstate(over="ignore"):
            finite = np.isfinite(loaded.vertices.astype(np.float32)).all()
        for builder in BUILDERS:
            for dtype in DTYPES if finite else DTYPES[1:]:
                bw.Mesh(loaded.vertices.astype(dtype), loaded.faces).build(builder).validate()
