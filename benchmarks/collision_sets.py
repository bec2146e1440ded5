"""The meshes that benchmarks of collisions use, and where they are: two objects in many poses, large meshes, scenes.

All vertices are float32, and every contender is given those very numbers. Generated ones are the same on every machine;
real ones come from ../shared/data where it lies beside the repository.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

from worlds import SEED, SHARED, icosphere, read

Shape = tuple[np.ndarray, np.ndarray]  # float32 vertices and int32 faces

FRAMES = SHARED / "fcl" / "manyframes" / "Model_1.xml.gz"
REAL = {
    "dispenser": "genesis/meshes/icecream_dispenser.obj.gz",
    "cycloidal": "trimesh/cycloidal.3DXML",
    "turbine": "vtk-data/turbineblade.ply",
}


UPRIGHT = np.array([[0.8, -0.6, 0, 0], [0.6, 0.8, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
"""A turn about z."""


class Motion(NamedTuple):
    """Two meshes, and where the second of them is: (n, 4, 4) float64."""

    name: str
    mesh: Shape
    other: Shape
    transforms: np.ndarray


def motions(small: bool) -> Iterator[Motion]:
    """About half of the poses are contacts, but for the motion that was recorded."""
    poses = 20 if small else 500
    if small:
        yield Motion("two pebbles", pebble(3, 0), pebble(3, 1), scattered(poses, 2.9))
        return
    yield Motion("two pebbles of 82 thousand", pebble(6, 0), pebble(6, 1), scattered(poses, 2.9))
    if FRAMES.exists():
        yield recorded()
        env, rob = (shape(read(SHARED / "fcl" / name)) for name in ("env.obj", "rob.obj"))
        # as FCL's own tests place them: turned anyhow, anywhere in these bounds
        transforms = turned(poses)
        rng = np.random.default_rng(SEED)
        transforms[:, :3, 3] = rng.uniform([-3000, -3000, 0], [3000, 3000, 3000], (poses, 3))
        yield Motion("env and rob, anywhere", env, rob, transforms)
    bunny, scallop = SHARED / "npm-bunny" / "bunny.ply", SHARED / "manifold" / "samples" / "models" / "scallop.glb"
    if bunny.exists() and scallop.exists():
        one, other = (unit(shape(read(path))) for path in (bunny, scallop))
        yield Motion("bunny and scallop", one, other, scattered(poses, 1.4))


def recorded() -> Motion:
    """An object sinking onto another in 501 frames, which lies beneath from frame 25 on.

    Each frame of the file has a place (pos) and a turn (direction cosines, here those of the identity throughout) for
    each object; the second never moves.
    """
    # the file has two roots, which XML does not allow
    root = ElementTree.fromstring(b"<all>" + gzip.decompress(FRAMES.read_bytes()) + b"</all>")
    shapes = []
    for each in root.iter("OBJECT"):
        points = [[float(point.attrib[axis]) for axis in "xyz"] for point in each.iter("GRID")]
        faces = [[int(face.attrib[key]) - 1 for key in ("g1", "g2", "g3")] for face in each.iter("TRIA")]
        shapes.append(shape((np.array(points), np.array(faces))))
    placed = []
    for key in ("obj1", "obj2"):
        transforms = np.tile(np.eye(4), (len(list(root.iter("FRAME"))), 1, 1))
        for transform, frame in zip(transforms, root.iter("FRAME"), strict=True):
            transform[:3, :3] = np.array(frame.attrib[f"{key}_dc"].split(), float).reshape(3, 3)
            transform[:3, 3] = np.array(frame.attrib[f"{key}_pos"].split(), float)
        placed.append(transforms)
    first, second = placed
    return Motion("recorded motion", shapes[1], shapes[0], np.linalg.inv(second) @ first)


# Pairs of large meshes, and meshes that cross themselves


def pairs(small: bool) -> Iterator[tuple[str, Shape, Shape]]:
    """Two meshes that cross each other in many places."""
    cells = 24 if small else 500
    # turned, or edges of one would lie exactly above edges of the other
    yield f"two terrains of {2 * cells**2:,}", terrain(cells, 0), moved(terrain(cells, 1), UPRIGHT)
    one, other = ball(cells, 2), ball(cells, 3)
    yield f"two balls of {len(one[1]):,}", one, moved(other, place([0.6, 0.5, 0.4], turned(1)[0]))
    for name in () if small else ("dispenser", "turbine"):
        path = SHARED / REAL[name]
        if path.exists():
            real = unit(shape(read(path)))
            yield f"two of {name}, {len(real[1]):,}", real, moved(real, place([0.02, 0.03, 0.05], turned(2)[1]))


def tangles(small: bool) -> Iterator[tuple[str, Shape]]:
    """Meshes that cross themselves."""
    cells = 24 if small else 500
    yield f"crumpled sheet, {2 * cells**2:,}", crumpled(cells)
    loop = ball(cells, 4)
    loop[0][:] *= 1 + 0.9 * np.sin(3 * loop[0][:, [1, 2, 0]])
    yield f"folded ball, {len(loop[1]):,}", loop
    for name in () if small else ("dispenser", "cycloidal"):
        path = SHARED / REAL[name]
        if path.exists():
            real = merged(shape(read(path)))
            yield f"{name}, {len(real[1]):,}", real


def pebble(levels: int, seed: int) -> Shape:
    """A sphere with dents."""
    points, faces = icosphere(levels)
    dents = np.random.default_rng(seed).uniform(-4, 4, (3, 3))
    return shape((points * (1 + 0.15 * np.sin(points @ dents).sum(axis=1, keepdims=True)), faces))


def terrain(cells: int, seed: int) -> Shape:
    """A square of two triangles a cell, with hills."""
    points, faces = sheet(cells)
    points[:, 2] = 0.05 * waves(points, seed, 8, 40.0)
    return shape((points, faces))


def ball(cells: int, seed: int) -> Shape:
    """A sphere by meridians, with dents and poles of many thin triangles; about as many triangles as a sheet."""
    points, faces = sheet(cells)
    turn, rise = np.pi * (points[:, 0] + 1), np.pi / 2 * points[:, 1]
    seam, poles = points[:, 0] == 1, abs(points[:, 1]) == 1
    turn[seam] = 0
    turn[poles] = 0
    rim = np.where(poles, 0.0, np.cos(rise))
    points = np.stack([rim * np.cos(turn), rim * np.sin(turn), np.sin(rise)], axis=1)
    return merged(shape((points * (1 + 0.03 * waves(points, seed, 6, 20.0))[:, None], faces)))


def crumpled(cells: int) -> Shape:
    """A sheet with folds so deep that they go through each other."""
    points, faces = sheet(cells)
    aside = np.stack([waves(points, seed, 4, 9.0) for seed in range(10, 13)], axis=1)
    return shape((points + 0.11 * aside, faces))


def sheet(cells: int) -> tuple[np.ndarray, np.ndarray]:
    steps = np.linspace(-1, 1, cells + 1)
    u, v = np.meshgrid(steps, steps, indexing="ij")
    corner = (np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)).ravel()
    a, b, c, d = corner, corner + cells + 1, corner + cells + 2, corner + 1
    faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    return np.stack([u.ravel(), v.ravel(), np.zeros(u.size)], axis=1), faces


def waves(points: np.ndarray, seed: int, number: int, most: float) -> np.ndarray:
    """A sum of so many waves, none steeper than `most`."""
    rng = np.random.default_rng(seed)
    return np.sin(points @ rng.uniform(-most, most, (3, number)) + rng.uniform(0, 6, number)).sum(axis=1) / number**0.5


# Scenes


def scene(objects: int, steps: int, levels: int) -> tuple[Shape, np.ndarray]:
    """One mesh at as many places, and how they wander: (steps, objects, 4, 4)."""
    rng = np.random.default_rng(SEED)
    side = 3.0 * objects ** (1 / 3)
    transforms = np.tile(turned(objects), (steps, 1, 1, 1))
    places = rng.uniform(0, side, (objects, 3))
    transforms[:, :, :3, 3] = places + np.cumsum(rng.normal(scale=0.05, size=(steps, objects, 3)), axis=0)
    return pebble(levels, 5), transforms


# Shapes and transforms


def shape(arrays: tuple[np.ndarray, np.ndarray]) -> Shape:
    vertices, faces = arrays
    return np.ascontiguousarray(vertices, np.float32), np.ascontiguousarray(faces, np.int32)


def unit(mesh: Shape) -> Shape:
    """Around the origin, of diagonal 2."""
    low, high = mesh[0].min(axis=0), mesh[0].max(axis=0)
    return (mesh[0] - (low + high) / 2) * np.float32(2 / np.linalg.norm(high - low)), mesh[1]


def merged(mesh: Shape) -> Shape:
    """With one vertex at each place, as some contenders need, and no face that has two corners at one."""
    vertices, names = np.unique(mesh[0], axis=0, return_inverse=True)
    faces = names.reshape(-1)[mesh[1]]
    a, b, c = faces.T
    return shape((vertices, faces[(a != b) & (b != c) & (c != a)]))


def moved(mesh: Shape, transform: np.ndarray) -> Shape:
    """With vertices moved and rounded to float32."""
    return shape((mesh[0].astype(np.float64) @ transform[:3, :3].T + transform[:3, 3], mesh[1]))


def place(point: list[float], transform: np.ndarray) -> np.ndarray:
    placed = transform.copy()
    placed[:3, 3] = point
    return placed


def turned(number: int) -> np.ndarray:
    """Random turns, (number, 4, 4)."""
    w, x, y, z = unit_rows(np.random.default_rng(SEED).normal(size=(number, 4))).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    transforms = np.tile(np.eye(4), (number, 1, 1))
    transforms[:, :3, :3] = np.array(rows).transpose(2, 0, 1)
    return transforms


def scattered(number: int, farthest: float) -> np.ndarray:
    """Random turns in any direction from the origin, up to so far from it."""
    rng = np.random.default_rng(SEED + 1)
    transforms = turned(number)
    aside = unit_rows(rng.normal(size=(number, 3))) * rng.uniform(0.3, 1, (number, 1))
    transforms[:, :3, 3] = farthest * aside
    return transforms


def unit_rows(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
