"""STL: a binary file's count against its size, a text file's facets against their vertices and ends.

What is cut off, trimesh reads as an empty scene, or as the solids that are whole.
"""

from __future__ import annotations

import re

from .contents import Told


def check_stl(data: bytes) -> Told:
    """Count the triangles."""
    count = int.from_bytes(data[80:84], "little")
    size = 84 + 50 * count
    if len(data) == size:
        return Told(triangles=count)
    if not data[:512].lstrip().lower().startswith(b"solid") or b"\0" in data[:512]:
        raise ValueError(
            f"it is cut off, or no STL file: it declares {count} triangles, {size} bytes, and has {len(data)}"
        )

    def lines(pattern: bytes) -> int:
        return len(re.findall(rb"^[ \t]*" + pattern, data, re.MULTILINE | re.IGNORECASE))

    facets, closed, whole = lines(rb"facet\b"), lines(rb"endfacet\b"), lines(rb"vertex([ \t]+[^\s]+){3}[ \t]*\r?$")
    solids, ended = lines(rb"solid\b"), lines(rb"endsolid\b")
    if closed != facets or ended != solids or not whole == lines(rb"vertex\b") == 3 * facets:
        raise ValueError(
            f"it is cut off or malformed: {closed} of {facets} facets and {ended} of {solids} solids end, "
            f"and {whole} vertices are whole"
        )
    return Told(triangles=facets)
