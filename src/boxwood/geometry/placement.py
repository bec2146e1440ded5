"""Two meshes, each placed somewhere by a transform, as the walk down their trees sees them; and a mesh and itself.

Corners are looked at in one space, the world times a power of two by which the larger mesh has about size one. There
each is moved in float64, as NumPy would with (a x + b y) + c z + d, so what is decided is exact for vertices so moved.
Boxes are carried from the space of one tree to that of the other, no smaller than they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import generic, inline
from .._simd import fma, load8, splat4, splat8, store
from ..descend_pairs import Itself, carried, carry_children, turn_to, turned, with_itself
from ..layout import EXTENT
from .box import index
from .box_blocks import row_of
from .box_box import rounded_out

f4 = np.float32
f8 = np.float64

ROUGHLY = 2.0**-20
"""More than ten roundings in float32, relative to the magnitudes in what is computed."""

MOST = 1e30
"""Where more is computed with, nothing is ruled out."""

# A row of a passage: three of a matrix and a shift each, then what to add on each axis, then the scale of the world.
PASSAGE = 16
SCALE = 15


class PlacedPairs(NamedTuple):
    """Pairs of placed meshes that all have the same two trees, and which of them is at hand."""

    moves: np.ndarray  # (n, 12) float64: how corners of the first tree's blocks are moved, three rows of four
    other_moves: np.ndarray
    forth: np.ndarray  # (n, 16) float64: from the first tree's space to the second's
    back: np.ndarray
    reach: float  # what is no farther apart counts as a contact, in the world
    row: np.ndarray  # (1,) int64: the pair at hand
    current: np.ndarray  # (32,) float32: its passages forth and back, for eight boxes at once


@turned.implemented_for(PlacedPairs)
def _(relation):
    return True


@with_itself.implemented_for(PlacedPairs)
def _(relation):
    return False


@generic
def scaled_reach(relation):
    """The reach in the space where triangles are looked at."""


@scaled_reach.implemented_for(Itself)
def _(relation):
    return 0.0


@scaled_reach.implemented_for(PlacedPairs)
def _(relation):
    return relation.reach * relation.forth[relation.row[0], SCALE]


@carried.implemented_for(PlacedPairs)
def _(relation, back, low, high):
    if back:
        return passed(relation.back, relation.row[0], low, high)
    return passed(relation.forth, relation.row[0], low, high)


@inline
def passed(passage, row, low, high):
    """The box in the other space that holds a box of this one."""
    x, y, z = half_sum(low[0], high[0]), half_sum(low[1], high[1]), half_sum(low[2], high[2])
    u, v, w = half_sum(-low[0], high[0]), half_sum(-low[1], high[1]), half_sum(-low[2], high[2])
    a, b = passed_axis(passage, row, 0, x, y, z, u, v, w)
    c, d = passed_axis(passage, row, 4, x, y, z, u, v, w)
    e, f = passed_axis(passage, row, 8, x, y, z, u, v, w)
    return (a, c, e), (b, d, f)


@inline
def half_sum(a, b):
    return 0.5 * f8(a) + 0.5 * f8(b)


@inline
def passed_axis(p, row, k, x, y, z, u, v, w):
    center = p[row, k] * x + p[row, k + 1] * y + p[row, k + 2] * z + p[row, k + 3]
    half = abs(p[row, k]) * u + abs(p[row, k + 1]) * v + abs(p[row, k + 2]) * w + p[row, 12 + k // 4]
    return -rounded_out(half - center), rounded_out(center + half)


@turn_to.implemented_for(PlacedPairs)
def _(relation, row):
    relation.row[0] = row
    round_passage(relation.forth, row, relation.current, 0)
    round_passage(relation.back, row, relation.current, PASSAGE)


@inline
def round_passage(passages, row, current, at):
    """Of a pair to float32, where what is added covers the roundings there too."""
    good = True
    for k in range(0, 12, 4):
        size = abs(passages[row, k + 3])
        for j in range(k, k + 4):
            current[at + j] = f4(passages[row, j])
            size += abs(passages[row, j]) * EXTENT
        pad = passages[row, 12 + k // 4] + size * ROUGHLY
        current[at + 12 + k // 4] = f4(pad + pad * ROUGHLY)
        good &= pad + size < MOST
    if not good:
        for k in range(PASSAGE):
            current[at + k] = f4(0.0) if k < 12 else f4(MOST)


@carry_children.implemented_for(PlacedPairs)
def _(relation, back, nodes, node, boxes, at):
    c, p, half = relation.current, PASSAGE if back else 0, splat8(f4(0.5))
    x, u = middle_and_half(nodes, node, half)
    y, v = middle_and_half(nodes, node + 8, half)
    z, w = middle_and_half(nodes, node + 16, half)
    for axis in range(3):
        k = p + 4 * axis
        center = fma(splat8(c[k]), x, fma(splat8(c[k + 1]), y, fma(splat8(c[k + 2]), z, splat8(c[k + 3]))))
        reach = splat8(abs(c[k + 2])) * w + splat8(c[p + 12 + axis])
        reach = fma(splat8(abs(c[k])), u, fma(splat8(abs(c[k + 1])), v, reach))
        store(boxes, at + 8 * axis, center - reach)
        store(boxes, at + 24 + 8 * axis, center + reach)


@inline
def middle_and_half(nodes, place, half):
    low, high = load8(nodes, place), load8(nodes, place + 24)
    return (low + high) * half, (high - low) * half


@generic
def corner(relation, second, blocks, place):
    """A corner of a triangle of the first tree or the second, in the space where triangles are looked at."""


@generic
def corners(relation, second, blocks, place):
    """The same corner of the four triangles of a block: three vectors."""


@corner.implemented_for(Itself)
def _(relation, second, blocks, place):
    return f8(blocks[index(place)]), f8(blocks[index(place + 4)]), f8(blocks[index(place + 8)])


@corners.implemented_for(Itself)
def _(relation, second, blocks, place):
    return row_of(blocks, place), row_of(blocks, place + 4), row_of(blocks, place + 8)


@corner.implemented_for(PlacedPairs)
def _(relation, second, blocks, place):
    x, y, z = f8(blocks[index(place)]), f8(blocks[index(place + 4)]), f8(blocks[index(place + 8)])
    if second:
        return moved(relation.other_moves, relation.row[0], x, y, z)
    return moved(relation.moves, relation.row[0], x, y, z)


@inline
def moved(moves, row, x, y, z):
    return (
        ((moves[row, 0] * x + moves[row, 1] * y) + moves[row, 2] * z) + moves[row, 3],
        ((moves[row, 4] * x + moves[row, 5] * y) + moves[row, 6] * z) + moves[row, 7],
        ((moves[row, 8] * x + moves[row, 9] * y) + moves[row, 10] * z) + moves[row, 11],
    )


@corners.implemented_for(PlacedPairs)
def _(relation, second, blocks, place):
    x, y, z = row_of(blocks, place), row_of(blocks, place + 4), row_of(blocks, place + 8)
    if second:
        return moved_lanes(relation.other_moves, relation.row[0], x, y, z)
    return moved_lanes(relation.moves, relation.row[0], x, y, z)


@inline
def moved_lanes(moves, row, x, y, z):
    return (
        moved_row(moves, row, 0, x, y, z),
        moved_row(moves, row, 4, x, y, z),
        moved_row(moves, row, 8, x, y, z),
    )


@inline
def moved_row(moves, row, k, x, y, z):
    along = splat4(moves[row, k]) * x + splat4(moves[row, k + 1]) * y
    return along + splat4(moves[row, k + 2]) * z + splat4(moves[row, k + 3])
