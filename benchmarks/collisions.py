"""Meshes that meet, against collision libraries: `python benchmarks/collisions.py`.

Contenders take turns on the same meshes in one process, all threads each where they have any, and every answer is
compared: first contacts in many poses (python-fcl, Coal), all pairs of triangles of two meshes (MeshLib), of one mesh
with itself (MeshLib, libigl), and scenes whose objects move (python-fcl, trimesh). A run in which answers differ by
more than the peer's rounding explains exits with 1. Peers that are not installed are left out (`pip install -e
'.[collision-peers]'` has them all), and so is real data where ../shared/data is not there. `--only own` asks for one
group; `--small` only shows that everything still runs; `--table` prints a table for docs/speed.md from the JSON of an
earlier run. Results go to benchmarks/results.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import boxwood
import clock
import collision_peers
import collision_sets
import report
import startup
from boxwood.query.triangle_pairs import orientations, triangle_pairs
from boxwood.relations import Relation
from collision_peers import Contenders
from collision_sets import Shape

RESULTS = Path(__file__).resolve().parent / "results"
OURS = report.OURS
SINGLY, BUILT = "boxwood, a call each", "boxwood, with the build"
GROUPS = ("poses", "pairs", "own", "scenes", "parts")
AGREE = 0.99
"""The least part of the answers of a peer that rounds, or leaves out contacts without depth, that must be ours."""
STARTS = {
    "intersects": "mesh.intersects(mesh)",
    "intersections": "mesh.intersections(mesh)",
    "self_intersections": "mesh.self_intersections()",
}

Differences = dict[str, Any]  # "differs" where it must not


class Question(NamedTuple):
    name: str
    contenders: Contenders
    compare: Callable[[str, Any, Any], Differences]


def main() -> int:
    options = parse(sys.argv[1:])
    if options.table:
        print(table(json.loads(options.output.read_text(encoding="utf-8"))["rows"]))
        return 0
    console = report.console()
    rows: dict[str, dict[str, Any]] = {}
    rounds: dict[str, dict[str, list[float]]] = {}
    wrong = []
    for name, calls, compare in questions(options):
        seconds, answers = clock.take_turns(calls, options.rounds)
        row: dict[str, Any] = {f"{one} ms": 1000 * statistics.median(times) for one, times in seconds.items()}
        for peer in calls:
            if peer != OURS:
                row[f"over {peer}"] = clock.ratios(seconds, OURS, peer)[0]
                told = compare(peer, answers[OURS], answers[peer])
                if told.pop("differs", False):
                    wrong.append(f"{name}: {peer} {told}")
                row |= {f"{peer}: {key}": value for key, value in told.items()}
        rows[name], rounds[name] = row | size_of(answers[OURS]), seconds
        console.print(f"{name}: " + ", ".join(f"{key} {_short(value)}" for key, value in rows[name].items()))
    facts = parts(options) if "parts" in options.only else {}
    starts = {name: startup.measure(name, call) for name, call in STARTS.items()} if options.starts else {}
    for title, told in (("a fresh process, seconds", starts), ("parts", facts)):
        if told:
            report.print_facts(console, title, told)
    content = {"machine": report.machine(), "rows": rows, "parts": facts, "startup": starts, "seconds": rounds}
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    console.print(f"written to {options.output}")
    for line in wrong:
        console.print(f"answers differ: {line}", style="red")
    return 1 if wrong else 0


def questions(options: argparse.Namespace) -> Iterator[Question]:
    """Each with its contenders, ours first."""
    if "poses" in options.only:
        yield from map(poses, collision_sets.motions(options.small))
    if "pairs" in options.only:
        for name, mesh, other in collision_sets.pairs(options.small):
            yield pairs(name, mesh, other)
    if "own" in options.only:
        for name, mesh in collision_sets.tangles(options.small):
            yield own(name, mesh)
    if "scenes" in options.only:
        yield from scenes(*((100, 2, 1) if options.small else (5000, 4, 2)))


# First contacts


def poses(motion: collision_sets.Motion) -> Question:
    """Which poses are contacts, asked in one call and in one for each."""
    mesh, other = (boxwood.Mesh(*shape).build() for shape in (motion.mesh, motion.other))
    calls: Contenders = {
        OURS: lambda: mesh.intersects(other, motion.transforms),
        SINGLY: lambda: np.array([mesh.intersects(other, transform) for transform in motion.transforms]),
    }
    name = f"first contact, {motion.name}, {len(motion.transforms)} poses"
    return Question(name, calls | collision_peers.first_contacts(motion), partial(same_poses, mesh, motion))


def same_poses(mesh: boxwood.Mesh, motion: collision_sets.Motion, peer: str, ours: Any, other: Any) -> Differences:
    """Peers round, so poses in which meshes barely touch may differ; in those ours must be what it is when vertices
    are moved first, and all pairs looked for."""
    rows = np.flatnonzero(ours != other)
    told: Differences = {"differ": len(rows)} if peer != SINGLY else {}
    for row in rows:
        (a, b, c), (vertices, faces) = motion.transforms[row, :3], motion.other
        x, y, z = vertices.astype(np.float64).T
        moved = np.stack([((m[0] * x + m[1] * y) + m[2] * z) + m[3] for m in (a, b, c)], axis=1)
        contact = len(mesh.intersections(boxwood.Mesh(moved, faces))) > 0
        told["differs"] = told.get("differs", False) or bool(ours[row]) != contact
    if peer == SINGLY or len(rows) > (1 - AGREE) * len(ours):
        told["differs"] = len(rows) > 0
    return told


# All pairs


def pairs(name: str, shape: Shape, other_shape: Shape) -> Question:
    """All pairs of triangles, with the trees of both held."""
    mesh, other = boxwood.Mesh(*shape).build(), boxwood.Mesh(*other_shape).build()
    calls: Contenders = {OURS: lambda: mesh.intersections(other)}
    return Question(f"all pairs, {name}", calls | collision_peers.all_pairs(shape, other_shape), nearly_same_pairs)


def own(name: str, shape: Shape) -> Question:
    """All pairs of triangles of one mesh, with its tree held, and from nothing, as libigl always begins."""
    mesh = boxwood.Mesh(*shape).build()
    calls: Contenders = {
        OURS: mesh.self_intersections,
        BUILT: lambda: boxwood.Mesh(*shape).self_intersections(),
    }
    return Question(f"own pairs, {name}", calls | collision_peers.own_pairs(shape), partial(same_own_pairs, shape))


def same_own_pairs(shape: Shape, peer: str, ours: Any, other: Any) -> Differences:
    if peer == BUILT:
        return {"differs": not np.array_equal(ours.pairs, other.pairs)}
    return same_pairs(shape, ours, other) if peer == "libigl" else nearly_same_pairs(peer, ours, other)


def keys(pairs: np.ndarray, order: bool = False) -> np.ndarray:
    pairs = np.sort(pairs, axis=1) if order else pairs
    return np.unique(pairs[:, 0].astype(np.int64) << 32 | pairs[:, 1].astype(np.int64))


def nearly_same_pairs(_peer: str, ours: Any, read: Any) -> Differences:
    """MeshLib leaves out what has no depth (which are TOUCH and COPLANAR here), and rounds."""
    theirs = read()
    if len(theirs) and (theirs[:, 0] > theirs[:, 1]).any() and (ours.pairs[:, 0] < ours.pairs[:, 1]).all():
        theirs = np.sort(theirs, axis=1)
    theirs, mine = keys(theirs), keys(ours.pairs)
    deep = keys(ours.pairs[ours.relations == Relation.CROSS])
    missed, extra = len(np.setdiff1d(deep, theirs)), len(np.setdiff1d(theirs, mine))
    told = {"pairs": len(theirs), "lacks of CROSS": missed, "has beside ours": extra}
    return told | {"differs": missed + extra > (1 - AGREE) * len(deep)}


def same_pairs(shape: Shape, ours: Any, theirs: np.ndarray) -> Differences:
    """libigl decides without error too, but is not asked about equal faces and those folded flat upon each other."""
    corners = shape[1][ours.pairs]
    shared = (corners[:, 0, :, None] == corners[:, 1, None, :]).sum(axis=(1, 2))
    asked = ~((ours.relations == Relation.COPLANAR) & (shared >= 2))
    mine, found = keys(ours.pairs[asked]), keys(theirs, order=True)
    told = {"pairs": len(found), "folded and equal ones beside": int((~asked).sum())}
    return told | {"differs": not np.array_equal(mine, found)}


# Scenes


def scenes(objects: int, steps: int, levels: int) -> Iterator[Question]:
    """Each call moves all objects, and asks which touch."""
    if not hasattr(boxwood, "Scene"):
        return
    shape, transforms = collision_sets.scene(objects, steps, levels)
    scene, turn = boxwood.Scene(), iter(range(10**9))
    ids = scene.add(boxwood.Mesh(*shape), transforms[0])
    number = np.zeros(int(np.max(ids)) + 1, np.int64)
    number[ids] = np.arange(objects)

    def step() -> np.ndarray:
        scene.move(ids, transforms[next(turn) % steps])
        return number[scene.collisions().pairs]

    calls: Contenders = {OURS: step}
    name = f"a step of {objects:,} objects of {len(shape[1])} triangles"
    yield Question(name, calls | collision_peers.scenes(shape, transforms), same_objects)


def same_objects(_peer: str, ours: np.ndarray, read: Any) -> Differences:
    """Pairs that barely touch may differ."""
    mine, theirs = keys(ours, order=True), keys(read(), order=True)
    differ = len(np.setxor1d(mine, theirs))
    return {"differ": differ, "differs": differ > (1 - AGREE) * len(mine)}


# What it is made of


def parts(options: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Refitting against building, and how long the exact tests take, ms and ns of all threads."""
    vertices, faces = collision_sets.ball(24 if options.small else 500, 6)
    mesh, moved = boxwood.Mesh(vertices, faces).build(), vertices * np.float32(1.01)
    rng = np.random.default_rng(collision_sets.SEED)
    number = 1000 if options.small else 200_000
    near = rng.uniform(-1, 1, (number, 6, 3))
    grid = np.round(near * 2)
    calls: Contenders = {
        "build": lambda: boxwood.Mesh(vertices, faces).build(),
        "refit": lambda: mesh.refit(moved),
        "relation, random": lambda: triangle_pairs(near),
        "relation, on a small grid": lambda: triangle_pairs(grid),
        "orient3d, random": lambda: orientations(near[:, :4]),
        "orient3d, on a small grid": lambda: orientations(grid[:, :4]),
    }
    seconds, _ = clock.take_turns(calls, options.rounds)
    found: dict[str, dict[str, float]] = {}
    for name, times in seconds.items():
        middle = statistics.median(times)
        count = number if "," in name else len(faces)
        found[name] = {"count": count, "ms": 1000 * middle, "ns each": 1e9 * middle / count}
    return found


# What is told


def size_of(answer: Any) -> dict[str, Any]:
    """How many contacts there are."""
    if isinstance(answer, np.ndarray):
        return {"contacts": int(answer.sum()) if answer.dtype == bool else len(answer)}
    kinds = {kind.name: int(np.count_nonzero(answer.relations == kind)) for kind in list(Relation)[1:]}
    return {"contacts": len(answer)} | kinds


def table(rows: dict[str, dict[str, Any]]) -> str:
    """Markdown: milliseconds, and how many times faster than each peer; below 1 it is slower."""
    found = ["| | contacts | boxwood, ms | how many times faster than |", "| --- | --- | --- | --- |"]
    variants = {SINGLY: "a call each", BUILT: "with the build"}
    for name, row in rows.items():
        ratios = {key.removeprefix("over "): row[key] for key in row if key.startswith("over ")}
        against = ", ".join(f"{peer} {ratio:.1f}" for peer, ratio in ratios.items() if peer not in variants)
        others = [f"; {text} {row[f'{key} ms']:.3g}" for key, text in variants.items() if f"{key} ms" in row]
        found.append(f"| {name} | {row['contacts']:,} | {row[f'{OURS} ms']:.3g}{''.join(others)} | {against} |")
    return "\n".join(found)


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}"


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, help="turns of each contender (default: 5)")
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=GROUPS, help="these questions")
    parser.add_argument("--small", action="store_true", help="small meshes, two rounds")
    parser.add_argument("--starts", action="store_true", help="also how long a fresh process takes, which compiles")
    parser.add_argument("--table", action="store_true", help="no run, but a table of what the JSON holds")
    parser.add_argument("--output", type=Path, default=RESULTS / "collisions.json", help="where the JSON is")
    options = parser.parse_args(arguments)
    options.rounds = options.rounds or (2 if options.small else 5)
    return options


if __name__ == "__main__":
    sys.exit(main())
