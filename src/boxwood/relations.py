"""What questions about contact return: how triangles lie to each other, and which of them meet."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .results import Floats, Ids, brief


class Relation(enum.IntEnum):
    """How two triangles lie to each other; numbers in arrays compare equal to these.

    Triangles are closed. The interior of one without area is what lies between the ends of the segment that it is, or
    the point that it is.

    Attributes
    ----------
    DISJOINT : 0
        They have no point in common.
    TOUCH : 1
        They have, but neither of the following.
    CROSS : 2
        They are not in one plane, and their interiors have a point in common.
    COPLANAR : 3
        They are in one plane, and their interiors have an area in common.

    Examples
    --------
    >>> import boxwood as bw
    >>> bw.Relation.TOUCH == 1, bw.Relation(2).name
    (True, 'CROSS')
    """

    DISJOINT = 0
    TOUCH = 1
    CROSS = 2
    COPLANAR = 3


@dataclass(frozen=True, eq=False, repr=False)
class TriangleRelations:
    """How pairs of triangles lie to each other, and where they meet.

    Attributes
    ----------
    relations : int8 array (...)
        Values of `Relation`.
    segments : float array (..., 2, 3), in the dtype of the triangles
        The ends of what both have in common, in the unit of the coordinates: equal where that is a point, the two
        corners farthest apart where it is an area, nan where there is nothing. Where triangles with an area cross, the
        segment runs along the cross product of the first's and the second's normal.

    Examples
    --------
    >>> import boxwood as bw
    >>> triangle = [[0, 0, 0], [4, 0, 0], [0, 4, 0]]
    >>> found = bw.triangle_relations(triangle, [triangle, [[0, 0, 0], [-1, 0, 0], [0, -1, 0]], [[9, 9, 9]] * 3])
    >>> found.relations.tolist(), found.meet.tolist()
    ([3, 1, 0], [True, True, False])
    >>> found.segments[1].tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """

    relations: NDArray[np.int8]
    segments: Floats

    @property
    def meet(self) -> NDArray[np.bool_]:
        """Whether the two of each pair have any point in common: bool (...)."""
        meet: NDArray[np.bool_] = self.relations != Relation.DISJOINT
        return meet

    def __repr__(self) -> str:
        return f"TriangleRelations(relations={brief(self.relations)}, segments={brief(self.segments)})"


@dataclass(frozen=True, eq=False, repr=False)
class Intersections:
    """Pairs of faces that meet, sorted by both ids.

    Attributes
    ----------
    pairs : int64 array (m, 2)
        A face of each mesh; of one mesh with itself, the smaller id first.
    relations : int8 array (m,)
        `Relation` of each pair: CROSS, TOUCH or COPLANAR.
    segments : float array (m, 2, 3), in the unit and the wider dtype of the meshes
        The ends of what both faces have in common, equal where that is a point; of faces that overlap in an area the
        two corners of it that are farthest apart, and of faces that only come within the tolerance the two nearest
        points. Computed in float64 and rounded, unlike the decision that they meet.

    Examples
    --------
    >>> import boxwood as bw
    >>> floor = bw.Mesh([[0, 0, 0], [4, 0, 0], [0, 4, 0]], [[0, 1, 2]])
    >>> wall = bw.Mesh([[1, 1, -1], [1, 1, 1], [2, 1, 1]], [[0, 1, 2]])
    >>> found = floor.intersections(wall)
    >>> found.pairs.tolist(), bw.Relation(found.relations[0]).name, sorted(found.segments[0].tolist())
    ([[0, 0]], 'CROSS', [[1.0, 1.0, 0.0], [1.5, 1.0, 0.0]])
    """

    pairs: Ids
    relations: NDArray[np.int8]
    segments: Floats

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        kinds = ", ".join(f"{np.count_nonzero(self.relations == kind)} {kind.name}" for kind in list(Relation)[1:])
        return f"Intersections({len(self)} pairs: {kinds})"
