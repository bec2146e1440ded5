"""What a benchmark run found: rows, the machine they were measured on, a table for people and JSON for machines."""

from __future__ import annotations

import datetime
import json
import statistics
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

import clock
from boxwood.bench.machine import machine as machine_with

OURS = "boxwood"
AGREE = 0.999  # the least part of the answers that must be equal
BOX_PEERS = ("shapely", "rtree", "scipy", "pykdtree", "python-fcl", "coal", "pybullet", "pymunk", "rapier3d")
COLLISION_PEERS = ("meshlib", "libigl", "trimesh")
PACKAGES = ("numpy", "numba", "llvmlite", "open3d", "embreex", *BOX_PEERS, *COLLISION_PEERS)


@dataclass(frozen=True)
class Row:
    """One question put to several contenders: seconds of every round, and which parts of the answers are equal."""

    world: str
    triangles: int
    question: str
    rays: str
    count: int  # rays, or triangles of a build
    threads: int
    seconds: dict[str, list[float]]
    agreement: dict[str, dict[str, float]] = field(default_factory=dict)

    def rate(self, name: str) -> float:
        """Million rays (or built triangles) a second, by the median."""
        return self.count / statistics.median(self.seconds[name]) / 1e6

    def disagrees(self) -> list[str]:
        """The peers whose hits or distances differ from ours in too many places; face numbers may differ on edges."""
        found = self.agreement.items()
        return [peer for peer, parts in found if any(part < AGREE for key, part in parts.items() if key != "ids")]

    def to_dict(self) -> dict[str, Any]:
        peers = [name for name in self.seconds if name != OURS] if OURS in self.seconds else []
        faster = {peer: clock.ratios(self.seconds, OURS, peer) for peer in peers}
        return asdict(self) | {
            "rate": {name: self.rate(name) for name in self.seconds},
            "faster_than": {peer: {"median": median, "minimum": least} for peer, (median, least) in faster.items()},
        }


def machine() -> dict[str, Any]:
    """What a reader must know to judge the seconds."""
    return machine_with(PACKAGES)


def console() -> Console:
    """Wide enough for the tables where the output goes to a file."""
    return Console() if sys.stdout.isatty() else Console(width=120)


def print_rows(console: Console, rows: Iterable[Row]) -> None:
    """A table for each world, a line for each peer of each row; above 1 we are faster."""
    for world, group in groupby(rows, key=lambda row: row.world):
        found = list(group)
        table = _table(f"{world}, {found[0].triangles:,} triangles: million a second")
        for heading in ("question", "rays"):
            table.add_column(heading, no_wrap=True)
        for heading in ("threads", OURS, "peer", "ratio", "by min", "same hits", "same t", "same id"):
            table.add_column(heading, justify="right", no_wrap=True)
        table.add_column("peer is", no_wrap=True)
        for row in found:
            what = [row.question, row.rays, str(row.threads), f"{row.rate(OURS):.2f}"]
            peers = [name for name in row.seconds if name != OURS]
            if not peers:
                table.add_row(*what)
            for peer in peers:
                median, least = clock.ratios(row.seconds, OURS, peer)
                parts = [_percent(row.agreement.get(peer, {}).get(key)) for key in ("hits", "t", "ids")]
                colour = "red" if peer in row.disagrees() else None
                numbers = [f"{row.rate(peer):.2f}", f"{median:.2f}", f"{least:.2f}", *parts]
                table.add_row(*what, *numbers, peer, style=colour)
        console.print(table)


def print_facts(console: Console, title: str, facts: dict[str, dict[str, Any]]) -> None:
    """A table of named numbers, a line for each name."""
    table = _table(title)
    columns = list(dict.fromkeys(key for numbers in facts.values() for key in numbers))
    for heading in ("", *columns):
        table.add_column(heading, justify="left" if heading == "" else "right")
    for name, numbers in facts.items():
        table.add_row(name, *(_number(numbers.get(column)) for column in columns))
    console.print(table)


def write(path: Path, rows: Iterable[Row], **facts: Any) -> None:
    """The whole run as JSON, every round of every contender included."""
    path.parent.mkdir(parents=True, exist_ok=True)
    when = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    content = {"date": when, "machine": machine(), "rows": [row.to_dict() for row in rows], **facts}
    path.write_text(json.dumps(content, indent=1, default=str) + "\n", encoding="utf-8")


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))


def _percent(part: float | None) -> str:
    return "" if part is None else "all" if part == 1 else f"{100 * part:.3f} %"


def _number(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.3g}" if isinstance(value, float) else str(value)
