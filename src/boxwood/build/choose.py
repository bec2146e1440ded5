"""From a mesh or boxes to a tree: picks the builder that the user named or the quality asks for, and runs all steps."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from .._arrays import one_of, positive_int
from ..layout import FRAME_SCALE, LARGEST_LEAF
from ..tree.box_tree import BoxSetTree
from ..tree.leaves import Boxes, Points, Triangles
from ..tree.triangle_tree import TriangleTree
from ..tree.widen import widen
from .binned import Binned
from .box_records import box_frame, make_box_records
from .construct import construct
from .linear import Linear, sorted_by_curve
from .median import Median
from .midpoint import Midpoint
from .records import bounds_of, make_frame, make_records
from .sweep import Sweep, sorted_by_axis

QUALITIES = {"low": "linear", "medium": "binned", "high": "sweep"}
BUILDERS = ("midpoint", "median", "sweep", "binned", "linear")


class Way(NamedTuple):
    """How to build, checked."""

    builder: str
    bins: int
    leaf_size: int


def way_of(builder=None, bins=16, leaf_size=4, quality=None) -> Way:
    """The way that a user asks for; see `Mesh.build` for the parameters."""
    if builder is not None and quality is not None:
        raise ValueError("give a builder or a quality, not both")
    name = one_of("builder", builder or QUALITIES[one_of("quality", quality or "medium", QUALITIES)], BUILDERS)
    return Way(name, positive_int("bins", bins, 4, 64), positive_int("leaf_size", leaf_size, 1, LARGEST_LEAF))


def build_tree(
    vertices, faces, builder=None, *, bins=16, leaf_size=4, quality=None, threads=None, progress=None
) -> TriangleTree:
    """The tree of a mesh's triangles; see `Mesh.build` for the parameters."""
    way = way_of(builder, bins, leaf_size, quality)
    began = time.perf_counter()

    def build(inside):
        lower, upper = bounds_of(inside, threads)
        frame = make_frame(lower, upper, vertices.dtype)
        records = make_records(vertices, faces, frame, threads)
        return frame, build_binary(way, records, lower, upper, frame, threads, progress)

    frame, binary = build(vertices)
    if binary.extent < 0.25:
        # Vertices that belong to no face lie far outside, and would cost precision.
        used = np.zeros(len(vertices), bool)
        used[faces] = True
        frame, binary = build(vertices[used])
    source = Triangles(vertices.reshape(-1), faces.reshape(-1), frame[FRAME_SCALE])
    nodes, blocks, ids = widen(binary, source, frame, threads)
    degenerate = len(faces) - len(binary.order)
    return TriangleTree(nodes, blocks, ids, frame, way.builder, time.perf_counter() - began, degenerate=degenerate)


def build_box_tree(
    lower, upper, builder=None, *, bins=16, leaf_size=4, quality=None, threads=None, progress=None
) -> BoxSetTree:
    """The tree of boxes (n, d), which are points where lower and upper are the same array; see `BoxTree.build`."""
    way = way_of(builder, bins, leaf_size, quality)
    began = time.perf_counter()
    points, dimension = lower is upper, lower.shape[1]
    frame, bounds = box_frame(lower, upper, threads)
    records = make_box_records(lower, upper, frame, threads)
    binary = build_binary(way, records, bounds[0], bounds[1], frame, threads, progress)
    nodes, blocks, ids = widen(binary, source_of(lower, upper, frame), frame, threads)
    seconds = time.perf_counter() - began
    return BoxSetTree(nodes, blocks, ids, frame, way.builder, seconds, dimension=dimension, points=points)


def source_of(lower, upper, frame):
    """What a tree of boxes, or points, copies into its leaves."""
    scale = frame[FRAME_SCALE]
    return Points(lower, scale) if lower is upper else Boxes(lower, upper, scale)


def build_binary(way, records, lower, upper, frame, threads, progress):
    """The binary tree of records within these bounds."""
    reach = (upper * 0.5 - lower * 0.5) * frame[FRAME_SCALE]
    return construct(*prepare(way.builder, records, reach, way.bins, threads), way.leaf_size, threads, progress)


def prepare(name, records, reach, bins, threads):
    """The builder of that name, and the records, in another order where it wants one."""
    if name == "linear":
        keys, records = sorted_by_curve(records, reach, threads)
        return Linear(keys), records
    if name == "sweep":
        return Sweep(sorted_by_axis(records, threads)), records
    return {"midpoint": Midpoint(), "median": Median(), "binned": Binned(bins)}[name], records
