"""From a mesh to its tree: picks the builder that the user named or the quality asks for, and runs all steps."""

from __future__ import annotations

import time

from .._arrays import one_of, positive_int
from ..layout import LARGEST_LEAF
from ..tree.triangle_tree import TriangleTree
from ..tree.widen import widen_binary
from .binned import Binned
from .construct import construct
from .records import make_frame, make_records

QUALITIES = {"low": "linear", "medium": "binned", "high": "sweep"}
BUILDERS = {
    "binned": lambda bins: Binned(bins),
}


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
    frame = make_frame(vertices)
    records = make_records(vertices, faces, frame, threads)
    binary = construct(BUILDERS[name](bins), records, leaf_size, threads, progress)
    nodes, blocks, ids = widen_binary(binary, vertices, faces, frame, threads)
    return TriangleTree(nodes, blocks, ids, frame, name, time.perf_counter() - began)
