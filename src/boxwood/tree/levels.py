"""The boxes of each level of the wide tree, for pictures of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..layout import CHILDREN, FRAME_CENTER, FRAME_SCALE, NODE_FLOATS
from .wide_tree import WideTree


def levels_of(tree: WideTree) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """A list with lower (n, d) and upper (n, d), float64 in the space of what the tree holds, for each level.

    Level 0 is the box of everything, level 1 has its up to eight children, and so on; a leaf stands on the level where
    it hangs and on none below. An empty tree has no levels.
    """
    nodes = tree.nodes.reshape(-1, NODE_FLOATS)
    codes = tree.nodes.view(np.int32).reshape(-1, NODE_FLOATS)
    center, scale = tree.frame[FRAME_CENTER : FRAME_CENTER + 3], tree.frame[FRAME_SCALE]
    levels = []
    axes = slice(0, tree.dimension)
    inner: NDArray[np.integer[Any]] = np.zeros(1, np.intp)
    while len(inner):
        lower = nodes[inner, :24].reshape(-1, 3, 8).transpose(0, 2, 1).reshape(-1, 3)
        upper = nodes[inner, 24:48].reshape(-1, 3, 8).transpose(0, 2, 1).reshape(-1, 3)
        below = codes[inner, CHILDREN : CHILDREN + 8].reshape(-1)
        there = lower[:, 0] <= upper[:, 0]
        corners = ((corner[there] + center)[:, axes] / scale for corner in (lower, upper))
        levels.append((next(corners), next(corners)))
        inner = below[there & (below >= 0)]
    root_lower, root_upper = levels[0]
    if len(root_lower) == 0:
        return []
    return [(root_lower.min(axis=0)[None], root_upper.max(axis=0)[None]), *levels]
