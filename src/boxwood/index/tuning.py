"""Chooses a structure's own parameter by building with each of a few values and measuring what is wanted of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._arrays import positive_int
from . import arguments

if TYPE_CHECKING:
    from .protocol import Structure

HOPELESS = 3.0
"""Times as long as the best so far: not measured again."""
SAMPLE = 1000


@dataclass(frozen=True)
class Tuned:
    """What a measurement of several values of a parameter found.

    Attributes
    ----------
    structure : class
    parameters : dict
        The best, for the constructor: `structure(lower, upper, **parameters)`.
    seconds : dict
        What each value took, without building; of values that were refused (a grid too large) none.
    """

    structure: type[Structure]
    parameters: dict[str, Any]
    seconds: dict[float, float]


def tune(
    kind: type[Any],
    lower: ArrayLike,
    upper: ArrayLike,
    ask: Callable[[Any], object] | None,
    values: Sequence[float] | None,
    rounds: int,
) -> Tuned:
    """See `Structure.tune`."""
    name = kind.TUNED
    if name is None:
        raise ValueError(f"{kind.__name__} has no parameter to tune")
    positive_int("rounds", rounds)
    batch, dimension = arguments.boxes(lower, upper, kind.DIMENSION)
    tried = list(kind._values(batch.rows, dimension) if values is None else values)
    if not tried:
        raise ValueError("values has nothing to choose among")
    use = usual_question(batch.rows, dimension) if ask is None else ask
    built, refused = {}, ""
    for value in tried:
        try:
            built[value] = kind(lower, upper, **{name: value})
        except ValueError as reason:
            if values is not None and "max_bytes" not in str(reason):
                raise
            refused = str(reason)
    if not built:
        raise ValueError(refused)
    seconds = dict.fromkeys(built, np.inf)
    use(next(iter(built.values())))  # compiled
    for _ in range(rounds):
        for value, structure in built.items():
            if not HOPELESS * min(seconds.values()) < seconds[value] < np.inf:
                start = time.perf_counter()
                use(structure)
                seconds[value] = min(seconds[value], time.perf_counter() - start)
    return Tuned(kind, {name: min(seconds, key=lambda value: seconds[value])}, seconds)


def usual_question(boxes: NDArray[np.float64], dimension: int) -> Callable[[Any], object]:
    """Spheres about some of the boxes, as large as the usual cell."""
    from .cell_structure import usual_size

    radius = usual_size(boxes, dimension)
    rows = np.random.default_rng(0).integers(0, max(len(boxes), 1), SAMPLE if len(boxes) else 0)
    centers = boxes[rows, :dimension] * 0.5 + boxes[rows, 3 : 3 + dimension] * 0.5
    return lambda structure: structure.query_sphere(centers, radius, threads=1)
