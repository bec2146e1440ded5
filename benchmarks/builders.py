"""Every builder, number of bins and size of leaf against each other: `python benchmarks/builders.py`.

For each way to build: seconds to build, what the surface area heuristic expects, boxes and triangles that rays really
test, and million rays a second. Ways take turns on the same mesh, so that the machine's mood falls on all alike; of
the seconds of all rounds the least is told. `--small` only shows that everything still runs. Results go to
benchmarks/results: JSON, a table for people, and a picture where matplotlib is installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import boxwood
import clock
import report
import worlds
from boxwood.build.choose import BUILDERS

RESULTS = Path(__file__).resolve().parent / "results"
WORLDS = ("sphere", "terrain", "turbine")
BINS = (4, 8, 16, 32)
LEAF_SIZES = (1, 2, 4, 8, 16)


def main() -> int:
    options = parse(sys.argv[1:])
    console = report.console()
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for name in options.mesh:
        world = worlds.make(name, options.small)
        if world is None:
            console.print(f"{name}: not on this machine, left out")
            continue
        found[name] = compare(world, options)
        report.print_facts(console, f"{name}, {len(world.faces):,} triangles", found[name])
    options.output.parent.mkdir(parents=True, exist_ok=True)
    content = {"machine": report.machine(), "rays": options.rays, "rounds": options.rounds, "worlds": found}
    options.output.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    options.output.with_suffix(".md").write_text(markdown(content), encoding="utf-8")
    console.print(f"written to {options.output}")
    if importlib.util.find_spec("matplotlib"):
        draw(found, options.output.with_suffix(".png"))
    return 0


def ways() -> dict[str, dict[str, Any]]:
    """What to compare: all builders as they are, then the default with other bins and with other leaves."""
    plain = {name: {"builder": name} for name in BUILDERS}
    bins = {f"{number} bins": {"bins": number} for number in BINS if number != 16}
    leaves = {f"leaves of {size}": {"leaf_size": size} for size in LEAF_SIZES if size != 4}
    return plain | bins | leaves


def compare(world: worlds.World, options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """A row of numbers for each way to build."""
    chosen = ways()
    mesh = partial(boxwood.Mesh, world.vertices, world.faces, copy=False)
    build = {name: (lambda how=how: mesh().build(**how)) for name, how in chosen.items()}
    seconds, built = clock.take_turns(build, options.rounds)
    rows: dict[str, dict[str, Any]] = {}
    for name in chosen:
        statistics = built[name].statistics()
        rows[name] = {
            "build ms": 1000 * min(seconds[name]),
            "M tri/s": len(world.faces) / min(seconds[name]) / 1e6,
            "SAH": statistics.sah_cost,
            "overlap": statistics.overlap,
            "depth": statistics.depth,
            "bytes/tri": statistics.bytes_per_triangle,
        }
    for rays in (worlds.camera_rays(world, options.rays), worlds.random_rays(world, options.rays)):
        for name, made in built.items():
            counters = boxwood.Counters()
            made.raycast(rays.origins, rays.directions, counters=counters)
            rows[name][f"{rays.kind} boxes"] = counters.boxes_per_query
            rows[name][f"{rays.kind} tri"] = counters.primitives_per_query
        ask = {name: partial(made.raycast, rays.origins, rays.directions) for name, made in built.items()}
        seconds, _ = clock.take_turns(ask, options.rounds)
        for name in built:
            rows[name][f"{rays.kind} M/s"] = len(rays) / min(seconds[name]) / 1e6
    return rows


def markdown(content: dict[str, Any]) -> str:
    """The tables for people."""
    lines = ["# Builders compared", "", "Made by `python benchmarks/builders.py`; see there for what is measured.", ""]
    machine = content["machine"]
    lines += [f"{machine['cpu']}, {machine['cores']} cores, {content['rays']:,} rays of each kind, all threads.", ""]
    for world, rows in content["worlds"].items():
        columns = list(next(iter(rows.values())))
        lines += [f"## {world}", "", f"| | {' | '.join(columns)} |", "| --- |" + " ---: |" * len(columns)]
        for name, numbers in rows.items():
            shown = (f"{value:.3g}" if isinstance(value, float) else str(value) for value in numbers.values())
            lines.append(f"| {name} | {' | '.join(shown)} |")
        lines.append("")
    return "\n".join(lines)


def draw(found: dict[str, dict[str, dict[str, Any]]], path: Path) -> None:
    """Seconds to build against seconds to ask, a dot for each way."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(1, len(found), figsize=(5 * len(found), 4.5), squeeze=False)
    for panel, (world, rows) in zip(panels[0], found.items(), strict=True):
        for name, numbers in rows.items():
            x, y = numbers["build ms"], 1000 / numbers["random M/s"]
            panel.plot(x, y, "o" if name in BUILDERS else ".")
            panel.annotate(name, (x, y), xytext=(4, 3), textcoords="offset points", fontsize=7)
        panel.set(title=world, xlabel="ms to build", xscale="log")
    panels[0][0].set_ylabel("ns a random ray")
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    everything = (*worlds.GENERATED, *worlds.SCANS)
    parser.add_argument("--mesh", nargs="+", choices=everything, metavar="NAME", help="default: " + ", ".join(WORLDS))
    parser.add_argument("--rays", type=int, help="rays of each kind (default: 512 * 512)")
    parser.add_argument("--rounds", type=int, help="turns of each way (default: 9)")
    parser.add_argument("--small", action="store_true", help="a tiny generated mesh, few rays")
    parser.add_argument("--output", type=Path, default=RESULTS / "builders.json", help="where the JSON goes")
    options = parser.parse_args(arguments)
    options.mesh = options.mesh or (("sphere",) if options.small else WORLDS)
    options.rays = options.rays or (1_024 if options.small else 512**2)
    options.rounds = options.rounds or (2 if options.small else 9)
    return options


if __name__ == "__main__":
    sys.exit(main())
