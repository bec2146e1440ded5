"""Times of structures over the number of objects, as a picture; needs matplotlib, the extra `plots`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .structures import COLUMNS, Row

FORMATS = (".png", ".svg", ".pdf")


def check_plot(path: Path) -> None:
    """ValueError if no picture can be drawn to a file of that name."""
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"{path}: plots are written to {', '.join(FORMATS)} files")
    _matplotlib(path)


def plot(path: Path, rows: Sequence[Row]) -> None:
    """A row of diagrams for each scene, one for each question; both axes are logarithmic."""
    matplotlib = _matplotlib(path)
    scenes = list(dict.fromkeys((row.scene, row.dimension) for row in rows))
    questions = [name for name in COLUMNS if any(row.question == name for row in rows)]
    structures = list(dict.fromkeys(row.structure for row in rows))
    figure = matplotlib.figure.Figure(figsize=(2.6 * len(questions), 2.6 * len(scenes) + 0.6), layout="constrained")
    axes = figure.subplots(len(scenes), len(questions), squeeze=False, sharex=True)
    lines: dict[str, Any] = {}
    for line, scene in zip(axes, scenes, strict=True):
        for axis, question in zip(line, questions, strict=True):
            for number, name in enumerate(structures):
                found = [r for r in rows if (r.scene, r.dimension, r.question, r.structure) == (*scene, question, name)]
                found.sort(key=lambda row: row.objects)
                x, y = [row.objects for row in found], [row.nanoseconds for row in found]
                (lines[name],) = axis.loglog(x, y, marker=".", color=f"C{number}")
            axis.grid(alpha=0.3)
            axis.set_title(f"{question}, {scene[0]} {scene[1]}-D", fontsize=8)
            axis.tick_params(labelsize=7)
        line[0].set_ylabel("ns", fontsize=8)
    for axis in axes[-1]:
        axis.set_xlabel("objects", fontsize=8)
    figure.legend(lines.values(), lines.keys(), loc="outside upper center", ncols=len(lines), fontsize=8)
    figure.savefig(path)


def _matplotlib(path: Path) -> Any:
    try:
        import matplotlib.figure
    except ImportError:
        raise ValueError(f"{path}: plots take matplotlib; pip install 'boxwood[plots]'") from None
    return matplotlib
