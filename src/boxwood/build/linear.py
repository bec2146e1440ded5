"""Along a space-filling curve: centroids are sorted by Morton code, and each range is cut where the highest bit in
which its codes differ becomes one (Karras 2012). Equal codes are told apart by index, which is the end of each key.

Three passes of the sort by radix do for most meshes; where many triangles lie in one cell, codes are made as long as
keys allow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import inline, kernel
from .._simd import load8, store
from .._threads import run_chunks
from ..geometry.box import centroid, index
from ..layout import BLOCK_SIZE, RECORD_FLOATS
from .radix import DIGIT, sorted_by_bits
from .top_down import split

f4 = np.float32

CHUNK = 65536

CROWDED = 0.1
"""Longer codes are worth their time when more triangles than this part share a cell with the eighth after them."""


class Linear(NamedTuple):
    keys: np.ndarray  # (n,) int64: Morton codes, each followed by the index of its record before sorting

    def room(self, _count):
        return 8


@split.implemented_for(Linear)
def split_linear(builder, records, first, count, scratch, integers):
    keys, low, high = builder.keys, first, first + count - 1
    below = keys[index(low)] ^ keys[index(high)]
    for shift in (1, 2, 4, 8, 16, 32):
        below |= below >> shift
    least = keys[index(high)] & ~(below >> 1)  # that has the bit
    while high - low > 1:
        middle = (low + high) // 2
        if keys[index(middle)] < least:
            low = middle
        else:
            high = middle
    if count <= 2 * BLOCK_SIZE:  # into no more than two blocks
        high = min(max(high, first + count - BLOCK_SIZE), first + BLOCK_SIZE)
    return high


def sorted_by_curve(records, reach, threads=None):
    """The keys, sorted, and the records in their order; none lies farther from the centre than `reach` on an axis."""
    count = len(records) // RECORD_FLOATS
    index_bits = max(count - 1, 1).bit_length()
    most = min((63 - index_bits) // 3, 20)
    keys = sorted_keys(records, reach, min(DIGIT, most), index_bits, threads)
    some = keys[: count // 16 * 16].reshape(-1, 16)[:, ::8] >> index_bits
    if len(some) and np.mean(some[:, 0] == some[:, 1]) > CROWDED:
        keys = sorted_keys(records, reach, most, index_bits, threads)
    moved = np.empty_like(records)

    def move(begin, end):
        move_records(records, keys, 2**index_bits - 1, moved, begin, end)

    run_chunks(move, count, chunk=CHUNK, threads=threads)
    return keys, moved


def sorted_keys(records, reach, bits, index_bits, threads):
    """The keys of the records with codes of so many bits an axis, sorted."""
    count = len(records) // RECORD_FLOATS
    keys = np.empty(count, np.int64)
    # From twice a centroid to cells that are cubes: where the first begins, and how many a unit.
    grid = np.append(-2.0 * reach, 2**bits / max(4.0 * reach.max(), 1e-30)).astype(np.float32)

    def fill(begin, end):
        fill_keys(records, grid, bits, index_bits, keys, begin, end)

    run_chunks(fill, count, chunk=CHUNK, threads=threads)
    return sorted_by_bits(keys, index_bits, 3 * bits, threads)


@inline
def spread(x):
    """The lowest 21 bits of x, each followed by two zeros."""
    x = (x | x << 32) & 0x1F00000000FFFF
    x = (x | x << 16) & 0x1F0000FF0000FF
    x = (x | x << 8) & 0x100F00F00F00F00F
    x = (x | x << 4) & 0x10C30C30C30C30C3
    return (x | x << 2) & 0x1249249249249249


@kernel
def fill_keys(records, grid, bits, index_bits, keys, begin, end):
    last = f4((np.int64(1) << bits) - 1)
    for i in range(begin, end):
        place = i * RECORD_FLOATS
        x = spread(cell(centroid(records, place, 0) - grid[0], grid[3], last))
        y = spread(cell(centroid(records, place, 1) - grid[1], grid[3], last))
        z = spread(cell(centroid(records, place, 2) - grid[2], grid[3], last))
        keys[index(i)] = (x << 2 | y << 1 | z) << index_bits | i


@inline
def cell(way, scale, last):
    number = way * scale
    return np.int64(number if number < last else last)


@kernel
def move_records(records, keys, mask, moved, begin, end):
    for i in range(begin, end):
        store(moved, i * RECORD_FLOATS, load8(records, (keys[index(i)] & mask) * RECORD_FLOATS))
