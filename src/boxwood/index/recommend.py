"""Which structure is best for these boxes, this motion and this question: looked up in a table of measurements.

The boxes are sorted into one of three spreads (even, in clusters, along lines) by counting the cells that they occupy:
an even spread fills most of as many cells as there are objects; along a line the number of cells that hold them doubles
when cells are halved, and around clusters it hardly changes (the correlation dimension of Grassberger and Procaccia
1983).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._arrays import one_of, positive_int
from . import arguments, calibration
from .brute import BruteForce
from .bvh import BVH
from .calibration import BRUTE, QUESTIONS
from .cell_structure import usual_size
from .grid import UniformGrid, fitting
from .hashing import SpatialHash
from .kdtree import KDTree
from .orthtree import Octree, Quadtree
from .protocol import Structure
from .sweep import SweepAndPrune

STRUCTURES: dict[str, type[Structure]] = {
    kind.__name__: kind
    for kind in (BruteForce, UniformGrid, SpatialHash, Quadtree, Octree, KDTree, SweepAndPrune, BVH)
}
CELLS = ("UniformGrid", "SpatialHash")

FEW = 64
"""Objects too few to have a spread."""
SAMPLE = 20_000
EVEN = 0.25
"""The least part of as many cells as objects that an even spread occupies; 0.63 when it is random."""
SCALES = (4, 8, 16, 32)
"""Cells along the longest side."""
LINE = (0.5, 1.5)
"""Dimensions of what is taken for a line, from each scale to the next."""
NEVER = "brute force would be best of a handful of objects at most"
UNEQUAL = 16.0
"""The largest boxes are so many times the usual size: cells would be wrong for one or the other."""

SPREADS = {"uniform": "evenly spread", "clustered": "in clusters", "linear": "along lines"}
ASKED = {
    "sphere": "a question for a sphere", "box": "a question for a box", "frustum": "a question for a frustum",
    "ray": "a ray", "nearest": "a question for the nearest", "pairs": "an object for all pairs",
}  # fmt: skip


@dataclass(frozen=True)
class Recommendation:
    """Which structure to use, and why.

    Attributes
    ----------
    structure : class
        One of `boxwood.index`: `structure(lower, upper, **parameters)`.
    parameters : dict
        Own parameters of the structure.
    reason : str
        A sentence.
    seconds : dict of str to float
        What a step is expected to take with each structure, on the machine of the table.
    """

    structure: type[Structure]
    parameters: dict[str, Any]
    reason: str
    seconds: dict[str, float] = field(default_factory=dict, repr=False)


def recommend(
    lower: ArrayLike,
    upper: ArrayLike,
    moving: float = 0.0,
    query: str = "sphere",
    *,
    questions: int | None = None,
    reach: float | None = None,
    table: str | os.PathLike[str] | Mapping[str, Any] | None = None,
) -> Recommendation:
    """The structure that is expected to be the quickest for these boxes and this use.

    A use is a step that repeats: a part of the objects move, then questions are asked; when nothing moves, the
    structure is built once and asked.

    Parameters
    ----------
    lower, upper : (n, 2) or (n, 3) array_like
        The boxes, or a sample of them that is spread alike.
    moving : float
        Which part of the objects move in a step, from 0 to 1.
    query : {"sphere", "box", "frustum", "ray", "nearest", "pairs"}
        What is asked mostly.
    questions : int, optional
        How many in a step; by default as many as there are objects. All pairs are always asked once.
    reach : float, optional
        The usual radius of spheres, or size of boxes asked about; cells are not chosen smaller.
    table : path or dict, optional
        What `boxwood bench structures --calibrate FILE` measured; by default the table that comes along.

    Returns
    -------
    Recommendation

    Examples
    --------
    >>> import numpy as np
    >>> from boxwood.index import recommend
    >>> points = np.random.default_rng(1).uniform(0, 100, (30, 2))
    >>> recommend(points, points, moving=1.0).structure.__name__
    'BruteForce'
    """
    one_of("query", query, QUESTIONS)
    part = arguments.share("moving", moving)
    asked = None if questions is None else positive_int("questions", questions, 0)
    least = None if reach is None else arguments.positive_number("reach", reach)
    measured = table_of(table)
    batch, dimension = arguments.boxes(lower, upper)
    boxes, count = batch.rows, len(batch.rows)
    spread = spread_of(boxes, dimension)
    items = count if asked is None or query == "pairs" else asked
    names = [name for name in calibration.structures_of(measured, dimension, spread, query) if name in STRUCTURES]
    unequal = sizes_differ(boxes, dimension)
    if unequal:
        names = [name for name in names if name not in CELLS]
    costs = {
        name: calibration.seconds(measured, dimension, spread, name, count, part, query, items)
        for name in names
    }
    costs = dict(sorted(costs.items(), key=lambda each: (each[1], each[0] != BRUTE)))
    best, *others = costs
    end = calibration.end_of_brute_force(measured, dimension, spread, part, query)
    each = calibration.nanoseconds(measured, dimension, spread, query, best, count) * 1e-9
    change = "move" if part > 0 else "build"
    first = costs[best] - each * items
    reason = (
        f"{count:,} objects in {dimension}-D, {SPREADS[spread]}, {part:.0%} of them moving in a step: "
        f"{best} takes about {told(each)} {ASKED[query]} and {told(first)} to {change} them, "
        f"{told(costs[best])} a step against {told(costs[others[0]])} of {others[0]}; "
        f"{f'brute force would be best below about {end:,} objects' if end > min(measured['sizes']) else NEVER}"
        f"{'; boxes of very different sizes rule out cells' if unequal else ''}."
    )
    return Recommendation(STRUCTURES[best], parameters_for(best, boxes, dimension, least), reason, costs)


def table_of(table: str | os.PathLike[str] | Mapping[str, Any] | None) -> calibration.Table:
    if table is None:
        return calibration.shipped()
    return dict(table) if isinstance(table, Mapping) else calibration.read(table)


def parameters_for(name: str, boxes: NDArray[np.float64], dimension: int, reach: float | None) -> dict[str, Any]:
    """What the structure is best given: cells of the usual size, and not smaller than the usual reach."""
    if name not in CELLS or len(boxes) == 0:
        return {}
    size = max(usual_size(boxes, dimension), reach or 0.0)
    return {"cell_size": fitting(boxes, size) if name == "UniformGrid" else size}


def sizes_differ(boxes: NDArray[np.float64], dimension: int) -> bool:
    """Whether one box in a hundred is much larger than the usual cell."""
    if len(boxes) == 0:
        return False
    sizes = (boxes[:, 3 : 3 + dimension] - boxes[:, :dimension]).max(axis=1)
    return bool(np.quantile(sizes, 0.99) > UNEQUAL * usual_size(boxes, dimension))


def spread_of(boxes: NDArray[np.float64], dimension: int) -> str:
    """uniform, clustered or linear."""
    if len(boxes) < FEW:
        return "uniform"
    rows = np.linspace(0, len(boxes) - 1, min(len(boxes), SAMPLE)).astype(np.int64)
    middle = boxes[rows, :dimension] * 0.5 + boxes[rows, 3 : 3 + dimension] * 0.5
    low = middle.min(axis=0)
    size = float((middle - low).max())
    if size == 0:
        return "clustered"
    extent = np.maximum((middle - low).max(axis=0), size * 1e-3)
    side = float((np.prod(extent) / len(rows)) ** (1 / dimension))  # so that there are as many cells as objects
    if len(counts_of(middle - low, side)) >= EVEN * len(rows):
        return "uniform"
    cells = np.array([weighted(middle - low, size / number) for number in SCALES])
    dimensions = np.log2(cells[1:] / cells[:-1])
    return "linear" if LINE[0] <= dimensions.min() and dimensions.max() <= LINE[1] else "clustered"


def counts_of(places: NDArray[np.float64], side: float) -> NDArray[np.int64]:
    """How many there are in each cell of that size that is not empty."""
    counts: NDArray[np.int64] = np.unique(np.floor(places / side), axis=0, return_counts=True)[1]
    return counts


def weighted(places: NDArray[np.float64], side: float) -> float:
    """How many cells hold the objects, as if each of them held as many."""
    counts = counts_of(places, side)
    return float(counts.sum() ** 2 / (counts.astype(float) ** 2).sum())


def told(seconds: float) -> str:
    """As a person would say it: 12 ns, 3.4 µs, 560 ms."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.2g} {unit}" if seconds * factor < 100 else f"{seconds * factor:,.0f} {unit}"
    return f"{seconds * 1e9:.0f} ns"
