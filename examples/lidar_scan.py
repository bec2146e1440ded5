"""A laser scanner that turns in the middle of a scene: `python examples/lidar_scan.py [scene.glb] [--small]`.

Each channel of the scanner looks up or down by its own angle and sends a pulse at every step of a turn; a pulse is a
ray that reaches 100 units. What comes back is a point, with some noise along the ray as in a real instrument. z is
upward. The distances are saved as a picture, one row per channel, and the points as .npy.
"""

from __future__ import annotations

import argparse

import numpy as np
from PIL import Image

import boxwood as bw
from boxwood.samples import spot

REACH, NOISE = 100.0, 0.01
UP, DOWN = 15.0, -35.0  # degrees, of the first and the last channel


def street(levels: int) -> bw.Mesh:
    """A ground, two rows of houses along x, and a cow on a plinth."""
    vertices, faces = [], []
    for x, y, z, width, depth, height in (
        [(0.0, 0.0, -0.1, 120.0, 60.0, 0.1)]
        + [(14.0 * i, side * 15.0, 0.0, 10.0, 8.0, 7.0 + (5 * i + side) % 4) for i in range(-3, 4) for side in (-1, 1)]
    ):
        corners = np.array([[i & 1, i >> 1 & 1, i >> 2] for i in range(8)])
        vertices.append((corners - [0.5, 0.5, 0]) * [width, depth, height] + [x, y, z])
        quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
        faces.append(np.array([corner for a, b, c, d in quads for corner in ((a, b, c), (a, c, d))]))
    cow, cow_faces = spot(levels)
    vertices.append(np.add(cow, [6.0, 2.0, -cow[:, 2].min()]))
    faces.append(cow_faces)
    starts = np.cumsum([0, *(len(part) for part in vertices[:-1])])
    return bw.Mesh(np.concatenate(vertices), np.concatenate([f + s for f, s in zip(faces, starts, strict=True)]))


def main() -> None:
    parser = argparse.ArgumentParser(description="A laser scanner that turns in the middle of a scene.")
    parser.add_argument("scene", nargs="?", help="a mesh file; without it, a street is made up")
    parser.add_argument("--small", action="store_true", help="fewer pulses and a coarser scene")
    parser.add_argument("--position", type=float, nargs=3, default=(0.0, 0.0, 1.8), help="of the scanner")
    parser.add_argument("--output", default="lidar-scan", help="name of the files, without .png and .npy")
    options = parser.parse_args()
    mesh = bw.load(options.scene) if options.scene else street(2 if options.small else 4)
    channels, steps = (16, 360) if options.small else (128, 2048)

    angles = np.radians(np.linspace(UP, DOWN, channels)), np.linspace(np.pi, -np.pi, steps, endpoint=False)
    up, turn = np.meshgrid(*angles, indexing="ij")
    directions = np.stack([np.cos(up) * np.cos(turn), np.cos(up) * np.sin(turn), np.sin(up)], axis=-1)
    hits = mesh.raycast(options.position, directions, t_max=REACH)

    echo = hits.hit
    along = directions[echo]
    distances = hits.t_hit[echo] + np.random.default_rng(0).normal(scale=NOISE, size=len(along))
    points = options.position + distances[:, None] * along
    facing = np.abs((hits.normals[echo] * along).sum(axis=1))  # how straight the pulse meets the surface
    picture = np.zeros(echo.shape, np.uint8)
    picture[echo] = 255 * (0.25 + 0.75 * facing) / (1 + distances / 25)
    Image.fromarray(picture).save(f"{options.output}.png")
    np.save(f"{options.output}.npy", points)
    print(f"{len(mesh):,} triangles, {echo.size:,} pulses, {len(points):,} echoes")
    print(f"nearest {distances.min(initial=np.inf):.2f}, farthest {distances.max(initial=0):.2f}")
    print(f"written: {options.output}.png and {options.output}.npy")


if __name__ == "__main__":
    main()
