"""Compiles kernels before their time is measured or their wait would surprise.

Numba compiles a kernel for each combination of argument types when it is first called; here each is called on a mesh
of four triangles. What was compiled before, by any process, is read from the disk.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import rays
from ..bench.scenes import scene
from ..bench.structures import COLUMNS, STRUCTURES, measure
from ..boxes import BoxTree
from ..build.choose import BUILDERS
from ..exact import orient2d, orient3d, triangle_relations
from ..mesh import Mesh
from ..query.brute_force import closest_hit_brute_force
from ..rendering import Camera, render
from ..rendering.modes import MODES
from ..results import Counters
from ..scene import Scene
from .terminal import bar, say

Task = tuple[str, Callable[[], object]]

NOTICEABLE = 1.0  # seconds; what has been compiled before is ready in less

VERTICES = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def small_mesh(dtype: str) -> Mesh:
    return Mesh(VERTICES.astype(dtype), FACES)


def a_ray(dtype: str) -> tuple[NDArray[Any], NDArray[Any]]:
    return np.array([[0.2, 0.2, -1.0]], dtype), np.array([[0.0, 0.0, 1.0]], dtype)


def builders(dtype: str, names: Sequence[str | None] = (None,)) -> list[Task]:
    """A task for each of these builders, for meshes of that dtype; None is the default one."""
    return [(f"build {name or ''}, {dtype}", partial(small_mesh(dtype).build, name)) for name in names]


def questions(mesh_dtype: str, ray_dtype: str, names: Sequence[str]) -> list[Task]:
    """Tasks for questions about rays, named by the methods of `Mesh`."""
    types = ray_dtype if mesh_dtype == ray_dtype else f"{mesh_dtype} mesh, {ray_dtype} rays"
    return [(f"{name}, {types}", partial(getattr(small_mesh(mesh_dtype), name), *a_ray(ray_dtype))) for name in names]


def counting(dtype: str, *names: str) -> list[Task]:
    """Tasks for questions that count their work, as pictures and the command line ask them."""

    def ask(name: str) -> object:
        return getattr(small_mesh(dtype), name)(*a_ray(dtype), counters=Counters())

    return [(f"{name} with counters, {dtype}", partial(ask, name)) for name in names]


def checking(dtype: str) -> list[Task]:
    """The task for brute force."""

    def ask() -> object:
        mesh = small_mesh(dtype)
        return closest_hit_brute_force(mesh.tree, rays(*a_ray(dtype), 0.0, np.inf, mesh.dtype))

    return [(f"brute force, {dtype}", ask)]


def pictures(dtype: str, modes: Sequence[str], *, ambient: bool = False) -> list[Task]:
    """A task for each mode of `render`."""

    def draw(mode: str) -> object:
        mesh = small_mesh(dtype)
        return render(mesh, 2, 2, Camera.fit(mesh), mode, ambient=int(ambient))  # type: ignore[arg-type]

    return [(f"picture {mode}, {dtype}", partial(draw, mode)) for mode in modes]


def boxes(dtype: str) -> list[Task]:
    """Tasks for sets of boxes and points; batches are long enough to be sorted."""
    tree, points = BoxTree(VERTICES.astype(dtype), VERTICES.astype(dtype) + 1), VERTICES.astype(dtype).repeat(200, 0)
    rays = points, points + 1
    tasks: dict[str, Callable[[], object]] = {
        "build": lambda: (tree.build(), BoxTree.from_points(points).build()),
        "query_box": partial(tree.query_box, points, points),
        "query_sphere": partial(tree.query_sphere, points, 1),
        "query_frustum": partial(tree.query_frustum, [[1, 0, 0, 0]]),
        "nearest": partial(tree.nearest, points),
        "sweep_box": partial(tree.sweep_box, points, *rays),
        "pairs": lambda: (tree.pairs(), tree.pairs(tree)),
    }
    asked = ("raycast", "occluded", "raycast_all", "count_hits")
    tasks |= {name: partial(getattr(tree, name), *rays) for name in asked}
    return [(f"boxes {name}, {dtype}", task) for name, task in tasks.items()]


def collisions(itself: bool = False) -> list[Task]:
    """Tasks for contacts of meshes in float64, or of a mesh with itself, as the command line asks for them."""
    mesh = small_mesh("float64")
    if itself:
        twice = Mesh(np.concatenate([VERTICES, VERTICES + 0.2]), np.concatenate([FACES, FACES + 4]))
        return [("self_intersections", twice.self_intersections)]
    tree = BoxTree(VERTICES.astype(float), VERTICES + 1.0)
    asked = ("relation", "intersections")
    return [("pairs", tree.pairs), *((name, partial(getattr(mesh, name), mesh)) for name in asked)]


def scenes(dtype: str) -> list[Task]:
    """Tasks for placed meshes: rays and collisions, after a move."""

    def ask() -> object:
        scene = Scene()
        ids = scene.add(small_mesh(dtype), np.tile(np.eye(4), (2, 1, 1)))
        scene.collisions()
        scene.move(ids, np.eye(4))
        origins, directions = a_ray("float64")
        for name in ("raycast", "occluded", "raycast_all", "count_hits"):
            getattr(scene, name)(origins, directions)
        return scene.collisions(faces=True), scene.intersects(small_mesh(dtype))

    return [(f"scene, {dtype}", ask)]


def family(names: Sequence[str] = (), questions: Sequence[str] = COLUMNS) -> list[Task]:
    """A task for each of these structures of `boxwood.index`, or for all; their kernels know one dtype."""

    def use(name: str) -> object:
        dimension = STRUCTURES[name].DIMENSION or 3
        return measure(scene("uniform", 40, dimension, 16), [name], questions, seconds=0)

    return [(f"structure {name}", partial(use, name)) for name in names or STRUCTURES]


def decisions() -> list[Task]:
    """Tasks for exact decisions, whose kernels know one dtype."""
    corners = VERTICES[FACES[0]]
    return [
        ("orient2d", partial(orient2d, *corners[:, :2])),
        ("orient3d", partial(orient3d, *VERTICES)),
        ("triangle_relations", partial(triangle_relations, corners, VERTICES[FACES])),
    ]


def everything() -> list[Task]:
    """Tasks for all kernels there are."""
    asked = ("raycast", "occluded", "raycast_all", "count_hits")
    tasks: list[Task] = []
    for dtype in ("float32", "float64"):
        tasks += [*builders(dtype, BUILDERS), *questions(dtype, dtype, asked)]
        tasks += [*counting(dtype, *asked), *checking(dtype)]
        tasks += pictures(dtype, tuple(MODES), ambient=True)
        tasks += [*boxes(dtype), *scenes(dtype)]
    return [*tasks, *questions("float32", "float64", asked), *family(), *decisions()]


def compile_all(tasks: Sequence[Task]) -> float:
    """Run the tasks with a bar, and say what is going on where that takes long; the seconds it took."""
    began = time.perf_counter()
    said = False
    with bar("compiling, once:") as progress:
        for done, (name, task) in enumerate(tasks):
            if progress is not None:
                progress(done, len(tasks), name)
            task()
            if not said and time.perf_counter() - began > NOTICEABLE:
                say("the first run compiles its kernels, for some ten seconds; later runs find them on the disk")
                said = True
    return time.perf_counter() - began
