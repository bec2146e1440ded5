"""boxwood and its peers behind one face: build, closest hit, any hit, every hit.

A contender is made with the mesh (that is the timed build), turns rays into the arrays it likes best (not timed), and
gives answers as NumPy arrays. Peers that are not installed are left out: `available()` tells.
"""

from __future__ import annotations

import importlib.util
import os
from typing import Any, Protocol

import numpy as np

import boxwood
from worlds import Rays

Answer = tuple[np.ndarray, np.ndarray, np.ndarray]  # t, face or -1, uv


class Contender(Protocol):
    name: str

    def prepare(self, rays: Rays) -> Any: ...
    def closest(self, prepared: Any) -> Answer: ...
    def occluded(self, prepared: Any) -> np.ndarray: ...


class Boxwood:
    """boxwood.Mesh, in the dtype of the vertices it is given."""

    name = "boxwood"

    def __init__(self, vertices: np.ndarray, faces: np.ndarray, threads: int | None = None, **build: Any) -> None:
        self.threads = threads
        self.mesh = boxwood.Mesh(vertices, faces, copy=False).build(threads=threads, **build)

    def with_threads(self, threads: int | None) -> Boxwood:
        """The same built mesh, asked on another number of threads."""
        other = object.__new__(Boxwood)
        other.mesh, other.threads = self.mesh, threads
        return other

    def prepare(self, rays: Rays) -> tuple[np.ndarray, np.ndarray, float]:
        dtype = self.mesh.dtype
        return rays.origins.astype(dtype), rays.directions.astype(dtype), rays.t_max

    def closest(self, prepared: Any) -> Answer:
        origins, directions, _ = prepared
        hits = self.mesh.raycast(origins, directions, threads=self.threads)
        return hits.t_hit, hits.primitive_ids, hits.uvs

    def occluded(self, prepared: Any) -> np.ndarray:
        origins, directions, t_max = prepared
        return self.mesh.occluded(origins, directions, t_max=t_max, threads=self.threads)

    def crossings(self, prepared: Any) -> np.ndarray:
        origins, directions, _ = prepared
        return np.diff(self.mesh.raycast_all(origins, directions, threads=self.threads).ray_splits)


class Open3D:
    """Embree in its robust mode, on all threads (0) or a given number."""

    name = "Open3D"

    def __init__(self, vertices: np.ndarray, faces: np.ndarray, threads: int = 0) -> None:
        self.core, scene_type = _open3d()
        self.threads = threads
        self.scene = scene_type(nthreads=threads)
        self.scene.add_triangles(self.core.Tensor(vertices), self.core.Tensor(faces.astype(np.uint32)))
        # the tree is made when the first ray is cast
        self.scene.cast_rays(self.core.Tensor(np.ones((1, 6), np.float32)))

    def prepare(self, rays: Rays) -> Any:
        return self.core.Tensor(np.concatenate([rays.origins, rays.directions], axis=1)), rays.t_max

    def closest(self, prepared: Any) -> Answer:
        answer = self.scene.cast_rays(prepared[0], nthreads=self.threads)
        return answer["t_hit"].numpy(), _signed(answer["primitive_ids"].numpy()), answer["primitive_uvs"].numpy()

    def occluded(self, prepared: Any) -> np.ndarray:
        rays, t_max = prepared
        return self.scene.test_occlusions(rays, tnear=0.0, tfar=t_max, nthreads=self.threads).numpy()

    def crossings(self, prepared: Any) -> np.ndarray:
        answer = self.scene.list_intersections(prepared[0], nthreads=self.threads)
        return np.diff(answer["ray_splits"].numpy().astype(np.int64))


class Embreex:
    """Embree through the binding that trimesh uses: one thread, ray by ray."""

    def __init__(self, vertices: np.ndarray, faces: np.ndarray, robust: bool = False) -> None:
        from embreex.mesh_construction import TriangleMesh
        from embreex.rtcore_scene import EmbreeScene

        self.name = "embreex robust" if robust else "embreex"
        self.scene = EmbreeScene(robust=robust)
        TriangleMesh(self.scene, vertices, faces)
        self.scene.run(np.ones((1, 3), np.float32), np.ones((1, 3), np.float32))

    def prepare(self, rays: Rays) -> Any:
        # Embree's "no limit" stands in for inf here, as it does in the binding
        return rays.origins, rays.directions, np.full(len(rays), min(rays.t_max, 1e37), np.float32)

    def closest(self, prepared: Any) -> Answer:
        origins, directions, _ = prepared
        answer = self.scene.run(origins, directions, query="INTERSECT", output=True)
        return answer["tfar"], answer["primID"], np.stack([answer["u"], answer["v"]], axis=1)

    def occluded(self, prepared: Any) -> np.ndarray:
        origins, directions, limits = prepared
        return self.scene.run(origins, directions, limits, query="OCCLUDED") >= 0


def available() -> set[str]:
    """The peers that this machine has."""
    found = {name for name in ("open3d", "embreex") if importlib.util.find_spec(name)}
    if "open3d" in found:
        try:
            _open3d()
        except (ImportError, OSError) as reason:
            print(f"Open3D is installed but does not load ({reason}): left out")
            found.remove("open3d")
    return found


def threads_here() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _open3d() -> tuple[Any, Any]:
    import open3d

    return open3d.core, open3d.t.geometry.RaycastingScene


def _signed(ids: np.ndarray) -> np.ndarray:
    """Open3D says 2**32 - 1 for none; read as int32 that is -1."""
    return ids.view(np.int32)
