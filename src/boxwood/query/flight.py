"""Rays in flight: what a thread knows of each, and the steps they take in turns.

A lane holds a ray. It stands at a node or at a leaf, or looks for the next place on its stack; `engine` has all that
stand at the same kind of place take their step one after the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import inline
from .._simd import first_bit, key_bound, smallest_like
from ..descend import code_at, primitives_in
from ..geometry import bundle_box
from ..geometry.ray import Motion, Ray, Shear, high_of, limit_of, low_of, make_ready
from ..geometry.ray_box import BoxRay
from ..geometry.ray_group import box_of_lane, motion_of_lane, shear_of_lane
from ..geometry.ray_triangle import cross_block, settle
from ..layout import BLOCK_FLOATS, BLOCK_SIZE, BLOCKS_OF_LEAF
from .question import RAY, accept, begin, furthest, half_open


class Flight(NamedTuple):
    """What each lane knows of its ray, 16 numbers a lane, and the lists of lanes by what they do next.

    Unsigned integers tell the compiler that an index cannot be negative.
    """

    boxes: np.ndarray  # float32: inverse, near, far, start (BoxRay), limit
    states: np.ndarray  # uint32: the limit as a key, top of the stack, code to go to; rows (BoxRay)
    rays: np.ndarray  # computing dtype: Shear; low, t_min
    motions: np.ndarray  # float64: Motion
    rows: np.ndarray  # int64: offsets of the rows of the triangles (Shear)
    lists: np.ndarray  # uint32: lanes at a node; from LISTS on those at a leaf; from 2 LISTS on those looking


SIZE = 16
LIMIT = 10
BOUND, TOP, CODE, ROWS = 0, 1, 2, 3
LOW, LEAST = 10, 11
LISTS, LAST = 64, 63


@inline
def keep(flight, base, ray, low, least):
    for axis in range(3):
        flight.boxes[base + axis] = ray.box.inverse[axis]
        flight.boxes[base + 3 + axis] = ray.box.near[axis]
        flight.boxes[base + 6 + axis] = ray.box.far[axis]
        flight.rays[base + axis] = ray.shear.origin[axis]
        flight.rows[base + axis] = ray.shear.rows[axis]
        flight.states[base + ROWS + axis] = np.uint32(ray.box.rows[axis])
    flight.boxes[base + 9] = ray.box.start
    flight.rays[base + 3], flight.rays[base + 4] = ray.shear.slope
    flight.rays[base + 5], flight.rays[base + 6] = ray.shear.per_x, ray.shear.per_y
    flight.rays[base + 7] = ray.shear.per_z
    flight.rays[base + 8], flight.rays[base + 9] = ray.shear.slack_x, ray.shear.slack_y
    flight.rays[base + LOW], flight.rays[base + LEAST] = low, least
    flight.motions[base], flight.motions[base + 1], flight.motions[base + 2] = ray.motion


@inline
def begin_ray(flight, kept, base, space, origins, directions, t_min, t_max, r, axes):
    """Make ray r ready in a lane; whether it comes near the tree at all."""
    least = t_min[r if t_min.shape[0] > 1 else 0]
    most = t_max[r if t_max.shape[0] > 1 else 0]
    origin = (origins[r, 0], origins[r, 1], origins[r, 2])
    direction = (directions[r, 0], directions[r, 1], directions[r, 2])
    return begin_with(flight, kept, base, space, origin, direction, least, most, r, axes)


@inline
def begin_with(flight, kept, base, space, origin, direction, least, most, r, axes):
    """Likewise with a ray r that is no row of arrays."""
    ray, reachable = make_ready(space, origin, direction, least, smallest_like(least), axes)
    keep(flight, base, ray, low_of(ray.motion, least), least)
    begin(kept, base // SIZE, r, most)
    set_limit(flight, base, ray.motion, most)
    return reachable


@inline
def begin_lane(flight, kept, base, group, lane, r):
    """Put the ray of a group's lane, which is ray r, into a lane of the flight."""
    least = group.rays[bundle_box.LEAST + lane]
    ray = Ray(box_of_lane(group, lane), shear_of_lane(group, lane), motion_of_lane(group, lane))
    keep(flight, base, ray, least, least)
    begin(kept, base // SIZE, r, group.rays[bundle_box.MOST + lane])
    keep_limit(flight, base, group.boxes[bundle_box.LIMITS + lane])


@inline
def box_of(flight, base):
    boxes, states = flight.boxes, flight.states
    return BoxRay(
        (boxes[base], boxes[base + 1], boxes[base + 2]),
        (boxes[base + 3], boxes[base + 4], boxes[base + 5]),
        (boxes[base + 6], boxes[base + 7], boxes[base + 8]),
        boxes[base + 9],
        (np.intp(states[base + ROWS]), np.intp(states[base + ROWS + 1]), np.intp(states[base + ROWS + 2])),
    )


@inline
def shear_of(flight, base):
    rows, s = flight.rows, flight.rays
    return Shear(
        (rows[base], rows[base + 1], rows[base + 2]),
        (s[base], s[base + 1], s[base + 2]),
        (s[base + 3], s[base + 4]),
        s[base + 5], s[base + 6], s[base + 7], s[base + 8], s[base + 9],
    )  # fmt: skip


@inline
def motion_of(flight, base):
    return Motion(flight.motions[base], flight.motions[base + 1], flight.motions[base + 2])


@inline
def set_limit(flight, base, motion, most):
    keep_limit(flight, base, limit_of(motion, most))


@inline
def keep_limit(flight, base, limit):
    flight.boxes[base + LIMIT] = limit
    flight.states[base + BOUND] = np.uint32(key_bound(limit))


@inline
def base_at(flight, place):
    """Where the numbers of the lane at that place of the lists begin."""
    return np.intp(flight.lists[place]) * SIZE


@inline
def leaf_of(flight, base):
    return np.intp(np.uint32(~np.int32(flight.states[base + CODE])))


@inline
def go_on(flight, codes, stack, base, at_node, at_leaf, looking, top):
    """Take the top of a lane's stack and put the lane on the list for it; the lengths of the three lists.

    It is put on all three, and only one grows: that needs no branch.
    """
    code = code_at(codes, stack, top)
    near = stack.keys[top] <= np.int32(flight.states[base + BOUND])
    flight.states[base + TOP] = np.uint32(top - near)
    flight.states[base + CODE] = np.uint32(code)
    lane = base // SIZE
    flight.lists[at_node & LAST] = lane
    flight.lists[LISTS + (at_leaf & LAST)] = lane
    flight.lists[2 * LISTS + (looking & LAST)] = lane
    to_node, to_leaf = np.intp(near & (code >= 0)), np.intp(near & (code < 0))
    return at_node + to_node, at_leaf + to_leaf, looking + 1 - to_node - to_leaf


@inline
def meet(question, flight, kept, base, blocks, ids, sides, crossing, counts):
    """Test the triangles of the leaf a lane has come to; whether its ray is done."""
    shear, motion = shear_of(flight, base), motion_of(flight, base)
    leaf, lane = leaf_of(flight, base), base // SIZE
    low, least = flight.rays[base + LOW], flight.rays[base + LEAST]
    first = leaf // BLOCKS_OF_LEAF
    for index in range(first, first + leaf % BLOCKS_OF_LEAF):
        if counts.shape[0] > 0:
            counts[place_in(counts, kept, lane) + 1] += primitives_in(ids, index * BLOCK_SIZE)
        block = index * BLOCK_FLOATS
        high = high_of(motion, furthest(kept, lane))
        hits, in_doubt = cross_block(shear, blocks, block, sides, low, high, crossing)
        while hits != 0:
            i = first_bit(hits)
            hits &= hits - np.uint32(1)
            doubt = (in_doubt >> np.uint32(i)) & np.uint32(1) != 0
            found = (crossing[i], crossing[4 + i], crossing[8 + i], crossing[12 + i], crossing[16 + i])
            hit, t, weights = settle(shear, motion, blocks, block + i, sides, doubt, half_open(question), found)
            if hit and t >= least and t <= furthest(kept, lane):
                if accept(question, kept, lane, ids, index * BLOCK_SIZE + i, t, weights):
                    return True
                set_limit(flight, base, motion, furthest(kept, lane))
    return False


@inline
def place_in(counts, kept, lane):
    """Where to count the work for the lane's ray: in a place of its own, or with all others."""
    return 2 * kept.places[2 * np.intp(lane) + RAY] if counts.shape[0] > 2 else 0
