"""Which triangles of two placed meshes meet, or of one mesh with itself: one walk down both trees, decided exactly.

Pairs of blocks at the end of the walk go through boxes and planes four triangles at a time; what those cannot rule out
is decided by signs without error (`geometry.triangle_triangle`). A walk may end at the first contact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import generic, inline, kernel
from .._simd import first_bit
from .._threads import CHUNKS_PER_THREAD, run_chunks, run_steps, usable_cpus
from ..build.radix import sorted_by_bits
from ..descend import STEPS, blocks_of, count_primitives
from ..descend_pairs import ROOT, Itself, code_of, is_leaf_pair, open_pair, pair_stack, turn_to, with_itself
from ..geometry.placement import PASSAGE, PlacedPairs, corner, corners, scaled_reach
from ..geometry.predicates import EXPANSION_ROOM
from ..geometry.triangle_distance import nearest_points
from ..geometry.triangle_lanes import (
    LANES_ROOM,
    boxes_meet,
    boxes_of,
    equal_points,
    keep_lanes,
    kept,
    plane,
    planes,
    sides,
    sides_of_planes,
)
from ..geometry.triangle_triangle import CROSS, DISJOINT, TOUCH, neighbour_relation, relation_of
from ..layout import BLOCK_FLOATS, BLOCK_SIZE
from .box_pairs import places

PARTS = 2 * CHUNKS_PER_THREAD
"""Of one walk for each thread: not all cost the same, but beginning one takes 20 microseconds of Python."""

MOST_ROWS = 256
"""Placed pairs that are a part of the work, at most; fewer where they would not be a few for each thread."""

PATIENCE = 20_000
"""Steps (about a millisecond) after which a walk that may end at a first contact is cut for all threads."""

NEAR = 4
"""Beside the relations of two triangles: that of two which do not meet, but come within the tolerance."""

MANY = 8192
"""Contacts that are sorted by radix, which must be compiled first."""

DECISION = 8
"""Steps that deciding about two triangles counts for."""

NEVER, ANY_CONTACT, A_CROSSING = 0, 0b11110, 1 << CROSS
"""After which relations, as bits, a walk ends."""


@generic
def relate(relation, p, q, r, a, b, c, room):
    """The relation of a triangle of the first tree and one of the second."""


@relate.implemented_for(PlacedPairs)
def _(relation, p, q, r, a, b, c, room):
    found = relation_of(p, q, r, a, b, c, room)
    if found == DISJOINT and relation.reach > 0.0:
        squared, _, _ = nearest_points(p, q, r, a, b, c)
        if squared <= scaled_reach(relation) * scaled_reach(relation):
            return NEAR
    return found


@relate.implemented_for(Itself)
def _(relation, p, q, r, a, b, c, room):
    return neighbour_relation(p, q, r, a, b, c, room)


@generic
def corners_in_common(relation, a, p):
    """The lanes whose corner a is the corner p and so does not count: what neighbours share is no contact."""


@corners_in_common.implemented_for(PlacedPairs)
def _(relation, a, p):
    return np.uint32(0)


@corners_in_common.implemented_for(Itself)
def _(relation, a, p):
    return equal_points(a, p)


@inline
def in_question(relation, p, q, r, a, b, c, normals, weights, bits):
    """Those of the lanes that no plane tells to be apart from the triangle p, q, r.

    Apart are those all of whose corners are on one side, but for such as they share: at least one must be left.
    """
    ap, aq, ar = corners_in_common(relation, a, p), corners_in_common(relation, a, q), corners_in_common(relation, a, r)
    bp, bq, br = corners_in_common(relation, b, p), corners_in_common(relation, b, q), corners_in_common(relation, b, r)
    cp, cq, cr = corners_in_common(relation, c, p), corners_in_common(relation, c, q), corners_in_common(relation, c, r)
    normal, weight = plane(p, q, r)
    au, ad = sides(p, normal, weight, a)
    bu, bd = sides(p, normal, weight, b)
    cu, cd = sides(p, normal, weight, c)
    bits &= ~all_there(au, bu, cu, ap | aq | ar, bp | bq | br, cp | cq | cr)
    bits &= ~all_there(ad, bd, cd, ap | aq | ar, bp | bq | br, cp | cq | cr)
    if bits == 0:
        return bits
    pu, pd = sides_of_planes(a, normals, weights, p)
    qu, qd = sides_of_planes(a, normals, weights, q)
    ru, rd = sides_of_planes(a, normals, weights, r)
    bits &= ~all_there(pu, qu, ru, ap | bp | cp, aq | bq | cq, ar | br | cr)
    return bits & ~all_there(pd, qd, rd, ap | bp | cp, aq | bq | cq, ar | br | cr)


@inline
def all_there(one, two, three, not_one, not_two, not_three):
    """The lanes that have each of three sides, or need not have it, and have any."""
    return (one | not_one) & (two | not_two) & (three | not_three) & (one | two | three)


@kernel
def find_contacts(
    relation, counts, nodes, codes, blocks, ids, others, other_codes, other_blocks, other_ids,
    first, second, rows, enough, ended, stack, state, steps, last_task,
):  # fmt: skip
    """Contacts below pairs of places, each of the placed pair rows[task]: ids of both triangles, their relation and
    the row; and how many.

    `state` is the task at hand and the top of its stack, where 0 begins it; it goes on to the last task or until so
    many steps are done. A relation that is in the bits `enough` ends the search for its row, for all who look at
    `ended`. What is done with two blocks stands here, since as a function of its own it took a tenth longer.
    """
    room, lanes = np.empty(EXPANSION_ROOM, np.float64), np.empty(LANES_ROOM, np.float64)
    found, used = np.empty((64, 4), np.int32), np.intp(0)
    task, top, work = state[0], state[1], 0
    while task < last_task and work < steps:
        row = rows[task]
        turn_to(relation, row)
        reach = scaled_reach(relation)
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
            block, last = blocks_of(code_of(codes, a))
            other_first, other_last = blocks_of(code_of(other_codes, b))
            work += (last - block) * (other_last - other_first) * BLOCK_SIZE
            itself = a == b and with_itself(relation)
            for place in range(block, last):
                at = place * BLOCK_FLOATS
                u, v = corners(relation, False, blocks, at), corners(relation, False, blocks, at + 12)
                keep_lanes(lanes, u, v, corners(relation, False, blocks, at + 24))
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
                    close = np.uint32(0)
                    for lane in range(BLOCK_SIZE):
                        if ids[place * BLOCK_SIZE + lane] < 0:
                            break
                        count_primitives(counts, other_ids, against * BLOCK_SIZE)
                        bits = boxes_meet(lower, upper, lanes, lane, reach)
                        if itself and against == place:
                            bits &= ~np.uint32((2 << lane) - 1)
                        close |= bits << np.uint32(BLOCK_SIZE * lane)
                    if close == 0:
                        continue
                    normals, weights = planes(u, v, w)
                    for lane in range(BLOCK_SIZE):
                        bits = (close >> np.uint32(BLOCK_SIZE * lane)) & np.uint32((1 << BLOCK_SIZE) - 1)
                        if bits == 0:
                            continue
                        name = ids[place * BLOCK_SIZE + lane]
                        p, q, r = kept(lanes, lane), kept(lanes, 12 + lane), kept(lanes, 24 + lane)
                        if reach == 0.0:
                            bits = in_question(relation, p, q, r, u, v, w, normals, weights, bits)
                        while bits != 0:
                            partner = first_bit(bits)
                            bits &= bits - np.uint32(1)
                            at = against * BLOCK_FLOATS + partner
                            c = corner(relation, True, other_blocks, at)
                            d = corner(relation, True, other_blocks, at + 12)
                            e = corner(relation, True, other_blocks, at + 24)
                            work += DECISION
                            code = relate(relation, p, q, r, c, d, e, room)
                            if code != DISJOINT:
                                found[used, 0], found[used, 1] = name, other_ids[against * BLOCK_SIZE + partner]
                                found[used, 2], found[used, 3] = code, row
                                used += 1
                                if (enough >> code) & 1:
                                    ended[row] = 1
        if ended[row] != 0:
            top = 0
        if top == 0:
            task += 1
    state[0], state[1] = task, top
    return found, used


ALL = np.full(1, ROOT), np.full(1, ROOT), np.zeros(1, np.int64)
NOTHING = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64)
"""The tasks of a single pair, and of none."""


class Contacts(NamedTuple):
    """What was found, sorted by placed pair, then by ids."""

    found: np.ndarray  # (m, 3) int32: ids of both triangles, and their relation
    rows: np.ndarray  # (m,) which placed pair


def told(found) -> np.ndarray:
    """(m,) int8: the relations of what was found, as `boxwood.Relation` has them."""
    codes = found[:, 2].astype(np.int8)
    codes[codes == NEAR] = TOUCH
    return codes


def placed_contacts(tree, other, relation: PlacedPairs, **options) -> Contacts:
    """All contacts of each placed pair."""
    return sorted_contacts(run(tree, other, relation, NEVER, **options)[0], options.get("threads"))


def own_contacts(tree, **options) -> Contacts:
    """All contacts of a mesh with itself, beyond the corners that faces share; in each pair the smaller id first."""
    found, _ = run(tree, tree, Itself(), NEVER, **options)
    one, two = found[:, 0].copy(), found[:, 1]
    np.minimum(one, two, out=found[:, 0])
    np.maximum(one, two, out=found[:, 1])
    return sorted_contacts(found, options.get("threads"))


def meets(tree, other, relation: PlacedPairs, **options) -> np.ndarray:
    """Which placed pairs have any contact, (n,) bool."""
    return run(tree, other, relation, ANY_CONTACT, **options)[1] > 0


def contacts_unless_crossing(tree, other, relation: PlacedPairs, **options) -> Contacts | None:
    """All contacts of one placed pair, or None where any of them is a crossing."""
    found, ended = run(tree, other, relation, A_CROSSING, **options)
    return None if ended[0] else sorted_contacts(found, options.get("threads"))


def run(tree, other, relation, enough, *, threads=None, progress=None, counters=None):
    """Contacts of all placed pairs in any order, each with its pair, and which pairs have ended."""
    number = len(relation.forth) if isinstance(relation, PlacedPairs) else 1
    ended = np.zeros(number, np.uint8)
    if len(tree.ids) == 0 or len(other.ids) == 0:
        tasks = NOTHING
    else:
        tasks = ALL if number == 1 else (np.full(number, ROOT), np.full(number, ROOT), np.arange(number))
    parts, stack_depths = [], (tree.depth, other.depth)
    arrays = *tree.arrays[:4], *other.arrays[:4]
    counts = None if counters is None else np.zeros(2, np.int64)

    def cut(_begin, _end):
        nonlocal tasks
        if enough != NEVER:
            # alone for a while, which will do where a contact is met soon
            stack, state = pair_stack(*stack_depths), np.zeros(2, np.int64)
            until = PATIENCE, len(tasks[0])
            found, used = find_contacts(relation, counts, *arrays, *tasks, enough, ended, stack, state, *until)
            parts.append(found[:used])
            tasks = stack.first[: state[1]], stack.second[: state[1]], tasks[2]
        tasks = places(relation, counts, tree, other, *tasks[:2])
        tasks = *tasks, np.zeros(len(tasks[0]), np.int64)

    if number == 1:
        run_chunks(cut, 1)  # where Ctrl-C is told from other errors

    def find(begin, end):
        own = None if counters is None else np.zeros(2, np.int64)
        stack, at = pair_stack(*stack_depths), relation
        if isinstance(relation, PlacedPairs):
            at = relation._replace(row=np.zeros(1, np.int64), current=np.zeros(2 * PASSAGE, np.float32))
        state = np.array([begin, 0])
        while state[0] < end:
            found, used = find_contacts(at, own, *arrays, *tasks, enough, ended, stack, state, STEPS, end)
            parts.append(found[:used].copy())
            yield int(state[0])
        if own is not None:
            counters.add(boxes_tested=own[0], primitives_tested=own[1])

    if len(tasks[0]) or progress is not None:
        for_each = (PARTS if number == 1 else CHUNKS_PER_THREAD) * (threads or usable_cpus())
        chunk = max(1, min(MOST_ROWS, len(tasks[0]) // for_each))
        run_steps(find, len(tasks[0]), chunk=chunk, threads=threads, progress=progress)
    found = parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.empty((0, 4), np.int32)
    if counters is not None:
        counters.add(queries=number, hits=len(found), boxes_tested=counts[0], primitives_tested=counts[1])
    return found, ended


def sorted_contacts(found, threads=None) -> Contacts:
    found = in_order(found, threads)
    return Contacts(found[:, :3], found[:, 3])


def in_order(found, threads=None) -> np.ndarray:
    """Contacts sorted by placed pair, then by ids: as one number each, which is many times quicker than by columns."""
    if len(found) < 2:
        return found
    first, second, code, row = (int(found[:, column].max()).bit_length() for column in range(4))
    if row + first + second + code > 63:
        return found[np.lexsort((found[:, 1], found[:, 0], found[:, 3]))]
    keys = found[:, 3].astype(np.int64)
    for column, bits in ((0, first), (1, second), (2, code)):
        keys <<= bits
        keys |= found[:, column]
    if len(keys) < MANY:
        keys.sort()
    else:
        keys = sorted_by_bits(keys, code, row + first + second, threads)
    for column, bits in ((2, code), (1, second), (0, first)):
        found[:, column] = keys & ((1 << bits) - 1)
        keys >>= bits
    found[:, 3] = keys
    return found
