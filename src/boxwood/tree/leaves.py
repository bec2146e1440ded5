"""Where the primitives of leaves come from, and how each kind is written into blocks: all that `widen` leaves open.

A source is a NamedTuple of the user's arrays with the functions `ask_for` and `write_primitives`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import generic, inline
from .._simd import prefetch
from ..geometry.box import index
from ..geometry.predicates import collinear
from ..layout import BLOCK_FLOATS, BLOCK_SIZE, PILLAR

f8 = np.float64


class Triangles(NamedTuple):
    vertices: np.ndarray  # (3 n,)
    faces: np.ndarray  # (3 m,) int32
    scale: float

    @property
    def dtype(self):
        return self.vertices.dtype

    @property
    def block_floats(self):
        return BLOCK_FLOATS


class Boxes(NamedTuple):
    lower: np.ndarray  # (n, 2) or (n, 3)
    upper: np.ndarray
    scale: float

    @property
    def dtype(self):
        return self.lower.dtype

    @property
    def block_floats(self):
        return 2 * BLOCK_SIZE * self.lower.shape[1]


class Points(NamedTuple):
    lower: np.ndarray  # (n, 2) or (n, 3)
    scale: float

    @property
    def dtype(self):
        return self.lower.dtype

    @property
    def block_floats(self):
        return BLOCK_SIZE * self.lower.shape[1]


@generic
def ask_for(source, primitive, soon):
    """Have the numbers of a primitive that is soon written brought into the cache, or what tells where they lie."""


@generic
def write_primitives(source, order, first, count, blocks, block):
    """Copy the primitives order[first : first + count] into blocks, from that block on, and pad the last one."""


@generic
def row_bounds(source, blocks, block, count, axis):
    """The least and the greatest coordinate on an axis, in the tree's scale, of the count primitives in the blocks
    from that one on, as float64."""


@generic
def blot_out(source, blocks, block, count, room):
    """Let nothing meet those of them that nothing may: how many. `room` is for `collinear`."""


@ask_for.implemented_for(Triangles)
def _(source, primitive, soon):
    face = 3 * primitive
    if soon:
        for corner in range(face, face + 3):
            prefetch(source.vertices, 3 * np.intp(source.faces[index(corner)]))
    else:
        prefetch(source.faces, face)


@write_primitives.implemented_for(Triangles)
def _(source, order, first, count, blocks, block):
    dtype = blocks.dtype.type
    vertices, faces, factor = source.vertices, source.faces, dtype(source.scale)
    into = block * BLOCK_FLOATS
    for i in range(count):
        face = np.intp(order[index(first + i)]) * 3
        for corner in range(3):
            vertex = np.intp(faces[index(face + corner)]) * 3
            for axis in range(3):
                blocks[index(into + 12 * corner + 4 * axis)] = vertices[index(vertex + axis)] * factor
        into += 1 if (i + 1) % BLOCK_SIZE > 0 else BLOCK_FLOATS - BLOCK_SIZE + 1
    for _ in range(count, (count + BLOCK_SIZE - 1) // BLOCK_SIZE * BLOCK_SIZE):
        for number in range(into, into + BLOCK_FLOATS, BLOCK_SIZE):
            blocks[index(number)] = dtype(np.nan)
        into += 1


@row_bounds.implemented_for(Triangles)
def _(source, blocks, block, count, axis):
    low, high = np.inf, -np.inf
    for i in range(count):
        place = (block + i // BLOCK_SIZE) * BLOCK_FLOATS + BLOCK_SIZE * axis + i % BLOCK_SIZE
        a, b, c = blocks[index(place)], blocks[index(place + 12)], blocks[index(place + 24)]
        low, high = min(low, f8(min(min(a, b), c))), max(high, f8(max(max(a, b), c)))
    return low, high


@blot_out.implemented_for(Triangles)
def _(source, blocks, block, count, room):
    """Those without area."""
    dtype = blocks.dtype.type
    blotted = 0
    for i in range(count):
        place = (block + i // BLOCK_SIZE) * BLOCK_FLOATS + i % BLOCK_SIZE
        a, b, c = corner_at(blocks, place), corner_at(blocks, place + 12), corner_at(blocks, place + 24)
        if collinear(a, b, c, room):
            blotted += 1
            for number in range(place, place + BLOCK_FLOATS, BLOCK_SIZE):
                blocks[index(number)] = dtype(np.nan)
    return blotted


@inline
def corner_at(blocks, place):
    """One corner of a triangle, as float64."""
    return f8(blocks[index(place)]), f8(blocks[index(place + 4)]), f8(blocks[index(place + 8)])


@ask_for.implemented_for(Boxes)
def _(source, primitive, soon):
    if soon:
        place = primitive * source.lower.shape[1]
        prefetch(source.lower, place)
        prefetch(source.upper, place)


@write_primitives.implemented_for(Boxes)
def _(source, order, first, count, blocks, block):
    size = BLOCK_SIZE * source.lower.shape[1]
    write_corners(source.lower, order, first, count, blocks, block * 2 * size, 2 * size)
    write_corners(source.upper, order, first, count, blocks, block * 2 * size + size, 2 * size)


@row_bounds.implemented_for(Boxes)
def _(source, blocks, block, count, axis):
    size = BLOCK_SIZE * source.lower.shape[1]
    return corner_bounds(blocks, block * 2 * size, 2 * size, size, count, axis, source.lower.shape[1], source.scale)


@blot_out.implemented_for(Boxes)
def _(source, blocks, block, count, room):
    return 0


@ask_for.implemented_for(Points)
def _(source, primitive, soon):
    if soon:
        prefetch(source.lower, primitive * source.lower.shape[1])


@write_primitives.implemented_for(Points)
def _(source, order, first, count, blocks, block):
    size = BLOCK_SIZE * source.lower.shape[1]
    write_corners(source.lower, order, first, count, blocks, block * size, size)


@row_bounds.implemented_for(Points)
def _(source, blocks, block, count, axis):
    size = BLOCK_SIZE * source.lower.shape[1]
    return corner_bounds(blocks, block * size, size, 0, count, axis, source.lower.shape[1], source.scale)


@blot_out.implemented_for(Points)
def _(source, blocks, block, count, room):
    return 0


@inline
def corner_bounds(blocks, begin, step, upper, count, axis, dimension, scale):
    """Of boxes whose blocks begin there, `step` numbers apart, with upper corners `upper` behind the lower ones."""
    if axis >= dimension:
        return -PILLAR, PILLAR
    low, high = np.inf, -np.inf
    for i in range(count):
        place = begin + i // BLOCK_SIZE * step + BLOCK_SIZE * axis + i % BLOCK_SIZE
        low, high = min(low, f8(blocks[index(place)])), max(high, f8(blocks[index(place + upper)]))
    return low * scale, high * scale


@inline
def write_corners(corners, order, first, count, blocks, into, step):
    """Write one corner of each box, from that place on, blocks being `step` numbers apart, and NaN for padding."""
    for i in range((count + BLOCK_SIZE - 1) // BLOCK_SIZE * BLOCK_SIZE):
        place = into + i // BLOCK_SIZE * step + i % BLOCK_SIZE
        box = np.intp(order[index(first + min(i, count - 1))])
        for axis in range(corners.shape[1]):
            number = corners[box, axis] if i < count else blocks.dtype.type(np.nan)
            blocks[index(place + BLOCK_SIZE * axis)] = number
