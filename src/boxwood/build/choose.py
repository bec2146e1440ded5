"""From a mesh to its tree: picks the builder that the user named or the quality asks for, and runs all steps."""

from __future__ import annotations

import time

import numpy as np

from .._arrays import one_of, positive_int
from ..layout import FRAME_SCALE, LARGEST_LEAF
from ..tree.triangle_tree import TriangleTree
from ..tree.widen import widen
from .binned import Binned
from .construct import construct
from .linear import Linear, sorted_by_curve
from .median import Median
from .midpoint import Midpoint
from .records import bounds_of, make_frame, make_records
from .sweep import Sweep, sorted_by_axis

QUALITIES = {"low": "linear", "medium": "binned", "high": "sweep"}
BUILDERS = ("midpoint", "median", "sweep", "binned", "linear")


def build_tree(
    vertices, faces, builder=None, *, bins=16, leaf_size=4, quality=None, threads=None, progress=None
) -> TriangleTree:
    """The tree of a mesh's triangles; see `Mesh.build` for the parameters."""
    if builder is not None and quality is not None:
        raise ValueError("give a builder or a quality, not both")
    name = one_of("builder", builder or QUALITIES[one_of("quality", quality or "medium", QUALITIES)], BUILDERS)
    bins = positive_int("bins", bins, 4, 64)
    leaf_size = positive_int("leaf_size", leaf_size, 1, LARGEST_LEAF)
    began = time.perf_counter()

    def build(inside):
        lower, upper = bounds_of(inside, threads)
        frame = make_frame(lower, upper, vertices.dtype)
        records = make_records(vertices, faces, frame, threads)
        reach = (upper * 0.5 - lower * 0.5) * frame[FRAME_SCALE]
        return frame, construct(*prepare(name, records, reach, bins, threads), leaf_size, threads, progress)

    frame, binary = build(vertices)
    if binary.extent < 0.25:
        # Vertices that belong to no face lie far outside, and would cost precision.
        used = np.zeros(len(vertices), bool)
        used[faces] = True
        frame, binary = build(vertices[used])
    nodes, blocks, ids = widen(binary, vertices, faces, frame, threads)
    degenerate = len(faces) - len(binary.order)
    return TriangleTree(nodes, blocks, ids, frame, name, time.perf_counter() - began, degenerate)


def prepare(name, records, reach, bins, threads):
    """The builder of that name, and the records, in another order where it wants one."""
    if name == "linear":
        keys, records = sorted_by_curve(records, reach, threads)
        return Linear(keys), records
    if name == "sweep":
        return Sweep(sorted_by_axis(records, threads)), records
    return {"midpoint": Midpoint(), "median": Median(), "binned": Binned(bins)}[name], records
