"""Which pairs of a cloth may collide between two frames: `python examples/cloth_pairs.py [folder] [--small]`.

A triangle that moves straight from one frame to the next stays in the box around its corners at both, so two triangles
whose boxes do not overlap cannot touch in between. What is left goes to an exact test, which asks for a vertex against
a face and an edge against an edge: boxes of vertices, edges and faces, `pairs` of two sets and of one. Those that share
a vertex always touch, and are left out.

A folder is one of the Scalable CCD ground truth (such as `cloth-ball`): two files in `frames`, and where there are
`edges_igl.npy` and `boxes/*.json`, every pair that these list must be among ours.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

import boxwood as bw


def folding_sheet(size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The vertices of a sheet before and after a step of its fall onto itself, and its faces."""
    across, along = np.meshgrid(np.linspace(0, 1, size), np.linspace(0, 3, size))

    def fold(step: float) -> np.ndarray:
        """An S of three layers, whose distance shrinks; small waves make them meet in some places first."""
        gap = 0.1 - 0.04 * step
        angle = np.pi * np.clip((along - 1) / 0.2, 0, 1), np.pi * np.clip((along - 2) / 0.2, 0, 1)
        height = gap * (2 - np.cos(angle[0]) - np.cos(angle[1])) / 2
        direction = np.cos(angle[0]) * np.cos(angle[1])
        place = np.cumsum(direction, axis=0) * 3 / (size - 1)
        waves = 0.02 * np.sin(9 * across + 3 * step) * np.cos(7 * along)
        return np.stack([across, place, height + waves], axis=-1).reshape(-1, 3)

    row, column = np.mgrid[: size - 1, : size - 1]
    corner = (row * size + column).reshape(-1, 1)
    faces = np.concatenate([np.add(corner, [0, 1, size + 1]), np.add(corner, [0, size + 1, size])])
    return fold(0.0), fold(1.0), faces


def edges_of(faces: np.ndarray) -> np.ndarray:
    """(m, 2), each once."""
    return np.unique(np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1), axis=0)


def boxes(before: np.ndarray, after: np.ndarray, corners: np.ndarray) -> bw.BoxTree:
    """Around the corners (m, k) at both frames."""
    both = np.concatenate([before[corners], after[corners]], axis=1)
    return bw.BoxTree(both.min(axis=1), both.max(axis=1))


def apart(pairs: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The pairs whose corners, of one and of the other, have none in common."""
    first, second = one[pairs[:, 0]], other[pairs[:, 1]]
    return pairs[~(first[:, :, None] == second[:, None, :]).any(axis=(1, 2))]


def missing(listed: np.ndarray, found: np.ndarray) -> int:
    """How many listed pairs are not among those found."""
    one, other = (np.sort(pairs.astype(np.int64), axis=1) @ [1 << 32, 1] for pairs in (listed, found))
    return int(np.count_nonzero(~np.isin(one, other)))


def main() -> None:
    parser = argparse.ArgumentParser(description="Which pairs of a cloth may collide between two frames.")
    parser.add_argument("folder", nargs="?", type=Path, help="with two frames; without it, a sheet folds")
    parser.add_argument("--small", action="store_true", help="a coarse sheet")
    options = parser.parse_args()
    edges, listed = None, []
    if options.folder:
        frames = [bw.load(path) for path in sorted((options.folder / "frames").iterdir())[:2]]
        before, after, faces = frames[0].vertices, frames[1].vertices, frames[0].faces
        if (options.folder / "edges_igl.npy").exists():
            edges = np.load(options.folder / "edges_igl.npy")
            listed = sorted((options.folder / "boxes").glob("*.json"))
    else:
        before, after, faces = folding_sheet(24 if options.small else 160)
    edges = edges_of(faces) if edges is None else edges
    points = np.arange(len(before))[:, None]

    triangles, lines, places = (boxes(before, after, corners) for corners in (faces, edges, points))
    overlapping = triangles.pairs()
    strangers = apart(overlapping, faces, faces)
    print(f"{len(faces):,} triangles, {len(edges):,} edges, {len(before):,} vertices")
    print(
        f"triangles: {len(overlapping):,} pairs of boxes overlap, of which {len(strangers):,} share no vertex; "
        f"there are {len(faces) * (len(faces) - 1) // 2:,} in all"
    )
    vertex_face = apart(places.pairs(triangles), points, faces)
    edge_edge = apart(lines.pairs(), edges, edges)
    print(f"to be tested exactly: {len(vertex_face):,} of a vertex and a face, {len(edge_edge):,} of two edges")

    # There, ids count on: vertices, then edges, then faces.
    ids = np.concatenate([vertex_face + [0, len(before) + len(edges)], edge_edge + len(before)])
    for path in listed:
        wanted = np.array(json.loads(path.read_text(encoding="utf-8")))
        print(f"{path.name} lists {len(wanted):,}, of which {missing(wanted, ids):,} are missing here")


if __name__ == "__main__":
    main()
