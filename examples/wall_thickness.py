"""How thick the walls of a part are: `python examples/wall_thickness.py [part.stl] [--small] [--thin 1.5]`.

From the middle of each face a ray goes straight inward; where it leaves the part again, the wall ends. Only faces met
on their back count (`cull="front"`), so the face that a ray starts on is never in its own way, and nothing has to be
moved off the surface by a distance that somebody would have to choose. The part must be closed and wound outward.
"""

from __future__ import annotations

import argparse

import numpy as np

import boxwood as bw


def pipe(sides: int) -> bw.Mesh:
    """A pipe whose bore is not in the middle: its wall is 1 on one side and 5 on the other."""
    angle = np.arange(sides) * 2 * np.pi / sides
    circle = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    outer, inner = 10 * circle, 7 * circle + [2, 0, 0]
    vertices = np.concatenate([outer, np.add(outer, [0, 0, 30]), inner, np.add(inner, [0, 0, 30])])
    i = np.arange(sides)
    k = (i + 1) % sides
    outside, inside = (i, k, k + sides, i + sides), (k, i, i + sides, k + sides)
    walls = [outside, tuple(corner + 2 * sides for corner in inside)]
    ends = [(i + sides, k + sides, k + 3 * sides, i + 3 * sides), (k, i, i + 2 * sides, k + 2 * sides)]
    faces = [np.stack(corners, axis=1) for a, b, c, d in walls + ends for corners in ((a, b, c), (a, c, d))]
    return bw.Mesh(vertices, np.concatenate(faces))


def main() -> None:
    parser = argparse.ArgumentParser(description="How thick the walls of a part are.")
    parser.add_argument("part", nargs="?", help="a mesh file; without it, a pipe is made up")
    parser.add_argument("--small", action="store_true", help="a coarse pipe")
    parser.add_argument("--thin", type=float, default=1.5, help="count what is thinner than this")
    options = parser.parse_args()
    mesh = bw.load(options.part) if options.part else pipe(90 if options.small else 1800)

    corners = mesh.vertices[mesh.faces].astype(np.float64)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    doubled = np.linalg.norm(across, axis=1)
    faces = np.flatnonzero(doubled > 0)
    middles = corners[faces].mean(axis=1)
    inward = -across[faces] / doubled[faces, None]

    hits = mesh.raycast(middles, inward, cull="front")
    thickness = hits.t_hit  # directions have length one, so t is a length
    if not hits.hit.any():
        raise SystemExit("no ray meets another wall: is the part closed, and wound outward?")
    area = doubled[faces] / 2
    thin = hits.hit & (thickness < options.thin)
    thinnest = np.argmin(thickness)
    print(f"{len(mesh):,} faces; {np.count_nonzero(~hits.hit):,} of them have nothing behind them")
    print(f"thinnest: {thickness[thinnest]:.4g} at face {faces[thinnest]}, {np.round(middles[thinnest], 3).tolist()}")
    print(f"median by area: {weighted_median(thickness[hits.hit], area[hits.hit]):.4g}")
    print(f"thinner than {options.thin:g}: {area[thin].sum() / area.sum():.1%} of the surface")


def weighted_median(values: np.ndarray, weights: np.ndarray) -> float:
    order = np.argsort(values)
    share = np.cumsum(weights[order])
    return float(values[order[np.searchsorted(share, share[-1] / 2)]])


if __name__ == "__main__":
    main()
