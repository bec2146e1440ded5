"""The meshes that benchmarks use and the rays that are shot at them.

Generated worlds (a sphere and a room seen from inside, a soup) are the same on every machine; scans come from
../shared/data where it lies beside the repository. Each has an eye and a light, from which camera, shadow and bounce
rays are made.
"""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

SHARED = Path(os.environ.get("BOXWOOD_SHARED", Path(__file__).resolve().parents[2] / "shared" / "data"))
SCANS = {
    "terrain": "dem/sainte_helens.ply",
    "turbine": "vtk-data/turbineblade.ply",
    "dispenser": "genesis/meshes/icecream_dispenser.obj.gz",
    "monastery": "pybullet/samurai_monastry.obj",
    "scallop": "manifold/samples/models/scallop.glb",
}
GENERATED = ("sphere", "room", "soup")
SEED = 7


@dataclass(frozen=True)
class World:
    """A mesh (float32 vertices, int32 faces) with a place to look from, a place to look at, an angle and a light."""

    name: str
    vertices: np.ndarray
    faces: np.ndarray
    eye: np.ndarray
    target: np.ndarray
    light: np.ndarray
    field_of_view: float  # degrees

    @property
    def diagonal(self) -> float:
        return float(np.linalg.norm(np.ptp(self.vertices, axis=0)))


@dataclass(frozen=True)
class Rays:
    """A batch of float32 rays of one kind, each limited to t in 0..t_max."""

    kind: str
    origins: np.ndarray
    directions: np.ndarray
    t_max: float = float("inf")

    def __len__(self) -> int:
        return len(self.origins)


def make(name: str, small: bool = False) -> World | None:
    """The world of that name, or None for a scan that is not here; small ones have a few thousand triangles."""
    if name == "sphere":
        # from inside, since from outside no bounce would ever come back to it
        eye, target, light = np.array([[0.3, -0.5, 0.2], [-0.2, 0.6, -0.1], [-0.4, -0.3, 0.5]])
        return seen_from(name, *icosphere(4 if small else 8), eye, target, light, 70.0)
    if name == "soup":
        return seen_from_outside(name, *soup(5_000 if small else 1_000_000))
    if name == "room":
        return room(16, 20, 2) if small else room(204, 390, 3)
    path = SHARED / SCANS[name]
    return seen_from_outside(name, *read(path)) if path.exists() else None


def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and faces of a file, gzipped or not."""
    import trimesh

    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    suffix = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    mesh = trimesh.load(io.BytesIO(content), file_type=suffix.removeprefix("."), force="mesh", process=False)
    return mesh.vertices, mesh.faces


# Meshes


def icosphere(levels: int) -> tuple[np.ndarray, np.ndarray]:
    """The unit sphere as an icosahedron whose faces are split in four `levels` times: 20 * 4**levels triangles."""
    golden = (1 + 5**0.5) / 2
    vertices = np.array([np.roll((0, a, b * golden), turn) for turn in range(3) for a in (-1, 1) for b in (-1, 1)])
    triples = np.array(list(combinations(range(12), 3)))
    edges = vertices[triples] - vertices[np.roll(triples, 1, axis=1)]
    faces = triples[np.linalg.norm(edges, axis=-1).max(axis=1) < 2.1]
    inward = np.linalg.det(vertices[faces]) < 0
    faces[inward] = faces[inward, ::-1]
    vertices /= np.linalg.norm(vertices[0])
    for _ in range(levels):
        edges = np.sort(faces[:, [[1, 2], [2, 0], [0, 1]]].reshape(-1, 2), axis=1)
        keys, index = np.unique(edges[:, 0] * len(vertices) + edges[:, 1], return_inverse=True)
        middle = vertices[keys // len(vertices)] + vertices[keys % len(vertices)]
        (a, b, c), (bc, ca, ab) = faces.T, len(vertices) + index.reshape(-1, 3).T
        quarters = [(a, ab, ca), (b, bc, ab), (c, ca, bc), (bc, ca, ab)]
        faces = np.concatenate([np.stack(corners, axis=1) for corners in quarters])
        vertices = np.concatenate([vertices, middle / np.linalg.norm(middle, axis=1, keepdims=True)])
    return vertices, faces


def soup(count: int, size: float = 0.01) -> tuple[np.ndarray, np.ndarray]:
    """Triangles of about that size strewn over the unit cube; they cross each other freely."""
    rng = np.random.default_rng(SEED)
    corners = rng.random((count, 1, 3)) + rng.normal(scale=size, size=(count, 3, 3))
    return corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3)


def wall(cells: int, axis: int, side: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """One face of the cube -1..1, bumpy toward the inside and flat at its border, so that six of them close."""
    steps = np.linspace(-1, 1, cells + 1)
    u, v = np.meshgrid(steps, steps, indexing="ij")
    bumps = sum(np.sin(rng.uniform(3, 25) * u + rng.uniform(3, 25) * v + rng.uniform(0, 6)) for _ in range(6))
    depth = 0.01 * (6 + bumps) * (1 - u**2) * (1 - v**2)
    depth[[0, -1]] = depth[:, [0, -1]] = 0
    vertices = np.roll(np.stack([side * (1 - depth), u, v], axis=-1).reshape(-1, 3), axis, axis=1)
    corner = (np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)).ravel()
    a, b, c, d = corner, corner + cells + 1, corner + cells + 2, corner + 1
    faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    return vertices, faces if side < 0 else faces[:, ::-1]


def room(cells: int, objects: int, levels: int) -> World:
    """A closed room with bumpy walls and dented balls: 12 * cells**2 + 20 * objects * 4**levels triangles."""
    rng = np.random.default_rng(SEED)
    eye, light = np.array([-0.75, -0.7, 0.1]), np.array([0.1, -0.1, 0.75])
    parts = [wall(cells, axis, side, rng) for axis in range(3) for side in (-1.0, 1.0)]
    ball, ball_faces = icosphere(levels)
    while len(parts) < 6 + objects:
        radius, centre = rng.uniform(0.015, 0.06), rng.uniform(-0.8, 0.8, 3)
        if min(np.linalg.norm(centre - eye), np.linalg.norm(centre - light)) > 2 * radius + 0.05:
            dents = 1 + 0.2 * np.sin(ball @ rng.uniform(-9, 9, (3, 3))).sum(axis=1, keepdims=True)
            parts.append((centre + radius * dents * ball, ball_faces))
    starts = np.cumsum([0] + [len(vertices) for vertices, _ in parts])
    vertices = np.concatenate([vertices for vertices, _ in parts])
    faces = np.concatenate([faces + start for (_, faces), start in zip(parts, starts[:-1], strict=True)])
    return seen_from("room", vertices, faces, eye, np.array([0.5, 0.5, -0.15]), light, 70.0)


def seen_from_outside(name: str, vertices: np.ndarray, faces: np.ndarray) -> World:
    """A world whose picture the mesh just fills, obliquely from above, with the light beside and above the eye."""
    centre = (vertices.min(axis=0) + vertices.max(axis=0)) / 2
    forward, right, up = frame(np.array([-0.5, 0.75, -0.45]))
    offsets = vertices - centre
    aside = np.maximum(abs(offsets @ right), abs(offsets @ up))
    distance = 1.02 * np.max(aside / np.tan(np.radians(20)) - offsets @ forward)
    eye = centre - distance * forward
    return seen_from(name, vertices, faces, eye, centre, eye + 0.4 * distance * (up - right), 40.0)


def seen_from(name: str, vertices: np.ndarray, faces: np.ndarray, *view: Any) -> World:
    """A world from arrays of any dtype."""
    return World(name, np.ascontiguousarray(vertices, np.float32), np.ascontiguousarray(faces, np.int32), *view)


# Rays


def camera_rays(world: World, count: int) -> Rays:
    """A square picture of about `count` pixels, row after row from the top."""
    side = round(count**0.5)
    forward, right, up = frame(world.target - world.eye)
    x = np.tan(np.radians(world.field_of_view) / 2) * ((np.arange(side) + 0.5) / side * 2 - 1)
    directions = forward - x[:, None, None] * up + x[:, None] * right
    return Rays("camera", *as_float32(np.broadcast_to(world.eye, directions.shape), directions))


def random_rays(world: World, count: int) -> Rays:
    """Origins anywhere in the bounds, directions anywhere."""
    rng = np.random.default_rng(SEED)
    origins = rng.uniform(world.vertices.min(axis=0), world.vertices.max(axis=0), (count, 3))
    return Rays("random", *as_float32(origins, unit_vectors(count, rng)))


def secondary_rays(world: World, camera: Rays, cast: Callable[[Rays], tuple[np.ndarray, np.ndarray]]) -> list[Rays]:
    """As many shadow rays and diffuse bounces as camera rays, from what they hit; `cast` gives t and face."""
    rng = np.random.default_rng(SEED)
    t, faces = cast(camera)
    hit = np.flatnonzero(faces >= 0)
    # where part of the picture is empty, some pixels start several rays, side by side so that they stay coherent
    hit = hit[np.linspace(0, len(hit) - 1, len(camera)).astype(np.int64)]
    a, b, c = (world.vertices[world.faces[faces[hit], corner]].astype(np.float64) for corner in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    normals *= -np.sign(np.sum(normals * camera.directions[hit], axis=1, keepdims=True))
    points = camera.origins[hit] + t[hit, None].astype(np.float64) * camera.directions[hit]
    points += 2e-5 * world.diagonal * normals
    bounces = normals + 0.999 * unit_vectors(len(hit), rng)
    shadow = Rays("shadow", *as_float32(points, world.light - points), t_max=1.0)
    return [shadow, Rays("bounce", *as_float32(points, bounces))]


def frame(forward: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Unit vectors forward, right and up of an eye that keeps its head level (z is up)."""
    forward = forward / np.linalg.norm(forward)
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    return forward, right, np.cross(right, forward)


def unit_vectors(count: int, rng: np.random.Generator) -> np.ndarray:
    vectors = rng.normal(size=(count, 3))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def as_float32(*arrays: np.ndarray) -> list[np.ndarray]:
    return [np.ascontiguousarray(array.reshape(-1, 3), dtype=np.float32) for array in arrays]
