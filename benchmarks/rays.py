"""Rays against Embree, through Open3D (all threads) and embreex (one thread): `python benchmarks/rays.py`.

Every contender answers in the same process by turns, and every answer is compared with ours; a run in which they differ
exits with 1. `--small` needs no peers and only shows that everything still runs. Results go to benchmarks/results.
"""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import brute_force
import clock
import peers
import report
import startup
import worlds
from report import OURS, Row

RESULTS = Path(__file__).resolve().parent / "results"


def main() -> int:
    options = parse(sys.argv[1:])
    console, here = report.console(), peers.available()
    rows, sizes = [], {}
    for name in options.mesh:
        world = worlds.make(name, options.small)
        if world is None:
            console.print(f"{name}: not on this machine, left out")
            continue
        console.print(f"{name}: {len(world.faces):,} triangles")
        rows += builds(world, here, options.rounds)
        rows += casts(world, here, options)
        sizes[name] = size(world)
    report.print_rows(console, rows)
    report.print_facts(console, "memory of the tree", sizes)
    crossing = brute_force.crossing(options.rounds)
    report.print_facts(console, f"microseconds a ray, {brute_force.RAYS:,} random rays, one thread", crossing)
    for tree in ("tree", "build and tree"):
        wins = [name for name, times in crossing.items() if times[tree] < times["brute force"]]
        console.print(f"{tree} beats brute force from: {wins[0] if wins else 'nowhere'}")
    questions = startup.QUESTIONS[:1] if options.small else startup.QUESTIONS
    starts = {question: startup.measure(question) for question in questions}
    report.print_facts(console, "a fresh process, seconds", starts)
    report.write(options.output, rows, memory=sizes, brute_force=crossing, startup=starts, options=vars(options))
    console.print(f"written to {options.output}")
    wrong = [f"{row.world} {row.question} {row.rays}: {peer}" for row in rows for peer in row.disagrees()]
    wrong += [f"brute force, {name}" for name, times in crossing.items() if times["same id"] < report.AGREE]
    for line in wrong:
        console.print(f"answers differ: {line}", style="red")
    return 1 if wrong else 0


def builds(world: worlds.World, here: set[str], rounds: int) -> Iterator[Row]:
    """The default quality and the fast builder against Open3D's only one, on all threads and on one."""
    for threads in (0, 1):
        for label, build in (("build", {}), ("build linear", {"builder": "linear"})):
            makers: dict[str, Callable[[], Any]] = {
                OURS: partial(peers.Boxwood, world.vertices, world.faces, threads or None, **build)
            }
            if "open3d" in here:
                makers["Open3D"] = partial(peers.Open3D, world.vertices, world.faces, threads)
            seconds, _ = clock.take_turns(makers, min(rounds, 3))
            yield row(world, label, "", len(world.faces), threads, seconds)


def casts(world: worlds.World, here: set[str], options: argparse.Namespace) -> Iterator[Row]:
    """Every question on every kind of ray, all threads and one thread."""
    ours = peers.Boxwood(world.vertices, world.faces)
    everyone, alone = [ours], [ours.with_threads(1)]
    if "open3d" in here:
        everyone.append(peers.Open3D(world.vertices, world.faces))
    if "embreex" in here:
        alone += [peers.Embreex(world.vertices, world.faces, robust) for robust in (False, True)]
    camera = worlds.camera_rays(world, options.rays)
    shadow, bounce = worlds.secondary_rays(world, camera, lambda rays: ours.closest(ours.prepare(rays))[:2])
    scattered = worlds.random_rays(world, options.rays)

    for threads, contenders in ((0, everyone), (1, alone)):
        for rays in (camera, shadow, scattered, bounce):
            yield ask(world, "closest hit", "closest", rays, threads, contenders, options.rounds)
        for rays in (shadow, scattered):
            yield ask(world, "any hit", "occluded", rays, threads, contenders, options.rounds)
    few = worlds.random_rays(world, options.rays // 10)
    yield ask(world, "all hits", "crossings", few, 0, everyone, options.rounds)

    # the same mesh and rays in float64, with our float32 in the peer's place
    double = peers.Boxwood(world.vertices.astype(np.float64), world.faces)
    ours.name = "boxwood float32"
    for rays in (camera, scattered):
        yield ask(world, "closest hit, float64", "closest", rays, 0, [double, ours], options.rounds)


def size(world: worlds.World) -> dict[str, Any]:
    """Bytes a triangle and the shape of the tree at the default quality."""
    statistics = peers.Boxwood(world.vertices, world.faces).mesh.statistics()
    return {"triangles": len(world.faces), "bytes per triangle": statistics.bytes / len(world.faces)}


def parse(arguments: list[str]) -> argparse.Namespace:
    everything = (*worlds.GENERATED, *worlds.SCANS)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = f"of {', '.join(everything)}; default: all"
    parser.add_argument("--mesh", nargs="+", choices=everything, metavar="NAME", help=names)
    parser.add_argument("--rays", type=int, help="rays of each kind (default: 1024 * 1024)")
    parser.add_argument("--rounds", type=int, help="turns of each contender (default: 7)")
    parser.add_argument("--small", action="store_true", help="tiny generated meshes, few rays")
    today = datetime.date.today().isoformat()
    parser.add_argument("--output", type=Path, default=RESULTS / f"rays-{today}.json", help="where the JSON goes")
    options = parser.parse_args(arguments)
    options.mesh = options.mesh or (worlds.GENERATED if options.small else everything)
    options.rays = options.rays or (4_096 if options.small else 1024**2)
    options.rounds = options.rounds or (2 if options.small else 7)
    return options


def ask(
    world: worlds.World, label: str, question: str, rays: worlds.Rays, threads: int, contenders: list[Any], rounds: int
) -> Row:
    """Puts one question to all contenders, the first of which is ours, and compares their answers."""
    calls = {one.name: partial(getattr(one, question), one.prepare(rays)) for one in contenders}
    seconds, answers = clock.take_turns(calls, rounds)
    compare = partial(same_hits, rays, world.diagonal) if question == "closest" else same_values
    agreement = {name: compare(answers[OURS], answers[name]) for name in calls if name != OURS}
    return row(world, label, rays.kind, len(rays), threads, seconds, agreement)


def row(world: worlds.World, label: str, kind: str, count: int, threads: int, *found: Any) -> Row:
    return Row(world.name, len(world.faces), label, kind, count, threads or peers.threads_here(), *found)


def same_hits(rays: worlds.Rays, diagonal: float, ours: peers.Answer, theirs: peers.Answer) -> dict[str, float]:
    """Parts of the rays with the same outcome, and of the hits with the same distance and the same face.

    Distances may differ by what single precision loses over the way from the origin and across the mesh.
    """
    hit, other = ours[1] >= 0, theirs[1] >= 0
    both = np.flatnonzero(hit & other)
    lengths = np.linalg.norm(rays.directions[both], axis=1)
    ours_far, theirs_far = ours[0][both] * lengths, theirs[0][both] * lengths
    near = abs(ours_far - theirs_far) <= 1e-5 * (diagonal + ours_far)
    return {
        "hits": float(np.mean(hit == other)),
        "t": float(np.mean(near)) if len(both) else 1.0,
        "ids": float(np.mean(ours[1][both] == theirs[1][both])) if len(both) else 1.0,
    }


def same_values(ours: np.ndarray, theirs: np.ndarray) -> dict[str, float]:
    return {"hits": float(np.mean(ours == theirs))}


if __name__ == "__main__":
    sys.exit(main())
