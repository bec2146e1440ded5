"""Taking a picture: rays in bands of rows, then their light, so that memory does not grow with the picture's samples.

A band is a few hundred thousand rays: the camera's, the shadow rays from where they hit, and the colours of both.
Whatever a mode shows comes from these steps, each timed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Rays, rays
from .._threads import run_chunks
from ..mesh import Mesh
from ..query.brute_force import closest_hit_brute_force, same_hits
from ..query.visit_count import visit_count
from ..results import Counters
from .camera import Camera
from .kernels.develop import develop
from .kernels.light import shade
from .kernels.surface import fill_ambient, meet
from .picture import PHASES

Floats = NDArray[np.floating[Any]]
Float32s = NDArray[np.float32]

BAND = 2**18  # rays
GRAIN = 16  # roundings by which shadow rays start off the surface
VERIFY_TESTS = 4e9  # triangles tested by brute force: a few seconds
REACH = 0.4  # of ambient rays, in parts of the diagonal
KEY_LIGHT = (-0.85, 0.70, -0.42)  # in the camera's axes: from the left, above and behind


@dataclass
class Band:
    """Some rows of samples: the directions of their rays and what these hit; ray i is of pixel column i % width."""

    first: int
    directions: Floats
    t_hit: Floats
    ids: NDArray[np.int64]
    uvs: Floats
    boxes: NDArray[np.int64] | None = None


@dataclass
class Shot:
    """One picture being taken, `width` by `height` samples, `side` of them to a pixel each way."""

    mesh: Mesh
    camera: Camera
    width: int
    height: int
    side: int
    threads: int | None
    counters: Counters = field(default_factory=Counters)
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PHASES, 0.0))
    rays: dict[str, int] = field(default_factory=lambda: {"camera rays": 0, "shadow rays": 0})
    verified: int = 0
    differing: int = 0
    checking: float = 0.0

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        self.seconds[phase] += time.perf_counter() - begin

    @property
    def dtype(self) -> np.dtype[Any]:
        """The mesh's, or float64 where the camera stands too far off for float32."""
        with np.errstate(over="ignore"):
            near = np.isfinite(np.array(self.camera.position, self.mesh.dtype)).all()
        return self.mesh.dtype if near else np.dtype(np.float64)

    @property
    def light(self) -> NDArray[np.float64]:
        """The unit vector towards the key light."""
        right, _, forward = self.camera.axes()
        up = np.divide(self.camera.up, np.linalg.norm(self.camera.up))
        light = KEY_LIGHT[0] * right + KEY_LIGHT[1] * up + KEY_LIGHT[2] * forward
        return np.asarray(light / np.linalg.norm(light))

    def bands(self) -> Iterator[tuple[int, int]]:
        """Rows of pixels, first and stop."""
        rows = max(BAND // (self.width * self.side), 1)
        pixels = self.height // self.side
        for first in range(0, pixels, rows):
            yield first, min(first + rows, pixels)

    def cast(self, first: int, stop: int, *, count_boxes: bool = False) -> Band:
        """The camera rays of some rows of pixels."""
        rows = first * self.side, stop * self.side
        directions = self.camera.rows(self.width, self.height, *rows, self.dtype, self.threads)
        origin = np.array(self.camera.position, self.dtype)
        self.rays["camera rays"] += len(directions)
        near, threads, counters = self.camera.near, self.threads, self.counters
        with self.timed("camera rays"):
            if count_boxes:
                batch = rays(origin, directions, near, math.inf, self.mesh.dtype)
                t_hit, ids, uvs, boxes, _ = visit_count(self.mesh.tree, batch, threads=threads, counters=counters)
                return Band(rows[0], directions, t_hit, ids, uvs, boxes)
            hits = self.mesh.raycast(origin, directions, t_min=near, threads=threads, counters=counters)
            return Band(rows[0], directions, hits.t_hit, hits.primitive_ids, hits.uvs)

    def normals(self, band: Band, *, shadows: bool, ambient: int) -> tuple[Float32s, Float32s, Float32s]:
        """Of each ray: the normal it meets, how much of the light that place sees, and how much of the sky."""
        count = len(band.ids)
        normals = np.empty((count, 3), np.float32)
        lit, sky = np.ones(count, np.float32), np.ones(count, np.float32)
        with self.timed("shading"):

            def work(begin: int, end: int) -> tuple[Floats, NDArray[np.int64]]:
                return self.meet(band, ambient > 0, normals, begin, end)

            parts = run_chunks(work, count, threads=self.threads)
            origins = np.concatenate([part[0] for part in parts])
            where = np.concatenate([part[1] for part in parts])
        if shadows and len(origins):
            dark = self.occluded(origins, self.light.astype(self.dtype), math.inf)
            with self.timed("shading"):
                lit[where[dark]] = 0
        if ambient and len(origins):
            with self.timed("shading"):
                reach = REACH * float(np.linalg.norm(np.subtract(*self.mesh.bounds.astype(np.float64))))
                blocked = np.zeros(len(origins), np.float32)
            for turn in range(ambient):
                directions = self.around(band, normals, where, turn, ambient)
                blocked += self.occluded(origins, directions, reach)
            with self.timed("shading"):
                sky[where] = 1 - blocked / ambient
        return normals, lit, sky

    def meet(
        self, band: Band, every: bool, normals: Float32s, begin: int, end: int
    ) -> tuple[Floats, NDArray[np.int64]]:
        """The origins of rays towards the light from hits of a part of the band, and which ray each belongs to."""
        origins, where = np.empty((end - begin, 3), self.dtype), np.empty(end - begin, np.int64)
        count = meet(
            self.mesh.vertices, self.mesh.faces, band.ids, band.uvs, band.directions, self.light, every,
            GRAIN * float(np.finfo(self.dtype).eps), normals, origins, where, begin, end,
        )  # fmt: skip
        return origins[:count], where[:count]

    def around(self, band: Band, normals: Float32s, where: NDArray[np.int64], turn: int, turns: int) -> Floats:
        """One ambient direction for each of the rays `where`."""
        directions = np.empty((len(where), 3), self.dtype)

        def work(begin: int, end: int) -> None:
            fill_ambient(normals, where, self.width, band.first, turn, turns, directions, begin, end)

        with self.timed("shading"):
            run_chunks(work, len(where), threads=self.threads)
        return directions

    def occluded(self, origins: Floats, directions: Floats, t_max: float) -> NDArray[np.bool_]:
        self.rays["shadow rays"] += len(origins)
        with self.timed("shadow rays"):
            return self.mesh.occluded(origins, directions, t_max=t_max, threads=self.threads, counters=self.counters)

    def shade(self, band: Band, normals: Float32s, lit: Float32s, sky: Float32s) -> Float32s:
        """Colours in linear light."""
        colors = np.empty_like(normals)
        up = np.divide(self.camera.up, np.linalg.norm(self.camera.up))

        def work(begin: int, end: int) -> None:
            place = self.width, self.height, band.first
            shade(normals, band.directions, lit, sky, self.light, up, *place, colors, begin, end)

        with self.timed("shading"):
            run_chunks(work, len(colors), threads=self.threads)
        return colors

    def develop(self, band: Band, colors: Float32s, table: NDArray[np.uint8], image: NDArray[np.uint8]) -> None:
        """Write the colours of a band into the picture."""
        first = band.first // self.side

        def work(begin: int, end: int) -> None:
            develop(colors, self.side, table, image, first, begin, end)

        run_chunks(work, len(colors) // self.side**2, threads=self.threads)

    def pixels(self, band: Band, values: Floats) -> Floats:
        """(rows, columns, side * side): the values of the samples of each pixel."""
        side, columns = self.side, self.width // self.side
        tiles = values.reshape(-1, side, columns, side).swapaxes(1, 2)
        return tiles.reshape(-1, columns, side * side)

    def verify(self, band: Band) -> None:
        """Compare the band's hits with brute force; only every so many, where all would take long."""
        began = time.perf_counter()
        total = self.width * self.height
        step = max(math.ceil(total * max(len(self.mesh), 1) / VERIFY_TESTS), 1)
        while step > 1 and math.gcd(step, self.width) > 1:  # so that all columns have their turn
            step += 1
        some = np.arange(-(band.first * self.width) % step, len(band.ids), step)
        origin = np.array(self.camera.position, self.dtype)
        batch: Rays = rays(origin, band.directions[some], self.camera.near, math.inf, self.mesh.dtype)
        answer = closest_hit_brute_force(self.mesh.tree, batch, threads=self.threads)
        same = same_hits(answer, (band.t_hit[some], band.ids[some], band.uvs[some]))
        self.verified += len(some)
        self.differing += int(np.count_nonzero(~same))
        self.checking += time.perf_counter() - began
