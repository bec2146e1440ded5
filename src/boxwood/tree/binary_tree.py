"""The binary tree as one value, and the sweep from its leaves up: boxes of inner nodes, and costs of subtrees.

A subtree may be given 1 to 8 of the places for children that a wide node has. With one place it becomes a leaf or a
wide node of its own; with more, they are shared out among its two children in the cheapest way. So the eight costs
of a node follow from those of its two children (Ylitie, Karras, Laine 2017), and `widen` makes the same choices from
them again. Against opening the child of largest area, this halves the number of wide nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import inline
from .._simd import load8, maximum, minimum, splat8, store
from ..geometry.box import cost_of, index
from ..layout import BLOCK_SIZE, RECORD_FLOATS

f4 = np.float32

MAX_DEPTH = 96
"""Levels of nodes. From 32 levels before it on, ranges of primitives are halved by count, which always ends in time."""

TRAVERSE_COST = f4(1.0)
"""Cost of visiting a wide node, in units of testing one block of triangles (SAH)."""

FIT_ROOM = 24
"""float32 that `fit` needs, the first eight of them infinite."""


class BinaryTree(NamedTuple):
    """What builders make (`layout`)."""

    nodes: np.ndarray  # (2 n * 8,) float32; which are used is known only by following them
    costs: np.ndarray  # (2 n * 8,) float32: of each node with 1 to 8 places
    order: np.ndarray  # (n,) int32: the ids of the primitives in the order of the leaves
    leaf_size: int  # the most primitives in a leaf

    @property
    def extent(self):
        """The length of its box on the longest axis; 1 to 2 where the frame fits."""
        return float((self.nodes[:3] + self.nodes[4:7]).max()) if len(self.order) else 1.0


@inline
def leaf_cost(nodes, place, count):
    """What a ray that meets the box of these primitives pays for testing their blocks."""
    return cost_of(nodes, place) * f4((count + BLOCK_SIZE - 1) // BLOCK_SIZE)


@inline
def fit(nodes, links, costs, node, leaf_size, room):
    """The costs of a leaf that has its box, or box and costs of a node whose children have theirs."""
    place = node * RECORD_FLOATS
    count = np.intp(links[index(place + 7)])
    if count >= 0:
        store(costs, place, splat8(leaf_cost(nodes, place, count)))
        return
    first = np.intp(links[index(place + 3)])
    left, right = first * RECORD_FLOATS, first * RECORD_FLOATS + RECORD_FLOATS
    store(nodes, place, maximum(load8(nodes, left), load8(nodes, right)))
    links[index(place + 3)], links[index(place + 7)] = first, count
    store(room, 8, load8(costs, right))
    shared = splat8(f4(np.inf))  # lane k: the cost with k + 1 places, of which the left child gets m + 1
    for m in range(7):
        shared = minimum(shared, load8(room, 7 - m) + splat8(costs[index(left + m)]))
    store(room, 16, shared)
    alone = room[23] + cost_of(nodes, place) * TRAVERSE_COST
    if -count <= leaf_size:
        leaf = leaf_cost(nodes, place, -count)
        if leaf < alone:
            alone = leaf
    store(costs, place, minimum(shared, splat8(alone)))
