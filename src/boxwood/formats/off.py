"""OFF in text form, with a line for each vertex and each face.

Not left to trimesh, which reads fewer faces than the header declares without a word, makes a triangle of a quad whose
line is cut short, and fails on polygons of more than four corners.
Source: the OFF page of the Geomview manual.
"""

from __future__ import annotations

import re

import numpy as np

from .contents import Surface, fan, too_few_corners


def read_off(data: bytes) -> Surface:
    """Read positions and faces; colours and normals are passed over."""
    text = data.decode("utf-8-sig", "replace")
    rows = [words for line in text.splitlines() if (words := line.partition("#")[0].split())]
    if not rows or not re.fullmatch("(ST)?C?N?OFF", rows[0][0]) or rows[0][1:2] == ["BINARY"]:
        raise ValueError("it is no OFF file, or one in binary or with other than three coordinates")
    counts, rows = (rows[0][1:], rows[1:]) if rows[0][1:] else (rows[1] if rows[1:] else [], rows[2:])
    try:
        vertex_count, face_count = int(counts[0]), int(counts[1])
    except (ValueError, IndexError):
        raise ValueError("it does not declare how many vertices and faces it has") from None
    if min(vertex_count, face_count) < 0 or vertex_count + face_count != len(rows):
        raise ValueError(f"it declares {vertex_count} vertices and {face_count} faces, but {len(rows)} lines follow")
    vertices: list[list[float]] = []
    corners: list[int] = []
    sizes: list[int] = []
    for row, words in enumerate(rows):
        try:
            if row < vertex_count:
                x, y, z = words[:3]
                vertices.append([float(x), float(y), float(z)])
            else:
                size = int(words[0])
                indices = [int(word) for word in words[1 : size + 1]]
                if len(indices) != size or not all(0 <= index < vertex_count for index in indices):
                    raise ValueError
                corners += indices
                sizes.append(size)
        except ValueError:
            what = f"vertex {row}" if row < vertex_count else f"face {row - vertex_count}"
            raise ValueError(f"{what} is malformed, or refers to a missing vertex: {' '.join(words)!r}") from None
    lengths = np.array(sizes, np.int64)
    faces, polygons = fan(np.array(corners, np.int64), lengths)
    return Surface(np.array(vertices).reshape(-1, 3), faces, polygons, [], too_few_corners(lengths))
