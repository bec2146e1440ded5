"""From the binary tree to the wide one: each node takes in its largest descendants until it has eight children.

Leaves become blocks of four triangles as structure of arrays. Nodes and blocks are written in depth-first order,
so that a walk downwards goes forwards in memory.
"""

from __future__ import annotations

import numpy as np

from .._jit import inline, kernel
from .._threads import run_chunks
from ..geometry.box import cost_of
from ..layout import BLOCK_FLOATS, BLOCK_SIZE, BLOCKS_OF_LEAF, CHILDREN, FRAME_DEPTH, FRAME_SCALE, NODE_FLOATS, RECORD_FLOATS

f4 = np.float32


@inline
def gather(links, nodes, root, children, costs):
    """The up to eight nodes that become the children of a wide node, smallest first; how many."""
    children[0] = root
    number = 1
    if links[root * RECORD_FLOATS + 7] == 0:
        number = open_child(links, nodes, children, costs, number, 0)
    while number < 8:
        widest = -1
        for i in range(number):
            if links[children[i] * RECORD_FLOATS + 7] == 0 and (widest < 0 or costs[i] > costs[widest]):
                widest = i
        if widest < 0:
            break
        number = open_child(links, nodes, children, costs, number, widest)
    for i in range(1, number):
        child, cost = children[i], costs[i]
        place = i
        while place > 0 and costs[place - 1] > cost:
            children[place], costs[place] = children[place - 1], costs[place - 1]
            place -= 1
        children[place], costs[place] = child, cost
    return number


@inline
def open_child(links, nodes, children, costs, number, place):
    """Replace a child by its own two."""
    left = np.intp(links[children[place] * RECORD_FLOATS + 3])
    children[place], children[number] = left, left + 1
    costs[place] = cost_of(nodes, left * RECORD_FLOATS)
    costs[number] = cost_of(nodes, (left + 1) * RECORD_FLOATS)
    return number + 1


@kernel
def widen(binary, links, root, max_depth, wide, codes, node, first_of_blocks):
    """Write the wide nodes of a subtree from index `node` on; how many nodes, blocks, and levels.

    first_of_blocks[block] becomes the first record of that block, counted from the subtree's first block.
    """
    children, costs = np.empty(8, np.int64), np.empty(8, np.float32)
    pending = np.empty((7 * max_depth + 8, 3), np.int64)  # binary node, where its code goes, level
    pending[0, 0], pending[0, 1], pending[0, 2] = root, -1, 1
    top, blocks, levels, begun = 1, 0, 0, node
    while top > 0:
        top -= 1
        source, place, level = pending[top, 0], pending[top, 1], pending[top, 2]
        count = links[source * RECORD_FLOATS + 7]
        if count > 0 and place >= 0:
            first = links[source * RECORD_FLOATS + 3]
            number = (count + BLOCK_SIZE - 1) // BLOCK_SIZE
            codes[place] = ~np.int32(blocks * BLOCKS_OF_LEAF + number)
            for i in range(number):
                first_of_blocks[blocks + i, 0] = first + i * BLOCK_SIZE
                first_of_blocks[blocks + i, 1] = min(count - i * BLOCK_SIZE, BLOCK_SIZE)
            blocks += number
            continue
        levels = max(levels, level)
        if place >= 0:
            codes[place] = node
        number = gather(links, binary, source, children, costs)
        write_node(binary, children, number, wide, codes, node * NODE_FLOATS)
        for i in range(number - 1, -1, -1):
            pending[top, 0], pending[top, 1], pending[top, 2] = children[i], node * NODE_FLOATS + CHILDREN + i, level + 1
            top += 1
        node += 1
    return node - begun, blocks, levels


@inline
def write_node(binary, children, number, wide, codes, place):
    for i in range(number):
        child = children[i] * RECORD_FLOATS
        for axis in range(3):
            wide[place + 8 * axis + i] = -binary[child + axis]
            wide[place + 24 + 8 * axis + i] = binary[child + 4 + axis]
    for i in range(number, 8):
        for axis in range(3):
            wide[place + 8 * axis + i] = f4(np.inf)
            wide[place + 24 + 8 * axis + i] = f4(-np.inf)
        codes[place + CHILDREN + i] = 0
    for i in range(CHILDREN + 8, NODE_FLOATS):
        codes[place + i] = 0


@kernel
def fill_blocks(record_ids, first_of_blocks, vertices, faces, scale, blocks, ids, begin, end):
    """Copy the triangles of the blocks begin to end from the mesh."""
    dtype = blocks.dtype.type
    nan = dtype(np.nan)
    for block in range(begin, end):
        first, count = first_of_blocks[block, 0], first_of_blocks[block, 1]
        for lane in range(BLOCK_SIZE):
            place = block * BLOCK_FLOATS + lane
            if lane < count:
                face = record_ids[(first + lane) * RECORD_FLOATS + 3]
                ids[block * BLOCK_SIZE + lane] = face
                for corner in range(3):
                    vertex = faces[face, corner]
                    for axis in range(3):
                        scaled = np.float64(vertices[vertex, axis]) * scale
                        blocks[place + 12 * corner + 4 * axis] = dtype(scaled)
            else:
                ids[block * BLOCK_SIZE + lane] = -1
                for row in range(9):
                    blocks[place + 4 * row] = nan


def widen_binary(binary, vertices, faces, frame, threads=None):
    """The arrays of the wide tree: nodes, blocks, ids; the frame's depth is set."""
    count = len(binary.records) // RECORD_FLOATS
    dtype = vertices.dtype
    if count == 0:
        frame[FRAME_DEPTH] = 1
        return empty_node(), np.empty(0, dtype), np.empty(0, np.int32)
    wide = np.empty(count * NODE_FLOATS, np.float32)
    first_of_blocks = np.empty((count, 2), np.int32)
    used, number, levels = widen(
        binary.nodes, binary.nodes.view(np.int32), 0, binary.depth, wide, wide.view(np.int32), 0, first_of_blocks
    )
    frame[FRAME_DEPTH] = levels
    nodes = aligned(used * NODE_FLOATS, np.float32)
    nodes[:] = wide[: used * NODE_FLOATS]
    blocks, ids = aligned(number * BLOCK_FLOATS, dtype), np.empty(number * BLOCK_SIZE, np.int32)
    record_ids = binary.records.view(np.int32)

    def work(begin, end):
        fill_blocks(record_ids, first_of_blocks, vertices, faces, frame[FRAME_SCALE], blocks, ids, begin, end)

    run_chunks(work, number, threads=threads)
    return nodes, blocks, ids


def empty_node():
    """A root without children."""
    node = np.zeros(NODE_FLOATS, np.float32)
    node[:24], node[24:48] = np.inf, -np.inf
    return node


def aligned(size, dtype):
    """An empty array that begins with a cache line, so that a node fills four lines and not five."""
    room = np.empty(size * np.dtype(dtype).itemsize + 64, np.uint8)
    begin = -room.ctypes.data % 64
    return room[begin : begin + size * np.dtype(dtype).itemsize].view(dtype)
