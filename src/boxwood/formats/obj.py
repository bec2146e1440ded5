"""Wavefront OBJ: the positions and the faces, in the order of the file.

Not left to trimesh, which takes relative indices from the end of the file, index 0 for 1, skips indented lines, and
reads six corners as a triangle with texture coordinates where the first face was one, all without a word.
Source: Appendix B1 of the Wavefront Advanced Visualizer manual.
"""

from __future__ import annotations

import numpy as np

from .contents import Surface, fan, too_few_corners


def read_obj(data: bytes) -> Surface:
    """Read the `v`, `f` and `o` lines."""
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n").replace("\\\n", " ")
    vertices: list[tuple[float, float, float]] = []
    corners: list[int] = []
    sizes: list[int] = []
    lines: list[int] = []
    objects: list[tuple[str, int]] = []
    for number, line in enumerate(text.split("\n"), 1):
        words = (line.partition("#")[0] if "#" in line else line).split()
        key = words[0] if words else ""
        try:
            if key == "v":
                vertices.append((float(words[1]), float(words[2]), float(words[3])))
            elif key == "f":
                indices = [int(word.partition("/")[0]) for word in words[1:]]
                # relative to the vertices so far; a 0, which means nothing, becomes an index that is out of range
                corners += [index - 1 if index > 0 else index + len(vertices) if index else -1 for index in indices]
                sizes.append(len(indices))
                lines.append(number)
            elif key == "o":
                objects.append((line.strip()[1:].strip(), len(sizes)))
        except (ValueError, IndexError):
            raise ValueError(f"line {number} is malformed: {line.strip()!r}") from None
    flat, lengths = np.array(corners, np.int64), np.array(sizes, np.int64)
    outside = np.flatnonzero((flat < 0) | (flat >= len(vertices)))
    if len(outside):
        face = int(np.searchsorted(np.cumsum(lengths), outside[0], "right"))
        raise ValueError(f"line {lines[face]} refers to a vertex that is none of the {len(vertices)}")
    faces, polygons = fan(flat, lengths)
    return Surface(np.array(vertices).reshape(-1, 3), faces, polygons, objects, too_few_corners(lengths, lines))
