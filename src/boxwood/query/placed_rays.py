"""Rays against placed meshes, by two levels of trees: the world boxes that a ray enters, then the meshes in them.

Rays are moved into the space of a mesh, where t is the same since directions are not normalized. First and any hits
are found by one walk (`placed_walk`). Where every hit counts, the boxes that a chunk of rays enters are listed, and
each mesh is asked about the rays that came to it: by walks that meshes alone have, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._arrays import Rays, raise_bad_ray
from .._jit import kernel
from .._threads import run_chunks
from .all_hits import all_hits
from .bodies import BodyTree, Tally, groups
from .box_all import all_boxes
from .box_cast import cast_rays
from .hit_count import hit_count
from .placed_walk import is_lost, moved_ray, raise_lost, to_boxes, walk_hits
from .question import ANY, CLOSEST
from .ray_batch import first_bad_ray

ENTRIES = 1 << 20
"""Boxes entered by the rays of a chunk, about: what bounds the memory."""

LARGEST = 65536
"""Rays of a chunk, at most."""


class Entered(NamedTuple):
    """The boxes that each ray of a chunk enters, in order of t and id."""

    rays: Rays
    splits: np.ndarray  # (n + 1,)
    rows: np.ndarray  # (m,): which ray
    t: np.ndarray  # (m,) float64
    ids: np.ndarray  # (m,): which body


@kernel
def move_rays(origins, directions, rows, ids, matrices, inverses, starts, ways, begin, end):
    """Ray rows[k] in the space of body ids[k], for k from begin to end; the first that is lost there, or -1."""
    for k in range(begin, end):
        r, body = rows[k], ids[k]
        start, way = moved_ray(origins, directions, r, matrices, inverses, body)
        starts[k, 0], starts[k, 1], starts[k, 2] = start
        ways[k, 0], ways[k, 1], ways[k, 2] = way
        if is_lost(start, way):
            return k
    return -1


def moved_rays(bodies, rays: Rays, rows, ids, t_max, threads=None) -> Rays:
    """Those rows of the rays, each in the space of a body, up to t_max (n,)."""
    starts, ways = np.empty((len(rows), 3)), np.empty((len(rows), 3))

    def move(begin, end):
        return move_rays(
            rays.origins, rays.directions, rows, ids, bodies.matrices, bodies.inverses, starts, ways, begin, end
        )

    lost = max(run_chunks(move, len(rows), threads=threads), default=-1)
    if lost >= 0:
        raise_lost(ids[lost])
    t_min, t_max = rays.t_min[rows] if len(rays.t_min) > 1 else rays.t_min, t_max[rows]
    for array in (starts, ways, t_min, t_max):
        array.flags.writeable = False
    shape = (len(rows),)
    return Rays(starts, ways, t_min, t_max, shape, (shape, shape, shape, shape))


def chunks(scene: BodyTree, rays: Rays, mask, threads, progress, counters):
    """Yield first and last + 1 ray of each chunk, and what it enters."""
    count = len(rays.origins)
    bad = first_bad_ray(*rays[:4], 0, count)
    if bad >= 0:
        raise_bad_ray(rays, bad)
    begin, size = 0, max(256, min(LARGEST, ENTRIES // max(len(scene.names), 1)))
    while begin < count:
        end = min(begin + size, count)
        entered = enter(scene, some(rays, begin, end), mask[begin:end] if len(mask) > 1 else mask, threads, counters)
        yield begin, end, entered
        if progress is not None:
            progress(end, count)
        size = max(256, min(LARGEST, 4 * size, ENTRIES * (end - begin) // max(len(entered.ids), 1)))
        begin = end


def some(rays: Rays, begin, end) -> Rays:
    origins, directions, t_min, t_max = (array[begin:end] if len(array) > 1 else array for array in rays[:4])
    shape = (end - begin,)
    return Rays(origins, directions, t_min, t_max, shape, (shape, shape, shape, shape))


def enter(scene: BodyTree, rays: Rays, mask, threads, counters) -> Entered:
    def run(ask):
        cast_rays(ask, scene.tree, to_boxes(rays, threads), threads, None, counters)

    count = len(rays.origins)
    splits, rows, t, places = all_boxes(run, count, np.dtype(np.float64))
    ids = scene.names[places]
    keep = scene.bodies.masks[ids] & (mask[rows] if len(mask) > 1 else mask) != 0
    if not keep.all():
        rows, t, ids = rows[keep], t[keep], ids[keep]
        splits = np.zeros(count + 1, np.int64)
        np.cumsum(np.bincount(rows, minlength=count), out=splits[1:])
    return Entered(rays, splits, rows, t, ids)


def ask(question, scene: BodyTree, rays: Rays, rows, ids, t_max, options):
    """Have the question answered for those rows of the rays, each by one body: yield the places in `rows` that went to
    one mesh, and its answer."""
    bodies = scene.bodies
    for mesh, places in groups(bodies.mesh_of[ids]):
        moved = moved_rays(bodies, rays, rows[places], ids[places], t_max, options["threads"])
        yield places, question(bodies.solids[mesh].tree, moved, **options)


def tallies(cull, threads, counters):
    """What the walk of the upper tree adds to, and the options of the questions to meshes, with what they add to."""
    upper, inner = (None, None) if counters is None else (Tally(), Tally())
    return upper, {"cull": cull, "threads": threads, "counters": inner}


def tell(counters, upper, options, queries, hits):
    """Add to the user's counters: boxes of bodies are boxes, and a ray is one query, however many meshes it came to."""
    if counters is not None:
        inner = options["counters"]
        boxes = upper.boxes_tested + upper.primitives_tested + inner.boxes_tested
        counters.add(queries=queries, boxes_tested=boxes, primitives_tested=inner.primitives_tested, hits=hits)


def first_hits(scene: BodyTree, rays: Rays, mask, *, cull=None, threads=None, progress=None, counters=None):
    """t_hit (n,), primitive_ids, uvs (n, 2) and ids of bodies (n,): of equal t the smallest body, then face."""
    upper, options = tallies(cull, threads, counters)
    found, bodies = walk_hits(CLOSEST, scene, rays, mask, upper=upper, progress=progress, **options)
    tell(counters, upper, options, len(bodies), np.count_nonzero(bodies >= 0))
    return found.t_hit, found.primitive_ids, found.uvs, bodies


def any_hits(scene: BodyTree, rays: Rays, mask, *, cull=None, threads=None, progress=None, counters=None):
    """(n,) bool: whether each ray hits anything."""
    upper, options = tallies(cull, threads, counters)
    found, _ = walk_hits(ANY, scene, rays, mask, upper=upper, progress=progress, **options)
    tell(counters, upper, options, len(found.occluded), np.count_nonzero(found.occluded))
    return found.occluded


def hit_counts(scene: BodyTree, rays: Rays, mask, *, cull=None, threads=None, progress=None, counters=None):
    """(n,) int64: how many crossings each ray has."""
    numbers = np.zeros(len(rays.origins), np.int64)
    upper, options = tallies(cull, threads, counters)
    for begin, end, entered in chunks(scene, rays, mask, threads, progress, upper):
        most = np.array(np.broadcast_to(entered.rays.t_max, end - begin))
        for places, found in ask(hit_count, scene, entered.rays, entered.rows, entered.ids, most, options):
            np.add.at(numbers, begin + entered.rows[places], found)
    tell(counters, upper, options, len(numbers), int(numbers.sum()))
    return numbers


def every_hit(scene: BodyTree, rays: Rays, mask, *, cull=None, threads=None, progress=None, counters=None):
    """Splits (n + 1,), ray ids, t_hit, primitive_ids, uvs and ids of bodies (m,), sorted by ray, t, body and face."""
    count = len(rays.origins)
    upper, options = tallies(cull, threads, counters)
    no_ids = np.empty(0, np.int64)
    parts = [(no_ids, np.empty(0), no_ids, np.empty((0, 2)), no_ids)]
    for begin, end, entered in chunks(scene, rays, mask, threads, progress, upper):
        most = np.array(np.broadcast_to(entered.rays.t_max, end - begin))
        found = []
        for places, hits in ask(all_hits, scene, entered.rays, entered.rows, entered.ids, most, options):
            _, of, t, face, uv = hits
            found.append((begin + entered.rows[places[of]], t, face, uv, entered.ids[places[of]]))
        if found:
            row, t, face, uv, body = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
            order = np.lexsort((face, body, t, row))
            parts.append((row[order], t[order], face[order], uv[order], body[order]))
    row, t, face, uv, body = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    splits = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=count), out=splits[1:])
    tell(counters, upper, options, count, len(row))
    return splits, row, t, face, uv, body
