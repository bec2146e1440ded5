"""PLY: the rows that the header declares against those that follow, and the corners of each face.

Of a text file that is cut off trimesh reads the faces there are, and takes a blank line for a row; in a binary one it
takes all faces to have as many corners as the first.
Source: Greg Turk, The PLY Polygon File Format (1994).
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from .contents import Ids, Told, too_few_corners

TYPES = {
    "char": "i1", "short": "i2", "int": "i4", "uchar": "u1", "ushort": "u2", "uint": "u4", "float": "f4",
    "double": "f8", "int8": "i1", "int16": "i2", "int32": "i4", "int64": "i8", "uint8": "u1", "uint16": "u2",
    "uint32": "u4", "uint64": "u8", "float32": "f4", "float64": "f8",
}  # fmt: skip


class Element(NamedTuple):
    """A kind of row; its fields are (name, type of the length if it is a list, type)."""

    name: str
    rows: int
    fields: list[tuple[str, str, str]]

    @property
    def corners(self) -> str:
        """The name of the list of a face's corners, by which trimesh finds it."""
        if self.name != "face":
            return ""
        for name in ("vertex_index", "vertex_indices"):
            if name in [field for field, length, _ in self.fields if length]:
                return name
        raise ValueError("its faces have no list called vertex_indices")


def check_ply(data: bytes) -> Told:
    """Compare rows and header, and find the polygon of each triangle."""
    head = re.match(rb"ply[ \t]*\r?\n(format .*?)\nend_header[ \t]*\r?\n", data, re.DOTALL)
    if head is None:
        raise ValueError("it has no PLY header, or only part of one")
    encoding, elements = _header(head[1].decode("latin-1").splitlines())
    body = data[head.end() :]
    if encoding == "ascii":
        rows = [line for line in body.splitlines() if line.strip()]
        sizes = _text_rows(elements, rows)
        data = data[: head.end()] + b"\n".join(rows) + b"\n"
    else:
        sizes = _binary_rows(elements, body, ">" if encoding == "binary_big_endian" else "<")
    if not len(sizes):
        raise ValueError(f"it has {sum(each.rows for each in elements if each.name == 'vertex')} points but no faces")
    ids, larger = np.arange(len(sizes)), np.flatnonzero(sizes > 4)
    fours = ids[sizes == 4]  # trimesh puts triangles first, then the two halves of quads, then fans
    polygons = np.concatenate([ids[sizes == 3], fours, fours, np.repeat(larger, sizes[larger] - 2)])
    return Told(polygons=polygons, data=data, notes=too_few_corners(sizes))


def _header(lines: list[str]) -> tuple[str, list[Element]]:
    elements: list[Element] = []
    for line in lines[1:]:
        words = line.split()
        try:
            if words[0] == "element":
                elements.append(Element(words[1], int(words[2]), []))
            elif words[0] == "property":
                types = [TYPES[word] for word in words[1:-1] if word != "list"]
                elements[-1].fields.append((words[-1], types[0] if words[1] == "list" else "", types[-1]))
        except (LookupError, ValueError):
            raise ValueError(f"its header is malformed: {line!r}") from None
    if any(element.rows < 0 for element in elements):
        raise ValueError("its header declares a negative number of rows")
    return lines[0].split()[1], elements


def _text_rows(elements: list[Element], rows: list[bytes]) -> Ids:
    """The number of corners of each face."""
    declared = sum(element.rows for element in elements)
    if len(rows) != declared:
        wanted = " and ".join(f"{element.rows} of {element.name}" for element in elements)
        raise ValueError(f"it declares {declared} rows, {wanted}, but {len(rows)} follow")
    sizes, start = [], 0
    for element in elements:
        corners = element.corners
        for row, line in enumerate(rows[start : start + element.rows]):
            words, used = line.split(), 0
            for name, length, _ in element.fields:
                if length and used < len(words):
                    if name == corners:
                        sizes.append(int(words[used]))
                    used += int(words[used])
                used += 1
            if used != len(words):
                raise ValueError(f"{element.name} {row} should have {used} numbers, but has {len(words)}")
        start += element.rows
    return np.array(sizes, np.int64)


def _binary_rows(elements: list[Element], body: bytes, order: str) -> Ids:
    """The number of corners of each face, when all rows of an element are as long as its first."""
    sizes, start = np.empty(0, np.int64), 0
    for element in (element for element in elements if element.rows):
        fields: list[tuple[Any, ...]] = []
        for name, length, kind in element.fields:
            here = start + np.dtype(fields).itemsize
            if length:
                first = int.from_bytes(body[here : here + int(length[1])], "big" if order == ">" else "little")
                fields += [(f"{name} length", order + length), (name, order + kind, (first,))]
            else:
                fields.append((name, order + kind))
        row = np.dtype(fields)
        rows = np.frombuffer(body, row, min(element.rows, (len(body) - start) // row.itemsize), start)
        for name in [name for name in row.names or () if name.endswith(" length")]:
            lengths = rows[name]
            odd = np.flatnonzero(lengths != lengths[:1])
            if len(odd):
                raise ValueError(
                    f"{element.name} {odd[0]} has a list of {lengths[odd[0]]} and the first has one of {lengths[0]}, "
                    "which is not read in a binary PLY; export it as triangles, or as text"
                )
        if len(rows) < element.rows:
            raise ValueError(f"it is cut off: it declares {element.rows} of {element.name}, but {len(rows)} follow")
        if element.corners:
            sizes = rows[f"{element.corners} length"].astype(np.int64)
        start += element.rows * row.itemsize
    if start != len(body):
        raise ValueError(f"it has {len(body) - start} bytes more than its header declares")
    return sizes
