"""Runs a builder over records with threads: the top by rounds of single cuts, then whole subtrees."""

from __future__ import annotations

import numpy as np

from .._threads import run_chunks
from ..layout import RECORD_FLOATS
from ..tree.binary_tree import FIT_ROOM, MAX_DEPTH, BinaryTree
from .top_down import BUILD, CUT, FIT, build_range

GRAIN = 16384
"""Records of the largest subtree that is one task. Fixed, so that a tree never depends on the number of threads."""


def construct(builder, records, leaf_size, threads=None, progress=None):
    """The binary tree of the records, which are permuted."""
    count = len(records) // RECORD_FLOATS
    nodes = np.empty(2 * count * RECORD_FLOATS, np.float32)
    links, costs, order = nodes.view(np.int32), np.empty_like(nodes), np.empty(count, np.int32)
    if count == 0:
        return BinaryTree(nodes, costs, order, leaf_size)
    links[3], links[7] = 0, count

    def size(node):
        return int(links[node * RECORD_FLOATS + 7])

    def run(node, depth, task):
        scratch = np.empty(max(builder.room(size(node)), FIT_ROOM), np.float32)
        room = scratch, scratch.view(np.int32), np.empty(2 * MAX_DEPTH + 4, np.int32)
        arrays = records, records.view(np.int32), nodes, links, costs, order
        return build_range(builder, *room, *arrays, node, depth, leaf_size, task)

    subtrees, above = [], []
    depth, level = 1, [0]
    while level:
        subtrees += [(node, depth) for node in level if size(node) <= GRAIN]
        large = [node for node in level if size(node) > GRAIN]

        def cut(begin, _end, large=large, depth=depth):
            return run(large[begin], depth, CUT)

        cuts = run_chunks(cut, len(large), chunk=1, threads=threads)
        above += large
        level = [2 * at + side for at in cuts for side in (0, 1)]
        depth += 1

    subtrees.sort(key=lambda subtree: -size(subtree[0]))
    done = np.cumsum([0, *(size(node) for node, _ in subtrees)])
    report = progress and (lambda number, _: progress(int(done[number]), count))

    def build(begin, _end):
        run(*subtrees[begin], BUILD)

    run_chunks(build, len(subtrees), chunk=1, threads=threads, progress=report)
    for node in reversed(above):
        run(node, 0, FIT)
    return BinaryTree(nodes, costs, order, leaf_size)
