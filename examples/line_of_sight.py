"""What can be seen from the highest place of a terrain: `python examples/line_of_sight.py [terrain.ply] [--small]`.

Rays straight down find the ground below each pixel of a map; then a ray from a mast to a person's head at each place
tells whether anything is in between. z is upward. The map is saved as a picture: green can be seen, grey cannot.
"""

from __future__ import annotations

import argparse

import numpy as np
from PIL import Image

import boxwood as bw

MAST, HEAD = 10.0, 1.7  # above the ground, in the terrain's unit


def hills(size: int) -> bw.Mesh:
    """A terrain of size * size points, 20 apart, from noise whose waves are the higher the longer they are."""
    rng = np.random.default_rng(3)
    waves = np.fft.rfft2(rng.normal(size=(size, size)))
    frequency = np.hypot(np.fft.fftfreq(size)[:, None], np.fft.rfftfreq(size)[None]) + 1 / size
    heights = np.fft.irfft2(waves * frequency**-2.8, (size, size))
    heights *= 2 * size / np.ptp(heights)
    row, column = np.mgrid[:size, :size]
    vertices = np.stack([20.0 * column, 20.0 * row, heights], axis=-1).reshape(-1, 3)
    corner = (row * size + column)[:-1, :-1].reshape(-1, 1)
    faces = np.concatenate([np.add(corner, [0, 1, size + 1]), np.add(corner, [0, size + 1, size])])
    return bw.Mesh(vertices, faces)


def main() -> None:
    parser = argparse.ArgumentParser(description="What can be seen from the highest place of a terrain.")
    parser.add_argument("terrain", nargs="?", help="a mesh file; without it, hills are made up")
    parser.add_argument("--small", action="store_true", help="a small terrain and a small map")
    parser.add_argument("--output", default="line-of-sight.png")
    options = parser.parse_args()
    mesh = bw.load(options.terrain) if options.terrain else hills(64 if options.small else 512)
    pixels = 100 if options.small else 1000

    # The ground below each pixel, north up; beyond the terrain's edge there is none.
    lower, upper = mesh.bounds
    step = (upper - lower)[:2].max() / pixels
    x = np.arange(lower[0] + step / 2, upper[0], step)
    y = np.arange(upper[1] - step / 2, lower[1], -step)
    above = np.stack([*np.meshgrid(x, y), np.full((len(y), len(x)), upper[2] + 1.0)], axis=-1)
    ground = mesh.raycast(above, [0, 0, -1])
    points = ground.points

    # t counts in lengths of the direction, so t = 1 is the head itself, and what is behind it does not matter.
    mast = mesh.vertices[np.argmax(mesh.vertices[:, 2])] + [0, 0, MAST]
    to_heads = np.where(ground.hit[..., None], np.add(points, [0, 0, HEAD]) - mast, [0, 0, 1])
    visible = ground.hit & ~mesh.occluded(mast, to_heads, t_max=1.0)

    bright = 0.35 + 0.65 * np.abs(ground.normals @ [-0.5, 0.5, 0.7])[..., None]
    colors = np.where(visible[..., None], [120, 200, 90], [150, 150, 155]) * bright
    Image.fromarray(np.where(ground.hit[..., None], np.minimum(colors, 255), 0).astype(np.uint8)).save(options.output)
    print(f"{len(mesh):,} triangles, {ground.hit.sum():,} places on the map")
    print(f"{visible.sum() / ground.hit.sum():.1%} of them can be seen from {np.round(mast, 1).tolist()}")
    print(f"the map is {options.output}")


if __name__ == "__main__":
    main()
