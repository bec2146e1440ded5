"""Checks all that `layout` promises about a wide tree, and raises ValueError naming the first thing that is not so.

Whole arrays are looked at, level by level and never node by node, so that a tree of a million triangles takes a second.
"""

from __future__ import annotations

import numpy as np

from ..layout import (
    BLOCK_SIZE,
    BLOCKS_OF_LEAF,
    CHILDREN,
    EXTENT,
    FRAME_DEPTH,
    FRAME_SCALE,
    FRAME_SIZE,
    NODE_FLOATS,
    PILLAR,
)
from .binary_tree import MAX_DEPTH


def validate(tree):
    """Check a `WideTree`: sizes, frame, children, order, depth, blocks and boxes."""
    lower, upper, codes, there = validate_links(tree)
    check_blocks(tree, codes[there & (codes < 0)])
    check_boxes(tree, lower, upper, codes, there)


def validate_links(tree) -> tuple[np.ndarray, ...]:
    """Check only what keeps a walk inside of the arrays; the children of all nodes, and which are there."""
    check_arrays(tree)
    lower, upper, codes = children_of(tree)
    there = lower[:, 0] <= upper[:, 0]
    check_children(tree, lower, upper, codes, there)
    levels = check_structure(tree, codes, there)
    require(len(levels) <= tree.depth, f"the tree has {len(levels)} levels, and records {tree.depth}")
    return lower, upper, codes, there


def require(good, message, names=None):
    """Raise the message unless all is good; {} in it becomes the first row that is not, or that row's name."""
    good = np.asarray(good)
    if not good.all():
        row = int(np.argmin(good))
        raise ValueError("broken tree: " + message.format(row if names is None else names[row]))


def children_of(tree):
    """Lower and upper corners (n, 3, 8) and codes (n, 8) of the children of all nodes."""
    nodes, codes = (array.reshape(-1, NODE_FLOATS) for array in tree.arrays[:2])
    return nodes[:, :24].reshape(-1, 3, 8), nodes[:, 24:48].reshape(-1, 3, 8), codes[:, CHILDREN : CHILDREN + 8]


def half_areas(lower, upper):
    """Of boxes (n, 3, k): (n, k), with the roundings of `box.cost_of`; 0 for those that are empty."""
    there = np.all(lower <= upper, axis=1, keepdims=True)
    x, y, z = np.moveaxis(np.where(there, upper, 0) - np.where(there, lower, 0), 1, 0)
    return x * y + y * z + z * x


def check_arrays(tree):
    nodes, _, blocks, ids, frame = tree.arrays
    require(nodes.dtype == np.float32 and nodes.ndim == 1, "nodes are not a flat float32 array")
    require(nodes.size > 0 and nodes.size % NODE_FLOATS == 0, f"nodes have {nodes.size} numbers")
    require(blocks.dtype in (np.float32, np.float64) and blocks.ndim == 1, "blocks are not a flat array of floats")
    size = tree.block_floats
    require(blocks.size % size == 0, f"blocks have {blocks.size} numbers")
    require(ids.dtype == np.int32 and ids.ndim == 1, "ids are not a flat int32 array")
    require(ids.size * size == blocks.size * BLOCK_SIZE, f"{ids.size} ids do not fit {blocks.size} numbers")
    require(frame.dtype == np.float64 and frame.shape == (FRAME_SIZE,), f"the frame is not {FRAME_SIZE} float64")
    require(np.isfinite(frame), f"the frame is not finite: {frame}")
    scale, depth = frame[FRAME_SCALE], frame[FRAME_DEPTH]
    require(scale > 0 and np.frexp(scale)[0] == 0.5, f"the frame's scale {scale} is not a power of two")
    require(depth in range(1, MAX_DEPTH + 1), f"the frame's depth {depth} is not one of 1 to {MAX_DEPTH} levels")


def check_children(tree, lower, upper, codes, there):
    """Children have boxes and valid codes, and stand in rising order of area; missing ones come last."""
    numbers = ~codes % BLOCKS_OF_LEAF
    farthest = np.array([EXTENT] * tree.dimension + [PILLAR] * (3 - tree.dimension))[:, None]
    boxes = np.all((lower <= upper) & (-lower <= farthest) & (upper <= farthest), axis=1)
    empty = np.all((lower == np.inf) & (upper == -np.inf), axis=1) & (codes == 0)
    require(np.all(np.where(there, boxes, empty), axis=1), "a child of node {} has no valid box")
    require(np.all(~there | (codes >= 0) | (numbers > 0), axis=1), "a child of node {} is a leaf without blocks")
    require(~np.any(there[:, 1:] & ~there[:, :-1], axis=1), "a child of node {} stands after a missing one")
    areas = np.where(there, half_areas(lower, upper), np.inf)
    rising = np.all(areas[:, 1:] >= areas[:, :-1], axis=1) | (tree.refits > 0)
    require(rising, "the children of node {} are not in rising order of area")
    require(there[1:].any(axis=1), "node {} has no children", np.arange(1, len(there)))


def check_structure(tree, codes, there):
    """Each node and block hangs at one place, and all lie in depth-first order; the nodes of each level."""
    number, blocks = len(codes), len(tree.ids) // BLOCK_SIZE
    inner, leaf = there & (codes >= 0), there & (codes < 0)
    parents = np.nonzero(inner)[0]
    require((codes[inner] > parents) & (codes[inner] < number), "a child of node {} is no later node", parents)
    times = np.bincount(codes[inner], minlength=number)
    require(times == (np.arange(number) > 0), "node {} is not the child of exactly one node")

    levels = [np.zeros(1, np.intp)]
    while len(levels[-1]):
        levels.append(codes[levels[-1]][inner[levels[-1]]])
    levels.pop()

    # From the leaves up, how many nodes and blocks each child brings; from the root down, where they must begin.
    brought = np.zeros((2, number, 8), np.int64)
    brought[1][leaf] = ~codes[leaf] % BLOCKS_OF_LEAF
    for level in reversed(levels[:-1]):
        at, slot = np.nonzero(inner[level])
        below = codes[level][at, slot]
        brought[:, level[at], slot] = brought[:, below].sum(axis=2) + np.array([[1], [0]])
    begins = np.cumsum(brought, axis=2) - brought
    first = np.zeros((2, number), np.int64)
    first[0, 0] = 1  # of what lies below the root
    for level in levels:
        begins[:, level] += first[:, level, None]
        at, slot = np.nonzero(inner[level])
        first[:, codes[level][at, slot]] = begins[:, level[at], slot] + np.array([[1], [0]])
    rows = np.arange(number)
    require(np.all(~inner | (codes == begins[0]), axis=1), "the nodes below node {} are not in depth-first order", rows)
    in_order = np.all(~leaf | (~codes // BLOCKS_OF_LEAF == begins[1]), axis=1)
    require(in_order, "the blocks below node {} are not in depth-first order", rows)
    require(brought[1, 0].sum() == blocks, f"leaves hold {brought[1, 0].sum()} of {blocks} blocks")
    return levels


def check_blocks(tree, leaves):
    """Blocks are full but for the last of a leaf, padded with NaN and -1, and no id occurs twice."""
    ids = tree.ids.reshape(-1, BLOCK_SIZE)
    held = ids >= 0
    numbers = tree.blocks.reshape(len(ids), tree.block_floats // BLOCK_SIZE, BLOCK_SIZE)
    blotted = held & np.isnan(numbers).all(axis=1)
    met = (held & ~blotted)[:, None]
    finite = np.all(np.where(met, np.isfinite(numbers), np.isnan(numbers)), axis=(1, 2))
    require(np.all(ids >= -1, axis=1) & held[:, 0], "block {} begins with padding or has an id below -1")
    require(~np.any(held[:, 1:] & ~held[:, :-1], axis=1), "block {} has a " + tree.primitive + " after padding")
    require(finite, "block {} has a " + tree.primitive + " that is not finite, or padding that is not NaN")
    require(blotted.sum() == tree.blotted, f"{blotted.sum()} and not {tree.blotted} {tree.primitives} are blotted out")
    last = np.zeros(len(ids), bool)
    last[~leaves // BLOCKS_OF_LEAF + ~leaves % BLOCKS_OF_LEAF - 1] = True
    require(last | held[:, -1], "block {} is padded, but is not the last of its leaf")
    names, times = np.unique(ids[held], return_counts=True)
    require(times == 1, tree.primitive + " {} occurs twice", names)


def check_boxes(tree, lower, upper, codes, there):
    """Each child's box holds the boxes of its own children, or the primitives of its blocks."""
    at, slot = np.nonzero(there & (codes >= 0))
    below = codes[at, slot]
    inside = (lower[at, :, slot] <= lower[below].min(axis=2)) & (upper[at, :, slot] >= upper[below].max(axis=2))
    require(inside.all(axis=1), "a child of node {} reaches beyond its own box", at)

    at, slot = np.nonzero(there & (codes < 0))
    code = ~codes[at, slot]
    leaf = np.repeat(np.arange(len(code)), code % BLOCKS_OF_LEAF)
    block = np.arange(len(leaf)) - np.searchsorted(leaf, leaf) + (code // BLOCKS_OF_LEAF)[leaf]
    low, high = (corners.reshape(-1, BLOCK_SIZE, 3)[block] for corners in tree.primitive_bounds())
    low, high = np.fmin.reduce(low, axis=1), np.fmax.reduce(high, axis=1)
    inside = ~((lower[at, :, slot][leaf] > low) | (upper[at, :, slot][leaf] < high))  # nan where all are blotted out
    require(inside.all(axis=1), "a leaf of node {} does not hold its " + tree.primitives, at[leaf])
