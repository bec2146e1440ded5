"""What a camera sees of ten thousand objects: `python examples/camera_view.py [scene.glb] [--small]`.

Before a scene is drawn, what lies outside the camera's view is left out, by the box around each object. The view is six
planes: four sides, near and far. Here the camera stands in the middle and turns around once; each step is a row of the
batch. Testing every box against every plane, in NumPy, gives the same boxes. z is upward.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import boxwood as bw

ASPECT = 16 / 9


def town(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper corners of houses and smaller things, on a square of ground that grows with their number."""
    rng = np.random.default_rng(2)
    size = np.where(rng.random((count, 1)) < 0.2, rng.uniform(8, 20, (count, 3)), rng.uniform(0.3, 2, (count, 3)))
    lower = np.concatenate([rng.uniform(-1, 1, (count, 2)) * 5 * np.sqrt(count), np.zeros((count, 1))], axis=1)
    return lower, lower + size


def boxes_of(parts: list[bw.Part]) -> tuple[np.ndarray, np.ndarray]:
    """The box around each part of a scene; or around each face, where the scene is of one piece."""
    parts = [part for part in parts if len(part.mesh)]
    placed = [part.mesh.vertices @ part.transform[:3, :3].T + part.transform[:3, 3] for part in parts]
    if len(parts) == 1:
        corners = placed[0][parts[0].mesh.faces]
        return corners.min(axis=1), corners.max(axis=1)
    return np.array([points.min(axis=0) for points in placed]), np.array([points.max(axis=0) for points in placed])


def planes_of(camera: bw.Camera, far: float) -> np.ndarray:
    """(6, 4): left, right, bottom, top, near and far, as a x + b y + c z + d >= 0 inside."""
    right, up, forward = camera.axes()
    tangent = np.tan(np.radians(camera.field_of_view) / 2)
    aside, above = tangent * ASPECT * forward, tangent * forward
    normals = np.stack([aside + right, aside - right, above + up, above - up, forward, -forward])
    offsets = -normals @ np.asarray(camera.position)
    return np.column_stack([normals, offsets + [0, 0, 0, 0, -camera.near, far]])


def test_all(lower: np.ndarray, upper: np.ndarray, planes: np.ndarray) -> np.ndarray:
    """Ids of the boxes whose corner farthest inside is inside, of all planes."""
    a, b, c, d = planes.T[:, :, None]
    x, y, z = (np.where(n >= 0, high, low) for n, high, low in zip((a, b, c), upper.T, lower.T, strict=True))
    return np.flatnonzero((a * x + b * y + c * z + d >= 0).all(axis=0))


def main() -> None:
    parser = argparse.ArgumentParser(description="Which boxes a camera sees while it turns around once.")
    parser.add_argument("scene", nargs="?", help="a mesh file, best of many parts; without it, a town is made up")
    parser.add_argument("--small", action="store_true", help="a village, and fewer steps")
    options = parser.parse_args()
    lower, upper = boxes_of(bw.load_scene(options.scene)) if options.scene else town(500 if options.small else 10_000)
    steps = 12 if options.small else 360
    tree = bw.BoxTree(lower, upper).build()

    bounds = tree.bounds
    middle = bounds.mean(axis=0)
    far = float(np.linalg.norm(bounds[1] - bounds[0])) / 4
    angles = np.arange(steps) * 2 * np.pi / steps
    targets = middle + np.stack([np.cos(angles), np.sin(angles), np.full(steps, -0.05)], axis=1)
    cameras = [bw.Camera(tuple(middle), tuple(target), field_of_view=50, near=far / 1000) for target in targets]
    planes = np.stack([planes_of(camera, far) for camera in cameras])

    tree.query_frustum(planes[:1])  # compiled before it is timed
    start = time.perf_counter()
    seen = tree.query_frustum(planes)
    by_tree = time.perf_counter() - start
    start = time.perf_counter()
    every = [test_all(lower, upper, view) for view in planes]
    by_hand = time.perf_counter() - start

    counts = np.diff(seen.splits)
    print(f"{len(tree):,} boxes; the camera sees {counts.mean():.0f} of them, from {counts.min()} to {counts.max()}")
    print(f"culled: {1 - counts.mean() / len(tree):.1%}")
    print(f"a view takes {1e6 * by_tree / steps:.0f} us with the tree, {1e6 * by_hand / steps:.0f} us testing all")
    same = all(np.array_equal(one, other) for one, other in zip(seen, every, strict=True))
    print(f"both see the same: {'yes' if same else 'no'}")


if __name__ == "__main__":
    main()
