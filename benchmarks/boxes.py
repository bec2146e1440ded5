"""Boxes and points against search trees, collision managers and physics engines: `python benchmarks/boxes.py`.

Contenders take turns on the same set in one process, all threads each where they have any, and every answer is
compared; a run in which they differ exits with 1. The structures of `boxwood.index` find pairs too; a row tells which
were left out, and why. Peers that are not installed are left out (`pip install -e
'.[box-peers]'` has them all), and so is the real cloth where ../shared/data is not there. `--only joins` asks for
pairs alone; `--small` only shows that everything still runs. Results go to benchmarks/results.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

import box_peers
import boxwood
import clock
import report
from box_family import family
from box_peers import HERE, Contenders
from box_sets import KINDS, cloth, dense, world

RESULTS = Path(__file__).resolve().parent / "results"
OURS = report.OURS
GROUPS = ("overlaps", "neighbours", "joins", "casts")
Same = Callable[[Any, Any], bool]


class Question(NamedTuple):
    name: str
    calls: Contenders  # ours first
    same: Same  # whether two answers are
    left_out: Mapping[str, str] = MappingProxyType({})  # who was, and why


def main() -> int:
    options = parse(sys.argv[1:])
    console = report.console()
    rows: dict[str, dict[str, Any]] = {}
    rounds: dict[str, dict[str, list[float]]] = {}
    wrong = []
    for name, calls, same, left_out in questions(options):
        seconds, answers = clock.take_turns(calls, options.rounds)
        row = {f"{one} ms": 1000 * statistics.median(times) for one, times in seconds.items()}
        for peer in calls:
            if peer != OURS:
                row[f"over {peer}"] = clock.ratios(seconds, OURS, peer)[0]
                if not same(answers[OURS], answers[peer]):
                    wrong.append(f"{name}: {peer}")
        rows[name], rounds[name] = row | ({"left out": dict(left_out)} if left_out else {}), seconds
        console.print(f"{name}: " + ", ".join(f"{key} {value:.4g}" for key, value in row.items()))
        for peer, reason in left_out.items():
            console.print(f"  without {peer}: {reason}")
    sizes = memory(options)
    report.print_facts(console, "the tree", sizes)
    content = {"machine": report.machine(), "boxes": options.boxes, "queries": options.queries, "rows": rows}
    options.output.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content | {"seconds": rounds, "tree": sizes}, indent=1)
    options.output.write_text(text + "\n", encoding="utf-8")
    console.print(f"written to {options.output}")
    for line in wrong:
        console.print(f"answers differ: {line}", style="red")
    return 1 if wrong else 0


def questions(options: argparse.Namespace) -> Iterator[Question]:
    few, only = options.boxes // 10, options.only
    for kind in KINDS:
        if "overlaps" in only:
            yield from overlaps(kind, options.boxes, options.queries)
        if "neighbours" in only:
            yield from neighbours(kind, options.boxes, options.queries)
        if "joins" in only:
            yield from joins(f"{kind}, plane", *world(kind, few, 2, 1))
            yield from joins(f"{kind}, space", *world(kind, few, 3, 4))
    if "joins" in only:
        yield from joins("dense, plane", *dense(few, 2))
        yield from joins("dense, space", *dense(few, 3))
    moving = cloth(few) if "joins" in only else None
    if moving is not None:
        yield from joins("real cloth", *moving)
    if "casts" in only:
        yield from casts(few)


def overlaps(kind: str, boxes: int, queries: int) -> Iterator[Question]:
    """Boxes in the plane; about six answers a query."""
    lower, upper = world(kind, boxes, 2, 1)
    low, high = world(kind, queries, 2, 4, seed=1)
    tree = boxwood.BoxTree(lower, upper).build()
    calls: Contenders = {OURS: lambda: tree.query_box(low, high)}
    builds: Contenders = {OURS: lambda: boxwood.BoxTree(lower, upper).build()}
    if "shapely" in HERE:
        import shapely

        shapes, asked = shapely.box(*lower.T, *upper.T), shapely.box(*low.T, *high.T)
        found = shapely.STRtree(shapes)
        calls["shapely"] = lambda: found.query(asked).T
        builds["shapely"] = lambda: _touched(shapely.STRtree(shapes), asked[:1])
    yield Question(f"build, {kind}, plane", builds, lambda one, other: True)
    if "rtree" in HERE:
        from rtree import index

        slow = index.Index((np.arange(boxes), lower, upper))
        calls["rtree"] = lambda: box_peers.counted(*slow.intersection_v(low, high))
    yield Question(f"query_box, {kind}, plane", calls, same_pairs)


def neighbours(kind: str, points: int, queries: int) -> Iterator[Question]:
    """Points in space: the eight nearest, and those within a radius that holds about eight."""
    places, asked = world(kind, points, 3, 0)[0], world(kind, queries, 3, 0, seed=1)[0]
    tree = boxwood.BoxTree.from_points(places).build()
    builds: Contenders = {OURS: lambda: boxwood.BoxTree.from_points(places).build()}
    nearest: Contenders = {OURS: lambda: tree.nearest(asked, 8).distances}
    distance = float(np.median(tree.nearest(asked, 8).distances[:, -1]))
    within: Contenders = {OURS: lambda: tree.query_sphere(asked, distance)}
    if "scipy" in HERE:
        from scipy.spatial import cKDTree

        kd = cKDTree(places)
        builds["scipy"] = lambda: cKDTree(places)
        nearest["scipy"] = lambda: kd.query(asked, 8, workers=-1)[0]
        within["scipy"] = lambda: kd.query_ball_point(asked, distance, workers=-1)
    if "pykdtree" in HERE:
        from pykdtree.kdtree import KDTree

        other = KDTree(places)
        builds["pykdtree"] = lambda: KDTree(places)
        nearest["pykdtree"] = lambda: other.query(asked, 8)[0]
    yield Question(f"build, {kind}, points", builds, lambda one, other: True)
    yield Question(f"nearest 8, {kind}", nearest, lambda one, other: bool(np.allclose(one, other)))
    yield Question(f"query_sphere, {kind}", within, same_pairs)


def joins(name: str, lower: np.ndarray, upper: np.ndarray) -> Iterator[Question]:
    """All pairs of one set, with what holds the boxes already and from nothing."""
    tree = boxwood.BoxTree(lower, upper).build()
    judge, own = box_peers.Judge(lower, upper), family(lower, upper)
    held: Contenders = {OURS: tree.pairs} | own.hold | box_peers.that_hold(lower, upper, len(judge.most) + 1)
    yield Question(f"pairs, {name}", held, judge, own.left_out)
    built: Contenders = {OURS: lambda: boxwood.BoxTree(lower, upper).pairs()} | own.build
    built |= box_peers.that_step(lower, upper, len(judge.most))
    yield Question(f"build and pairs, {name}", built, judge, own.left_out)


def casts(boxes: int) -> Iterator[Question]:
    """Rays against looking at every box, which is vectorised too but has no tree."""
    lower, upper = world("uniform", boxes, 3, 4)
    rng = np.random.default_rng(2)
    origins, directions = rng.uniform(0, 1000, (64, 3)), rng.normal(size=(64, 3))
    tree = boxwood.BoxTree(lower, upper).build()

    def brute_force() -> np.ndarray:
        found = []
        for origin, direction in zip(origins, directions, strict=True):
            one, other = (lower - origin) / direction, (upper - origin) / direction
            near = np.maximum(np.minimum(one, other).max(axis=1), 0)
            t = np.where(near <= np.maximum(one, other).min(axis=1), near, np.inf)
            found.append(t.min())
        return np.array(found)

    calls: Contenders = {OURS: lambda: tree.raycast(origins, directions).t_hit, "NumPy": brute_force}
    yield Question(f"raycast, {boxes:,} boxes, 64 rays", calls, lambda one, other: bool(np.array_equal(one, other)))


def memory(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Bytes a box of each kind of set."""
    found = {}
    for dimension in (2, 3):
        for dtype in (np.float32, np.float64):
            lower, upper = (array.astype(dtype) for array in world("uniform", options.boxes // 10, dimension, 1))
            boxwood.BoxTree(lower[:100], upper[:100]).build()  # compiled, so that it is not in the time told
            boxwood.BoxTree.from_points(lower[:100]).build()
            kinds = {"boxes": boxwood.BoxTree(lower, upper), "points": boxwood.BoxTree.from_points(lower)}
            for name, tree in kinds.items():
                told = tree.build().statistics()
                row = {"bytes each": told.bytes_per_box, "build ms": 1000 * told.build_seconds, "depth": told.depth}
                found[f"{name}, {dimension}-D, {np.dtype(dtype)}"] = row
    return found


def same_pairs(one: Any, other: Any) -> bool:
    """Whether they hold the same rows, in any order."""
    return np.array_equal(*(np.sort(box_peers.keys(_pairs(rows))) for rows in (one, other)))


def _pairs(rows: Any) -> np.ndarray:
    """Any answer as pairs of query and id."""
    if isinstance(rows, boxwood.Ragged):
        return rows.pairs
    if rows.ndim == 2:
        return rows
    numbers = [len(row) for row in rows]
    return np.stack([np.repeat(np.arange(len(rows)), numbers), np.concatenate(rows)], axis=1).astype(np.int64)


def _touched(tree: Any, shape: Any) -> Any:
    """STRtree builds at its first question."""
    tree.query(shape)
    return tree


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boxes", type=int, help="of the large sets (default: 1,000,000)")
    parser.add_argument("--queries", type=int, help="default: 100,000")
    parser.add_argument("--rounds", type=int, help="turns of each contender (default: 5)")
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=GROUPS, help="these questions")
    parser.add_argument("--small", action="store_true", help="small sets, two rounds")
    parser.add_argument("--output", type=Path, default=RESULTS / "boxes.json", help="where the JSON goes")
    options = parser.parse_args(arguments)
    options.boxes = options.boxes or (5_000 if options.small else 1_000_000)
    options.queries = options.queries or (1_000 if options.small else 100_000)
    options.rounds = options.rounds or (2 if options.small else 5)
    return options


if __name__ == "__main__":
    sys.exit(main())
