"""Runs a builder over records with threads: the top by rounds of single splits, then whole subtrees."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._threads import run_chunks, usable_cpus
from ..layout import RECORD_FLOATS
from .top_down import build_range

SMALLEST_TASK = 4096
"""Records; a smaller subtree is not worth handing to another thread."""


class BinaryTree(NamedTuple):
    """What builders make (`layout`): nodes, and the records in the order of the leaves."""

    nodes: np.ndarray
    records: np.ndarray
    depth: int


def construct(builder, records, leaf_size, threads=None, progress=None):
    """The binary tree of the records, which are permuted; the same for any number of threads."""
    count = len(records) // RECORD_FLOATS
    nodes = np.empty(max(2 * count, 2) * RECORD_FLOATS, np.float32)
    links = nodes.view(np.int32)
    links[3], links[7] = 0, count
    report = progress or (lambda done, total: None)
    report(0, count)

    def size(node):
        return int(links[node * RECORD_FLOATS + 7])

    # Split the largest ranges until there are several tasks for each thread.
    workers = threads or usable_cpus()
    tasks, depth = [(0, 1)], 1
    grain = max(SMALLEST_TASK, count // (8 * workers)) if workers > 1 else count
    finished = []
    while tasks:
        large = [task for task in tasks if size(task[0]) > grain]
        finished += [task for task in tasks if size(task[0]) <= grain]

        def split_one(begin, _end, large=large):
            node, level = large[begin]
            return build_range(builder, records, nodes, links, node, level, leaf_size, False)[1]

        cuts = run_chunks(split_one, len(large), chunk=1, threads=threads)
        tasks = [(2 * cut + k, level + 1) for cut, (_, level) in zip(cuts, large, strict=True) if cut >= 0 for k in (0, 1)]
        depth = max([depth, *(level for _, level in tasks)])

    finished.sort(key=lambda task: -size(task[0]))
    sizes = np.cumsum([0, *(size(node) for node, _ in finished)])

    def build_one(begin, _end):
        node, level = finished[begin]
        return build_range(builder, records, nodes, links, node, level, leaf_size, True)[0]

    def built(done, _total):
        report(int(sizes[done]), count)

    depth = max([depth, *run_chunks(build_one, len(finished), chunk=1, threads=threads, progress=built)])
    return BinaryTree(nodes, records, depth)
