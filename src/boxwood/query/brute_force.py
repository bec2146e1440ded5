"""The first hit of each ray without the tree: every block of triangles is tested, none is skipped.

The oracle for `closest_hit`: the exact test of a triangle is shared, everything that could lose a triangle is not, so
the answers must agree to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from .._arrays import Array, Rays
from .._jit import kernel
from ..geometry.ray import frame_of
from ..layout import BLOCK_SIZE, BLOCKS_OF_LEAF
from ..tree.triangle_tree import TriangleTree
from .flight import CODE, SIZE, Flight, begin_ray, meet
from .question import CLOSEST, Kept, land, unanswered
from .ray_batch import run


@kernel
def meet_all(question, nodes, codes, blocks, ids, frame, origins, directions, t_min, t_max, sides, counts, begin, end):
    space = frame_of(frame)
    dtype = origins.dtype
    crossing, axes = np.empty(20, dtype), np.empty(9, dtype)
    flight = Flight(
        np.empty(SIZE, np.float32), np.empty(SIZE, np.uint32), np.empty(SIZE, dtype), np.empty(SIZE, np.float64),
        np.empty(SIZE, np.int64), np.empty(0, np.uint32),
    )  # fmt: skip
    kept = Kept(np.empty(4, dtype), np.empty(2, np.int64))
    count = ids.shape[0] // BLOCK_SIZE
    largest = BLOCKS_OF_LEAF - 1
    for r in range(begin, end):
        begin_ray(flight, kept, 0, space, origins, directions, t_min, t_max, r, axes)
        for first in range(0, count, largest):  # as if it were a leaf
            flight.states[CODE] = np.uint32(~np.int32(first * BLOCKS_OF_LEAF + min(largest, count - first)))
            meet(question, flight, kept, 0, blocks, ids, sides, crossing, counts)
        land(question, kept, 0, ids)


def same_hits(one: Sequence[Array], other: Sequence[Array]) -> Array:
    """(n,) bool: whether t_hit, primitive_ids and uvs are the same to the last bit; nan is nan."""
    t_hit, primitive_ids, uvs = one
    same = (t_hit == other[0]) & (primitive_ids == other[1])
    same &= ((uvs == other[2]) | (np.isnan(uvs) & np.isnan(other[2]))).all(axis=1)
    return same


def closest_hit_brute_force(
    tree: TriangleTree,
    rays: Rays,
    *,
    cull: Literal["back", "front"] | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    counters: Any = None,
) -> tuple[Array, Array, Array]:
    """What `closest_hit` gives, in time proportional to the number of triangles for each ray."""
    question = unanswered(CLOSEST, rays)

    def cast(*arguments):
        *others, begin, end = arguments
        step = 64  # so that Ctrl-C is heard
        for first in range(begin, end, step):
            meet_all(question, *others, first, min(first + step, end))

    run(cast, tree, rays, cull, threads, progress, counters)
    if counters is not None:
        counters.add(hits=np.count_nonzero(question.primitive_ids >= 0))
    return question.t_hit, question.primitive_ids, question.uvs
