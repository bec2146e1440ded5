"""The measured table behind `recommend`: nanoseconds by dimension, distribution, question, structure and size.

The one that comes along was measured on the machine that it names; `boxwood bench structures --calibrate FILE` measures
another. Between sizes, times are interpolated on logarithmic scales.
"""

from __future__ import annotations

import functools
import importlib.resources
import json
import math
import os
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

FORMAT = 1
BRUTE = "BruteForce"
QUESTIONS = ("sphere", "box", "frustum", "ray", "nearest", "pairs")
TENTH = 0.1
STEP = 2.0**0.125
"""Between numbers of objects among which the end of brute force is looked for."""

Table: TypeAlias = dict[str, Any]


@functools.cache
def shipped() -> Table:
    """The table that comes along."""
    text = importlib.resources.files(__package__).joinpath("calibration.json").read_text(encoding="utf-8")
    table: Table = json.loads(text)
    return table


def read(path: str | os.PathLike[str]) -> Table:
    """A table that `boxwood bench structures --calibrate` wrote; ValueError for anything else."""
    try:
        table: Table = json.loads(Path(path).read_text(encoding="utf-8"))
        if table["format"] != FORMAT:
            raise ValueError(f"its format is {table['format']!r}, not {FORMAT}")
        sizes = table["sizes"]
        for dimension in ("2", "3"):
            for spread in ("uniform", "clustered", "linear"):
                for question in ("build", "move", "tenth", *QUESTIONS):
                    columns = table["nanoseconds"][dimension][spread][question]
                    if not all(len(times) == len(sizes) for times in columns.values()):
                        raise ValueError(f"it has not a time for each of {len(sizes)} sizes")
    except (ValueError, KeyError, TypeError, AttributeError) as reason:
        raise ValueError(f"{os.fspath(path)} is no calibration of boxwood: {reason}") from reason
    return table


def nanoseconds(table: Table, dimension: int, spread: str, question: str, structure: str, count: float) -> float:
    """For one object or question, where there are `count` objects; inf where it was not measured."""
    times = table["nanoseconds"][str(dimension)][spread][question].get(structure, [])
    known = [(math.log(n), math.log(t)) for n, t in zip(table["sizes"], times, strict=False) if t]
    if not known:
        return math.inf
    at, (sizes, values) = math.log(max(count, 1)), np.transpose(known)
    if at <= sizes[-1] or len(known) == 1:
        return float(np.exp(np.interp(at, sizes, values)))
    slope = (values[-1] - values[-2]) / (sizes[-1] - sizes[-2])  # beyond the largest, on as before
    return float(np.exp(values[-1] + min(max(slope, 0.0), 1.0) * (at - sizes[-1])))


def seconds(
    table: Table, dimension: int, spread: str, structure: str, count: float, moving: float, query: str, asked: float
) -> float:
    """For one step: `moving` of the objects move, or all are built when none does, and `asked` questions follow.

    All pairs at once are as many questions as there are objects.
    """
    def total(name: str, items: float) -> float:
        return nanoseconds(table, dimension, spread, name, structure, count) * items * 1e-9

    if moving == 0:
        change = total("build", count)
    elif moving <= TENTH:
        change = total("tenth", moving * count)
    else:  # between what a tenth and all take together, which some structures need not even differ in
        share = (moving - TENTH) / (1 - TENTH)
        change = (1 - share) * total("tenth", TENTH * count) + share * total("move", count)
    return change + total(query, asked)


def structures_of(table: Table, dimension: int, spread: str, query: str) -> list[str]:
    """The names of those that were measured."""
    return list(table["nanoseconds"][str(dimension)][spread][query])


def end_of_brute_force(table: Table, dimension: int, spread: str, moving: float, query: str) -> int:
    """The number of objects from which another structure is quicker, when each object asks one question a step; that
    of the smallest measured, if it is there already."""
    others = [name for name in structures_of(table, dimension, spread, query) if name != BRUTE]
    count = float(min(table["sizes"]))
    while count < max(table["sizes"]):
        costs = [seconds(table, dimension, spread, name, count, moving, query, count) for name in others]
        if min(costs) < seconds(table, dimension, spread, BRUTE, count, moving, query, count):
            break
        count *= STEP
    return int(count)


def brute_force_wins_below(table: Table) -> dict[str, dict[str, dict[str, int]]]:
    """That number for each dimension, distribution and question, for objects that do not move."""
    return {
        dimension: {
            spread: {query: end_of_brute_force(table, int(dimension), spread, 0.0, query) for query in QUESTIONS}
            for spread in spreads
        }
        for dimension, spreads in table["nanoseconds"].items()
    }
