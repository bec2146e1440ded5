"""The same tree for primitives that have moved: blocks written anew, and every box again from the leaves up.

Nodes lie in depth-first order, so going through them backwards meets children before their parents, and a subtree is
one run of nodes: subtrees go to threads, and the few nodes above them come last.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from .._simd import greatest_of, least_of, load8
from .._threads import run_chunks
from ..geometry.box import index, rounded_up
from ..geometry.predicates import EXPANSION_ROOM
from ..layout import BLOCK_SIZE, BLOCKS_OF_LEAF, CHILDREN, FRAME_CENTER, FRAME_DEPTH, NODE_FLOATS, PILLAR
from .leaves import blot_out, row_bounds, write_primitives
from .widen import aligned

f4 = np.float32

SUBTREES = 64
"""To cut a tree into, at least where it has so many nodes. Fixed, so that it does not depend on the threads."""


@kernel
def refit_range(source, nodes, codes, blocks, ids, frame, first, last):
    """Write the blocks below the nodes first to last, and their children's boxes; how many primitives are blotted."""
    room = np.empty(EXPANSION_ROOM, np.float64)
    blotted = 0
    for node in range(last - 1, first - 1, -1):
        place = node * NODE_FLOATS
        for child in range(place, place + 8):
            if nodes[index(child)] > nodes[index(child + 24)]:
                break
            code = np.intp(codes[index(child + CHILDREN)])
            if code >= 0:
                below = code * NODE_FLOATS
                for axis in range(0, 24, 8):
                    nodes[index(child + axis)] = least_of(load8(nodes, below + axis))
                    nodes[index(child + 24 + axis)] = greatest_of(load8(nodes, below + 24 + axis))
                continue
            block, count = ~code // BLOCKS_OF_LEAF, 0
            for i in range(block * BLOCK_SIZE, (block + ~code % BLOCKS_OF_LEAF) * BLOCK_SIZE):
                count += ids[index(i)] >= 0
            write_primitives(source, ids, block * BLOCK_SIZE, count, blocks, block)
            for axis in range(3):
                low, high = row_bounds(source, blocks, block, count, axis)
                center = frame[FRAME_CENTER + axis]
                nodes[index(child + 8 * axis)] = -min(rounded_up(center - low), f4(PILLAR))
                nodes[index(child + 24 + 8 * axis)] = min(rounded_up(high - center), f4(PILLAR))
            blotted += blot_out(source, blocks, block, count, room)
    return blotted


def refit(tree, source, frame, threads=None):
    """Nodes and blocks of that tree for its source as it is now, in a frame that fits; and how many primitives of its
    blocks nothing can meet any more."""
    nodes, blocks = aligned(len(tree.nodes), np.float32), aligned(len(tree.blocks), tree.blocks.dtype)
    nodes[:] = tree.nodes
    frame[FRAME_DEPTH] = tree.depth
    codes = nodes.view(np.int32)
    above, roots = cut(codes)
    ends = np.sort([*above, *roots, len(nodes) // NODE_FLOATS])

    def work(begin, end):
        blotted = 0
        for root in roots[begin:end]:
            last = ends[np.searchsorted(ends, root) + 1]
            blotted += refit_range(source, nodes, codes, blocks, tree.ids, frame, root, last)
        return blotted

    blotted = sum(run_chunks(work, len(roots), chunk=1, threads=threads))
    for node in sorted(above, reverse=True):
        blotted += refit_range(source, nodes, codes, blocks, tree.ids, frame, node, node + 1)
    return nodes, blocks, blotted


def cut(codes):
    """Nodes whose subtrees have nothing in common, and those above them."""
    above, roots = [], [0]
    rows = codes.reshape(-1, NODE_FLOATS)[:, CHILDREN : CHILDREN + 8]
    while roots and len(roots) < SUBTREES and len(rows) > 8 * SUBTREES:
        above += roots
        children = rows[roots]
        roots = children[children > 0].tolist()
    return above, roots
