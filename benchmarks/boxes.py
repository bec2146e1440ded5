"""Boxes and points against shapely, rtree, scipy, pykdtree and python-fcl: `python benchmarks/boxes.py`.

Contenders take turns on the same set in one process, all threads each where they have any, and every answer is
compared; a run in which they differ exits with 1. Peers that are not installed are left out (`pip install shapely rtree
scipy pykdtree python-fcl`). `--small` only shows that everything still runs. Results go to benchmarks/results.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import boxwood
import clock
import report

RESULTS = Path(__file__).resolve().parent / "results"
OURS = report.OURS
Calls = dict[str, Callable[[], Any]]
Same = Callable[[Any, Any], bool]
HERE = {name for name in ("shapely", "rtree", "scipy", "pykdtree", "fcl") if importlib.util.find_spec(name)}


def main() -> int:
    options = parse(sys.argv[1:])
    console = report.console()
    rows: dict[str, dict[str, Any]] = {}
    rounds: dict[str, dict[str, list[float]]] = {}
    wrong = []
    for name, calls, same in questions(options):
        seconds, answers = clock.take_turns(calls, options.rounds)
        row = {f"{one} ms": 1000 * statistics.median(times) for one, times in seconds.items()}
        for peer in calls:
            if peer != OURS:
                row[f"over {peer}"] = clock.ratios(seconds, OURS, peer)[0]
                if not same(answers[OURS], answers[peer]):
                    wrong.append(f"{name}: {peer}")
        rows[name], rounds[name] = row, seconds
        console.print(f"{name}: " + ", ".join(f"{key} {value:.4g}" for key, value in row.items()))
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


def questions(options: argparse.Namespace) -> Iterator[tuple[str, Calls, Same]]:
    """Each with its contenders, ours first, and how to compare two answers."""
    for kind in ("uniform", "clustered"):
        yield from overlaps(kind, options.boxes, options.queries)
        yield from neighbours(kind, options.boxes, options.queries)
        for dimension in (2, 3):
            yield from joins(kind, options.boxes // 10, dimension)
    yield from casts(options.boxes // 10)


def overlaps(kind: str, boxes: int, queries: int) -> Iterator[tuple[str, Calls, Same]]:
    """Boxes in the plane; about six answers a query."""
    lower, upper = world(kind, boxes, 2, 1)
    low, high = world(kind, queries, 2, 4, seed=1)
    tree = boxwood.BoxTree(lower, upper).build()
    calls: Calls = {OURS: lambda: tree.query_box(low, high)}
    builds: Calls = {OURS: lambda: boxwood.BoxTree(lower, upper).build()}
    if "shapely" in HERE:
        import shapely

        shapes, asked = shapely.box(*lower.T, *upper.T), shapely.box(*low.T, *high.T)
        found = shapely.STRtree(shapes)
        calls["shapely"] = lambda: found.query(asked).T
        builds["shapely"] = lambda: _touched(shapely.STRtree(shapes), asked[:1])
    yield f"build, {kind}, plane", builds, lambda one, other: True
    if "rtree" in HERE:
        from rtree import index

        slow = index.Index((np.arange(boxes), lower, upper))
        calls["rtree"] = lambda: _counted(*slow.intersection_v(low, high))
    yield f"query_box, {kind}, plane", calls, same_pairs


def neighbours(kind: str, points: int, queries: int) -> Iterator[tuple[str, Calls, Same]]:
    """Points in space: the eight nearest, and those within a radius that holds about eight."""
    places, asked = world(kind, points, 3, 0)[0], world(kind, queries, 3, 0, seed=1)[0]
    tree = boxwood.BoxTree.from_points(places).build()
    builds: Calls = {OURS: lambda: boxwood.BoxTree.from_points(places).build()}
    nearest: Calls = {OURS: lambda: tree.nearest(asked, 8).distances}
    distance = float(np.median(tree.nearest(asked, 8).distances[:, -1]))
    within: Calls = {OURS: lambda: tree.query_sphere(asked, distance)}
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
    yield f"build, {kind}, points", builds, lambda one, other: True
    yield f"nearest 8, {kind}", nearest, lambda one, other: bool(np.allclose(one, other))
    yield f"query_sphere, {kind}", within, same_pairs


def joins(kind: str, boxes: int, dimension: int) -> Iterator[tuple[str, Calls, Same]]:
    """All pairs of one set."""
    lower, upper = world(kind, boxes, dimension, 1 if dimension == 2 else 4)
    tree = boxwood.BoxTree(lower, upper).build()
    calls: Calls = {OURS: tree.pairs, "boxwood with build": lambda: boxwood.BoxTree(lower, upper).pairs()}
    if "shapely" in HERE and dimension == 2:
        import shapely

        shapes = shapely.box(*lower.T, *upper.T)
        found = shapely.STRtree(shapes)
        calls["shapely"] = lambda: found.query(shapes).T
    if "fcl" in HERE and dimension == 3:
        calls["fcl"] = partial(_fcl_pairs, _fcl_manager(lower, upper))
    yield f"pairs, {kind}, {'plane' if dimension == 2 else 'space'}", calls, same_pairs_once


def casts(boxes: int) -> Iterator[tuple[str, Calls, Same]]:
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

    calls: Calls = {OURS: lambda: tree.raycast(origins, directions).t_hit, "NumPy": brute_force}
    yield f"raycast, {boxes:,} boxes, 64 rays", calls, lambda one, other: bool(np.array_equal(one, other))


def memory(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Bytes a box of each kind of set."""
    found = {}
    for dimension in (2, 3):
        for dtype in (np.float32, np.float64):
            lower, upper = (array.astype(dtype) for array in world("uniform", options.boxes // 10, dimension, 1))
            kinds = {"boxes": boxwood.BoxTree(lower, upper), "points": boxwood.BoxTree.from_points(lower)}
            for name, tree in kinds.items():
                told = tree.build().statistics()
                row = {"bytes each": told.bytes_per_box, "build ms": 1000 * told.build_seconds, "depth": told.depth}
                found[f"{name}, {dimension}-D, {np.dtype(dtype)}"] = row
    return found


def world(kind: str, count: int, dimension: int, size: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper corners within 0 to 1000: anywhere, or around a hundred places."""
    rng = np.random.default_rng([seed, dimension])
    lower = rng.uniform(0, 1000, (count, dimension))
    if kind == "clustered":
        places = np.random.default_rng(dimension).uniform(0, 1000, (100, dimension))
        lower = places[rng.integers(0, 100, count)] + rng.normal(size=(count, dimension)) * 20
    return lower, lower + rng.uniform(0, size, (count, dimension))


def same_pairs(one: Any, other: Any) -> bool:
    """Whether they hold the same rows, in any order."""
    return np.array_equal(_sorted(_pairs(one)), _sorted(_pairs(other)))


def same_pairs_once(one: Any, other: Any) -> bool:
    """Likewise where the other may have each pair twice, and each box with itself; or where it only counts them.

    What counts moves boxes by a rounding.
    """
    if isinstance(other, int):
        return abs(len(one) - other) <= 1 + 1e-4 * other
    other = np.unique(np.sort(_pairs(other), axis=1), axis=0)
    return same_pairs(one, other[other[:, 0] < other[:, 1]])


def _sorted(pairs: np.ndarray) -> np.ndarray:
    return np.sort(pairs[:, 0].astype(np.int64) << 32 | pairs[:, 1])


def _pairs(rows: Any) -> np.ndarray:
    """Any answer as pairs of query and id."""
    if isinstance(rows, boxwood.Ragged):
        return rows.pairs
    if rows.ndim == 2:
        return rows
    numbers = [len(row) for row in rows]
    return np.stack([np.repeat(np.arange(len(rows)), numbers), np.concatenate(rows)], axis=1).astype(np.int64)


def _counted(ids: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Ids row after row, and how many each has, as pairs."""
    rows = np.repeat(np.arange(len(numbers)), numbers.astype(np.int64))
    return np.stack([rows, ids.astype(np.int64)], axis=1)


def _touched(tree: Any, shape: Any) -> Any:
    """STRtree builds at its first question."""
    tree.query(shape)
    return tree


def _fcl_manager(lower: np.ndarray, upper: np.ndarray) -> Any:
    import fcl

    manager = fcl.DynamicAABBTreeCollisionManager()
    manager.registerObjects(
        [
            fcl.CollisionObject(fcl.Box(*(high - low)), fcl.Transform((low + high) / 2))
            for low, high in zip(lower, upper, strict=True)
        ]
    )
    manager.setup()
    return manager


def _fcl_pairs(manager: Any) -> int:
    """Only how many: a callback is not told which objects they are."""
    found: list[None] = []

    def note(_one: Any, _other: Any, _data: Any) -> bool:
        found.append(None)
        return False

    manager.collide(None, note)
    return len(found)


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boxes", type=int, help="of the large sets (default: 1,000,000)")
    parser.add_argument("--queries", type=int, help="default: 100,000")
    parser.add_argument("--rounds", type=int, help="turns of each contender (default: 5)")
    parser.add_argument("--small", action="store_true", help="small sets, two rounds")
    parser.add_argument("--output", type=Path, default=RESULTS / "boxes.json", help="where the JSON goes")
    options = parser.parse_args(arguments)
    options.boxes = options.boxes or (5_000 if options.small else 1_000_000)
    options.queries = options.queries or (1_000 if options.small else 100_000)
    options.rounds = options.rounds or (2 if options.small else 5)
    return options


if __name__ == "__main__":
    sys.exit(main())
