"""Which of many points lie inside a mesh: `python examples/points_inside.py [body.stl] [--small]`.

A ray from a point inside a closed mesh crosses it an odd number of times, from one outside an even number, in whatever
direction it goes. `count_hits` gives a ray through an edge or a vertex to exactly one face, so the rule holds for every
ray. Here the points tell the volume of the mesh, which is compared with the exact one.
"""

from __future__ import annotations

import argparse

import numpy as np

import boxwood as bw
from boxwood.samples import spot


def inside(mesh: bw.Mesh, points: np.ndarray, direction: np.ndarray) -> np.ndarray:
    return mesh.count_hits(points, direction) % 2 == 1


def volume(mesh: bw.Mesh) -> float:
    """By the divergence theorem: the sum of the signed volumes of cones from the middle to each face."""
    corners = mesh.vertices[mesh.faces].astype(np.float64) - mesh.bounds.mean(axis=0)
    return float(np.linalg.det(corners).sum() / 6)


def main() -> None:
    parser = argparse.ArgumentParser(description="Which of many points lie inside a mesh.")
    parser.add_argument("body", nargs="?", help="a mesh file, closed; without it, the cow that comes with boxwood")
    parser.add_argument("--small", action="store_true", help="a coarser cow and fewer points")
    options = parser.parse_args()
    mesh = bw.load(options.body) if options.body else bw.Mesh(*spot(2 if options.small else 5, plinth=False))
    count = 20_000 if options.small else 2_000_000

    rng = np.random.default_rng(1)
    lower, upper = mesh.bounds.astype(np.float64)
    points = rng.uniform(lower, upper, (count, 3))
    found = inside(mesh, points, np.array([0.0, 0.0, 1.0]))
    differing = np.count_nonzero(found != inside(mesh, points, rng.normal(size=3)))

    box = float(np.prod(upper - lower))
    share = found.mean()
    error = 2 * np.sqrt(share * (1 - share) / count) * box
    print(f"{len(mesh):,} faces; {found.sum():,} of {count:,} points are inside")
    print(f"volume by points {share * box:.5g} +- {error:.2g}, exactly {volume(mesh):.5g}")
    print(f"another direction of the rays changes the answer for {differing} points")
    if differing:
        print("so the mesh is not closed")


if __name__ == "__main__":
    main()
