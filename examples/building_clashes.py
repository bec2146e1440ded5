"""Which objects of a building run into each other: `python examples/building_clashes.py [building] [--small]`.

Clash detection in three steps: the box around each object, the pairs of boxes that overlap, and for those what the
solids do: touch (as a wall does its slab, which is as it should be), cross, or lie one inside of the other. What does
more than touch is summed up by kinds of objects. `boxwood collide` does it for files.

A building is a file of parts, or an .npz with `verts`, `faces`, `face_offsets` (where the faces of each object begin)
and `types`. Without one, rooms are made up whose pipes pass through walls.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path

import numpy as np

import boxwood as bw

QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
FACES = np.array([(a, *rest) for a, b, c, d in QUADS for rest in ((b, c), (c, d))])
UNBUILT = ("IfcSpace", "IfcOpeningElement")  # rooms and holes are no things


def block(lower: list[float], upper: list[float]) -> bw.Mesh:
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    return bw.Mesh(np.where(corners, upper, lower), FACES)


def rooms(number: int) -> list[tuple[str, bw.Mesh]]:
    """A row of rooms on a slab, and a pipe through every other wall."""
    objects = [("slab", block([0, 0, -0.3], [4 * number + 0.2, 5, 0]))]
    for x in range(0, 4 * number + 1, 4):
        objects.append(("wall", block([x, 0, 0], [x + 0.2, 5, 2.5])))
        objects.append(("cupboard", block([x + 0.2, 1, 0], [x + 0.8, 2, 2])))
        if x % 8:
            objects.append(("pipe", block([x - 1, 3, 2.2], [x + 1, 3.1, 2.3])))
    return objects


def read(path: Path) -> list[tuple[str, bw.Mesh]]:
    """Kind and mesh of each object, in the world."""
    if path.suffix == ".npz":
        held = np.load(path)
        starts, faces, objects = held["face_offsets"], held["faces"], []
        for kind, start, stop in zip(held["types"], starts[:-1], starts[1:], strict=True):
            if kind not in UNBUILT:
                used, corners = np.unique(faces[start:stop], return_inverse=True)
                objects.append((str(kind), bw.Mesh(held["verts"][used], corners.reshape(-1, 3))))
        return objects
    objects = []
    for name, mesh, transform in bw.load_scene(path):
        objects.append((name, bw.Mesh(mesh.vertices @ transform[:3, :3].T + transform[:3, 3], mesh.faces)))
    return objects


def main() -> None:
    parser = argparse.ArgumentParser(description="Which objects of a building run into each other.")
    parser.add_argument("building", nargs="?", type=Path, help="a file of parts, or an .npz; without it, some rooms")
    parser.add_argument("--small", action="store_true", help="few rooms")
    options = parser.parse_args()
    objects = read(options.building) if options.building else rooms(4 if options.small else 200)
    kinds, meshes = zip(*objects, strict=True)
    nested = block([0] * 3, [3] * 3), block([1] * 3, [2] * 3)
    nested[0].relation(nested[1])  # compiled before it is timed

    start = time.perf_counter()
    bounds = np.array([mesh.bounds for mesh in meshes])
    pairs = bw.BoxTree(bounds[:, 0], bounds[:, 1]).pairs()
    relations = [meshes[one].relation(meshes[other]) for one, other in pairs]
    seconds = time.perf_counter() - start

    count = len(meshes)
    print(f"{count:,} objects, {sum(map(len, meshes)):,} triangles")
    print(f"{len(pairs):,} of {count * (count - 1) // 2:,} pairs have boxes that overlap; decided in {seconds:.2f} s:")
    print("  " + ", ".join(f"{number:,} {relation}" for relation, number in Counter(relations).most_common()))
    found = Counter()
    for (one, other), relation in zip(pairs, relations, strict=True):
        if relation not in ("disjoint", "touching"):
            found[tuple(sorted((kinds[one], kinds[other]))), "crossing" if relation == "crossing" else "inside"] += 1
    for ((one, other), relation), number in found.most_common(20):
        print(f"  {one} and {other}: {number:,} {relation}")


if __name__ == "__main__":
    main()
