"""Which triangles of two placed meshes meet, or of one mesh with itself: one walk down both trees, decided exactly.

Pairs of blocks at the end of the walk go through boxes and planes four triangles at a time; what those cannot rule out
is decided by signs without error (`geometry.triangle_triangle`). A walk may end at the first contact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import generic, inline, kernel
from .._simd import first_bit
from .._threads import run_steps
from ..descend import STEPS, count_primitives
from ..descend_pairs import ROOT, PairStack, code_of, is_leaf_pair, open_pair, pair_stack_size, with_itself
from ..geometry.placement import Itself, Placed, corner, corners
from ..geometry.predicates import EXPANSION_ROOM
from ..geometry.triangle_distance import nearest_points
from ..geometry.triangle_lanes import boxes_meet, boxes_of, plane, sides, sides_of_planes
from ..geometry.triangle_triangle import CROSS, DISJOINT, neighbour_relation, relation_of
from ..layout import BLOCK_FLOATS, BLOCK_SIZE, BLOCKS_OF_LEAF
from .box_pairs import TASKS, open_all

CHUNK = 16

NEAR = 4
"""Beside the relations of two triangles: that of two which do not meet, but come within the tolerance."""

DECISION = 8
"""Steps that deciding about two triangles counts for."""

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
    relation, counts, nodes, codes, blocks, ids, frame, others, other_codes, other_blocks, other_ids, other_frame,
    first, second, rows, enough, ended, stack, state, steps, last_task,
):  # fmt: skip
    """Contacts below pairs of places, each of the placed pair rows[task]: ids of both triangles, their relation and
    the row; and how many.

    `state` is the task at hand and the top of its stack, where 0 begins it; it goes on to the last task or until so
    many steps are done. A relation that is in the bits `enough` ends the search for its row, for all who look at
    `ended`.
    """
    room = np.empty(EXPANSION_ROOM, np.float64)
    found, used = np.empty((64, 4), np.int32), np.intp(0)
    task, top, work = state[0], state[1], 0
    while task < last_task and work < steps:
        row = rows[task]
        turn_to(relation, row)
        if top == 0:
            stack.first[0], stack.second[0] = first[task], second[task]
            top = 1
        while top > 0 and ended[row] == 0 and work < steps:
            top -= 1
            work += 1
            a, b = stack.first[top], stack.second[top]
            if not is_leaf_pair(codes, other_codes, a, b):
                top = open_pair(relation, counts, nodes, codes, others, other_codes, stack, a, b, top)
                continue
            leaf, other = np.intp(~code_of(codes, a)), np.intp(~code_of(other_codes, b))
            block, last = leaf // BLOCKS_OF_LEAF, leaf // BLOCKS_OF_LEAF + leaf % BLOCKS_OF_LEAF
            other_first, other_last = other // BLOCKS_OF_LEAF, other // BLOCKS_OF_LEAF + other % BLOCKS_OF_LEAF
            work += (last - block) * (other_last - other_first) * BLOCK_SIZE
            itself = a == b and with_itself(relation)
            for place in range(block, last):
                for against in range(place if itself else other_first, other_last):
                    if used + BLOCK_SIZE * BLOCK_SIZE > len(found):
                        larger = np.empty((2 * len(found), 4), np.int32)
                        for i in range(used):
                            for k in range(4):
                                larger[i, k] = found[i, k]
                        found = larger
                    at = against * BLOCK_FLOATS
                    u, v = corners(relation, True, other_blocks, at), corners(relation, True, other_blocks, at + 12)
                    w = corners(relation, True, other_blocks, at + 24)
                    lower, upper = boxes_of(u, v, w)
                    for lane in range(BLOCK_SIZE):
                        name = ids[place * BLOCK_SIZE + lane]
                        if name < 0:
                            break
                        count_primitives(counts, other_ids, against * BLOCK_SIZE)
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
                            c = corner(relation, True, other_blocks, at)
                            d = corner(relation, True, other_blocks, at + 12)
                            e = corner(relation, True, other_blocks, at + 24)
                            work += DECISION
                            told = relate(relation, p, q, r, c, d, e, room)
                            if told != DISJOINT:
                                found[used, 0], found[used, 1] = name, other_ids[against * BLOCK_SIZE + partner]
                                found[used, 2], found[used, 3] = told, row
                                used += 1
                                if (enough >> told) & 1:
                                    ended[row] = 1
        if ended[row] != 0:
            top = 0
        if top == 0:
            task += 1
    state[0], state[1] = task, top
    return found, used


class Contacts(NamedTuple):
    """What was found, sorted by placed pair, then by ids."""

    found: np.ndarray  # (m, 3) int32: ids of both triangles, and their relation
    rows: np.ndarray  # (m,) which placed pair


def placed_contacts(tree, other, relation: Placed, **options) -> Contacts:
    """All contacts of each placed pair."""
    return run(tree, other, relation, NEVER, **options)[0]


def placed_until(tree, other, relation: Placed, enough=ANY_CONTACT, **options):
    """Which placed pairs have a relation that is in the bits `enough`, (n,) bool; and the contacts met on the way."""
    contacts, ended = run(tree, other, relation, enough, **options)
    return ended > 0, contacts


def own_contacts(tree, **options) -> Contacts:
    """All contacts of a mesh with itself, beyond the corners that faces share; in each pair the smaller id first."""
    return run(tree, tree, Itself(0.0), NEVER, **options)[0]


def run(tree, other, relation, enough, *, threads=None, progress=None, counters=None):
    """Contacts of all placed pairs, and which have ended."""
    number = len(relation.forth) if isinstance(relation, Placed) else 1
    ended = np.zeros(number, np.uint8)
    parts = [np.empty((0, 4), np.int32)]
    if len(tree.ids) > 0 and len(other.ids) > 0:
        counts = None if counters is None else np.zeros(2, np.int64)
        first, second, rows = places(tree, other, relation, counts) if number == 1 else roots(number)
        arrays = *tree.arrays, *other.arrays, first, second, rows, enough, ended
        size = pair_stack_size(tree.depth, other.depth)
        chunk = CHUNK if number == 1 else max(1, min(CHUNK, number // 8))

        def find(begin, end):
            own = None if counters is None else np.zeros(2, np.int64)
            stack = PairStack(np.empty(size, np.int64), np.empty(size, np.int64))
            at = relation._replace(row=np.zeros(1, np.int64)) if isinstance(relation, Placed) else relation
            state = np.array([begin, 0])
            while state[0] < end:
                found, used = find_contacts(at, own, *arrays, stack, state, STEPS, end)
                parts.append(found[:used].copy())
                yield int(state[0])
            if own is not None:
                counters.add(boxes_tested=own[0], primitives_tested=own[1])

        run_steps(find, len(first), chunk=chunk, threads=threads, progress=progress)
        if counts is not None:
            counters.add(boxes_tested=counts[0])
    found = np.concatenate(parts)
    if isinstance(relation, Itself):
        found[:, :2].sort(axis=1)
    found = found[np.lexsort((found[:, 1], found[:, 0], found[:, 3]))]
    if counters is not None:
        counters.add(queries=number, hits=len(found))
    return Contacts(found[:, :3], found[:, 3]), ended


def roots(number):
    """Each placed pair as one task."""
    return np.full(number, ROOT), np.full(number, ROOT), np.arange(number)


def places(tree, other, relation, counts):
    """Pairs of places below which one walk is cut into many tasks."""
    first, second, inner = np.full(1, ROOT), np.full(1, ROOT), 1
    while inner and len(first) < TASKS:
        *opened, number, inner = open_all(relation, counts, *tree.arrays[:2], *other.arrays[:2], first, second)
        first, second = opened[0][:number].copy(), opened[1][:number].copy()
    return first, second, np.zeros(len(first), np.int64)
