"""Writes some faces of some meshes to a binary PLY file, whole or not at all; each says which part and face it was.

In double precision, which trimesh does not write: a place far from the origin would move.
Source: Greg Turk, The PLY Polygon File Format (1994).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..archive import replacing
from ..mesh import Mesh

ROW = np.dtype([("count", "u1"), ("corners", "<i4", 3), ("part", "<i4"), ("face", "<i4")])

HEADER = """ply
format binary_little_endian 1.0
element vertex {vertices}
property double x
property double y
property double z
element face {faces}
property list uchar int vertex_indices
property int part
property int face
end_header
"""


def check_ply(path: Path) -> None:
    """ValueError if faces cannot be written to a file of that name."""
    if path.suffix.lower() != ".ply":
        raise ValueError(f"{path}: faces are written to .ply files")


def write_faces(path: Path, meshes: Sequence[Mesh], chosen: Mapping[int, NDArray[np.int64]]) -> int:
    """The chosen faces of each mesh; how many there are."""
    vertices, rows = [], []
    start = 0
    for part, faces in chosen.items():
        used, corners = np.unique(meshes[part].faces[faces], return_inverse=True)
        vertices.append(meshes[part].vertices[used].astype("<f8"))
        row = np.empty(len(faces), ROW)
        row["count"], row["corners"], row["part"], row["face"] = 3, corners.reshape(-1, 3) + start, part, faces
        rows.append(row)
        start += len(used)
    count = sum(map(len, rows))
    with replacing(path) as file:
        file.write(HEADER.format(vertices=start, faces=count).encode())
        for array in (*vertices, *rows):
            file.write(array.tobytes())
    return count
