"""From the binary tree to the wide one, whose nodes have up to eight children.

First the wide nodes of subtrees are planned on all threads (`collapse`). When all sizes are known, nodes and blocks are
written in place, on all threads again and depth-first, so that a walk downwards goes forwards in memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._jit import inline, kernel
from .._threads import run_chunks
from ..geometry.box import index
from ..layout import BLOCK_SIZE, BLOCKS_OF_LEAF, CHILDREN, FRAME_DEPTH, NODE_FLOATS, RECORD_FLOATS
from .binary_tree import MAX_DEPTH
from .collapse import ROW, plan_range
from .leaves import ask_for, write_primitives

f4 = np.float32

GRAIN = 16384
"""Primitives of the largest subtree that is one task."""


@kernel
def write_range(plan, count, node, block, binary, links, order, source, nodes, codes, blocks, ids):
    """Write planned nodes and the blocks of their leaves, from index `node` and `block` on."""
    for row in range(0, count * ROW, ROW):
        if row + 2 * ROW < count * ROW:
            ask_ahead(plan, row + ROW, links, order, source)
        place = (node + row // ROW) * NODE_FLOATS
        for i in range(8):
            child, code = np.intp(plan[index(row + i)]) * RECORD_FLOATS, np.intp(plan[index(row + 8 + i)])
            for axis in range(3):
                lower, upper = index(place + 8 * axis + i), index(place + 24 + 8 * axis + i)
                if child >= 0:
                    nodes[lower], nodes[upper] = -binary[index(child + axis)], binary[index(child + 4 + axis)]
                else:
                    nodes[lower], nodes[upper] = f4(np.inf), f4(-np.inf)
            if code < 0:
                code -= block * BLOCKS_OF_LEAF
                write_leaf(links, child, order, source, blocks, ids, ~code // BLOCKS_OF_LEAF)
            elif child >= 0:
                code += node
            codes[index(place + CHILDREN + i)], codes[index(place + CHILDREN + 8 + i)] = code, 0


@inline
def ask_ahead(plan, row, links, order, source):
    """Have what the leaves of this row copy brought into the cache, and what tells where that of the next row lies.

    Primitives lie anywhere in memory; this saves a third of the time.
    """
    for child in range(row, row + ROW + 8):
        if plan[index(child + 8)] < 0 and child % ROW < 8:
            place = np.intp(plan[index(child)]) * RECORD_FLOATS
            first = np.intp(links[index(place + 3)])
            for i in range(first, first + links[index(place + 7)]):
                ask_for(source, np.intp(order[index(i)]), child < row + 8)


@inline
def write_leaf(links, place, order, source, blocks, ids, block):
    """Copy the primitives of a leaf from their source, from that block on, and pad its last block."""
    count = abs(np.intp(links[index(place + 7)]))
    while links[index(place + 7)] < 0:
        place = np.intp(links[index(place + 3)]) * RECORD_FLOATS
    first = np.intp(links[index(place + 3)])
    for i in range(count):
        ids[index(block * BLOCK_SIZE + i)] = order[index(first + i)]
    for i in range(count, (count + BLOCK_SIZE - 1) // BLOCK_SIZE * BLOCK_SIZE):
        ids[index(block * BLOCK_SIZE + i)] = -1
    write_primitives(source, order, first, count, blocks, block)


@dataclass
class Piece:
    """A part of the tree: a single node above subtrees, a whole subtree, or a leaf that hangs at a single node."""

    root: int  # in the binary tree
    level: int
    parent: Piece | None
    place: int  # of its code in the parent's plan
    plan: np.ndarray
    single: bool
    nodes: int = 0
    blocks: int = 0
    levels: int = 0
    first_node: int = 0
    first_block: int = 0


def widen(binary, source, frame, threads=None):
    """The arrays of the wide tree: nodes, blocks, ids. The frame's depth is set. `source` is of a kind in `leaves`."""
    dtype = source.dtype
    if len(binary.order) == 0:
        return empty_node(), np.empty(0, dtype), np.empty(0, np.int32)
    links = binary.nodes.view(np.int32)
    pieces = plan_pieces(binary, links, threads)
    frame[FRAME_DEPTH] = max(piece.level + piece.levels - 1 for piece in pieces)
    number = pieces[-1].first_node + pieces[-1].nodes
    nodes = aligned(number * NODE_FLOATS, np.float32)
    number = pieces[-1].first_block + pieces[-1].blocks
    blocks, ids = aligned(number * source.block_floats, dtype), np.empty(number * BLOCK_SIZE, np.int32)
    held = binary.order, source
    output = nodes, nodes.view(np.int32), blocks, ids

    def write(begin, end):
        for piece in pieces[begin:end]:
            block = 0 if piece.single else piece.first_block
            write_range(piece.plan, piece.nodes, piece.first_node, block, binary.nodes, links, *held, *output)

    run_chunks(write, len(pieces), chunk=1, threads=threads)
    return nodes, blocks, ids


def plan_pieces(binary, links, threads=None):
    """The pieces of the wide tree, depth-first, planned and with their places. The blocks of single nodes count from
    the first of the tree."""

    def plan_piece(piece):
        room = np.empty(8, np.float32), np.empty(16, np.int32), np.empty(3 * (7 * MAX_DEPTH + 8), np.int32)
        arrays = binary.nodes, links, binary.costs, binary.leaf_size
        return plan_range(*arrays, *room, piece.root, piece.plan, not piece.single)

    pieces, pending = [], [(0, 1, None, 0)]
    while pending:
        root, level, parent, place = pending.pop()
        code = int(parent.plan[place]) if parent else 0
        count = abs(int(links[root * RECORD_FLOATS + 7]))
        single = code >= 0 and count > GRAIN
        piece = Piece(root, level, parent, place, np.empty((1 if single else count) * ROW, np.int32), single)
        pieces.append(piece)
        if code < 0:
            piece.blocks = ~code % BLOCKS_OF_LEAF
        elif single:
            piece.nodes, _, piece.levels = plan_piece(piece)
            pending += [(int(piece.plan[i]), level + 1, piece, 8 + i) for i in range(7, -1, -1) if piece.plan[i] >= 0]

    subtrees = [piece for piece in pieces if piece.nodes + piece.blocks == 0]

    def plan(begin, end):
        for piece in subtrees[begin:end]:
            piece.nodes, piece.blocks, piece.levels = plan_piece(piece)

    run_chunks(plan, len(subtrees), chunk=1, threads=threads)
    node = block = 0
    for piece in pieces:
        piece.first_node, piece.first_block = node, block
        node, block = node + piece.nodes, block + piece.blocks
        if piece.parent and piece.nodes:
            piece.parent.plan[piece.place] = piece.first_node - piece.parent.first_node
        elif piece.parent:
            piece.parent.plan[piece.place] = ~(piece.first_block * BLOCKS_OF_LEAF + piece.blocks)
    return pieces


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
