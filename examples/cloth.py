"""Where a moving cloth runs through itself, frame by frame: `python examples/cloth.py [frames] [-o a.png] [--small]`.

The cloth keeps its triangles and only its vertices move, so the tree is not built anew: `refit` fits the boxes of the
same tree around the new vertices, and `self_intersections` walks it against itself. Pairs of neighbours do not count
where they only share what they must. The picture is of the frame with the most contacts, which shine through the cloth.

Frames are files of one mesh in the order of their names, such as `frames` of the Scalable CCD ground truth. Without
them a sheet folds into an S of three layers that sink onto each other, and its ripples meet.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import boxwood as bw
from boxwood.rendering import Spots, draw_spots
from boxwood.rendering.spots import SECOND_MEETS


def sheet(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Places (n, 2) on a sheet three times as long as wide, and its faces."""
    long = 3 * size - 2
    row, column = np.mgrid[: long - 1, : size - 1]
    corner = (row * size + column).reshape(-1, 1)
    faces = np.concatenate([np.add(corner, [0, 1, size + 1]), np.add(corner, [0, size + 1, size])])
    along, across = np.mgrid[:long, :size] / (size - 1)
    return np.stack([across, along], axis=-1).reshape(-1, 2), faces


def folded(places: np.ndarray, step: float) -> np.ndarray:
    """The vertices at a step between 0 and 1: the two bends close, and the layers sink from 0.16 apart to 0.02."""
    across, along = places.T
    gap = 0.16 - 0.14 * step
    radius = gap / 2
    straight = 1.0
    half = np.pi * radius  # the length of a bend
    start = np.array([straight, straight + half, 2 * straight + half, 2 * straight + 2 * half])
    first, second = np.clip((along - start[0]) / half, 0, 1), np.clip((along - start[2]) / half, 0, 1)
    y = np.minimum(along, start[0]) + radius * np.sin(np.pi * first)
    y -= np.clip(along - start[1], 0, straight) + radius * np.sin(np.pi * second)
    y += np.maximum(along - start[3], 0)
    z = radius * (1 - np.cos(np.pi * first)) + radius * (1 - np.cos(np.pi * second))
    z += 0.025 * np.sin(9 * across + 4 * along + 5 * step) * np.cos(7 * along - 3 * across)
    return np.stack([across, y, z], axis=1)


def simulated(size: int, steps: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    places, faces = sheet(size)
    for step in range(steps):
        yield f"step {step}", folded(places, step / (steps - 1)), faces


def read(folder: Path) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    for path in sorted(folder.iterdir()):
        mesh = bw.load(path)
        yield path.name, mesh.vertices, mesh.faces


def picture(mesh: bw.Mesh, found: bw.Intersections) -> bw.Picture:
    kinds = np.zeros(len(mesh), np.int8)
    kinds[np.unique(found.pairs)] = SECOND_MEETS
    camera = bw.Camera.fit(mesh, (-0.75, 0.5, -0.45), aspect=1200 / 800)
    return draw_spots(Spots(mesh, kinds, found.segments), camera, 1200, 800)


def main() -> None:
    parser = argparse.ArgumentParser(description="Where a moving cloth runs through itself, frame by frame.")
    parser.add_argument("frames", nargs="?", type=Path, help="a folder of meshes; without it, a sheet folds")
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("-o", "--output", default="cloth.png", help="the picture")
    parser.add_argument("--small", action="store_true", help="a coarse sheet and few steps")
    options = parser.parse_args()
    if options.frames:
        frames = read(options.frames)
    else:
        frames = simulated(*((24, 6) if options.small else (130, max(options.steps, 2))))

    places, few = sheet(24)
    bw.Mesh(folded(places, 0.0), few).build().refit(folded(places, 1.0)).self_intersections()  # compiled untimed
    mesh, most, best = None, -1, None
    for name, vertices, faces in frames:
        if mesh is None:
            mesh = bw.Mesh(vertices, faces).build()
            print(f"{len(mesh):,} triangles, built in {1000 * mesh.tree.build_seconds:.1f} ms")
        start = time.perf_counter()
        mesh.refit(vertices)
        fitted = time.perf_counter()
        found = mesh.self_intersections()
        end = time.perf_counter()
        numbers = [np.count_nonzero(found.relations == kind) for kind in (bw.Relation.CROSS, bw.Relation.TOUCH)]
        print(
            f"{name}: refit {1000 * (fitted - start):.1f} ms, question {1000 * (end - fitted):.1f} ms; "
            f"{len(found):,} pairs meet, {numbers[0]:,} cross and {numbers[1]:,} touch"
        )
        if len(found) > most:
            most, best = len(found), (bw.Mesh(vertices, faces), found)
    if best is not None:
        picture(*best).save(options.output)
        print(f"the frame with the most is in {options.output}")


if __name__ == "__main__":
    main()
