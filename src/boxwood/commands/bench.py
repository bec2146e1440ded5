"""`boxwood bench structures`: every structure on every distribution, or on boxes of your own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from ..archive import replacing
from ..bench.calibration import SIZES as CALIBRATED
from ..bench.calibration import calibrate, text_of
from ..bench.machine import machine
from ..bench.plot import check_plot, plot
from ..bench.scenes import DISTRIBUTIONS, Scene, scene, scene_of
from ..bench.structures import COLUMNS, STRUCTURES, WHOLE, Row, measure, structures_for
from ..index.arguments import boxes as checked_boxes
from .arguments import choice, writable
from .compiling import compile_all, family
from .terminal import bar, print_json, print_table, say

SIZES = "100,1000,10000"
LARGEST = 1_000_000


def structures(
    sizes: Annotated[str, typer.Option(help="Numbers of objects, separated by commas, up to 1,000,000.")] = SIZES,
    dimension: Annotated[int | None, typer.Option(min=2, max=3, help="2 or 3.", show_default="both")] = None,
    distribution: Annotated[
        list[str] | None, typer.Option(help="uniform, clustered or linear; may be repeated.", show_default="all")
    ] = None,
    structure: Annotated[
        list[str] | None, typer.Option(help="Such as UniformGrid; may be repeated.", show_default="all")
    ] = None,
    question: Annotated[
        list[str] | None, typer.Option(help=f"One of {', '.join(COLUMNS)}; may be repeated.", show_default="all")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="A .npy of boxes (n, 4) or (n, 6), lower then upper, or points (n, 2 or 3).")
    ] = None,
    asked: Annotated[int, typer.Option(min=1, help="Questions of each kind, at most.")] = 1000,
    seconds: Annotated[float, typer.Option(min=0, help="For each structure and question, about.")] = 0.1,
    threads: Annotated[int, typer.Option(min=1, help="That answer at once.")] = 1,
    plot_path: Annotated[Path | None, typer.Option("--plot", help="Draw times over sizes, .png, .svg or .pdf.")] = None,
    calibrate_path: Annotated[
        Path | None, typer.Option("--calibrate", help="Measure the table for boxwood.index.recommend, a .json.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> int:
    """Build, move and ask every structure of boxwood.index, compare with brute force, and print the times."""
    for path in (plot_path, calibrate_path):
        if path is not None:
            writable(path)
    if calibrate_path is not None:
        return write_calibration(calibrate_path, sizes)
    if plot_path is not None:
        check_plot(plot_path)
    kinds = [choice("--structure", name, tuple(STRUCTURES)) for name in structure or []]
    columns = [choice("--question", name, COLUMNS) for name in question or COLUMNS]
    columns = [name for name in COLUMNS if name in columns]
    if data is not None:
        scenes = [scene_of(data.stem, *read_boxes(data), asked)]
    else:
        names = [choice("--distribution", name, tuple(DISTRIBUTIONS)) for name in distribution or DISTRIBUTIONS]
        counts = numbers_of(sizes)
        dimensions = (2, 3) if dimension is None else (dimension,)
        scenes = [scene(name, n, d, asked) for d in dimensions for name in names for n in counts]
    scenes = [each for each in scenes if structures_for(each.dimension, kinds)]
    if not scenes:
        raise ValueError(f"--structure {', '.join(kinds)} is not made for these boxes")
    compile_all(family(kinds, columns))  # so that it is not measured
    rows: list[Row] = []
    with bar("measuring") as progress:
        for number, each in enumerate(scenes):
            if progress is not None:
                progress(number, len(scenes), f"{len(each.lower):,} {each.name}, {each.dimension}-D")
            rows += measure(each, kinds, columns, seconds=seconds, threads=threads)
    if plot_path is not None:
        plot(plot_path, rows)
    if as_json:
        print_json({"machine": machine(), "threads": threads, "rows": [row.to_dict() for row in rows]})
    else:
        for each in scenes:
            tell(each, [row for row in rows if belongs(row, each)], columns)
    wrong = [row for row in rows if not row.same]
    if not wrong and not as_json:
        print("all answers that were compared are those of brute force")
    if wrong:
        told = sorted({f"{row.structure} ({row.question}, {row.scene})" for row in wrong})
        say(f"answers differ from those of brute force: {', '.join(told)}")
        return 1
    return 0


def write_calibration(path: Path, sizes: str) -> int:
    counts = CALIBRATED if sizes == SIZES else numbers_of(sizes)
    compile_all(family())
    try:
        with bar("calibrating") as progress:
            table = calibrate(counts, progress=progress)
    except RuntimeError as wrong:
        say(str(wrong))
        return 1
    with replacing(path) as file:
        file.write(text_of(table).encode())
    print(f"{path}: use it as boxwood.index.recommend(..., table={str(path)!r})")
    return 0


def numbers_of(sizes: str) -> list[int]:
    """Numbers of objects."""
    try:
        counts = [int(part.replace("_", "")) for part in sizes.split(",")]
    except ValueError:
        counts = []
    if not counts or not all(1 <= count <= LARGEST for count in counts):
        raise ValueError(f"--sizes must be numbers from 1 to {LARGEST:,} separated by commas, not {sizes!r}")
    return sorted(set(counts))


def read_boxes(path: Path) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper corners, (n, 2) or (n, 3)."""
    with path.open("rb") as file:
        try:
            array = np.load(file, allow_pickle=False)
        except (ValueError, EOFError) as reason:
            raise ValueError(f"{path} cannot be read as .npy: {reason}") from reason
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.shape[1] not in (2, 3, 4, 6):
        shape = getattr(array, "shape", "an archive")
        raise ValueError(f"{path} must hold boxes (n, 4) or (n, 6), or points (n, 2) or (n, 3), not {shape}")
    if len(array) == 0:
        raise ValueError(f"{path} holds no boxes")
    d = array.shape[1] if array.shape[1] < 4 else array.shape[1] // 2
    try:
        batch, _ = checked_boxes(array[:, :d], array[:, -d:], d)
    except ValueError as reason:
        raise ValueError(f"{path}: {reason}") from reason
    return batch.rows[:, :d].copy(), batch.rows[:, 3 : 3 + d].copy()


def belongs(row: Row, each: Scene) -> bool:
    return (row.scene, row.dimension, row.objects) == (each.name, each.dimension, len(each.lower))


def tell(each: Scene, rows: Sequence[Row], columns: Sequence[str]) -> None:
    """A table of one scene; the quickest of each column is marked."""
    told: dict[str, dict[str, Any]] = {}
    for row in rows:
        told.setdefault(row.structure, {})[row.question] = row.nanoseconds
    least = {name: min(times[name] for times in told.values() if name in times) for name in columns}
    cells = [(name, *(mark(times.get(column), least[column]) for column in columns)) for name, times in told.items()]
    whole = [name for name in columns if name in WHOLE]
    title = f"{len(each.lower):,} {each.name}, {each.dimension}-D: ns a question"
    title += f"; {', '.join(whole)}: ns an object" if whole else ""
    print_table(title, {"": "left", **dict.fromkeys(columns, "right")}, cells)


def mark(nanoseconds: float | None, least: float) -> str:
    if nanoseconds is None:
        return "-"
    text = f"{nanoseconds:,.0f}"
    return f"[bold]{text}[/bold]" if nanoseconds == least else text
