"""The set itself: what it takes and refuses, how it is built, checked, kept and shown."""

from __future__ import annotations

import copy
import dataclasses
import doctest
import itertools
import json
import math
import pickle

import numpy as np
import pytest

import box_oracle
import box_worlds
import boxwood as bw
import boxwood.box_questions
import boxwood.box_rays
import boxwood.boxes
from box_worlds import DIMENSIONS, DTYPES, KINDS, make
from boxwood.build.choose import BUILDERS
from boxwood.build.compare import validate_boxes
from boxwood.layout import CHILDREN, NODE_FLOATS, PILLAR
from boxwood.tree.statistics import BoxStatistics
from worlds import some

pytestmark = pytest.mark.small

BOTH = pytest.mark.parametrize("dtype", DTYPES)
PLANE_AND_SPACE = pytest.mark.parametrize("dimension", DIMENSIONS)


def test_examples_in_docstrings():
    for module in (boxwood.boxes, boxwood.box_questions, boxwood.box_rays):
        found = doctest.testmod(module)
        assert found.attempted > 0
        assert found.failed == 0


# What it takes


def test_dtypes_are_kept():
    low = np.zeros((2, 3), np.float32)
    assert bw.BoxTree(low, low).dtype == np.float32
    assert bw.BoxTree(low, low.astype(float)).dtype == np.float64
    assert bw.BoxTree([[0, 0]], [[1, 1]]).dtype == np.float64
    assert bw.BoxTree.from_points(low.astype(">f4")).dtype == np.float32
    assert bw.BoxTree.from_points(np.zeros((2, 3), np.int8)).dtype == np.float64


def test_inputs_are_copied_or_borrowed_and_never_written():
    low, high = np.zeros((4, 2)), np.ones((4, 2))
    held, borrowed = bw.BoxTree(low, high), bw.BoxTree(low, high, copy=False)
    low[0] = -5
    assert held.lower[0, 0] == 0
    assert borrowed.lower[0, 0] == -5
    assert low.flags.writeable
    for array in (held.lower, borrowed.upper):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    strided = np.asfortranarray(np.random.default_rng(1).random((50, 3)))[::2]
    assert bw.BoxTree.from_points(strided).nearest(strided[7]).ids.tolist() == [7]


def test_attributes():
    tree = bw.BoxTree([[0, 1, 2], [3, 3, 3]], [[1, 2, 3], [4, 9, 4]])
    assert (len(tree), tree.dimension, tree.dtype) == (2, 3, np.float64)
    assert tree.bounds.tolist() == [[0, 1, 2], [4, 9, 4]]
    assert repr(tree) == "<boxwood.BoxTree of 2 boxes in 3-D, float64>"
    assert repr(bw.BoxTree.from_points(np.zeros((1, 2), np.float32))) == "<boxwood.BoxTree of 1 points in 2-D, float32>"
    assert bw.BoxTree(np.empty((0, 2)), np.empty((0, 2))).bounds.tolist() == [[0, 0], [0, 0]]
    assert bw.BoxTree([], []).dimension == 3


REFUSED = {
    "shape": (lambda: bw.BoxTree([0, 0, 0], [1, 1, 1]), r"lower must have shape \(n, 2\) or \(n, 3\), not \(3,\)"),
    "width": (lambda: bw.BoxTree(np.zeros((2, 4)), np.ones((2, 4))), r"not \(2, 4\)"),
    "unlike": (lambda: bw.BoxTree(np.zeros((2, 3)), np.ones((3, 3))), r"same shape, not \(2, 3\) and \(3, 3\)"),
    "nan": (lambda: bw.BoxTree([[0, 0], [0, math.nan]], [[1, 1]] * 2), r"lower\[1\] is not finite: \(0, nan\)"),
    "infinite": (lambda: bw.BoxTree([[0, 0]] * 2, [[1, 1], [math.inf, 1]]), r"upper\[1\] is not finite: \(inf, 1\)"),
    "above": (lambda: bw.BoxTree([[0, 0], [0, 2]], [[1, 1]] * 2), r"lower\[1\] is above upper\[1\]: \(0, 2\)"),
    "points": (lambda: bw.BoxTree.from_points([[0, 0], [math.nan, 0]]), r"points\[1\] is not finite"),
    "words": (lambda: bw.BoxTree.from_points([["a", "b"]]), "points must be real numbers"),
    "builder": (lambda: bw.BoxTree([[0, 0]], [[1, 1]]).build("best"), "builder must be one of 'midpoint'"),
    "leaves": (lambda: bw.BoxTree([[0, 0]], [[1, 1]]).build(leaf_size=0), "leaf_size must be an integer from 1 to 60"),
    "both": (lambda: bw.BoxTree([[0, 0]], [[1, 1]]).build("sweep", quality="low"), "a builder or a quality, not both"),
}


@pytest.mark.parametrize("way", REFUSED)
def test_what_cannot_be_a_set_is_refused(way):
    make_it, message = REFUSED[way]
    with pytest.raises(ValueError, match=message):
        make_it()


QUESTIONS = {
    "lower above upper": (lambda t: t.query_box([0, 2], [1, 1]), r"lower is above upper: \(0, 2\) and \(1, 1\)"),
    "row above": (lambda t: t.query_box([[0, 0], [2, 0]], [1, 1]), r"lower\[1\] is above upper: \(2, 0\)"),
    "nan corner": (lambda t: t.query_box([[0, 0], [math.nan, 0]], [1, 1]), r"lower\[1\] is not finite: \(nan, 0\)"),
    "infinite": (lambda t: t.query_box([0, 0], [math.inf, 1]), r"upper is not finite: \(inf, 1\)"),
    "space": (lambda t: t.query_box([0, 0, 0], [1, 1, 1]), r"lower must have shape \(2,\) or \(\.\.\., 2\)"),
    "unlike": (lambda t: t.query_box([[0, 0]] * 2, [[1, 1]] * 3), r"lower \(2, 2\), upper \(3, 2\)"),
    "radius": (lambda t: t.query_sphere([[0, 0]] * 3, [1, -1, 1]), r"radius\[1\] is negative: -1"),
    "one radius": (lambda t: t.query_sphere([[0, 0]] * 3, -2), "radius is negative: -2"),
    "nan radius": (lambda t: t.query_sphere([0, 0], math.nan), "radius is not finite: nan"),
    "infinite radius": (lambda t: t.query_sphere([[0, 0]], [math.inf]), r"radius\[0\] is not finite: inf"),
    "center": (lambda t: t.query_sphere([[[0, 0], [0, math.inf]]], 1), r"center\[0, 1\] is not finite"),
    "zero normal": (lambda t: t.query_frustum([[1, 0, 5], [0, 0, 1]]), r"planes\[1\] has a normal of zero: \(0, 0"),
    "zero normal of a batch": (lambda t: t.query_frustum([[[1, 0, 5]], [[0, 0, 1]]]), r"planes\[1, 0\] has a normal"),
    "nan plane": (lambda t: t.query_frustum([[1, 0, math.nan]]), r"planes\[0\] is not finite"),
    "one plane": (lambda t: t.query_frustum([1, 0, 5]), r"planes must have shape \(k, 3\) or \(\.\.\., k, 3\)"),
    "wide plane": (lambda t: t.query_frustum([[1, 0, 5, 0]]), r"planes must have shape \(k, 3\)"),
    "nan point": (lambda t: t.nearest([[0, 0], [0, math.nan]]), r"points\[1\] is not finite"),
    "k": (lambda t: t.nearest([0, 0], 0), "k must be an integer from 1 to 2147483647, not 0"),
    "half of k": (lambda t: t.nearest([0, 0], 1.5), "k must be an integer"),
    "distance": (lambda t: t.nearest([[0, 0]] * 2, max_distance=[1, -1]), r"max_distance\[1\] is negative: -1"),
    "nan distance": (lambda t: t.nearest([0, 0], max_distance=math.nan), "max_distance is nan"),
    "direction": (lambda t: t.raycast([[0, 0]] * 2, [[1, 0], [0, 0]]), r"directions\[1\] is zero"),
    "origin": (lambda t: t.occluded([[0, math.nan]], [1, 0]), r"origins\[0\] is not finite: \(0, nan\)"),
    "t": (lambda t: t.count_hits([0, 0], [1, 0], t_max=math.nan), "t_max is nan"),
    "ray in space": (lambda t: t.raycast_all([0, 0, 0], [1, 0, 0]), r"origins must have shape \(2,\)"),
    "displacement": (lambda t: t.sweep_box([0, 0], [1, 1], [math.inf, 0]), r"displacement is not finite"),
    "moving": (lambda t: t.sweep_box([[0, 0], [5, 5]], [1, 1], [1, 0]), r"lower\[1\] is above upper"),
    "threads": (lambda t: t.query_box([0, 0], [1, 1], threads=0), "threads must be an integer of at least 1"),
}


@pytest.mark.parametrize("way", QUESTIONS)
def test_what_cannot_be_asked_is_refused(way):
    ask, message = QUESTIONS[way]
    tree = bw.BoxTree([[0, 0], [2, 2]], [[1, 1], [3, 3]])
    with pytest.raises(ValueError, match=message):
        ask(tree)


# The tree


@BOTH
@PLANE_AND_SPACE
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("builder", BUILDERS)
def test_every_builder_holds_every_kind(kind, builder, dimension, dtype):
    world = make(kind, 21, some(500, 40), dimension, dtype, offset=-1e6 if kind == "clustered" else 0)
    world.tree.build(builder).validate()
    world.tree.build(builder, leaf_size=1, threads=1).validate()


def answers(tree, world, **options):
    """All answers of all questions, as one list of arrays."""
    low, high = box_worlds.boxes(world, 22, 30)
    center, radius = box_worlds.spheres(world, 22, 30)
    rays, planes = box_worlds.rays(world, 22, 30), box_worlds.planes(world, 22, 10, 3)
    box, sphere = tree.query_box(low, high, **options), tree.query_sphere(center, radius, **options)
    near, first = tree.nearest(center, 4, **options), tree.raycast(*rays, **options)
    frustum, every = tree.query_frustum(planes, **options), tree.raycast_all(*rays, **options)
    moved = tree.sweep_box(low, high, rays[1], **options)
    return [
        box.splits, box.ids, sphere.splits, sphere.ids, frustum.splits, frustum.ids, near.distances, near.ids,
        first.t_hit, first.primitive_ids, every.ray_splits, every.t_hit, every.primitive_ids,
        tree.occluded(*rays, **options), tree.count_hits(*rays, **options), moved.t_hit, moved.primitive_ids,
        tree.pairs(**options),
    ]  # fmt: skip


def assert_same(one, other):
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


@BOTH
@PLANE_AND_SPACE
def test_answers_depend_on_no_builder_and_no_number_of_threads(dimension, dtype):
    world = make("grid", 22, some(800, 60), dimension, dtype)
    wanted = answers(world.tree, world)
    for builder in BUILDERS:
        assert_same(answers(world.tree.build(builder, leaf_size=9), world), wanted)
    for threads in (1, 3):
        assert_same(answers(world.tree.build(threads=threads), world, threads=threads), wanted)


@PLANE_AND_SPACE
def test_answers_depend_on_no_split_of_the_batch(dimension):
    """A batch large enough to be sorted along a curve and cut into chunks, against its rows one by one."""
    count = some(6000, 600)
    world = make("clustered", 23, some(2000, 60), dimension, np.float32)
    low, high = box_worlds.boxes(world, 23, count)
    tree = world.tree
    rows, near = tree.query_box(low, high), tree.nearest(low, 3)
    reached = tree.query_sphere(low, 0.05)
    for i in range(0, count, count // 20):
        np.testing.assert_array_equal(rows[i], tree.query_box(low[i], high[i]))
        np.testing.assert_array_equal(reached[i], tree.query_sphere(low[i], 0.05))
        np.testing.assert_array_equal(near.ids[i], tree.nearest(low[i], 3).ids)
    for part in (slice(0, count // 3), slice(count // 3, count)):
        np.testing.assert_array_equal(tree.nearest(low[part], 3).distances, near.distances[part])
        splits = rows.splits[part.start : part.stop + 1]
        np.testing.assert_array_equal(tree.query_box(low[part], high[part]).ids, rows.ids[splits[0] : splits[-1]])


def test_ten_thousand_boxes_at_one_point():
    count = some(10_000, 300)
    tree = bw.BoxTree.from_points(np.full((count, 2), -3.25, np.float32)).build()
    tree.validate()
    place = np.float32([-3.25, -3.25])
    assert tree.query_box(place, place).tolist() == list(range(count))
    assert tree.query_sphere(place, 0).tolist() == list(range(count))
    assert tree.query_sphere(place + 1, 1).tolist() == []
    found = tree.nearest([0, -3.25], 7)
    assert found.ids.tolist() == list(range(7))
    assert found.distances.tolist() == [3.25] * 7
    assert tree.raycast([-9, -3.25], [1, 0]).primitive_ids == 0
    assert tree.count_hits([-9, -3.25], [1, 0]) == count


@pytest.mark.parametrize("offset", [1e9, -1e9])
def test_far_from_the_origin(offset):
    world = make("uniform", 24, some(400, 60), 3, np.float64, offset=offset)
    world.tree.validate()
    low, high = box_worlds.boxes(world, 24, 40)
    wanted = box_oracle.overlaps(*world, low, high)
    np.testing.assert_array_equal(world.tree.query_box(low, high).pairs, np.argwhere(wanted))
    counters = bw.Counters()
    world.tree.query_box(low, low, counters=counters)
    assert counters.primitives_per_query < 60  # boxes are as tight as near the origin


# Statistics, levels, validation


def test_statistics_of_known_sets():
    """Two leaves of four unit squares each, side by side: each has half of the root's length and some height."""
    lower = np.array([[x, 0] for x in (0, 0, 0, 0, 3, 3, 3, 3)], float)
    statistics = bw.BoxTree(lower, lower + 1).build("sweep").statistics()
    assert statistics.boxes == 8
    assert statistics.leaf_sizes.tolist() == [0, 0, 0, 0, 2]
    assert (statistics.nodes, statistics.leaves, statistics.blocks, statistics.depth) == (1, 2, 2, 1)
    assert statistics.sah_cost == pytest.approx(1 + 2 * 4 / 10, abs=1e-4)  # perimeters 4, 4 and 10
    assert statistics.overlap == pytest.approx(0, abs=1e-4)
    cubes = np.concatenate([lower, np.zeros((8, 1))], axis=1)
    statistics = bw.BoxTree(cubes, cubes + 1).build("sweep").statistics()
    assert statistics.sah_cost == pytest.approx(1 + 2 * 6 / 18, abs=1e-4)  # surfaces 6, 6 and 18
    assert statistics.bytes_per_box == statistics.bytes / 8


def test_builders_in_the_plane_count_perimeters():
    """A row of thin upright boxes and one of flat ones: by area both are nothing, by perimeter they are not."""
    rng = np.random.default_rng(3)
    lower = rng.uniform(0, 100, (some(2000, 200), 2))
    upper = lower + np.where(rng.random((len(lower), 1)) < 0.5, [20.0, 0], [0, 20.0])
    costs = {name: bw.BoxTree(lower, upper).build(name).statistics().sah_cost for name in BUILDERS}
    assert costs["sweep"] < costs["median"]


def test_points_take_half_the_memory():
    points = np.random.default_rng(4).random((some(4000, 200), 3))
    lean, boxes = bw.BoxTree.from_points(points), bw.BoxTree(points, points)
    assert lean.tree.blocks.nbytes * 2 == boxes.tree.blocks.nbytes
    np.testing.assert_array_equal(lean.nearest(points[:20], 3).ids, boxes.nearest(points[:20], 3).ids)


def test_statistics_can_be_read_by_people_and_machines():
    statistics = make("uniform", 25, 50, 2, np.float32).tree.statistics()
    told = statistics.to_dict()
    assert set(told) == {field.name for field in dataclasses.fields(BoxStatistics)}
    assert json.loads(json.dumps(told)) == told
    assert "sah_cost" in repr(statistics)
    for field in dataclasses.fields(BoxStatistics):
        assert f"    {field.name} : " in BoxStatistics.__doc__
    empty = bw.BoxTree(np.empty((0, 2)), np.empty((0, 2))).statistics()
    assert (empty.boxes, empty.blocks, empty.sah_cost) == (0, 0, 0)
    assert math.isnan(empty.bytes_per_box)


@PLANE_AND_SPACE
def test_levels_are_nested_and_hold_the_set(dimension):
    world = make("uniform", 26, some(2000, 200), dimension, np.float64, scale=50, offset=1e3)
    levels = world.tree.levels()
    assert len(levels) == world.tree.tree.depth + 1
    lower, upper = levels[0]
    assert lower.shape == (1, dimension)
    np.testing.assert_allclose([lower[0], upper[0]], world.tree.bounds, atol=1e-3)
    for (above_low, above_high), (low, high) in itertools.pairwise(levels):
        assert low.shape == high.shape
        assert np.all(low <= high)
        inside = np.all((above_low[None] <= low[:, None]) & (above_high[None] >= high[:, None]), axis=2)
        assert inside.any(axis=1).all()
    assert bw.BoxTree([], []).levels() == []


def broken(tree, **changes):
    arrays = {name: np.array(getattr(tree, name)) for name in ("nodes", "blocks", "ids", "frame")}
    for name, change in changes.items():
        change(arrays[name])
    return dataclasses.replace(tree, **arrays)


def test_validation_names_what_is_broken():
    world = make("uniform", 27, 200, 2, np.float32)
    tree = world.tree.tree

    def check(message, **changes):
        with pytest.raises(ValueError, match=f"broken tree: .*{message}"):
            broken(tree, **changes).validate()

    def move(blocks):
        blocks[8] += 9

    def lose(ids):
        ids[4] = -1

    def twice(ids):
        ids[ids == 7] = 8

    def lower_pillar(nodes):
        nodes[16] = -4 * PILLAR

    def unlink(nodes):
        nodes.view(np.int32).reshape(-1, NODE_FLOATS)[0, CHILDREN] = 10**6

    check("does not hold its boxes", blocks=move)
    check("begins with padding", ids=lose)
    check("box 8 occurs twice", ids=twice)
    check("no valid box", nodes=lower_pillar)
    check("is no later node", nodes=unlink)

    def nudge(blocks):
        blocks[0] = np.nextafter(blocks[0], np.float32(0))

    with pytest.raises(ValueError, match="is not where it was given"):
        validate_boxes(broken(tree, blocks=nudge), *world)
    with pytest.raises(ValueError, match="box 199 is not of the set"):
        validate_boxes(tree, world.lower[:-1], world.upper[:-1])
    with pytest.raises(ValueError, match="box 200 is not in the tree"):
        validate_boxes(tree, *(np.append(array, array[:1], axis=0) for array in world))
    with pytest.raises(ValueError, match="blocks are float32, and boxes float64"):
        validate_boxes(tree, *(array.astype(float) for array in world))


# Keeping


@BOTH
@PLANE_AND_SPACE
@pytest.mark.parametrize("kind", ["uniform", "points"])
@pytest.mark.parametrize("built", [False, True])
@pytest.mark.parametrize("mmap", [False, True])
def test_saved_and_loaded(tmp_path, kind, dimension, dtype, built, mmap):
    world = make(kind, 28, 150, dimension, dtype)
    tree = world.tree
    if built:
        tree.build("linear", leaf_size=7)
    tree.save(tmp_path / "set.boxwood")
    loaded = bw.BoxTree.load(tmp_path / "set.boxwood", mmap=mmap)
    loaded.validate()
    np.testing.assert_array_equal(loaded.lower, world.lower, strict=True)
    np.testing.assert_array_equal(loaded.upper, world.upper, strict=True)
    assert repr(loaded) == repr(tree)
    assert loaded.tree.builder == ("linear" if built else "binned")
    assert_same(answers(loaded, world), answers(tree, world))


def test_an_empty_set_is_saved(tmp_path):
    bw.BoxTree(np.empty((0, 2)), np.empty((0, 2))).build().save(tmp_path / "set")
    assert len(bw.BoxTree.load(tmp_path / "set")) == 0


def test_foreign_and_damaged_files_are_refused(tmp_path):
    path = tmp_path / "set"
    bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]).save(path)
    with pytest.raises(ValueError, match="holds 'mesh', not 'boxes'"):
        bw.BoxTree.load(path)
    bw.BoxTree([[0, 0]], [[1, 1]]).build().save(path)
    whole = path.read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match="set is"):
            bw.BoxTree.load(path)
    with pytest.raises(OSError, match="nowhere"):
        bw.BoxTree.load(tmp_path / "nowhere")


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda tree: pickle.loads(pickle.dumps(tree))])
@pytest.mark.parametrize("kind", ["uniform", "points"])
def test_copies_answer_alike(way, kind):
    world = make(kind, 29, 120, 3, np.float64)
    tree = world.tree.build("median")
    other = way(tree)
    other.validate()
    assert repr(other) == repr(tree)
    assert other.tree.builder == "median"
    assert not other.lower.flags.writeable
    assert_same(answers(other, world), answers(tree, world))
    unbuilt = way(world.tree)
    unbuilt.validate()


def test_progress_is_told():
    world = make("uniform", 30, some(3000, 700), 2, np.float32)
    told = []
    tree = world.tree.build(progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (len(tree), len(tree))
    told.clear()
    tree.query_box(*box_worlds.boxes(world, 30, some(5000, 600)), progress=lambda *numbers: told.append(numbers))
    assert told[-1][0] == told[-1][1] == some(5000, 600)
