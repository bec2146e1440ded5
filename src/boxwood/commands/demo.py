"""`boxwood demo`: everything once, on a mesh that comes along: build, cast, check, measure, and take a picture."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from .._arrays import rays
from ..mesh import Mesh
from ..query.brute_force import closest_hit_brute_force, same_hits
from ..rendering import Camera, render
from ..results import Counters, Hits
from ..samples import spot
from .compiling import builders, checking, compile_all, counting, pictures, questions
from .terminal import bar, output, print_json, print_table, say

PICTURE = "boxwood-demo.png"
CHECKED = 1000  # rays
LAMP = np.array([-0.9, -0.5, 0.8])  # direction to its middle
LAMP_SIZE = 0.15


def demo(
    small: Annotated[bool, typer.Option("--small", help="A coarser mesh, fewer rays, a smaller picture.")] = False,
    output_folder: Annotated[Path, typer.Option("--output", help="Folder for the picture.")] = Path(),
    threads: Annotated[int | None, typer.Option(min=1, help="How many at once.", show_default="all")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> int:
    """See it work: a picture, a check against brute force, and how fast it was."""
    output_folder.mkdir(parents=True, exist_ok=True)
    path = output_folder / PICTURE
    tasks = [*builders("float32"), *questions("float32", "float32", ("raycast", "occluded"))]
    tasks += [*counting("float32", "raycast", "occluded"), *checking("float32")]
    tasks += pictures("float32", ["shaded"], ambient=True)
    compiled = compile_all(tasks)

    with bar("casting rays") as progress:
        mesh = Mesh(*spot(3 if small else 5), copy=False)
        mesh.build(threads=threads)
        found: dict[str, Any] = {"triangles": len(mesh), "compile_seconds": compiled}
        found["build_seconds"] = mesh.tree.build_seconds
        side = 200 if small else 1000
        camera = Camera.fit(mesh, aspect=1.0)
        origin, directions = camera.rays(side, side, dtype=np.float32)
        batch = (np.broadcast_to(origin, directions.shape).reshape(-1, 3).copy(), directions.reshape(-1, 3))
        hits, found["camera"] = measured(mesh.raycast, batch, threads, progress)
        lamp = shadow_rays(hits, side * side)
        _, found["shadow"] = measured(mesh.occluded, lamp, threads, progress)
    found["check"] = compared(mesh, batch, hits, threads)
    width, height = (600, 400) if small else (1200, 800)
    with bar("rendering") as progress:
        view = Camera.fit(mesh, aspect=width / height)
        picture = render(mesh, width, height, view, samples=4, ambient=8, threads=threads, progress=progress)
    picture.save(path)
    found["picture"] = {"path": str(path), "seconds": picture.seconds, "rays": picture.rays}

    if as_json:
        print_json(found)
    else:
        tell(found)
    if found["check"]["differing"]:
        say(f"{found['check']['differing']} of {found['check']['rays']} rays differ from brute force")
        return 1
    return 0


def measured(
    question: Callable[..., Any], batch: tuple[NDArray[Any], NDArray[Any]], threads: int | None, progress: Any
) -> tuple[Any, dict[str, float]]:
    """The answer to a question about rays, and what it took; what was tested is counted in a second pass."""
    began = time.perf_counter()
    answer = question(*batch, threads=threads, progress=progress)
    seconds = time.perf_counter() - began
    counters = Counters()
    question(*batch, threads=threads, counters=counters)
    return answer, {
        "rays": counters.queries,
        "seconds": seconds,
        "rays_per_second": counters.queries / seconds,
        "boxes_per_ray": counters.boxes_per_query,
        "triangles_per_ray": counters.primitives_per_query,
        "hits": counters.hits,
    }


def shadow_rays(hits: Hits, count: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """So many rays from where others have hit to points of a round lamp far away, no two alike."""
    where = np.flatnonzero(hits.hit)
    where = where[np.arange(count) * len(where) // count]
    points, normals = hits.points[where], hits.normals[where]
    # the plastic sequence (R2, Roberts 2018) fills a square evenly; here, the offsets of points on the lamp
    offsets = np.arange(count)[:, None] * [0.7548776662466927, 0.5698402909980532] % 1 - 0.5
    directions = LAMP + LAMP_SIZE * np.concatenate([offsets, np.zeros((count, 1))], axis=1)
    return points + np.float32(1e-5) * normals, directions.astype(np.float32)


def compared(
    mesh: Mesh, batch: tuple[NDArray[Any], NDArray[Any]], hits: Hits, threads: int | None
) -> dict[str, float]:
    """Some rays against brute force: how many differ in any bit, and what brute force would need for all."""
    some = np.arange(CHECKED) * len(batch[0]) // CHECKED
    few = rays(batch[0][some], batch[1][some], 0.0, np.inf, mesh.dtype)
    began = time.perf_counter()
    answer = closest_hit_brute_force(mesh.tree, few, threads=threads)
    seconds = time.perf_counter() - began
    same = same_hits(answer, (hits.t_hit[some], hits.primitive_ids[some], hits.uvs[some]))
    return {
        "rays": CHECKED,
        "differing": int(np.count_nonzero(~same)),
        "seconds": seconds,
        "seconds_for_all": seconds / CHECKED * len(batch[0]),
    }


def tell(found: dict[str, Any]) -> None:
    """The same for people."""
    check, picture = found["check"], found["picture"]
    rows = [
        ("compile", f"{found['compile_seconds']:.2f}", "", "", "", ""),
        ("build", f"{found['build_seconds']:.2f}", "", "", "", ""),
    ]
    for name in ("camera", "shadow"):
        cast = found[name]
        rows.append((
            f"{cast['rays']:,} {name} rays", f"{cast['seconds']:.3f}", f"{cast['rays_per_second'] / 1e6:.1f}",
            f"{cast['boxes_per_ray']:.1f}", f"{cast['triangles_per_ray']:.2f}",
            duration(check["seconds_for_all"]) if name == "camera" else "",
        ))  # fmt: skip
    rows.append(("picture", f"{sum(picture['seconds'].values()):.2f}", "", "", "", ""))
    columns = dict.fromkeys(("seconds", "million rays/s", "boxes/ray", "triangles/ray", "by brute force"), "right")
    print_table(f"Spot, {found['triangles']:,} triangles", {"": "left", **columns}, rows)
    agree = check["rays"] - check["differing"]
    print(f"brute force agrees bit for bit on {agree:,} of {check['rays']:,} camera rays;")
    print(f"it took {check['seconds']:.2f} s for these, from which its time for all is extrapolated")
    output().print(f"\nThe picture is [bold]{picture['path']}[/bold]. Next, with a mesh of your own:\n", soft_wrap=True)
    print("  boxwood render part.stl --mode heat\n  boxwood info part.stl")


def duration(seconds: float) -> str:
    """About how long."""
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"about {seconds / size:.0f} {unit}"
    return f"about {seconds:.1f} s"
