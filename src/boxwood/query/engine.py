"""The engine of all questions about rays: sixteen that go the same way share a walk, all others are in flight.

Rays are made ready in groups of sixteen. What a camera sends out, or the shadow rays from a wall to a lamp, visit
nearly the same nodes in a row: such a group is a bundle and is answered at once (`bundles`). It made rays of a camera
twice, and shadow rays three times, as fast as in flight.

One ray alone waits: each step needs the outcome of the last, a branch the processor cannot foresee (box or triangles?)
is guessed wrong half of the time, and in a tree larger than the cache every node is far away. So a thread keeps a few
dozen rays in flight. All that stand at a node take that step, one after the other without a branch between them; then
all that stand at a leaf; and what a ray needs next is asked for while others work. It made first hits 1.1 to 2.2 times
as fast as one walk after the other, the more so the larger the tree.
"""

from __future__ import annotations

import numpy as np

from .._jit import inline, kernel
from .._simd import prefetch
from ..descend import Stack, boxes_in, expand, stack_size
from ..geometry.bundle_box import ALL_LANES, BOXES, LANES, RAYS, Group
from ..geometry.ray import frame_of
from ..geometry.ray_group import is_bundle, make_group
from ..layout import BLOCK_FLOATS, BLOCKS_OF_LEAF, FRAME_DEPTH, NODE_FLOATS
from .bundles import walk
from .flight import (
    BOUND,
    CODE,
    LIMIT,
    LISTS,
    SIZE,
    TOP,
    Flight,
    base_at,
    begin_lane,
    begin_ray,
    box_of,
    go_on,
    leaf_of,
    meet,
    place_in,
)
from .question import RAY, Kept, land

IN_FLIGHT = 24
"""Rays a thread keeps in flight; 16 to 32 do equally well."""

NEVER = np.int32(2**31 - 1)
"""The key in the first place of each lane's stack: beyond every limit, so that no step asks whether it is empty."""


@inline
def next_group(question, group, kept, stack, nodes, codes, blocks, ids, space, rays, sides, crossing, together, r, end):
    """Make ready from ray r on, and answer bundles, until there is a group that is none.

    Its first ray, how many it has, and the lanes that are ready.
    """
    origins, directions, t_min, t_max = rays
    while r < end:
        size = min(np.intp(LANES), end - r)
        ready = np.uint32(0)
        if size == LANES:
            ready = np.uint32(make_group(group, space, origins, directions, t_min, t_max, r))
        if not together or ready != ALL_LANES or not is_bundle(group):
            return r, size, ready
        walk(question, group, kept, stack, nodes, codes, blocks, ids, sides, crossing, r)
        r += size
    return r, np.intp(0), np.uint32(0)


@kernel
def answer(question, nodes, codes, blocks, ids, frame, origins, directions, t_min, t_max, sides, counts, begin, end):
    """Answer the question for the rays from begin to end.

    Where work is counted no rays share a walk, so that counts do not depend on neighbours.
    """
    lanes = min(np.intp(IN_FLIGHT), end - begin)
    space, dtype = frame_of(frame), origins.dtype
    size = stack_size(np.intp(frame[FRAME_DEPTH]))
    stack = Stack(np.empty(lanes * size, np.int32), np.empty(lanes * size, np.uint32))
    flight = Flight(
        np.empty(lanes * SIZE, np.float32), np.empty(lanes * SIZE, np.uint32), np.empty(lanes * SIZE, dtype),
        np.empty(lanes * SIZE, np.float64), np.empty(lanes * SIZE, np.int64), np.empty(3 * LISTS, np.uint32),
    )  # fmt: skip
    kept = Kept(np.empty(4 * lanes, dtype), np.empty(2 * lanes, np.int64))
    crossing, axes = np.empty(20, dtype), np.empty(9, dtype)
    for lane in range(lanes):
        stack.keys[lane * size], stack.parents[lane * size] = NEVER, 0
        kept.places[2 * lane + RAY] = -1
        flight.states[lane * SIZE + TOP] = lane * size
        flight.lists[2 * LISTS + lane] = lane

    group = Group(
        np.empty(BOXES, np.float32), np.empty(RAYS, dtype), np.empty(LANES, np.float64), np.empty(3, np.uint32),
        np.empty(6, np.int64),
    )  # fmt: skip
    shared = Stack(np.empty(size, np.int32), np.empty(size, np.uint32))
    best = Kept(np.empty(4 * LANES, dtype), np.empty(2 * LANES, np.int64))
    crossings = np.empty(5 * LANES, dtype)
    rays = origins, directions, t_min, t_max
    first, number, ready, taken = np.intp(begin), np.intp(0), np.uint32(0), np.intp(0)

    at_node, at_leaf, looking = np.intp(0), np.intp(0), np.intp(lanes)
    while at_node + at_leaf + looking > 0:
        # Lanes whose next place is beyond the limit look further down; those at the bottom begin another ray.
        todo, looking = looking, np.intp(0)
        for i in range(todo):
            base = base_at(flight, 2 * LISTS + i)
            bottom = base // SIZE * size
            top = np.intp(flight.states[base + TOP])
            bound = np.int32(flight.states[base + BOUND])
            while top > bottom and stack.keys[top] > bound:
                top -= 1
            if top > bottom:
                at_node, at_leaf, looking = go_on(flight, codes, stack, base, at_node, at_leaf, looking, top)
                continue
            lane = base // SIZE
            if kept.places[2 * lane + RAY] >= 0:
                land(question, kept, lane, ids)
            if taken == number:
                taken = np.intp(0)
                first, number, ready = next_group(
                    question, group, best, shared, nodes, codes, blocks, ids, space, rays, sides, crossings,
                    counts.shape[0] == 0, first + number, end,
                )  # fmt: skip
            if taken < number:
                reachable = True
                if (ready >> np.uint32(taken)) & np.uint32(1) != 0:
                    begin_lane(flight, kept, base, group, np.intp(np.uint32(taken)), first + taken)
                else:
                    reachable = begin_ray(
                        flight, kept, base, space, origins, directions, t_min, t_max, first + taken, axes
                    )
                taken += 1
                flight.states[base + TOP], flight.states[base + CODE] = bottom, 0
                if reachable:
                    flight.lists[at_node] = lane
                    at_node += 1
                else:
                    flight.lists[2 * LISTS + looking] = lane
                    looking += 1

        for i in range(at_node):
            base = base_at(flight, i)
            node = np.intp(flight.states[base + CODE]) * NODE_FLOATS
            for line in range(4):
                prefetch(nodes, node + 16 * line)
            if counts.shape[0] > 0:
                counts[place_in(counts, kept, base // SIZE)] += boxes_in(nodes, node)
        todo, at_node = at_node, np.intp(0)
        for i in range(todo):
            base = base_at(flight, i)
            code, top = flight.states[base + CODE], np.intp(flight.states[base + TOP])
            top = expand(box_of(flight, base), None, nodes, stack, code, top, flight.boxes[base + LIMIT])
            at_node, at_leaf, looking = go_on(flight, codes, stack, base, at_node, at_leaf, looking, top)

        for i in range(at_leaf):
            block = leaf_of(flight, base_at(flight, LISTS + i)) // BLOCKS_OF_LEAF * BLOCK_FLOATS
            for line in range(3):
                prefetch(blocks, block + 16 * line)
        todo, at_leaf = at_leaf, np.intp(0)
        for i in range(todo):
            base = base_at(flight, LISTS + i)
            done = meet(question, flight, kept, base, blocks, ids, sides, crossing, counts)
            top = base // SIZE * size if done else np.intp(flight.states[base + TOP])
            at_node, at_leaf, looking = go_on(flight, codes, stack, base, at_node, at_leaf, looking, top)
