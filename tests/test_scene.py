"""Scenes: whatever is added, moved and removed, answers are those of each instance asked alone."""

from __future__ import annotations

import copy
import doctest
import pickle
import re
import threading
import tracemalloc

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import boxwood as bw
import boxwood.scene
import boxwood.scene_collisions
import boxwood.scene_rays
import boxwood.scene_results
import scene_oracle as oracle
from boxwood.build.world_boxes import outline
from scene_oracle import Model, random_model, some_meshes, some_transforms
from worlds import INTERPRETED, cube, icosphere, some, soup_mesh, tetrahedron

SEEDS = range(some(6, 2))
FLAT = bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])


def shifts(*offsets):
    matrices = np.tile(np.eye(4), (len(offsets), 1, 1))
    matrices[:, :3, 3] = offsets
    return matrices


def some_rays(model, seed, count, spread=3.0):
    """At corners, edges and insides of faces of all instances, and anywhere."""
    rng = np.random.default_rng([seed, 7])
    targets = rng.uniform(-spread, spread, (count, 3))
    full = [one for one in model.held.values() if len(one[0].tree.ids)]
    for i in range(0, count if full else 0, 2):
        mesh, matrix, _ = full[rng.integers(0, len(full))]
        _, corners = oracle.moved_corners(mesh, matrix)
        targets[i] = rng.dirichlet([1, 1, 1]) @ corners[rng.integers(0, len(corners))]
    directions = rng.normal(size=(count, 3)) * 10.0 ** rng.uniform(-2, 2, (count, 1))
    lattice = rng.integers(0, 3, count) == 0
    directions[lattice] = np.eye(3)[rng.integers(0, 3, lattice.sum())] * rng.choice([-1, 1], (lattice.sum(), 1))
    targets[lattice] = np.round(targets[lattice] * 4) / 4
    return targets - directions * rng.uniform(0, 4, (count, 1)), directions


def assert_rays(model, origins, directions, **options):
    scene = model.scene
    wanted = oracle.first_hits(model, origins, directions, **options)
    hits = scene.raycast(origins, directions, **options)
    found = zip(hits.t_hit, hits.instance_ids, hits.primitive_ids, *hits.uvs.T, strict=True)
    np.testing.assert_array_equal(np.array(list(found)), np.array(wanted))
    assert (hits.hit == np.isfinite(hits.t_hit)).all()
    np.testing.assert_array_equal(scene.occluded(origins, directions, **options), hits.hit)
    every = oracle.every_hit(model, origins, directions, **options)
    assert listed(scene.raycast_all(origins, directions, **options)) == every
    numbers = np.bincount([row[0] for row in every], minlength=len(origins))
    np.testing.assert_array_equal(scene.count_hits(origins, directions, **options), numbers)


def listed(hits):
    arrays = hits.ray_ids, hits.t_hit, hits.instance_ids, hits.primitive_ids, *hits.uvs.T
    return list(zip(*(array.tolist() for array in arrays), strict=True))


def assert_collisions(model, **options):
    wanted = oracle.collisions(model)
    pairs = model.scene.collisions(**options).pairs
    assert pairs.tolist() == [list(pair) for pair in wanted]
    found = model.scene.collisions(faces=True, **options)
    assert found.pairs.tolist() == pairs.tolist()
    for each, rows in zip(found, wanted.values(), strict=True):
        assert [(*pair, relation) for pair, relation in zip(each.pairs.tolist(), each.relations, strict=True)] == rows


def test_examples_in_docstrings():
    for module in (boxwood.scene, boxwood.scene_rays, boxwood.scene_collisions, boxwood.scene_results):
        found = doctest.testmod(module)
        assert found.attempted > 0
        assert found.failed == 0


# Rays


@pytest.mark.small
@pytest.mark.parametrize("seed", SEEDS)
def test_rays_are_those_of_each_instance_alone(seed):
    model = random_model(seed, some(6, 3))
    origins, directions = some_rays(model, seed, some(200, 12))
    assert_rays(model, origins, directions)
    for options in (
        {"mask": 1},
        {"mask": 2, "cull": "back"},
        {"cull": "front", "t_min": 0.5, "t_max": 2.0},
        {"t_min": -3.0},
    ):
        assert_rays(model, origins, directions, **options)
    model.scene.validate()


@pytest.mark.parametrize("seed", range(2))
def test_many_instances_and_many_rays(seed):
    """More than a chunk of rays, with more boxes on each than a round takes."""
    model = random_model(seed, 60, some_meshes()[:3], spread=6.0)
    origins, directions = some_rays(model, seed, 5000, spread=6.0)
    assert_rays(model, origins, directions)


@pytest.mark.small
def test_first_hits_look_no_further():
    """A ray along a row of instances hits the first: those behind it cost it nothing."""
    scene = bw.Scene()
    scene.add(FLAT, shifts(*[[0, 0, -4 * i] for i in range(500)]))
    for ask in (scene.raycast, scene.occluded):
        counters = bw.Counters()
        ask([0.25, 0.25, 5], [0, 0, -1], counters=counters)
        assert (counters.queries, counters.hits) == (1, 1)
        assert counters.boxes_tested < 100
        assert counters.primitives_tested < 4
    assert scene.raycast([0.25, 0.25, 5], [0, 0, -1]).instance_ids == 0


@pytest.mark.small
@pytest.mark.parametrize("first", [0, 1])
def test_meshes_of_two_dtypes_in_one_place(first):
    """Each dtype takes a walk of its own; ties, progress and counters are those of one question all the same."""
    single = bw.Mesh(FLAT.vertices.astype(np.float32), FLAT.faces)
    scene = bw.Scene()
    scene.add((single, FLAT)[first], shifts([0, 0, 0], [0, 0, -1]), mask=3)
    scene.add((FLAT, single)[first], shifts([0, 0, 0], [0, 0, 1], [0, 0, -3]), mask=[1, 2, 1])
    origins, steps, counters = np.tile([0.25, 0.25, 5.0], (40, 1)), [], bw.Counters()
    hits = scene.raycast(
        origins, [0, 0, -1], mask=1, progress=lambda *step: steps.append(step), counters=counters, threads=1
    )
    assert (hits.t_hit == 5).all()
    assert (hits.instance_ids == 0).all()
    assert steps[-1] == (40, 40)
    assert sorted(steps) == steps
    assert (counters.queries, counters.hits) == (40, 40)
    assert (scene.raycast(origins, [0, 0, -1]).instance_ids == 3).all()
    assert scene.occluded(origins, [0, 0, -1], mask=2).all()
    assert not scene.occluded(origins, [0, 0, -1], mask=4).any()


@pytest.mark.small
def test_points_and_normals_are_in_the_world():
    model = random_model(3, 4, some_meshes()[:3])
    origins, directions = some_rays(model, 3, some(300, 40))
    hits = model.scene.raycast(origins, directions)
    assert 10 < hits.hit.sum() < len(origins)
    along = origins[hits.hit] + hits.t_hit[hits.hit, None] * directions[hits.hit]
    np.testing.assert_allclose(hits.points[hits.hit], along, atol=1e-9)
    assert np.isnan(hits.points[~hits.hit]).all()
    for i in np.flatnonzero(hits.hit):
        mesh, matrix, _ = model.held[int(hits.instance_ids[i])]
        a, b, c = mesh.vertices[mesh.faces[hits.primitive_ids[i]]].astype(float)
        normal = np.linalg.inv(matrix[:3, :3]).T @ np.cross(b - a, c - a)
        np.testing.assert_allclose(hits.normals[i], normal / np.linalg.norm(normal), atol=1e-9)
    for copied in (pickle.loads(pickle.dumps(hits)), copy.deepcopy(hits)):
        np.testing.assert_array_equal(copied.points, hits.points)
        np.testing.assert_array_equal(copied.normals, hits.normals)
    every = model.scene.raycast_all(origins, directions)
    row = int(np.argmax(np.diff(every.ray_splits)))
    for whole in (every, pickle.loads(pickle.dumps(every))):
        part = slice(whole.ray_splits[row], whole.ray_splits[row + 1])
        np.testing.assert_array_equal(whole[row].normals, every.normals[part])
        np.testing.assert_array_equal(whole[row].points, every.points[part])
        np.testing.assert_array_equal(list(whole)[row].instance_ids, every.instance_ids[part])


@pytest.mark.small
def test_hits_stay_as_they_were_when_the_scene_changes():
    scene = bw.Scene()
    one = scene.add(FLAT, shifts([0, 0, 1])[0])
    hits = scene.raycast([0.25, 0.25, 5], [0, 0, -1])
    scene.move(one, shifts([0, 0, 2])[0])
    assert hits.points.tolist() == [0.25, 0.25, 1.0]
    scene.remove(one)
    assert hits.points.tolist() == [0.25, 0.25, 1.0]


@pytest.mark.small
def test_of_equal_t_the_smallest_instance_wins_then_the_smallest_face():
    double = bw.Mesh(FLAT.vertices, [[0, 1, 2], [0, 1, 2]])
    scene = bw.Scene()
    scene.add(FLAT, shifts([9, 9, 9], [0, 0, -1], [0, 0, 0], [0, 0, 0]))
    scene.add(double, shifts([0, 0, 0]))
    scene.remove(2)
    hits = scene.raycast([0.25, 0.25, 5], [0, 0, -1])
    assert (hits.t_hit, hits.instance_ids, hits.primitive_ids) == (5.0, 3, 0)
    assert scene.add(double) == 2
    hits = scene.raycast([0.25, 0.25, 5], [0, 0, -1])
    assert (hits.instance_ids, hits.primitive_ids) == (2, 0)
    every = scene.raycast_all([0.25, 0.25, 5], [0, 0, -1])
    assert every.instance_ids.tolist() == [2, 2, 3, 4, 4, 1]
    assert every.primitive_ids.tolist() == [0, 1, 0, 0, 1, 0]


@pytest.mark.small
def test_fronts_stay_fronts_in_a_mirror():
    scene = bw.Scene()
    scene.add(bw.Mesh(*cube()), np.diag([-1.0, 1, 1, 1]))
    assert scene.raycast([5, 0.1, 0.2], [-1, 0, 0], cull="back").t_hit == pytest.approx(4)
    assert scene.raycast([5, 0.1, 0.2], [-1, 0, 0], cull="front").t_hit == pytest.approx(6)
    assert scene.raycast([5, 0.1, 0.2], [-1, 0, 0]).normals.tolist() == [1, 0, 0]


@pytest.mark.small
def test_shapes_and_dtypes():
    scene = bw.Scene()
    single = bw.Mesh(FLAT.vertices.astype(np.float32), FLAT.faces)
    scene.add(single)
    origins = np.zeros((2, 3, 3), np.float32) + np.float32([0.25, 0.25, 1])
    hits = scene.raycast(origins, np.float32([0, 0, -1]))
    assert hits.t_hit.dtype == hits.uvs.dtype == np.float32
    assert hits.t_hit.shape == hits.instance_ids.shape == (2, 3)
    assert hits.instance_ids.dtype == hits.primitive_ids.dtype == np.int64
    assert hits.points.shape == (2, 3, 3)
    assert scene.count_hits(origins, [0, 0, -1]).tolist() == [[1, 1, 1]] * 2
    assert scene.raycast(origins, [0.0, 0, -1]).t_hit.dtype == np.float64
    scene.add(FLAT, shifts([0, 0, 5]))
    assert scene.raycast(origins, np.float32([0, 0, -1])).t_hit.dtype == np.float64
    masks = np.array([[1, 2, 3], [4, 5, 6]])
    scene.remove(1)
    scene.add(FLAT, shifts([0, 0, 0.5]), mask=4)
    assert scene.raycast(origins, [0, 0, -1], mask=masks).t_hit.tolist() == [[1, 1, 1], [0.5, 0.5, 0.5]]
    assert scene.raycast(origins[0, 0], [0, 0, -1]).t_hit.shape == ()
    assert len(scene.raycast_all(np.zeros((0, 3)), np.zeros((0, 3)))) == 0


@pytest.mark.small
def test_far_and_large_and_small():
    """Instances at 1e7 and of sizes from 1e-9 to 1e9 are hit where they are."""
    scene = bw.Scene()
    ball = bw.Mesh(*icosphere(1))
    for power in range(-9, 10, 3):
        matrix = np.diag([10.0**power] * 3 + [1.0])
        matrix[:3, 3] = [1e7, -2e7, 10.0**power * 1000]
        scene.add(ball, matrix)
    for one in scene:
        matrix = scene.transform(one)
        hits = scene.raycast(matrix[:3, 3] + [0, 0, 3 * matrix[0, 0]], [0, 0, -matrix[0, 0]], mask=-1)
        assert hits.instance_ids == one or matrix[0, 0] < 1e-6
        assert abs(hits.t_hit - 2) < 0.6
    scene.validate()


# Collisions


@pytest.mark.small
@pytest.mark.parametrize("seed", SEEDS)
def test_collisions_are_those_of_all_pairs_of_faces(seed):
    assert_collisions(random_model(seed, some(8, 2), some_meshes(seed) if not INTERPRETED else some_meshes()[:2]))


@pytest.mark.small
def test_what_only_touches_collides():
    scene = bw.Scene()
    box = bw.Mesh(*cube())
    scene.add(box, shifts([0, 0, 0], [2, 0, 0], [4, 0, 0], [6, 2, 2], [8.5, 0, 0]))
    assert scene.collisions().pairs.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert scene.collisions(tolerance=0.5).pairs.tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]
    assert scene.collisions(tolerance=0.49).pairs.tolist() == [[0, 1], [1, 2], [2, 3]]
    near = scene.collisions(tolerance=2.5, faces=True)
    assert [0, 2] in near.pairs.tolist()
    assert (near[-1].relations == bw.Relation.TOUCH).all()
    moved = scene.transform(3)
    moved[:3, 3] += [0, 0, 2e-16 * 8]
    scene.move(3, moved)
    assert scene.collisions().pairs.tolist() == [[0, 1], [1, 2]]


@pytest.mark.small
def test_masks_decide_who_meets():
    scene = bw.Scene()
    scene.add(FLAT, shifts(*[[0, 0, 0]] * 4), mask=[0b01, 0b10, 0b11, 0])
    assert scene.collisions().pairs.tolist() == [[0, 2], [1, 2]]
    assert scene.intersects(FLAT, mask=0b10).tolist() == [1, 2]
    assert [scene.mask(i) for i in scene] == [1, 2, 3, 0]
    assert scene.mask([0, 2]).tolist() == [1, 3]


@pytest.mark.small
@pytest.mark.parametrize("seed", SEEDS)
def test_a_visiting_mesh_meets_what_it_would_as_an_instance(seed):
    model = random_model(seed, some(5, 2), some_meshes(seed)[: some(6, 2)])
    rng = np.random.default_rng(seed)
    for guest in some_meshes(seed)[: some(6, 2)]:
        matrices = some_transforms(rng, 3)
        rows = model.scene.intersects(guest, matrices, mask=3)
        found = model.scene.intersections(guest, matrices, mask=3)
        wanted = {}
        for row, matrix in enumerate(matrices):
            for one, (mesh, own, mask) in model.sorted():
                contacts = oracle.contacts((guest, matrix), (mesh, own)) if mask & 3 else []
                if contacts:
                    wanted[row, one] = contacts
        assert rows.pairs.tolist() == found.pairs.tolist() == [list(pair) for pair in wanted]
        for each, contacts in zip(found, wanted.values(), strict=True):
            told = zip(each.pairs.tolist(), each.relations.tolist(), strict=True)
            assert [(*pair, relation) for pair, relation in told] == contacts
        assert model.scene.intersects(guest, matrices[1], mask=3).tolist() == rows[1].tolist()


@pytest.mark.small
def test_relation_of_two_instances():
    scene = bw.Scene()
    box = bw.Mesh(*cube())
    scene.add(box, np.array([np.diag([s, s, s, 1.0]) for s in (1, 0.5, 3)]), mask=[1, 2, 4])
    scene.add(box, shifts([2, 0, 0], [1, 0, 0], [20, 0, 0]))
    told = [scene.relation(0, other) for other in range(1, 6)]
    assert told == ["contains", "inside", "touching", "crossing", "disjoint"]
    with pytest.raises(KeyError, match="no instance 6"):
        scene.relation(0, 6)


@pytest.mark.small
def test_segments_are_in_the_world():
    scene = bw.Scene()
    scene.add(FLAT, np.array([[0, 0, 2, 5], [2, 0, 0, 6], [0, 2, 0, 7], [0, 0, 0, 1.0]]))
    scene.add(FLAT, np.array([[0, 2, 0, 5], [2, 0, 0, 6], [0, 0, 2, 7.5], [0, 0, 0, 1.0]]))
    found = scene.collisions(faces=True)
    assert found.pairs.tolist() == [[0, 1]]
    assert sorted(found[0].segments[0].tolist()) == [[5, 6, 7.5], [5, 7.5, 7.5]]
    assert "1 pairs, 1 of faces" in repr(found)
    with pytest.raises(ValueError, match="faces=True"):
        scene.collisions()[0]
    with pytest.raises(IndexError, match="no pair 1 among 1"):
        found[1]


# Changes


class Changes(RuleBasedStateMachine):
    @initialize(seed=st.integers(0, 2**20))
    def begin(self, seed):
        self.rng, self.model = np.random.default_rng(seed), Model()
        self.meshes = some_meshes(seed)[: 2 if INTERPRETED else 6]

    def some_ids(self, part):
        ids = np.array(sorted(self.model.held), np.int64)
        return self.rng.permutation(ids)[: int(np.ceil(len(ids) * part))]

    @rule(which=st.integers(0, 5), count=st.sampled_from([0, 1, 4]))
    def add(self, which, count):
        mesh = self.meshes[which % len(self.meshes)]
        self.model.add(mesh, some_transforms(self.rng, count), self.rng.choice([1, 2, 3], count))

    @rule(which=st.integers(0, 5))
    def add_one(self, which):
        self.model.add(self.meshes[which % len(self.meshes)], some_transforms(self.rng, 1)[0], -1)

    @rule(part=st.sampled_from([0, 0.3, 1]))
    def move(self, part):
        ids = self.some_ids(part)
        self.model.move(ids, some_transforms(self.rng, len(ids)))

    @rule(part=st.sampled_from([0, 0.3, 0.6]))
    def remove(self, part):
        self.model.remove(self.some_ids(part))

    @rule(which=st.integers(0, 5))
    def refit(self, which):
        mesh = self.meshes[which % len(self.meshes)]
        mesh.refit(mesh.vertices * mesh.dtype.type(self.rng.choice([0.5, 2.0])))

    @rule()
    def reopen(self):
        self.model.scene = pickle.loads(pickle.dumps(self.model.scene))
        again = dict(zip(map(id, self.meshes), self.meshes, strict=True))
        assert len(again) == len(self.meshes)
        names = {}
        for one, (mesh, matrix, mask) in self.model.sorted():
            names.setdefault(id(mesh), self.model.scene.mesh(one))
            assert names[id(mesh)] is self.model.scene.mesh(one)
            self.model.held[one] = (self.model.scene.mesh(one), matrix, mask)
        self.meshes = [names.get(id(mesh), mesh) for mesh in self.meshes]

    @rule()
    def ask_collisions(self):
        assert_collisions(self.model)

    @rule(seed=st.integers(0, 99))
    def ask_rays(self, seed):
        assert_rays(self.model, *some_rays(self.model, seed, 12))

    @invariant()
    def is_sound(self):
        scene = self.model.scene
        scene.validate()
        assert scene.ids.tolist() == list(scene) == sorted(self.model.held)
        assert len(scene) == len(self.model.held)
        for one, (mesh, matrix, mask) in self.model.held.items():
            assert scene.mesh(one) is mesh
            assert np.array_equal(scene.transform(one), matrix)
            assert scene.mask(one) == mask


Changes.TestCase.settings = settings(max_examples=some(25, 3), stateful_step_count=some(20, 6), deadline=None)
TestChanges = pytest.mark.small(Changes.TestCase)


@pytest.mark.small
@given(st.integers(0, 2**20), st.integers(0, some(12, 3)))
def test_any_scene(seed, count):
    model = random_model(seed, count, some_meshes(seed)[:2])
    assert_rays(model, *some_rays(model, seed, 6))
    assert_collisions(model)
    model.scene.validate()


@pytest.mark.small
def test_trees_are_refitted_while_instances_move_and_rebuilt_when_they_scatter():
    rng = np.random.default_rng(5)
    scene = bw.Scene()
    places = np.stack(np.meshgrid(*[np.arange(6)] * 3), axis=-1).reshape(-1, 3) * 3.0
    ids = scene.add(bw.Mesh(*tetrahedron()), shifts(*places))
    scene.validate()
    for step in range(3):
        scene.move(ids, shifts(*places + rng.uniform(-0.1, 0.1, places.shape)))
        scene.validate()
        told = scene.statistics()
        assert (told.builds, told.refits) == (1, step + 1)
    scene.move(ids, shifts(*rng.permutation(places)))
    scene.validate()
    assert scene.statistics().builds == 2
    scene.remove(ids[:1])
    scene.validate()
    assert scene.statistics().builds == 3


@pytest.mark.small
def test_a_mesh_whose_vertices_move_moves_in_all_its_places():
    scene = bw.Scene()
    mesh = bw.Mesh(FLAT.vertices, FLAT.faces)
    scene.add(mesh, shifts([0, 0, 0], [5, 0, 0]))
    assert scene.raycast([5.25, 0.25, 9], [0, 0, -1]).t_hit == 9
    mesh.refit(mesh.vertices + [0, 0, 4])
    assert scene.raycast([5.25, 0.25, 9], [0, 0, -1]).t_hit == 5
    scene.validate()
    mesh.refit(mesh.vertices * 0)
    assert not scene.raycast([5.25, 0.25, 9], [0, 0, -1]).hit
    scene.validate()


@pytest.mark.small
def test_empty_scenes_and_meshes():
    nothing = bw.Mesh(np.zeros((0, 3)), np.zeros((0, 3), int))
    scene = bw.Scene()
    for _ in range(2):
        scene.validate()
        assert scene.bounds.tolist() == [[0] * 3] * 2
        hits = scene.raycast([[0, 0, 0], [1, 1, 1]], [0, 0, 1])
        assert (hits.t_hit == np.inf).all()
        assert (hits.instance_ids == -1).all()
        assert np.isnan(hits.points).all()
        assert np.isnan(hits.normals).all()
        assert not scene.occluded([0, 0, 0], [0, 0, 1])
        assert scene.count_hits([0, 0, 0], [0, 0, 1]) == 0
        assert scene.raycast_all([[0, 0, 0]], [0, 0, 1]).ray_splits.tolist() == [0, 0]
        for faces in (False, True):
            assert scene.collisions(faces=faces, tolerance=1).pairs.shape == (0, 2)
        assert scene.intersects(FLAT).tolist() == []
        assert len(scene.intersections(nothing)) == 0
        assert scene.intersects(FLAT, shifts([0, 0, 0], [1, 1, 1])).splits.tolist() == [0, 0, 0]
        assert scene.statistics().tree.boxes == 0
        assert pickle.loads(pickle.dumps(scene)).ids.tolist() == scene.ids.tolist()
        scene.add(nothing, shifts([0, 0, 0], [1, 0, 0]))
    assert scene.add(FLAT, np.zeros((0, 4, 4))).tolist() == []
    scene.remove([])
    scene.move([], np.zeros((0, 4, 4)))
    with pytest.raises(ValueError, match="directions is zero"):
        bw.Scene().raycast([0, 0, 0], [0, 0, 0])


# Size


def test_ten_thousand_instances_take_less_than_a_kilobyte_each():
    mesh = bw.Mesh(*icosphere(3))
    size = mesh.tree.nbytes
    rng = np.random.default_rng(1)
    matrices = some_transforms(rng, 10_000, spread=60.0)
    warm = bw.Scene()
    some = warm.add(mesh, matrices)
    for _ in range(2):  # so that kernels are there, which take memory as well
        warm.collisions()
        warm.move(some[::7], matrices[1::7][: len(some[::7])])
    tracemalloc.start()
    try:
        scene = bw.Scene()
        ids = scene.add(mesh, matrices)
        scene.collisions()
        scene.move(ids[::7], matrices[1::7][: len(ids[::7])])
        scene.collisions()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 10_000 * 1000
    told = scene.statistics()
    assert (told.instances, told.meshes) == (10_000, 1)
    assert told.bytes_per_instance < 1000
    assert told.mesh_bytes < 2 * size
    assert scene.mesh(9_999) is mesh
    few = rng.integers(0, 10_000, 50)
    centers = scene.transform(few)[:, :3, 3]
    hits = scene.raycast(centers, rng.normal(size=(50, 3)))
    assert hits.hit.all()
    one, other = scene.collisions().pairs[17]
    matrix = np.linalg.inv(scene.transform(one)) @ scene.transform(other)
    assert mesh.intersects(mesh, matrix)


@pytest.mark.small
def test_boxes_are_tight():
    ball = bw.Mesh(*icosphere(3))
    scene = bw.Scene()
    matrix = np.eye(4)
    matrix[:3, :3] = oracle.turn(np.random.default_rng(1))
    scene.add(ball, matrix)
    np.testing.assert_allclose(np.abs(scene.bounds), 1, rtol=1e-12)
    assert len(outline(ball.vertices, ball.faces, ball.tree).boxes) <= 64
    scene = bw.Scene()
    scene.add(bw.Mesh(*cube()), matrix)
    points = cube()[0] @ matrix[:3, :3].T
    np.testing.assert_allclose(scene.bounds, [points.min(axis=0), points.max(axis=0)], rtol=1e-12)


# Options, threads, files


@pytest.mark.small
def test_options_change_no_answer_and_tell_of_the_work():
    model = random_model(2, some(6, 3), some_meshes()[:3], spread=0.7)
    scene = model.scene
    origins, directions = some_rays(model, 2, some(2000, 40))
    plain = scene.raycast(origins, directions)
    for ask in (scene.raycast, scene.occluded, scene.raycast_all, scene.count_hits):
        counters, steps = bw.Counters(), []
        told = ask(
            origins, directions, threads=2, counters=counters, progress=lambda *step, steps=steps: steps.append(step)
        )
        assert counters.queries == len(origins)
        assert counters.boxes_tested > 0 < counters.primitives_tested
        assert steps[-1] == (len(origins), len(origins))
        alone = ask(origins, directions, threads=1)
        if ask == scene.raycast:
            assert counters.hits == plain.hit.sum()
            np.testing.assert_array_equal(told.t_hit, alone.t_hit)
            np.testing.assert_array_equal(told.instance_ids, plain.instance_ids)
    counters, steps = bw.Counters(), []
    found = scene.collisions(threads=2, counters=counters, progress=lambda *step: steps.append(step))
    assert counters.hits >= len(found) > 0
    assert steps[-1][0] == steps[-1][1] == max(done for done, _ in steps)
    np.testing.assert_array_equal(found.pairs, scene.collisions(threads=1).pairs)


def test_threads_that_ask_while_others_change():
    """Two states of a scene: every answer is that of the one or the other."""
    scene = bw.Scene()
    ids = scene.add(bw.Mesh(*tetrahedron()), shifts(*[[4 * i, 0, 0] for i in range(50)]))
    apart, together = shifts(*[[4 * i, 0, 0] for i in range(50)]), shifts(*[[i, 0, 0] for i in range(50)])
    wanted = set()
    for state in (together, apart):
        scene.move(ids, state)
        wanted.add(len(scene.collisions()))
    stop, wrong = threading.Event(), []

    def ask():
        while not stop.is_set():
            number = len(scene.collisions())
            if number not in wanted:
                wrong.append(number)

    askers = [threading.Thread(target=ask) for _ in range(3)]
    for asker in askers:
        asker.start()
    for i in range(100):
        scene.move(ids, (apart, together)[i % 2])
        scene.remove(scene.add(FLAT, shifts([0, 0, 1000])))
    stop.set()
    for asker in askers:
        asker.join()
    assert wrong == []
    assert len(wanted) == 2


@pytest.mark.small
@pytest.mark.parametrize("mmap", [False, True])
def test_files(tmp_path, mmap):
    model = random_model(4, 3)
    model.remove([1, 5])
    model.scene.collisions()
    model.scene.save(tmp_path / "scene.boxwood")
    scene = bw.Scene.load(tmp_path / "scene.boxwood", mmap=mmap)
    scene.validate()
    assert scene.ids.tolist() == model.scene.ids.tolist()
    for one in scene:
        assert np.array_equal(scene.transform(one), model.scene.transform(one))
        assert scene.mask(one) == model.scene.mask(one)
        assert np.array_equal(scene.mesh(one).vertices, model.scene.mesh(one).vertices)
    assert scene.mesh(0) is scene.mesh(2)
    assert scene.collisions().pairs.tolist() == model.scene.collisions().pairs.tolist()
    assert scene.add(FLAT) == model.scene.add(FLAT) == 1
    whole = (tmp_path / "scene.boxwood").read_bytes()
    (tmp_path / "cut").write_bytes(whole[:-1])
    with pytest.raises(ValueError, match="damaged"):
        bw.Scene.load(tmp_path / "cut")
    with pytest.raises(ValueError, match="'scene'"):
        bw.Mesh.load(tmp_path / "scene.boxwood")


@pytest.mark.small
def test_copies_share_meshes_and_nothing_else():
    scene = bw.Scene()
    scene.add(FLAT)
    for copied, same in ((copy.copy(scene), True), (copy.deepcopy(scene), False)):
        assert (copied.mesh(0) is FLAT) == same
        copied.move(0, shifts([0, 0, 9])[0])
        copied.add(FLAT)
        assert len(scene) == 1
        assert scene.transform(0).tolist() == np.eye(4).tolist()


def test_parts_of_a_file(shared):
    parts = bw.load_scene(shared / "trimesh" / "cycloidal.3DXML")
    scene = bw.Scene.from_parts(parts)
    assert len(scene) == len(parts) == 72
    assert scene.statistics().meshes == len({id(part.mesh) for part in parts}) < 72
    scene.validate()
    whole = bw.load(shared / "trimesh" / "cycloidal.3DXML")
    np.testing.assert_allclose(scene.bounds, whole.bounds, atol=np.ptp(whole.bounds) * 0.2)
    rng = np.random.default_rng(0)
    origins = rng.uniform(*whole.bounds, (2000, 3))
    directions = rng.normal(size=(2000, 3))
    np.testing.assert_allclose(
        scene.raycast(origins, directions).t_hit, whole.raycast(origins, directions).t_hit, rtol=1e-6, atol=1e-9
    )
    pairs = scene.collisions().pairs
    assert len(pairs) > 10
    near = {tuple(pair) for pair in pairs.tolist()}
    some_pairs = [(i, j) for i in range(72) for j in range(i + 1, 72)]
    for k in rng.choice(len(some_pairs), 60, replace=False):
        i, j = some_pairs[k]
        one, other = (bw.Mesh(moved(parts[n]), parts[n].mesh.faces) for n in (i, j))
        assert one.intersects(other) == ((i, j) in near)


def moved(part):
    x, y, z = part.mesh.vertices.T
    return np.stack([((m[0] * x + m[1] * y) + m[2] * z) + m[3] for m in part.transform[:3]], axis=1)


# Bad input


def not_finite(matrix):
    matrix[0, 1] = np.nan


def flat(matrix):
    matrix[2, :3] = 0


def nearly_flat(matrix):
    matrix[2, :3] = matrix[1, :3] * (1 + 1e-16)


def projective(matrix):
    matrix[3, 0] = 1


def huge(matrix):
    matrix[:3, 3] = 1e305


@pytest.mark.small
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (not_finite, "is not finite"),
        (flat, "is singular"),
        (nearly_flat, "is singular"),
        (projective, "does not have (0, 0, 0, 1) as its last row"),
        (huge, "moves the mesh beyond the numbers"),
    ],
)
def test_bad_transforms(spoil, message):
    scene = bw.Scene()
    scene.add(FLAT, shifts(*[[i, 0, 0] for i in range(5)]))
    matrices = shifts(*[[0, 0, i] for i in range(5)])
    spoil(matrices[3])
    spoil(matrices[4])
    for ask, name in (
        (lambda bad: scene.add(FLAT, bad), "transform"),
        (lambda bad: scene.move(range(5), bad), "transforms"),
    ):
        with pytest.raises(ValueError, match=re.escape(f"{name}[3] {message}")):
            ask(matrices)
    with pytest.raises(ValueError, match=re.escape(f"transform {message}")):
        scene.add(FLAT, matrices[3])
    assert len(scene) == 5
    assert scene.transform(4)[0, 3] == 4
    scene.validate()


@pytest.mark.small
def test_ids_that_do_not_exist():
    scene = bw.Scene()
    scene.add(FLAT, shifts(*[[0, 0, 0]] * 4))
    scene.remove(2)
    for bad in (2, -1, 4, [0, 2, 7], [0, -1]):
        first = next(i for i in np.ravel(bad).tolist() if i not in (0, 1, 3))
        for ask in (
            scene.remove,
            lambda ids: scene.move(ids, np.eye(4)),
            scene.transform,
            scene.mask,
        ):
            with pytest.raises(KeyError, match=f"no instance {first}"):
                ask(bad)
    with pytest.raises(KeyError, match="no instance 2"):
        scene.mesh(2)
    assert 3 in scene
    assert 2 not in scene
    assert "3" not in scene
    assert scene.ids.tolist() == [0, 1, 3]
    scene.remove([3, 3])
    assert len(scene) == 2


@pytest.mark.small
def test_other_bad_input():
    scene = bw.Scene()
    scene.add(FLAT, shifts([0, 0, 0], [1, 0, 0]))
    for ask, message in (
        (lambda: scene.add(FLAT, np.eye(3)), "must have shape (4, 4)"),
        (lambda: scene.add(FLAT, mask=2**32), "must have 32 bits, and 4294967296 does not"),
        (lambda: scene.add(FLAT, mask=0.5), "mask must be of integers"),
        (lambda: scene.add(FLAT, shifts([0, 0, 0], [1, 0, 0]), mask=[1, 2, 3]), "mask must be a number or have 2"),
        (lambda: scene.move([0, 1], shifts(*[[0, 0, 0]] * 3)), "transforms must be one or have the shape (2,)"),
        (lambda: scene.move([0.5], np.eye(4)), "ids must be integers"),
        (lambda: scene.raycast([0, 0, 0], [0, 0, 1], mask=[1]), "mask must be a number or have the shape ()"),
        (lambda: scene.raycast([[0, 0, 0], [0, np.nan, 0]], [0, 0, 1]), "origins[1] is not finite"),
        (lambda: scene.raycast([0, 0, 0], [0, 0, 1], cull="side"), "cull must be one of"),
        (lambda: scene.collisions(tolerance=-1), "tolerance must be a finite number"),
        (lambda: scene.intersects(FLAT, np.zeros((2, 4, 4))), "transform[0] does not have (0, 0, 0, 1)"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            ask()
    tiny = np.diag([1e200, 1e200, 1e200, 1])
    scene.add(FLAT, tiny)
    with pytest.raises(ValueError, match="instance 2, or too short"):
        scene.raycast([0.25, 0.25, 1], [0, 0, -1e-200])


@pytest.mark.small
def test_broken_scenes_are_named():
    scene = bw.Scene()
    scene.add(FLAT, shifts([0, 0, 0], [1, 0, 0]))
    scene.collisions()
    instances = scene._instances
    for name, spoil, message in (
        ("upper", lambda rows: rows * 0 + rows - 0.5, "box"),
        ("inverses", lambda rows: rows * 2, "inverse"),
        ("alive", np.zeros_like, "free ids"),
    ):
        kept = getattr(instances, name)
        setattr(instances, name, spoil(kept))
        with pytest.raises(ValueError, match=message):
            scene.validate()
        setattr(instances, name, kept)
    scene.validate()


def test_soups_of_every_kind():
    for kind in ("slivers", "coplanar", "duplicates", "grid", "many_scales"):
        model = random_model(1, 3, [soup_mesh(kind, 1, 15, np.float64), soup_mesh(kind, 2, 15, np.float32)])
        assert_collisions(model)
        model.scene.validate()
