"""How two triangles lie to each other, against rational arithmetic, and what is known of real pairs."""

from __future__ import annotations

import json
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boxwood as bw
import triangle_oracle as oracle
from boxwood import Relation
from boxwood._jit import kernel
from boxwood.geometry.predicates import EXPANSION_ROOM
from boxwood.geometry.triangle_segment import MOST_CORNERS, overlap_of
from boxwood.geometry.triangle_triangle import neighbour_relation
from worlds import some

DISJOINT, TOUCH, CROSS, COPLANAR = Relation


@kernel
def judge_neighbours(triangles, pairs, relations):
    """`neighbour_relation` of pairs of rows of triangles (n, 9)."""
    room = np.empty(EXPANSION_ROOM, np.float64)
    for n in range(len(pairs)):
        t, u = triangles[pairs[n, 0]], triangles[pairs[n, 1]]
        p, q, r = (t[0], t[1], t[2]), (t[3], t[4], t[5]), (t[6], t[7], t[8])
        a, b, c = (u[0], u[1], u[2]), (u[3], u[4], u[5]), (u[6], u[7], u[8])
        relations[n] = neighbour_relation(p, q, r, a, b, c, room)


@kernel
def corners_of_overlap(t, u, points):
    room = np.empty(EXPANSION_ROOM, np.float64)
    p, q, r = (t[0], t[1], t[2]), (t[3], t[4], t[5]), (t[6], t[7], t[8])
    a, b, c = (u[0], u[1], u[2]), (u[3], u[4], u[5]), (u[6], u[7], u[8])
    return overlap_of(p, q, r, a, b, c, points, room)


def relations_of_neighbours(first, second):
    triangles = np.concatenate([first, second]).reshape(-1, 9).astype(float)
    relations = np.empty(len(first), np.int8)
    judge_neighbours(triangles, np.arange(2 * len(first)).reshape(2, -1).T.copy(), relations)
    return relations


def overlap(first, second):
    points = np.full((MOST_CORNERS, 3), np.nan)
    number = corners_of_overlap(np.ravel(first).astype(float), np.ravel(second).astype(float), points)
    return points[:number]


def orders(first, second):
    """The same pair in all 72 orders of triangles and corners."""
    for one, two in ((first, second), (second, first)):
        for i in permutations(range(3)):
            for k in permutations(range(3)):
                yield one[list(i)], two[list(k)]


def grid(rng, count, size):
    return rng.integers(0, size + 1, (2, count, 3, 3)).astype(float)


def ends(first, second):
    points = oracle.intersection(first, second)
    pair = oracle.ends_of(points) if len(points) > 1 else points * 2
    return np.array([[float(x) for x in point] for point in pair])


def assert_segment(segment, relation, first, second):
    """The segment is where the exact one is, up to rounding, and in both boxes."""
    if relation == DISJOINT:
        assert np.isnan(segment).all()
        return
    for triangle in (first, second):
        assert (segment >= triangle.min(axis=0)).all()
        assert (segment <= triangle.max(axis=0)).all()
    exact, tiny = ends(first, second), 1e-14 * max(np.abs(first).max(), np.abs(second).max())
    if relation == COPLANAR:
        assert np.linalg.norm(segment[1] - segment[0]) == pytest.approx(np.linalg.norm(exact[1] - exact[0]), abs=tiny)
    else:
        assert min(np.abs(segment - exact).max(), np.abs(segment - exact[::-1]).max()) <= tiny


small = pytest.mark.small
corner = st.tuples(*[st.integers(0, 2)] * 3)
triangle = st.tuples(corner, corner, corner).map(lambda corners: np.array(corners, float))


@small
@given(triangle, triangle)
def test_any_pair_on_a_grid(first, second):
    wanted = oracle.relation(first, second)
    found = bw.triangle_relations(first, second)
    assert found.relations == wanted
    assert_segment(found.segments, wanted, first, second)


@small
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_pairs_on_grids(size):
    """So coarse that every kind of contact and of degeneration is among them."""
    first, second = grid(np.random.default_rng(size), some(600, 25), size)
    found = bw.triangle_relations(first, second)
    for i, wanted in enumerate(map(oracle.relation, first, second)):
        assert found.relations[i] == wanted, (first[i].tolist(), second[i].tolist())
        assert_segment(found.segments[i], wanted, first[i], second[i])
    if size < 3:
        assert set(found.relations.tolist()) >= {DISJOINT, TOUCH, CROSS}


@small
@pytest.mark.parametrize("size", [1, 2, 4])
def test_order_does_not_matter(size):
    rng = np.random.default_rng(size)
    for first, second in zip(*grid(rng, some(60, 2), size), strict=True):
        same = [np.stack(pair) for pair in zip(*orders(first, second), strict=True)]
        assert len(np.unique(bw.triangle_relations(*same).relations)) == 1


@small
@pytest.mark.parametrize("seed", range(3))
def test_a_bit_beside_contact(seed):
    """Corners moved by single bits away from vertices, edges and faces of the other triangle."""
    rng = np.random.default_rng(seed)
    kinds = set()
    for _ in range(some(300, 40)):
        first = rng.normal(size=(3, 3))
        second = rng.normal(size=(3, 3))
        for k in range(rng.integers(1, 4)):
            weights = rng.integers(0, 3, 3) + 0.0
            weights = weights / weights.sum() if weights.any() else np.ones(3) / 3
            second[k] = weights @ first
            if rng.random() < 0.7:
                second[k] = np.nextafter(second[k], second[k] + rng.integers(-1, 2, 3))
        wanted = oracle.relation(first, second)
        kinds.add(wanted)
        assert bw.triangle_relations(first, second).relations == wanted
        assert bw.triangle_relations(second[::-1], first).relations == wanted
    assert len(kinds) >= 3


@small
@pytest.mark.parametrize("power", [-1020, -700, -306, -150, 100, 127, 300, 1000, 1020])
def test_any_size(power):
    """A common power of two changes nothing."""
    first, second = np.random.default_rng(1).normal(size=(2, 60, 3, 3))
    first[:20], second[:20] = np.floor(first[:20] * 2), np.floor(second[:20] * 2)
    wanted = bw.triangle_relations(first, second)
    found = bw.triangle_relations(np.ldexp(first, power), np.ldexp(second, power))
    assert np.array_equal(found.relations, wanted.relations)
    if power > -900:
        assert np.array_equal(found.segments, np.ldexp(wanted.segments, power), equal_nan=True)


@small
def test_the_largest_of_float32():
    largest = np.finfo(np.float32).max
    floor = np.array([[-1, -1, 0], [1, -1, 0], [0, 1, 0]], np.float32) * largest
    wall = np.array([[0, 0, -1], [0, 0, 1], [1, 0, 1]], np.float32) * largest
    found = bw.triangle_relations(floor, wall)
    assert found.relations == CROSS
    assert found.segments.dtype == np.float32
    assert np.isfinite(found.segments).all()


@small
def test_segments_run_along_the_cross_product_of_normals():
    first, second = np.random.default_rng(4).normal(size=(2, 200, 3, 3))
    found = bw.triangle_relations(first, second)
    across = found.relations == CROSS
    normals = [np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0]) for t in (first[across], second[across])]
    along = np.sum(np.cross(*normals) * (found.segments[across, 1] - found.segments[across, 0]), axis=-1)
    assert across.sum() > 20
    assert (along > 0).all()


@small
def test_nearly_parallel_planes_keep_segments_in_boxes():
    rng = np.random.default_rng(6)
    first = rng.normal(size=(some(300, 20), 3, 3))
    second = first + rng.integers(-2, 3, first.shape) * np.spacing(np.abs(first))
    found = bw.triangle_relations(first, second)
    assert np.isfinite(found.segments[found.meet]).all()
    for t in (first, second):
        assert (found.segments[found.meet] >= t.min(axis=1)[found.meet, None]).all()
        assert (found.segments[found.meet] <= t.max(axis=1)[found.meet, None]).all()
    for i in range(0, len(first), 5):
        assert found.relations[i] == oracle.relation(first[i], second[i])


@small
@pytest.mark.parametrize("size", [2, 4])
def test_overlaps_of_an_area(size):
    """Corners of the exact polygon, turning as the first triangle does."""
    rng = np.random.default_rng(size)
    sizes = set()
    for _ in range(some(300, 200)):
        pair = rng.integers(0, size + 1, (2, 3, 2))
        tilt = np.array([[1, 0, 1], [0, 1, 2]])
        first, second = pair @ tilt
        points = overlap(first, second)
        exact = {tuple(float(x) for x in point) for point in oracle.intersection(first, second)}
        if oracle.relation(first, second) == COPLANAR:
            sizes.add(len(points))
            normal = np.cross(first[1] - first[0], first[2] - first[0])
            edges = np.roll(points, -1, axis=0) - points
            turns = np.cross(edges, np.roll(edges, -1, axis=0)) @ normal
            assert (turns > -1e-9).all()
            around = np.cross(points, np.roll(points, -1, axis=0)).sum(axis=0) / 2
            assert np.linalg.norm(around) == pytest.approx(area_of(exact, normal), abs=1e-12)
        elif exact:
            assert np.ptp(points, axis=0) == pytest.approx(np.ptp(list(exact), axis=0), abs=1e-14)
    assert len(sizes) > 1


def area_of(points, normal):
    """Of the hull of points in a plane, by the angles around their middle."""
    points = np.array(list(points))
    middle = points.mean(axis=0)
    first = points[0] - middle
    second = np.cross(normal, first)
    angles = np.arctan2(
        (points - middle) @ second / np.linalg.norm(second), (points - middle) @ first / np.linalg.norm(first)
    )
    ring = points[np.argsort(angles)] - middle
    return np.linalg.norm(np.cross(ring, np.roll(ring, -1, axis=0)).sum(axis=0)) / 2


@small
@pytest.mark.parametrize("shared", [0, 1, 2, 3])
def test_neighbours_on_a_grid(shared):
    rng = np.random.default_rng(shared)
    first, second = grid(rng, some(900, 60), 2)
    for t, u in zip(first, second, strict=True):
        u[rng.permutation(3)[:shared]] = t[rng.permutation(3)[:shared]]
    proper = [
        oracle.has_area(oracle.exact(t)) and oracle.has_area(oracle.exact(u))
        for t, u in zip(first, second, strict=True)
    ]
    first, second = first[proper], second[proper]
    found = relations_of_neighbours(first, second)
    wanted = [oracle.relation_of_neighbours(t, u) for t, u in zip(first, second, strict=True)]
    assert found.tolist() == wanted
    assert set(wanted) >= ([{DISJOINT, TOUCH, CROSS}, {DISJOINT, TOUCH}, {DISJOINT, COPLANAR}, {COPLANAR}][shared])
    for t, u in zip(first[: some(30, 1)], second[: some(30, 1)], strict=True):
        same = [np.stack(pair) for pair in zip(*orders(t, u), strict=True)]
        assert len(np.unique(relations_of_neighbours(*same))) == 1


@small
def test_neighbours_of_every_kind():
    flat = np.array([[0, 0, 0], [2, 0, 0], [0, 2, 0]], float)
    corner, edge = flat[0], flat[:2]
    for other, wanted in (
        ([corner, [-1, -1, 0], [0, -1, 0]], DISJOINT),
        ([corner, [1, 1, 0], [1, 2, 5]], TOUCH),  # an edge from the corner on along the face
        ([corner, [1, 0, 0], [1, -1, 0]], TOUCH),  # along half an edge
        ([corner, [1, 0, 0], [1, 1, 0]], COPLANAR),
        ([corner, [1, 1, 1], [1, 1, -1]], CROSS),
        ([corner, [-1, -1, 1], [-1, -1, -1]], DISJOINT),
        ([*edge, [1, 1, 1]], DISJOINT),
        ([*edge, [1, -1, 0]], DISJOINT),
        ([*edge, [1, 0.5, 0]], COPLANAR),
        (flat[[2, 0, 1]], COPLANAR),
        ([[0.5, 0.5, -1], [0.5, 0.5, 1], [9, 9, 9]], CROSS),
    ):
        assert relations_of_neighbours([flat], [other]) == wanted


MEET_IN_DECIMALS = {"Segment-point intersection true", "Segment-segment intersection true"}
"""Whose coordinates, rounded to binary, are of sets that miss each other by a last bit."""


@small
@pytest.mark.parametrize("name", ["cgal_cases.json", "three_mesh_bvh_cases.json"])
def test_pairs_of_other_libraries(shared, name):
    """Values of CGAL's and three-mesh-bvh's tests; where a segment is expected it may be crossed or touched."""
    cases = json.loads((shared / "tri-tri" / name).read_text())["cases"]
    expected = {
        "empty": {DISJOINT},
        "point": {TOUCH},
        "segment": {TOUCH, CROSS},
        "triangle": {COPLANAR},
        "polygon": {COPLANAR},
    }
    for case in cases:
        first, second = np.array(case["t1"]), np.array(case["t2"])
        if case["name"] in MEET_IN_DECIMALS:
            assert oracle.relation(first, second) == DISJOINT
            continue
        for one, two in ((first, second), (second, first)):
            found = bw.triangle_relations(one, two)
            assert found.meet == case["intersects"], case["name"]
            if case.get("kind"):
                assert found.relations in expected[case["kind"]], case["name"]
            if case.get("kind") == "point":
                assert np.allclose(*found.segments, rtol=0, atol=1e-12), case["name"]
            if case.get("polygon_size"):
                assert len(overlap(one, two)) == case["polygon_size"], case["name"]


@pytest.mark.parametrize(
    "name",
    [
        "fcl/env.obj",
        "fcl/rob.obj",
        "recast/Meshes/dungeon.obj",
        "manifold/test/models/self_intersectA.obj",
        "manifold/test/models/Generic_Twin_7863.1.t0_left.obj",
        "moveit/panda_description/meshes/visual/hand.dae",
        "trimesh/angle_block.STL",
        "npm-bunny/bunny.ply",
        "manifold/test/models/Cray_right.obj",
    ],
)
def test_self_intersections_that_cgal_counted(shared, name):
    """The same count, but for neighbours folded flat upon each other: CGAL compares rounded planes there and misses
    some, which rational arithmetic confirms here."""
    mesh = bw.load(shared / name)
    places, faces = np.unique(np.asarray(mesh.vertices, float), axis=0, return_inverse=True)
    faces = faces.reshape(-1)[mesh.faces]
    faces = faces[[len(set(face)) == 3 for face in faces.tolist()]]
    triangles = places[faces]
    pairs = bw.BoxTree(triangles.min(axis=1), triangles.max(axis=1)).pairs()
    relations = np.empty(len(pairs), np.int8)
    judge_neighbours(triangles.reshape(-1, 9).copy(), pairs, relations)
    found = pairs[relations != DISJOINT]
    shared_corners = np.array([len(set(faces[i].tolist()) & set(faces[k].tolist())) for i, k in found.tolist()], int)
    folded = found[shared_corners == 2]
    for i, k in folded.tolist():
        assert oracle.relation_of_neighbours(triangles[i], triangles[k]) == COPLANAR
    counted = json.loads((shared / "facts.json").read_text())[name]["si"]
    others = np.count_nonzero(shared_corners < 2)
    assert others <= counted <= others + len(folded)
