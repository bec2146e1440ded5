"""Every structure of `boxwood.index` on every distribution: build, questions, moves; answers as those of brute force.

Structures take turns in one process, on one thread; times are medians. Two numbers stand below the tables: how much
faster than brute force's the radius questions of the grid are on an even spread (20 is asked for), and how much faster
than the grid's those of the quadtree are on clusters.
"""

from __future__ import annotations

import argparse
import statistics
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

import clock
from boxwood import index

WORLD = 1000.0
FOUND = 8  # objects that a question finds, about


def uniform(rng, n, d):
    return rng.uniform(0, WORLD, (n, d))


def clustered(rng, n, d):
    centers = rng.uniform(0, WORLD, (10, d))
    return centers[rng.integers(0, 10, n)] + rng.normal(size=(n, d)) * WORLD / 200


def linear(rng, n, d):
    return rng.uniform(0, WORLD, (n, 1)) * np.ones(d) + rng.normal(size=(n, d)) * WORLD / 1000


DISTRIBUTIONS = (uniform, clustered, linear)


def structures(d):
    return [
        index.BruteForce, index.UniformGrid, index.SpatialHash, index.Quadtree if d == 2 else index.Octree,
        index.KDTree, index.SweepAndPrune,
    ]  # fmt: skip


def same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    names = [name for name in ("splits", "ids", "t_hit", "primitive_ids", "distances") if hasattr(one, name)]
    return bool(names) and all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def measure(kind, d, n, asked, rounds):
    """Nanoseconds by structure, for each of: an object built, a question of each kind, all pairs and a small move an
    object."""
    rng = np.random.default_rng(n)
    points = kind(rng, n, d)
    built = {each.__name__: each.from_points(points) for each in structures(d)}
    at = points[rng.integers(0, n, asked)] + rng.normal(size=(asked, d)) * WORLD / 1000
    radius = float(np.median(built["KDTree"].nearest(at, FOUND).distances[:, -1]))
    directions, ids = rng.normal(size=(asked, d)), np.arange(n)
    boxes = {name: each(points, points + radius) for name, each in zip(built, structures(d), strict=True)}

    def ask(name):
        each, larger = built[name], boxes[name]
        step = points + radius * 1e-6
        return {
            "build": (lambda: type(each).from_points(points), n),
            "sphere": (lambda: each.query_sphere(at, radius, threads=1), asked),
            "box": (lambda: each.query_box(at - radius, at + radius, threads=1), asked),
            "ray": (lambda: larger.raycast(at, directions, threads=1), asked),
            "nearest": (lambda: each.nearest(at, FOUND, threads=1), asked),
            "pairs": (lambda: larger.pairs(threads=1), n),
            "move": (lambda: each.move(ids, step, step), n),
        }

    questions = {name: ask(name) for name in built}
    nanoseconds = {}
    for question, (_, count) in questions["BruteForce"].items():
        seconds, answers = clock.take_turns({name: asks[question][0] for name, asks in questions.items()}, rounds)
        if question not in ("build", "move"):
            wrong = [name for name, answer in answers.items() if not same(answer, answers["BruteForce"])]
            if wrong:
                raise SystemExit(f"{', '.join(wrong)} differ from brute force: {question}, {kind.__name__}, {d}-D")
        nanoseconds[question] = {name: statistics.median(times) / count * 1e9 for name, times in seconds.items()}
    return nanoseconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objects", type=int, default=5000)
    parser.add_argument("--questions", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--small", action="store_true", help="only that it runs")
    given = parser.parse_args()
    count, asked, rounds = (300, 50, 1) if given.small else (given.objects, given.questions, given.rounds)
    console, told = Console(), []
    for d in (2, 3):
        for kind in DISTRIBUTIONS:
            measured = measure(kind, d, count, asked, rounds)
            title = f"{count:,} {kind.__name__} points, {d}-D: ns an object (build, pairs, move) or a question"
            table = Table("", *measured, title=title, box=SIMPLE_HEAD)
            for name in measured["build"]:
                table.add_row(name, *(f"{times[name]:,.0f}" for times in measured.values()))
            console.print(table)
            sphere = measured["sphere"]
            if kind is uniform:
                told.append(f"{d}-D uniform: grid {sphere['BruteForce'] / sphere['UniformGrid']:.0f} x brute force")
            if kind is clustered:
                tree = structures(d)[3].__name__
                told.append(f"{d}-D clustered: {tree} {sphere['UniformGrid'] / sphere[tree]:.2f} x grid")
    console.print("\n".join(told))


if __name__ == "__main__":
    main()
