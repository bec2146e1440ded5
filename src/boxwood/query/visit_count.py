"""How much work each ray is: the boxes and triangles that the closest-hit walk tests for it alone.

Counters elsewhere give sums; here the very kernel of `closest_hit` runs ray by ray with counts of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from .._arrays import Array, Rays
from .._jit import kernel
from ..tree.triangle_tree import TriangleTree
from .closest_hit import unanswered
from .flight import fly
from .ray_batch import run


@kernel
def visit_counts(
    question, nodes, codes, blocks, ids, frame, origins, directions, t_min, t_max, sides, counts, begin, end,
    boxes, triangles
):  # fmt: skip
    of_ray = np.zeros(2, np.int64)
    for r in range(begin, end):
        of_ray[0] = of_ray[1] = 0
        fly(question, nodes, codes, blocks, ids, frame, origins, directions, t_min, t_max, sides, of_ray, r, r + 1)
        boxes[r], triangles[r] = of_ray[0], of_ray[1]


def visit_count(
    tree: TriangleTree,
    rays: Rays,
    *,
    cull: Literal["back", "front"] | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    counters: Any = None,
) -> tuple[Array, Array, Array, Array, Array]:
    """The answer of `closest_hit`, t_hit, primitive_ids and uvs; then boxes and triangles tested (n,) int64."""
    count, question = len(rays.origins), unanswered(rays)
    boxes, triangles = np.empty(count, np.int64), np.empty(count, np.int64)

    def cast(*arguments):
        visit_counts(question, *arguments, boxes, triangles)

    run(cast, tree, rays, cull, threads, progress, None)
    if counters is not None:
        hits = np.count_nonzero(question.primitive_ids >= 0)
        counters.add(
            queries=count, boxes_tested=int(boxes.sum()), primitives_tested=int(triangles.sum()), hits=hits
        )  # fmt: skip
    return *question, boxes, triangles
