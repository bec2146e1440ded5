"""Measures the table from which `boxwood.index.recommend` chooses: every structure, question, distribution and size."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Sequence
from typing import Any

from ..index.calibration import FORMAT, Table, brute_force_wins_below
from .machine import machine
from .scenes import DISTRIBUTIONS, scene
from .structures import COLUMNS, Progress, measure, structures_for

SIZES = (16, 64, 256, 1024, 4096, 16384, 65536)
ASKED = 1000


def calibrate(sizes: Sequence[int] = SIZES, *, seconds: float = 0.05, progress: Progress | None = None) -> Table:
    """A table measured on this machine, on one thread, each number for about so many seconds.

    RuntimeError if a structure answers differently from brute force.
    """
    numbers: dict[str, Any] = {}
    steps = [(d, name, n) for d in (2, 3) for name in DISTRIBUTIONS for n in sizes]
    for done, (d, name, n) in enumerate(steps):
        if progress is not None:
            progress(done, len(steps), f"{n:,} {name}, {d}-D")
        rows = measure(scene(name, n, d, ASKED), seconds=seconds)
        wrong = sorted({f"{row.structure} ({row.question})" for row in rows if not row.same})
        if wrong:
            raise RuntimeError(f"{', '.join(wrong)} differ from brute force on {n} {name} boxes, {d}-D")
        found = {(row.structure, row.question): round(row.nanoseconds, 1) for row in rows}
        for question in COLUMNS:
            columns = numbers.setdefault(str(d), {}).setdefault(name, {}).setdefault(question, {})
            for structure in structures_for(d):
                columns.setdefault(structure, []).append(found.get((structure, question)))
    table: Table = {
        "format": FORMAT,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": machine(),
        "sizes": list(sizes),
        "nanoseconds": numbers,
    }
    table["brute_force_wins_below"] = brute_force_wins_below(table)
    return table


def text_of(table: Table) -> str:
    """As JSON, a line for each structure."""
    text = json.dumps(table, indent=1)
    return re.sub(r"\[[^\[\]{}]*\]", lambda found: " ".join(found[0].split()), text) + "\n"
