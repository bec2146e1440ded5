"""From how many triangles on a tree pays: compiled brute force against boxwood, both on one thread."""

from __future__ import annotations

from functools import partial
from typing import Any

import numba
import numpy as np

import clock
import peers
import worlds

RAYS = 1_000
COUNTS = (1, 4, 16, 64, 256, 1_024, 4_096)


@numba.njit(error_model="numpy")
def closest(corners: np.ndarray, origins: np.ndarray, directions: np.ndarray, t: np.ndarray, faces: np.ndarray) -> None:
    """Möller and Trumbore 1997 for every ray and every triangle; corners (n, 9) holds a, b - a, c - a."""
    for ray in range(origins.shape[0]):
        ox, oy, oz = origins[ray, 0], origins[ray, 1], origins[ray, 2]
        dx, dy, dz = directions[ray, 0], directions[ray, 1], directions[ray, 2]
        best, found = np.float32(np.inf), -1
        for face in range(corners.shape[0]):
            ux, uy, uz = corners[face, 3], corners[face, 4], corners[face, 5]
            vx, vy, vz = corners[face, 6], corners[face, 7], corners[face, 8]
            px, py, pz = dy * vz - dz * vy, dz * vx - dx * vz, dx * vy - dy * vx
            scale = np.float32(1) / (ux * px + uy * py + uz * pz)
            sx, sy, sz = ox - corners[face, 0], oy - corners[face, 1], oz - corners[face, 2]
            u = (sx * px + sy * py + sz * pz) * scale
            qx, qy, qz = sy * uz - sz * uy, sz * ux - sx * uz, sx * uy - sy * ux
            v = (dx * qx + dy * qy + dz * qz) * scale
            far = (vx * qx + vy * qy + vz * qz) * scale
            if u >= 0 and v >= 0 and u + v <= 1 and far >= 0 and far < best:
                best, found = far, face
        t[ray] = best
        faces[ray] = found


def crossing(rounds: int) -> dict[str, dict[str, Any]]:
    """Microseconds a ray by brute force, by a built tree and by a tree built first, for growing soups."""
    found = {}
    for count in COUNTS:
        vertices, faces = worlds.soup(count, 0.5 * count ** (-1 / 3))
        world = worlds.seen_from_outside("soup", vertices, faces)
        rays = worlds.random_rays(world, RAYS)
        a, b, c = (world.vertices[world.faces[:, corner]] for corner in range(3))
        corners = np.concatenate([a, b - a, c - a], axis=1)
        t, ids = np.empty(RAYS, np.float32), np.empty(RAYS, np.int64)
        mesh = peers.Boxwood(world.vertices, world.faces, 1)
        prepared = mesh.prepare(rays)
        contenders = {
            "brute force": partial(closest, corners, rays.origins, rays.directions, t, ids),
            "tree": partial(mesh.closest, prepared),
            "build and tree": lambda world=world, prepared=prepared: peers.Boxwood(
                world.vertices, world.faces, 1
            ).closest(prepared),
        }
        seconds, answers = clock.take_turns(contenders, rounds)
        times = {name: min(seconds[name]) / RAYS * 1e6 for name in contenders}
        found[f"{count:,} triangles"] = times | {"same id": float(np.mean(answers["tree"][1] == ids))}
    return found
