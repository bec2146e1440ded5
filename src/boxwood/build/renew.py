"""A tree for primitives that have moved: refitted, or built again where its shape cannot serve.

A triangle that had no area when the tree was built is not in it, so the tree is built anew once it has.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from ..layout import FRAME_SCALE, NODE_FLOATS
from ..tree.box_tree import BoxSetTree
from ..tree.leaves import Triangles
from ..tree.refit import refit
from ..tree.triangle_tree import TriangleTree
from .box_records import box_frame
from .choose import build_box_tree, build_tree, source_of
from .records import bounds_of, make_frame, make_records


def refit_tree(tree, vertices, faces, threads=None) -> TriangleTree:
    """The tree of the mesh with these vertices, and the faces that it has."""
    began = time.perf_counter()
    if tree.degenerate > tree.blotted and gained_area(tree, vertices, faces):
        return build_tree(vertices, faces, tree.builder, threads=threads)

    def fit(inside):
        frame = make_frame(*bounds_of(inside, threads), vertices.dtype)
        source = Triangles(vertices.reshape(-1), faces.reshape(-1), frame[FRAME_SCALE])
        return frame, *refit(tree, source, frame, threads)

    frame, nodes, blocks, blotted = fit(vertices)
    if extent(nodes) < 0.25:
        # Vertices that belong to no face lie far outside, and would cost precision.
        used = np.zeros(len(vertices), bool)
        used[faces] = True
        frame, nodes, blocks, blotted = fit(vertices[used])
    degenerate = tree.degenerate - tree.blotted + blotted
    tree = replace(tree, degenerate=degenerate, blotted=blotted)
    return moved(tree, nodes, blocks, frame, began)


def gained_area(tree, vertices, faces):
    """Whether a face that the tree does not hold has an area now."""
    out = np.ones(len(faces), bool)
    out[tree.ids[tree.ids >= 0]] = False
    frame = make_frame(*bounds_of(vertices), vertices.dtype)
    return len(make_records(vertices, np.ascontiguousarray(faces[out]), frame)) > 0


def extent(nodes):
    """The length of the root's box on the longest axis; 1 to 2 where the frame fits."""
    root = nodes[:NODE_FLOATS]
    there = root[:8] <= root[24:32]
    if not there.any():
        return 1.0
    lower, upper = root[:24].reshape(3, 8)[:, there], root[24:48].reshape(3, 8)[:, there]
    return float((upper.max(axis=1) - lower.min(axis=1)).max())


def refit_box_tree(tree, lower, upper, threads=None) -> BoxSetTree:
    """The tree of as many boxes with these corners, which are points where lower and upper are the same array."""
    if tree.points != (lower is upper):
        return build_box_tree(lower, upper, tree.builder, threads=threads)
    began = time.perf_counter()
    frame, _ = box_frame(lower, upper, threads)
    nodes, blocks, _ = refit(tree, source_of(lower, upper, frame), frame, threads)
    return moved(tree, nodes, blocks, frame, began)


def moved(tree, nodes, blocks, frame, began):
    seconds = time.perf_counter() - began
    return replace(tree, nodes=nodes, blocks=blocks, frame=frame, build_seconds=seconds, refits=tree.refits + 1)
