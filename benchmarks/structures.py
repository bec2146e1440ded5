"""Every structure of `boxwood.index` on every distribution: build, questions, moves; answers as those of brute force.

`boxwood bench structures` measures; here the marks that the family is held to are looked at as well: 5,000 objects
spread evenly, radius questions of the grid against brute force (20 asked for); the same number in clusters, the
quadtree against the grid (1); rays of the BVH against brute force (10). A radius question finds about four points.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import report
from boxwood.bench.scenes import DISTRIBUTIONS, scene, scene_of
from boxwood.bench.structures import COLUMNS, measure
from boxwood.commands.bench import belongs, tell

MARKED = 5000


def points(kind, objects, dimension, asked):
    """A scene of points, as the marks want it; those of `scene` are boxes."""
    at = DISTRIBUTIONS[kind](np.random.default_rng(1), objects, dimension)
    return scene_of(f"{kind} points", at, at, asked)


def marks(objects, asked, seconds):
    """Rows, and by how much who is quicker than whom, least asked for beside."""
    rows, found = [], {}

    def against(kind, question, ours, other, least, dimension):
        make = points if question == "sphere" else scene
        each = make(kind, objects, dimension, asked)
        measured = measure(each, (ours, other), (question,), seconds=seconds)
        times = {row.structure: row.nanoseconds for row in measured}
        what = f"{question}, {objects:,} {each.name}, {dimension}-D: {ours} against {other}"
        found[what] = {"times": times[other] / times[ours], "asked for": least}
        rows.extend(measured)

    for dimension in (2, 3):
        against("uniform", "sphere", "UniformGrid", "BruteForce", 20, dimension)
        against("clustered", "sphere", "Quadtree" if dimension == 2 else "Octree", "UniformGrid", 1, dimension)
        for kind in DISTRIBUTIONS:
            against(kind, "ray", "BVH", "BruteForce", 10, dimension)
    return rows, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objects", type=int, nargs="+", default=[100, 1000, 10_000, 100_000])
    parser.add_argument("--asked", type=int, default=1000, help="questions of each kind")
    parser.add_argument("--seconds", type=float, default=0.05, help="for each structure and question")
    parser.add_argument("--output", type=Path, help="a .json for the results")
    parser.add_argument("--small", action="store_true", help="only that it runs")
    given = parser.parse_args()
    sizes, marked, seconds = (given.objects, MARKED, given.seconds) if not given.small else ([200], 300, 0.001)
    rows, found = marks(marked, given.asked, seconds * 4)
    report.print_facts(report.console(), "marks", found)
    for dimension in (2, 3):
        for kind in DISTRIBUTIONS:
            for objects in sizes:
                each = scene(kind, objects, dimension, given.asked)
                rows += measure(each, seconds=seconds)
                tell(each, [row for row in rows if belongs(row, each)], COLUMNS)
    if given.output:
        report.write(given.output, rows, marks=found)
    wrong = [row for row in rows if not row.same]
    if wrong:
        raise SystemExit(f"{len(wrong)} rows differ from brute force: {wrong[0]}")


if __name__ == "__main__":
    main()
