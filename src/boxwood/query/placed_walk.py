"""First and any hits of rays among placed meshes by one walk, which enters a mesh as soon as it meets its box.

The walk of the upper tree is that of all questions about boxes, for which a placed mesh is a box that lowers the most
that t may be. Each ray is moved into the space of the mesh, where t is the same since directions are not normalized,
and takes there the steps of a ray in flight, alone. The trees, as many as there are meshes, are given by address.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._arrays import Rays
from .._jit import inline, kernel
from .._simd import array_at
from .._threads import run_chunks
from ..descend import AT_ALL, PER_LEVEL, Stack, boxes_in, code_at, expand
from ..geometry.ray import frame_of, largest_of
from ..layout import FRAME_DEPTH, FRAME_SIZE, NODE_FLOATS
from .bodies import BodyTree
from .box_cast import accept, begin_row, cast_rays, end_row, nothing_more
from .flight import BOUND, CODE, LIMIT, SIZE, Flight, begin_with, box_of, meet
from .question import ANY, MOST, PLACE, TOTAL, Kept, Question, U, V, unanswered
from .ray_batch import sides_of

SLACK = 2.0**-40
"""By how much, relative to the numbers in it, a hit may lie before its box is entered, since its ray was rounded."""

CHUNK = 65536

NODES, BLOCKS, IDS = 0, 2, 4
WORK, LOST = range(2)


class Room(NamedTuple):
    """What a walk keeps of the ray at hand, in the space of a mesh."""

    flight: Flight
    kept: Kept
    stack: Stack
    crossing: np.ndarray
    axes: np.ndarray
    told: np.ndarray  # (2,) int64: steps, and a body whose space lost a ray, -1 for none


class PlacedRays(NamedTuple):
    """Rays, placed meshes whose blocks have one dtype, and the answers so far."""

    question: Question  # of the kind CLOSEST or ANY, with the answers
    bodies: np.ndarray  # (n,) int64: whose the hits are
    origins: np.ndarray
    directions: np.ndarray
    t_min: np.ndarray
    t_max: np.ndarray
    mask: np.ndarray  # (n,), or (1,) for all
    names: np.ndarray
    masks: np.ndarray
    mesh_of: np.ndarray
    matrices: np.ndarray
    inverses: np.ndarray
    trees: np.ndarray  # (m, 6) int64: address and size of nodes, blocks and ids; 0 for meshes left out
    frames: np.ndarray  # (m, 5)
    like: np.ndarray  # (0,) of the dtype of the blocks
    sides: tuple
    counts: np.ndarray  # (2,), or (0,) where nobody asks
    room: Room


@inline
def moved_ray(origins, directions, r, matrices, inverses, body):
    """Origin and direction of ray r in the space of a body."""
    x, y = origins[r, 0] - matrices[body, 0, 3], origins[r, 1] - matrices[body, 1, 3]
    z = origins[r, 2] - matrices[body, 2, 3]
    u, v, w = directions[r, 0], directions[r, 1], directions[r, 2]
    a, b, c = inverses[body, 0, 0], inverses[body, 0, 1], inverses[body, 0, 2]
    d, e, f = inverses[body, 1, 0], inverses[body, 1, 1], inverses[body, 1, 2]
    g, h, i = inverses[body, 2, 0], inverses[body, 2, 1], inverses[body, 2, 2]
    start = ((a * x + b * y) + c * z, (d * x + e * y) + f * z, (g * x + h * y) + i * z)
    way = ((a * u + b * v) + c * w, (d * u + e * v) + f * w, (g * u + h * v) + i * w)
    return start, way


@inline
def is_lost(start, way):
    """Whether a moved ray cannot be followed, being too far away or too short."""
    place = abs(start[0]) + abs(start[1]) + abs(start[2])
    length = abs(way[0]) + abs(way[1]) + abs(way[2])
    return not (place < np.inf and 0.0 < length < np.inf)


@inline
def end_of(ends, r):
    """Of ranges or masks: each ray's own, or one for all."""
    return ends[r if ends.shape[0] > 1 else 0]


@inline
def left(placed, r, most):
    """The t up to which boxes can hold a hit that still counts: a little beyond the best so far."""
    if placed.question.kind == ANY:
        return nothing_more() if placed.question.occluded[r] else most
    t = placed.question.t_hit[r]
    return min(most, t + slack_at(placed.origins, placed.directions, r, t))


@inline
def slack_at(origins, directions, r, t):
    """By how much t in the space of a mesh and t in the world may differ."""
    x, y, z = origins[r, 0], origins[r, 1], origins[r, 2]
    u, v, w = directions[r, 0], directions[r, 1], directions[r, 2]
    return 2.0 * SLACK * (abs(t) + largest_of(x, y, z) / largest_of(u, v, w))


@kernel
def fill_ends(origins, directions, t_min, t_max, low, high, begin, end):
    for r in range(begin, end):
        least, most = end_of(t_min, r), end_of(t_max, r)
        low[r] = least - slack_at(origins, directions, r, least) if abs(least) < np.inf else least
        high[r] = most + slack_at(origins, directions, r, most) if abs(most) < np.inf else most


def to_boxes(rays: Rays, threads=None) -> Rays:
    """Rays as the boxes of bodies are asked about them: a little longer at both ends, as a hit at an end may lie before
    or behind its box by a rounding."""
    count = len(rays.origins)
    low, high = np.empty(count), np.empty(count)

    def fill(begin, end):
        fill_ends(rays.origins, rays.directions, rays.t_min, rays.t_max, low, high, begin, end)

    run_chunks(fill, count, chunk=CHUNK, threads=threads)
    return rays._replace(t_min=low, t_max=high)


@inline
def walk(placed, mesh, ids, start, way, least, most):
    """Where in the blocks of a mesh the first hit of a moved ray lies, or any; -1 for none."""
    trees, counts, room = placed.trees, placed.counts, placed.room
    flight, kept, stack = room.flight, room.kept, room.stack
    nodes = array_at(trees[mesh, NODES], trees[mesh, NODES + 1], flight.boxes)
    codes = array_at(trees[mesh, NODES], trees[mesh, NODES + 1], placed.mesh_of)
    blocks = array_at(trees[mesh, BLOCKS], trees[mesh, BLOCKS + 1], placed.like)
    code, top = np.int32(0), np.intp(0)
    if begin_with(flight, kept, 0, frame_of(placed.frames[mesh]), start, way, least, most, 0, room.axes):
        while True:
            room.told[WORK] += 1
            if code >= 0:
                if counts.shape[0] > 0:
                    counts[0] += boxes_in(nodes, np.intp(code) * NODE_FLOATS)
                top = expand(box_of(flight, 0), None, nodes, stack, code, top, flight.boxes[LIMIT])
            else:
                flight.states[CODE] = np.uint32(code)
                if meet(placed.question, flight, kept, np.intp(0), blocks, ids, placed.sides, room.crossing, counts):
                    break
            bound = np.int32(flight.states[BOUND])
            while top > 0 and stack.keys[top] > bound:
                top -= 1
            if top == 0:
                break
            code = code_at(codes, stack, top)
            top -= 1
    return kept.places[PLACE]


@begin_row.implemented_for(PlacedRays)
def _(placed, r):
    pass


@accept.implemented_for(PlacedRays)
def _(placed, r, t, name, most):
    body, question, kept = placed.names[name], placed.question, placed.room.kept
    mesh = placed.mesh_of[body]
    if placed.masks[body] & end_of(placed.mask, r) == 0 or placed.trees[mesh, NODES] == 0:
        return left(placed, r, most)
    start, way = moved_ray(placed.origins, placed.directions, r, placed.matrices, placed.inverses, body)
    if is_lost(start, way):
        placed.room.told[LOST] = body
        return nothing_more()
    ids = array_at(placed.trees[mesh, IDS], placed.trees[mesh, IDS + 1], placed.mesh_of)
    nearest = end_of(placed.t_max, r)
    if question.kind != ANY:
        nearest = min(nearest, question.t_hit[r])
    best = walk(placed, mesh, ids, start, way, end_of(placed.t_min, r), nearest)
    if best >= 0 and question.kind == ANY:
        question.occluded[r] = True
    elif best >= 0 and (kept.numbers[MOST] < question.t_hit[r] or body < placed.bodies[r]):
        total = kept.numbers[TOTAL]
        question.t_hit[r], question.primitive_ids[r], placed.bodies[r] = kept.numbers[MOST], ids[best], body
        question.uvs[r, 0], question.uvs[r, 1] = kept.numbers[U] / total, kept.numbers[V] / total
    return left(placed, r, most)


@end_row.implemented_for(PlacedRays)
def _(placed, r):
    steps = placed.room.told[WORK]
    placed.room.told[WORK] = 0
    return steps


def room_of(depth) -> Room:
    """For trees of that depth."""
    size = PER_LEVEL * depth + AT_ALL
    flight = Flight(
        np.empty(SIZE, np.float32), np.empty(SIZE, np.uint32), np.empty(SIZE), np.empty(SIZE),
        np.empty(SIZE, np.int64), np.empty(0, np.uint32),
    )  # fmt: skip
    stack = Stack(np.empty(size, np.int32), np.empty(size, np.uint32))
    told = np.array([0, -1])
    return Room(flight, Kept(np.empty(4), np.empty(2, np.int64)), stack, np.empty(20), np.empty(9), told)


def trees_of(solids, dtype):
    """Addresses and sizes (m, 6), and frames (m, 5), of the trees whose blocks have that dtype."""
    trees, frames = np.zeros((len(solids), 6), np.int64), np.zeros((len(solids), FRAME_SIZE))
    for i, solid in enumerate(solids):
        tree = solid.tree
        if tree is not None and tree.blocks.dtype == dtype:
            frames[i] = tree.frame
            for k, array in enumerate((tree.nodes, tree.blocks, tree.ids)):
                trees[i, 2 * k : 2 * k + 2] = array.ctypes.data, array.size
    return trees, frames


def raise_lost(body):
    raise ValueError(f"a ray is too far from instance {body}, or too short, to be followed in its space")


def walk_hits(kind, scene: BodyTree, rays, mask, *, upper, cull, threads, progress, counters):
    """The question of that kind, answered, and ids of bodies (n,); `upper` counts the work in the upper tree.

    Meshes of two dtypes take two walks, of which the second knows what the first has found.
    """
    count, own = len(rays.origins), scene.bodies
    question, bodies = unanswered(kind, rays), np.full(count, -1)
    question.t_hit[:], question.primitive_ids[:], question.uvs[:], question.occluded[:] = np.inf, -1, np.nan, False
    t_max = np.minimum(rays.t_max, np.finfo(np.float64).max)  # a t beyond the numbers is no hit
    given = rays.origins, rays.directions, rays.t_min, t_max, mask, scene.names
    arrays = own.masks, own.mesh_of, own.matrices, own.inverses
    sides, longer = sides_of(cull), to_boxes(rays, threads)
    dtypes = sorted({solid.tree.blocks.dtype for solid in own.solids if solid.tree is not None}) or [np.float64]
    for dtype in dtypes:
        trees, frames = trees_of(own.solids, dtype)

        # `held` are the trees behind the addresses: a second Ctrl-C leaves threads at work when all else is let go
        def ask(answer, begin, end, dtype=dtype, trees=trees, frames=frames, held=own.solids):
            counts = np.zeros(0 if counters is None else 2, np.int64)
            room, like = room_of(int(frames[:, FRAME_DEPTH].max(initial=0))), np.empty(0, dtype)
            placed = PlacedRays(question, bodies, *given, *arrays, trees, frames, like, sides, counts, room)
            reached = answer(placed)
            if room.told[LOST] >= 0:
                raise_lost(room.told[LOST])
            if counters is not None:
                counters.add(boxes_tested=counts[0], primitives_tested=counts[1])
            return reached

        cast_rays(ask, scene.tree, longer, threads, progress if dtype == dtypes[-1] else None, upper)
    return question, bodies
