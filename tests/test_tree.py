"""What statistics say about trees known by hand, and that validation notices every single thing that can be wrong."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest

import boxwood as bw
from boxwood.build.compare import validate_mesh
from boxwood.layout import BLOCK_FLOATS, CHILDREN, FRAME_CENTER, FRAME_DEPTH, FRAME_SCALE, NODE_FLOATS
from boxwood.tree.statistics import Statistics
from worlds import DTYPES, icosphere, some, soup_mesh

pytestmark = pytest.mark.small

TRIANGLE = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], float)


# Statistics


def test_statistics_of_one_triangle():
    statistics = bw.Mesh(TRIANGLE.astype(np.float32), [[0, 1, 2]]).statistics()
    assert (statistics.nodes, statistics.leaves, statistics.blocks, statistics.depth) == (1, 1, 1, 1)
    assert (statistics.triangles, statistics.degenerate) == (1, 0)
    assert statistics.leaf_sizes.tolist() == [0, 1]
    assert statistics.sah_cost == pytest.approx(2)  # the root, and one block in a box as large
    assert statistics.overlap == 0
    assert statistics.bytes == NODE_FLOATS * 4 + BLOCK_FLOATS * 4 + 4 * 4 + 5 * 8
    assert statistics.bytes_per_triangle == statistics.bytes
    assert statistics.builder == "binned"
    assert 0 < statistics.build_seconds < 60


def two_squares():
    """Four triangles in the unit square, and four in the one beside it."""
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 0]])
    faces = np.array([[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]])
    return bw.Mesh(np.concatenate([square, square + [1, 0, 0]]), np.concatenate([faces, faces + 5]))


def test_statistics_of_two_squares_side_by_side():
    statistics = two_squares().build("sweep").statistics()
    assert statistics.leaf_sizes.tolist() == [0, 0, 0, 0, 2]
    assert statistics.nodes == 1
    assert statistics.sah_cost == pytest.approx(1 + 1, abs=1e-4)  # each leaf has half the area
    assert statistics.overlap == pytest.approx(0, abs=1e-4)


def test_statistics_of_boxes_that_overlap():
    tree = two_squares().build("sweep").tree
    nodes = tree.nodes.copy()
    lower, upper = nodes[:24].reshape(3, 8), nodes[24:48].reshape(3, 8)
    lower[0, 1], upper[0, 1] = lower[0, :2].min(), upper[0, :2].max()  # as wide as both
    statistics = dataclasses.replace(tree, nodes=nodes).statistics()
    assert statistics.sah_cost == pytest.approx(1 + 1.5, abs=1e-4)
    assert statistics.overlap == pytest.approx(0.5, abs=1e-4)
    lower[:, 0], upper[:, 0] = lower[:, 1], upper[:, 1]
    statistics = dataclasses.replace(tree, nodes=nodes).statistics()
    assert statistics.sah_cost == pytest.approx(1 + 2, abs=1e-4)
    assert statistics.overlap == pytest.approx(1, abs=1e-4)


def test_statistics_of_nothing():
    statistics = bw.Mesh(np.zeros((3, 3)), [[0, 1, 2]]).statistics()
    assert (statistics.nodes, statistics.leaves, statistics.blocks, statistics.depth) == (1, 0, 0, 1)
    assert (statistics.triangles, statistics.degenerate) == (0, 1)
    assert (statistics.sah_cost, statistics.overlap) == (0, 0)
    assert statistics.leaf_sizes.tolist() == [0]
    assert math.isnan(statistics.bytes_per_triangle)


@pytest.mark.parametrize("leaf_size", [1, 4, 11])
def test_statistics_add_up(leaf_size):
    mesh = soup_mesh("no_area", 3, some(3000, 90), np.float32).build(leaf_size=leaf_size)
    statistics = mesh.statistics()
    sizes = statistics.leaf_sizes
    assert sizes.sum() == statistics.leaves
    assert sizes @ np.arange(len(sizes)) == statistics.triangles
    assert sizes @ -(-np.arange(len(sizes)) // 4) == statistics.blocks
    assert statistics.triangles + statistics.degenerate == len(mesh)
    assert statistics.bytes == mesh.tree.nbytes


def test_statistics_can_be_read_by_people_and_machines():
    statistics = bw.Mesh(*icosphere(1)).statistics()
    told = statistics.to_dict()
    assert set(told) == {field.name for field in dataclasses.fields(Statistics)}
    assert json.loads(json.dumps(told)) == told
    assert "sah_cost" in repr(statistics)
    assert str(statistics.triangles) in repr(statistics)
    for field in dataclasses.fields(Statistics):
        assert f"    {field.name} : " in Statistics.__doc__
    with pytest.raises(dataclasses.FrozenInstanceError):
        statistics.nodes = 3


# Validation


def tree_and_arrays(kind="uniform", dtype=np.float32):
    """A tree of some levels, and a writable copy of each of its arrays."""
    mesh = soup_mesh(kind, 4, 200, dtype)
    tree = mesh.build(leaf_size=6).tree
    arrays = {name: np.array(getattr(tree, name)) for name in ("nodes", "blocks", "ids", "frame")}
    return mesh, tree, arrays


def parts(arrays):
    """Writable views: lower and upper corners (n, 3, 8), codes (n, 8), corners (b, 9, 4), ids (b, 4)."""
    nodes = arrays["nodes"].reshape(-1, NODE_FLOATS)
    codes = arrays["nodes"].view(np.int32).reshape(-1, NODE_FLOATS)[:, CHILDREN : CHILDREN + 8]
    lower, upper = nodes[:, :24].reshape(-1, 3, 8), nodes[:, 24:48].reshape(-1, 3, 8)
    return lower, upper, codes, arrays["blocks"].reshape(-1, 9, 4), arrays["ids"].reshape(-1, 4)


BREAKS = {}


def breaks(message):
    """Registers a way to break the arrays of a tree, and what validation must say about it."""

    def register(function):
        BREAKS[function.__name__] = function, message
        return function

    return register


@breaks("nodes have .* numbers")
def half_a_node(arrays):
    arrays["nodes"] = arrays["nodes"][:-32]


@breaks("nodes have 0 numbers")
def no_node(arrays):
    arrays["nodes"] = arrays["nodes"][:0]


@breaks("blocks have .* numbers")
def half_a_block(arrays):
    arrays["blocks"] = arrays["blocks"][:-4]


@breaks("ids do not fit")
def too_few_ids(arrays):
    arrays["ids"] = arrays["ids"][:-4]


@breaks("blocks are not a flat array of floats")
def blocks_of_integers(arrays):
    arrays["blocks"] = arrays["blocks"].view(np.int32)


@breaks("ids are not a flat int32 array")
def wide_ids(arrays):
    arrays["ids"] = arrays["ids"].astype(np.int64)


@breaks("the frame is not 5 float64")
def short_frame(arrays):
    arrays["frame"] = arrays["frame"][:-1]


@breaks("the frame is not finite")
def infinite_frame(arrays):
    arrays["frame"][FRAME_CENTER] = np.inf


@breaks("scale 0.3.* is not a power of two")
def crooked_scale(arrays):
    arrays["frame"][FRAME_SCALE] = 0.3


@breaks("scale -0.5 is not a power of two")
def negative_scale(arrays):
    arrays["frame"][FRAME_SCALE] = -0.5


@breaks("depth 1e\\+300 is not one of 1 to 96 levels")
def endless_depth(arrays):
    arrays["frame"][FRAME_DEPTH] = 1e300


@breaks("depth 2.5 is not one of")
def half_a_level(arrays):
    arrays["frame"][FRAME_DEPTH] = 2.5


@breaks("the tree has . levels, and records 1")
def forgotten_levels(arrays):
    arrays["frame"][FRAME_DEPTH] = 1


@breaks("a child of node 0 has no valid box")
def box_that_is_no_number(arrays):
    parts(arrays)[0][0, 1, 0] = np.nan


@breaks("a child of node 0 has no valid box")
def box_outside_of_the_tree(arrays):
    parts(arrays)[1][0, 2, 0] = 3


@breaks("a child of node . has no valid box")
def child_without_box(arrays):
    lower, _, codes, _, _ = parts(arrays)
    node, slot = np.argwhere(lower[:, 0] == np.inf)[0]
    codes[node, slot] = 1


@breaks("a child of node 1 stands after a missing one")
def gap(arrays):
    lower, upper, codes, _, _ = parts(arrays)
    lower[1, :, 0], upper[1, :, 0], codes[1, 0] = np.inf, -np.inf, 0


@breaks("a child of node 0 is a leaf without blocks")
def leaf_of_nothing(arrays):
    codes = parts(arrays)[2]
    codes[0, 0] = ~(~codes[0, 0] // 16 * 16) if codes[0, 0] < 0 else -1


@breaks("not in rising order of area")
def disorder(arrays):
    lower, upper, codes, _, _ = parts(arrays)
    for array in (lower, upper):
        array[0, :, [0, 1]] = array[0, :, [1, 0]]
    codes[0, [0, 1]] = codes[0, [1, 0]]


def inner_children(arrays):
    lower, _, codes, _, _ = parts(arrays)
    return np.argwhere((lower[:, 0] < np.inf) & (codes >= 0))


@breaks("a child of node 0 is no later node")
def child_beyond_all(arrays):
    node, slot = inner_children(arrays)[0]
    parts(arrays)[2][node, slot] = 10**6


@breaks("a child of node . is no later node")
def circle(arrays):
    node, slot = inner_children(arrays)[-1]
    parts(arrays)[2][node, slot] = 0


@breaks("is not the child of exactly one node")
def child_of_two(arrays):
    (node, slot), (other, place) = inner_children(arrays)[:2]
    codes = parts(arrays)[2]
    codes[node, slot] = codes[other, place]


@breaks("not in depth-first order")
def nodes_out_of_order(arrays):
    children = inner_children(arrays)
    node = children[0][0]
    slots = [slot for parent, slot in children if parent == node][:2]
    codes = parts(arrays)[2]
    codes[node, slots] = codes[node, slots[::-1]]


def leaf_children(arrays):
    return np.argwhere(parts(arrays)[2] < 0)


@breaks("blocks below node . are not in depth-first order")
def blocks_out_of_order(arrays):
    (node, slot), (other, place) = leaf_children(arrays)[:2]
    codes = parts(arrays)[2]
    codes[node, slot], codes[other, place] = codes[other, place], codes[node, slot]


@breaks("blocks below node . are not in depth-first order")
def blocks_beyond_all(arrays):
    node, slot = leaf_children(arrays)[-1]
    parts(arrays)[2][node, slot] -= 16 * 10**6


@breaks("leaves hold .* of .* blocks")
def block_of_no_leaf(arrays):
    arrays["blocks"] = np.append(arrays["blocks"], arrays["blocks"][:BLOCK_FLOATS])
    arrays["ids"] = np.append(arrays["ids"], arrays["ids"][:4])


@breaks("has an id below -1")
def id_below_all(arrays):
    parts(arrays)[4][3, 1] = -2


@breaks("begins with padding")
def block_without_triangles(arrays):
    parts(arrays)[4][3] = -1


def short_blocks(arrays):
    return np.flatnonzero(np.any(parts(arrays)[4] < 0, axis=1))


@breaks("has a triangle after padding")
def triangle_after_padding(arrays):
    ids = parts(arrays)[4]
    block = short_blocks(arrays)[0]
    ids[block] = np.append(-1, ids[block][:3])[[1, 0, 2, 3]] if ids[block, 1] >= 0 else [ids[block, 0], -1, 5, -1]


@breaks("padding that is not NaN")
def padding_that_can_be_hit(arrays):
    parts(arrays)[3][short_blocks(arrays)[0], 4, 3] = 0


@breaks("has a triangle that is not finite")
def triangle_that_is_no_number(arrays):
    parts(arrays)[3][2, 7, 0] = np.inf


@breaks("is padded, but is not the last of its leaf")
def hole_in_a_leaf(arrays):
    _, _, codes, corners, ids = parts(arrays)
    leaves = ~codes[codes < 0]
    block = leaves[leaves % 16 > 1][0] // 16
    corners[block, :, 3], ids[block, 3] = np.nan, -1


@breaks("triangle . occurs twice")
def triangle_in_two_places(arrays):
    ids = parts(arrays)[4]
    ids[ids == ids.max()] = 7


@breaks("a child of node . reaches beyond its own box")
def box_smaller_than_its_children(arrays):
    node, slot = inner_children(arrays)[0]
    lower, _, codes, _, _ = parts(arrays)
    below = codes[node, slot]
    lower[below, 1, np.flatnonzero(lower[below, 1] < np.inf)[-1]] = -1.9  # the largest child, so that order stays


@breaks("a leaf of node . does not hold its triangles")
def triangle_outside_of_its_box(arrays):
    corners = parts(arrays)[3]
    corners[4, 0, 0] += 2


@pytest.mark.parametrize("way", BREAKS)
def test_every_broken_invariant_is_named(way):
    function, message = BREAKS[way]
    _, tree, arrays = tree_and_arrays("duplicates" if way == "hole_in_a_leaf" else "uniform")
    tree.validate()
    function(arrays)
    broken = dataclasses.replace(tree, **arrays)
    with pytest.raises(ValueError, match=f"broken tree: .*{message}"):
        broken.validate()


@pytest.mark.parametrize("dtype", DTYPES)
def test_no_change_of_a_bit_of_a_box_or_code_goes_unnoticed_or_crashes(dtype):
    """Either it is named, or all that was promised still holds, as for a box that grew."""
    _, tree, arrays = tree_and_arrays(dtype=dtype)
    rng = np.random.default_rng(1)
    noticed = 0
    tries = some(300, 40)
    for _ in range(tries):
        name = ("nodes", "blocks", "ids")[rng.integers(3)]
        changed = arrays[name].copy()
        bits = changed.view(np.uint8)
        bits[rng.integers(len(bits))] ^= 1 << rng.integers(8)
        try:
            dataclasses.replace(tree, **{name: changed}).validate()
        except ValueError:
            noticed += 1
    assert noticed > tries // 4


def test_validation_against_the_mesh():
    mesh, tree, _ = tree_and_arrays()
    vertices, faces = mesh.vertices, mesh.faces
    validate_mesh(tree, vertices, faces)
    with pytest.raises(ValueError, match="blocks are float32, and vertices float64"):
        validate_mesh(tree, vertices.astype(float), faces)
    with pytest.raises(ValueError, match=f"triangle {len(faces) - 1} is no face of the mesh"):
        validate_mesh(tree, vertices, faces[:-1])
    moved = vertices.copy()
    moved[faces[11, 1], 2] += 1e-6
    with pytest.raises(ValueError, match="triangle 11 is not where the face is"):
        validate_mesh(tree, moved, faces)
    more = np.append(faces, faces[:1], axis=0)
    with pytest.raises(ValueError, match=f"face {len(faces)} has an area but is not in the tree"):
        validate_mesh(tree, vertices, more)
    with pytest.raises(ValueError, match="3 faces are said to have no area"):
        validate_mesh(dataclasses.replace(tree, degenerate=3), vertices, faces)


def test_a_face_without_area_must_not_be_in_the_tree():
    flat = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 1.0]])
    mesh = bw.Mesh(flat, [[0, 1, 2], [1, 2, 3]])
    mesh.validate()
    line = flat.copy()
    line[2] = [0.5, 0, 0]
    other = bw.Mesh(line, mesh.faces)
    tree = other.tree
    assert other.statistics().degenerate == 1
    arrays = {"blocks": tree.blocks.copy(), "ids": tree.ids.copy()}
    corners = arrays["blocks"].reshape(3, 3, 4)
    corners[:, :, 1] = line[mesh.faces[0]] * tree.frame[FRAME_SCALE]
    arrays["ids"][1] = 0
    with pytest.raises(ValueError, match="face 0 has no area but is in the tree"):
        validate_mesh(dataclasses.replace(tree, **arrays), line, mesh.faces)
