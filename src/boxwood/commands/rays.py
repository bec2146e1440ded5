"""`boxwood rays`: what the rays of a file hit."""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ..mesh import Mesh
from ..results import Counters
from .answers import Columns, check_format, print_csv, write_answers
from .arguments import read, writable
from .compiling import builders, compile_all, counting
from .ray_files import RayFile, read_rays
from .terminal import bar, print_json, print_table

QUESTIONS = {"closest": "raycast", "any": "occluded", "all": "raycast_all", "count": "count_hits"}

TITLES = {"closest": "first hits", "any": "whether anything is hit", "all": "every hit", "count": "numbers of hits"}


def rays(
    mesh: Annotated[Path, typer.Argument(metavar="MESH", help="A file in a format that trimesh reads.")],
    rays_file: Annotated[
        Path,
        typer.Argument(
            metavar="RAYS",
            help="A .csv file with columns ox, oy, oz, dx, dy, dz and perhaps t_min, t_max, or six columns without a"
            " header; .npy of shape (n, 6) or (n, 2, 3); .parquet; or - for CSV from standard input.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A .csv, .npy, .parquet or .json file.", show_default=False)
    ] = None,
    any_hit: Annotated[bool, typer.Option("--any", help="Only whether each ray hits anything.")] = False,
    all_hits: Annotated[bool, typer.Option("--all", help="Every hit of each ray.")] = False,
    count: Annotated[bool, typer.Option("--count", help="Only how often each ray crosses the surface.")] = False,
    t_min: Annotated[float | None, typer.Option(help="The least t that counts.", show_default=False)] = None,
    t_max: Annotated[float | None, typer.Option(help="The greatest t that counts.", show_default=False)] = None,
    dtype: Annotated[str, typer.Option(help="float64 or float32.")] = "float64",
    threads: Annotated[int | None, typer.Option(min=1, help="How many at once.", show_default="all")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Answers and summary, for machines.")] = False,
) -> None:
    """Tell what rays hit: the first face of each, or what the options ask."""
    asked = [name for name, wanted in (("any", any_hit), ("all", all_hits), ("count", count)) if wanted]
    if len(asked) > 1:
        raise ValueError(f"--{asked[0]} and --{asked[1]} exclude each other")
    if output is not None:
        check_format(output)
        writable(output)
    question = asked[0] if asked else "closest"
    whole = read(mesh, dtype)
    given = with_range(read_rays(rays_file, dtype), t_min, t_max)
    compile_all([*builders(dtype), *counting(dtype, QUESTIONS[question])])
    with bar("building") as progress:
        whole.build(threads=threads, progress=progress)
    counters = Counters()
    began = time.perf_counter()
    with bar("casting rays") as progress:
        options = {"threads": threads, "progress": progress, "counters": counters}
        columns = answers(whole, question, given, options)
    seconds = time.perf_counter() - began
    found = summary(whole, question, counters, seconds)
    if output is not None:
        write_answers(output, columns)
    if as_json:
        print_json({**found, "output": str(output)} if output else {**found, "answers": columns}, indent=None)
    elif output is not None or sys.stdout.isatty():
        tell(found, output)
    else:
        print_csv(columns)


def with_range(given: RayFile, t_min: float | None, t_max: float | None) -> RayFile:
    """The rays, with the range of the command line where it says one."""
    for option, value in (("--t-min", t_min), ("--t-max", t_max)):
        if value is not None and math.isnan(value):
            raise ValueError(f"{option} must be a number")
    if t_min is not None:
        given = given._replace(t_min=t_min)
    return given if t_max is None else given._replace(t_max=t_max)


def answers(mesh: Mesh, question: str, given: RayFile, options: dict[str, Any]) -> Columns:
    """A column for each thing that is told."""
    ask = getattr(mesh, QUESTIONS[question])
    answer = ask(given.origins, given.directions, t_min=given.t_min, t_max=given.t_max, **options)
    ids = np.arange(len(given.origins))
    if question == "any":
        return {"ray": ids, "hit": answer.astype(np.int8)}
    if question == "count":
        return {"ray": ids, "count": answer}
    return {
        "ray": answer.ray_ids if question == "all" else ids,
        "t_hit": answer.t_hit,
        "primitive_id": answer.primitive_ids,
        "u": answer.uvs[:, 0],
        "v": answer.uvs[:, 1],
    }


def summary(mesh: Mesh, question: str, counters: Counters, seconds: float) -> dict[str, Any]:
    return {
        "faces": len(mesh),
        "question": question,
        "rays": counters.queries,
        "hits": counters.hits,
        "seconds": seconds,
        "boxes_per_ray": counters.boxes_per_query,
        "triangles_per_ray": counters.primitives_per_query,
    }


def tell(found: dict[str, Any], output: Path | None) -> None:
    columns = dict.fromkeys(("faces", "rays", "hits", "seconds", "boxes/ray", "triangles/ray"), "right")
    row = (
        f"{found['faces']:,}", f"{found['rays']:,}", f"{found['hits']:,}", f"{found['seconds']:.3f}",
        f"{found['boxes_per_ray']:.1f}", f"{found['triangles_per_ray']:.2f}",
    )  # fmt: skip
    print_table(TITLES[found["question"]], columns, [row])
    if output is not None:
        print(f"written to {output}")
    else:
        print("answers go to --output FILE, or to a pipe as CSV")
