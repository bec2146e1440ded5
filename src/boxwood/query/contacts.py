"""Which triangles of two placed meshes meet, or of one mesh with itself: one walk down both trees, decided exactly.

Pairs of blocks at the end of the walk go through boxes and planes four triangles at a time; what those cannot rule out
is decided by signs without error (`geometry.triangle_triangle`). A walk may end at the first contact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import generic, inline, kernel
from .._simd import first_bit
from .._threads import run_chunks
from ..descend_pairs import ROOT, PairStack, code_of, is_leaf_pair, open_pair, pair_stack_size, with_itself
from ..geometry.predicates import EXPANSION_ROOM
from ..geometry.placement import Itself, Placed, corner, corners
from ..geometry.triangle_distance import nearest_points
from ..geometry.triangle_lanes import boxes_meet, boxes_of, plane, sides, sides_of_planes
from ..geometry.triangle_triangle import CROSS, DISJOINT, neighbour_relation, relation_of
from ..layout import BLOCK_FLOATS, BLOCK_SIZE, BLOCKS_OF_LEAF, FRAME_DEPTH
from .box_pairs import TASKS, open_all

CHUNK = 16

NEAR = 4
"""Beside the relations of two triangles: that of two which do not meet, but come within the tolerance."""

NEVER, ANY_CONTACT, A_CROSSING = 0, 0b11110, 1 << CROSS
"""After which relations, as bits, a walk ends."""


@generic
def relate(relation, p, q, r, a, b, c, room):
    """The relation of a triangle of the first tree and one of the second."""


@relate.implemented_for(Placed)
def _(relation, p, q, r, a, b, c, room):
    found = relation_of(p, q, r, a, b, c, room)
    if found == DISJOINT and relation.reach > 0.0:
        squared, _, _ = nearest_points(p, q, r, a, b, c)
        if squared <= relation.reach * relation.reach:
            return NEAR
    return found


@relate.implemented_for(Itself)
def _(relation, p, q, r, a, b, c, room):
    return neighbour_relation(p, q, r, a, b, c, room)


@inline
def in_question(p, q, r, a, b, c, bits):
    """Those of the lanes that no plane tells to be apart from the triangle p, q, r."""
    normal, weight = plane(p, q, r)
    up, down = sides(p, normal, weight, a)
    more_up, more_down = sides(p, normal, weight, b)
    up, down = up & more_up, down & more_down
    more_up, more_down = sides(p, normal, weight, c)
    bits &= ~((up & more_up) | (down & more_down))
    if bits == 0:
        return bits
    up, down = sides_of_planes(a, b, c, p)
    more_up, more_down = sides_of_planes(a, b, c, q)
    up, down = up & more_up, down & more_down
    more_up, more_down = sides_of_planes(a, b, c, r)
    return bits & ~((up & more_up) | (down & more_down))


@generic
def turn_to(relation, row):
    """Look at the placed pair of that row from now on."""


@turn_to.implemented_for(Placed)
def _(relation, row):
    relation.row[0] = row


@turn_to.implemented_for(Itself)
def _(relation, row):
    pass


@kernel
def find_contacts(
    relation, nodes, codes, blocks, ids, frame, others, other_codes, other_blocks, other_ids, other_frame,
    first, second, rows, enough, ended, numbers, begin, end,
):  # fmt: skip
    """The contacts below the pairs of places begin to end, each of the placed pair rows[task]: ids of both triangles
    and their relations, and how many in all; to `numbers` how many each task has.

    A relation that is in the bits `enough` ends the search for its row, for all who look at `ended`.
    """
    size = pair_stack_size(np.intp(frame[FRAME_DEPTH]), np.intp(other_frame[FRAME_DEPTH]))
    stack = PairStack(np.empty(size, np.int64), np.empty(size, np.int64))
    room = np.empty(EXPANSION_ROOM, np.float64)
    found, used = np.empty((64, 3), np.int32), np.intp(0)
    for task in range(begin, end):
        row, before = rows[task], used
        turn_to(relation, row)
        stack.first[0], stack.second[0] = first[task], second[task]
        top = np.intp(1)
        while top > 0 and ended[row] == 0:
            top -= 1
            a, b = stack.first[top], stack.second[top]
            if not is_leaf_pair(codes, other_codes, a, b):
                top = open_pair(relation, nodes, codes, others, other_codes, stack, a, b, top)
                continue
            leaf, other = np.intp(~code_of(codes, a)), np.intp(~code_of(other_codes, b))
            block, last = leaf // BLOCKS_OF_LEAF, leaf // BLOCKS_OF_LEAF + leaf % BLOCKS_OF_LEAF
            other_first, other_last = other // BLOCKS_OF_LEAF, other // BLOCKS_OF_LEAF + other % BLOCKS_OF_LEAF
            itself = a == b and with_itself(relation)
            for place in range(block, last):
                for against in range(place if itself else other_first, other_last):
                    if used + BLOCK_SIZE * BLOCK_SIZE > len(found):
                        larger = np.empty((2 * len(found), 3), np.int32)
                        for i in range(used):
                            larger[i, 0], larger[i, 1], larger[i, 2] = found[i, 0], found[i, 1], found[i, 2]
                        found = larger
                    at = against * BLOCK_FLOATS
                    u, v = corners(relation, True, other_blocks, at), corners(relation, True, other_blocks, at + 12)
                    w = corners(relation, True, other_blocks, at + 24)
                    lower, upper = boxes_of(u, v, w)
                    for lane in range(BLOCK_SIZE):
                        name = ids[place * BLOCK_SIZE + lane]
                        if name < 0:
                            break
                        at = place * BLOCK_FLOATS + lane
                        p, q = corner(relation, False, blocks, at), corner(relation, False, blocks, at + 12)
                        r = corner(relation, False, blocks, at + 24)
                        bits = boxes_meet(lower, upper, p, q, r, relation.reach)
                        if itself and against == place:
                            bits &= ~np.uint32((2 << lane) - 1)
                        if bits != 0 and relation.reach == 0.0:
                            bits = in_question(p, q, r, u, v, w, bits)
                        while bits != 0:
                            partner = first_bit(bits)
                            bits &= bits - np.uint32(1)
                            at = against * BLOCK_FLOATS + partner
                            c, d = corner(relation, True, other_blocks, at), corner(relation, True, other_blocks, at + 12)
                            told = relate(relation, p, q, r, c, d, corner(relation, True, other_blocks, at + 24), room)
                            if told != DISJOINT:
                                found[used, 0], found[used, 2] = name, told
                                found[used, 1] = other_ids[against * BLOCK_SIZE + partner]
                                used += 1
                                if (enough >> told) & 1:
                                    ended[row] = 1
        numbers[task] = used - before
    return found, used


class Contacts(NamedTuple):
    """What was found, sorted by pair of placed meshes, then by ids."""

    found: np.ndarray  # (m, 3) int32: ids of both triangles, and their relation
    rows: np.ndarray  # (m,) which pair of placed meshes


def placed_contacts(tree, other, relation: Placed, *, threads=None, progress=None) -> Contacts:
    """All contacts of each placed pair."""
    number = len(relation.forth)
    first, second, rows = tasks_of(tree, other, relation) if number == 1 else roots(number)
    return run(tree, other, relation, first, second, rows, NEVER, threads, progress)[0]


def placed_until(tree, other, relation: Placed, enough=ANY_CONTACT, *, threads=None, progress=None):
    """Which placed pairs have a relation that is in the bits `enough`, (n,) bool; and the contacts met on the way."""
    number = len(relation.forth)
    first, second, rows = tasks_of(tree, other, relation) if number == 1 else roots(number)
    contacts, ended = run(tree, other, relation, first, second, rows, enough, threads, progress)
    return ended > 0, contacts


def own_contacts(tree, *, threads=None, progress=None) -> Contacts:
    """All contacts of a mesh with itself, beyond the corners that faces share; in each pair the smaller id first."""
    relation = Itself(0.0)
    first, second, rows = tasks_of(tree, tree, relation)
    return run(tree, tree, relation, first, second, rows, NEVER, threads, progress)[0]


def roots(number):
    return np.full(number, ROOT), np.full(number, ROOT), np.arange(number)


def tasks_of(tree, other, relation):
    """Pairs of places below which one walk is cut into many."""
    first, second, inner = np.full(1, ROOT), np.full(1, ROOT), 1
    while inner and len(first) < TASKS:
        *opened, number, inner = open_all(relation, *tree.arrays[:2], *other.arrays[:2], first, second)
        first, second = opened[0][:number].copy(), opened[1][:number].copy()
    return first, second, np.zeros(len(first), np.int64)


def run(tree, other, relation, first, second, rows, enough, threads, progress):
    """Contacts of all tasks, and which rows have ended."""
    ended = np.zeros(int(rows.max(initial=0)) + 1, np.uint8)
    numbers = np.zeros(len(first), np.int64)
    if len(tree.ids) == 0 or len(other.ids) == 0:
        first, rows, numbers = first[:0], rows[:0], numbers[:0]

    def find(begin, end):
        own = relation._replace(row=np.zeros(1, np.int64)) if isinstance(relation, Placed) else relation
        found, used = find_contacts(
            own, *tree.arrays, *other.arrays, first, second, rows, enough, ended, numbers, begin, end
        )
        return found[:used]

    parts = run_chunks(find, len(first), chunk=CHUNK, threads=threads, progress=progress)
    found = np.concatenate(parts) if parts else np.empty((0, 3), np.int32)
    of = np.repeat(rows, numbers)
    if isinstance(relation, Itself):
        found[:, :2].sort(axis=1)
    order = np.lexsort((found[:, 1], found[:, 0], of))
    return Contacts(found[order], of[order]), ended
