"""Brute force: every object is tested, none is skipped. The oracle for all structures, and the best for a few objects.

It has nothing to keep up to date, so changes cost it least.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .asking import Ids
from .protocol import Structure
from .questions import box_at, key, limit, offer
from .walk import walk


class Everything(NamedTuple):
    used: int  # rows


@walk.implemented_for(Everything)
def _(structure, boxes, ids, question, batch, stack, keys):
    for row in range(structure.used):
        at = key(question, batch, box_at(boxes, row))
        if at <= limit(question, batch) and ids[row] >= 0:  # seldom, so a branch is guessed right
            offer(question, batch, ids[row], at)


class BruteForce(Structure):
    """Boxes or points that are all tested for each question.

    Parameters
    ----------
    lower, upper : (n, 2) or (n, 3) array_like
        As for every structure.

    Examples
    --------
    >>> from boxwood.index import BruteForce
    >>> boxes = BruteForce([[0, 0], [2, 2]], [[1, 1], [3, 3]])
    >>> boxes.query_box([1, 1], [2, 2]).tolist()
    [0, 1]
    >>> boxes.query_sphere([[0, 0], [3, 3]], 0.5).pairs.tolist()
    [[0, 0], [1, 1]]
    >>> boxes.nearest([5, 3], k=1).distances.tolist()
    [2.0]
    """

    def _build(self) -> None:
        pass

    def _arrays(self) -> Everything:
        return Everything(self._store.used)

    def _tested(self, questions: int) -> int:
        return questions * len(self)

    def _link(self, rows: Ids) -> None:
        pass

    def _relocate(self, rows: Ids, boxes: NDArray[np.float64]) -> int:
        self._store.write(rows, boxes)
        return 0

    def _unlink(self, rows: Ids) -> None:
        pass
