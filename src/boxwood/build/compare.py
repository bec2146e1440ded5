"""Whether a tree holds a mesh: exactly its faces that have an area, with exactly its vertices."""

from __future__ import annotations

import numpy as np

from ..layout import FRAME_SCALE, RECORD_FLOATS
from ..tree.validate import require
from .records import make_records


def validate_mesh(tree, vertices, faces) -> None:
    """Raise ValueError naming the first face that is missing, too much, or not where its vertices are."""
    held = tree.ids >= 0
    ids = tree.ids[held]
    require(tree.blocks.dtype == vertices.dtype, f"blocks are {tree.blocks.dtype}, and vertices {vertices.dtype}")
    require(ids < len(faces), "triangle {} is no face of the mesh", ids)
    corners = vertices[faces[ids]] * vertices.dtype.type(tree.frame[FRAME_SCALE])
    found_at = tree.corners()[held]
    blotted = np.isnan(found_at).all(axis=(1, 2))
    require(np.all(found_at == corners, axis=(1, 2)) | blotted, "triangle {} is not where the face is", ids)
    expected = np.zeros(len(faces), bool)
    expected[make_records(vertices, faces, tree.frame).view(np.int32)[3::RECORD_FLOATS]] = True
    found = np.zeros(len(faces), bool)
    found[ids[~blotted]] = True
    require(found | ~expected, "face {} has an area but is not in the tree")
    require(expected | ~found, "face {} has no area but is in the tree")
    require(tree.degenerate == len(faces) - found.sum(), f"{tree.degenerate} faces are said to have no area")


def validate_boxes(tree, lower, upper) -> None:
    """Raise ValueError naming the first box that is missing, too much, or not where its corners are."""
    held = tree.ids >= 0
    ids = tree.ids[held]
    require(tree.blocks.dtype == lower.dtype, f"blocks are {tree.blocks.dtype}, and boxes {lower.dtype}")
    require(tree.dimension == lower.shape[1], f"the tree has {tree.dimension} dimensions, and boxes {lower.shape[1]}")
    require(ids < len(lower), "box {} is not of the set", ids)
    corners = tree.corners()[held]
    same = np.all((corners[:, 0] == lower[ids]) & (corners[:, -1] == upper[ids]), axis=1)
    require(same, "box {} is not where it was given", ids)
    found = np.zeros(len(lower), bool)
    found[ids] = True
    require(found, "box {} is not in the tree")
