"""What all questions about rays share: the check of each ray, which sides count, and the run over threads."""

from __future__ import annotations

import numpy as np

from .._arrays import one_of, raise_bad_ray
from .._jit import inline, kernel
from .._simd import less, load_columns16, maximum, number_like, splat16
from .._threads import run_chunks

SIDES = {
    None: (np.uint32(15), np.uint32(15)),
    "back": (np.uint32(15), np.uint32(0)),
    "front": (np.uint32(0), np.uint32(15)),
}
"""Lanes to keep, of triangles met on their front and on their back, for each choice of cull."""


@inline
def sixteen_are_good(origins, directions, first):
    """Whether the origins of sixteen rays are finite, and their directions too and not zero."""
    largest, none = splat16(number_like(origins[first, 0], np.inf)), splat16(number_like(origins[first, 0], 0.0))
    good = np.uint32(2**16 - 1)
    for array in (origins, directions):
        x, y, z = load_columns16(array, first)
        x, y, z = maximum(x, none - x), maximum(y, none - y), maximum(z, none - z)
        good &= less(x, largest) & less(y, largest) & less(z, largest)
    return good & less(none, maximum(maximum(x, y), z)) == 2**16 - 1


@kernel
def first_bad_ray(origins, directions, t_min, t_max, begin, end):
    """The first ray that is not finite, has no direction, or has a range that is no number; -1 when all are good."""
    inf = np.inf
    good = begin
    while good + 16 <= end and sixteen_are_good(origins, directions, good):
        good += 16
    bad = end
    for r in range(good, end):
        # Quarters, so that the sum of finite numbers is finite.
        place = abs(origins[r, 0]) * 0.25 + abs(origins[r, 1]) * 0.25 + abs(origins[r, 2]) * 0.25
        x, y, z = abs(directions[r, 0]), abs(directions[r, 1]), abs(directions[r, 2])
        if not (place < inf and x < inf and y < inf and z < inf) or (x == 0 and y == 0 and z == 0):
            bad = r
            break
    for ranges in (t_min, t_max):
        for r in range(min(begin, ranges.shape[0]), min(bad, ranges.shape[0])):
            if ranges[r] != ranges[r]:
                bad = r
                break
    return bad if bad < end else -1


def sides_of(cull):
    return SIDES[one_of("cull", cull, tuple(SIDES))]


def run(cast, tree, rays, cull, threads, progress, counters):
    """Cast all rays, chunk by chunk, each checked before.

    `cast` takes the tree's arrays, those of the rays, `sides`, `counts` (of boxes and triangles tested; empty when
    nobody asks), and the first and last + 1 ray.
    """
    sides = sides_of(cull)
    t_max = np.minimum(rays.t_max, np.finfo(rays.t_max.dtype).max)  # a t beyond the numbers is no hit
    t_max.flags.writeable = False

    def work(begin, end):
        bad = first_bad_ray(rays.origins, rays.directions, rays.t_min, rays.t_max, begin, end)
        if bad >= 0:
            raise_bad_ray(rays, bad)
        counts = np.zeros(0 if counters is None else 2, np.int64)
        cast(*tree.arrays, *rays[:3], t_max, sides, counts, begin, end)
        if counters is not None:
            counters.add(queries=end - begin, boxes_tested=counts[0], primitives_tested=counts[1])

    run_chunks(work, len(rays.origins), threads=threads, progress=progress)
