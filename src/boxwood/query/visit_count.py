"""How much work each ray is: the boxes and triangles that the closest-hit walk tests for it alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from .._arrays import Array, Rays
from ..tree.triangle_tree import TriangleTree
from .engine import answer
from .question import CLOSEST, unanswered
from .ray_batch import run


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
    question = unanswered(CLOSEST, rays)
    visits = np.zeros((len(rays.origins), 2), np.int64)

    def cast(*arguments):
        *others, _, begin, end = arguments
        answer(question, *others, visits.reshape(-1), begin, end)

    run(cast, tree, rays, cull, threads, progress, None)
    boxes, triangles = visits[:, 0], visits[:, 1]
    if counters is not None:
        hits = np.count_nonzero(question.primitive_ids >= 0)
        counters.add(
            queries=len(visits), boxes_tested=int(boxes.sum()), primitives_tested=int(triangles.sum()), hits=hits
        )  # fmt: skip
    return question.t_hit, question.primitive_ids, question.uvs, boxes, triangles
