"""Reads rays from files: .csv, .npy or .parquet, six numbers a ray and, where named, the range of t.

What is wrong is named by the line of a text file or the row of another.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]

NEEDED = ("ox", "oy", "oz", "dx", "dy", "dz")
RANGE = ("t_min", "t_max")


class RayFile(NamedTuple):
    """Rays as a file has them."""

    origins: Floats  # (n, 3)
    directions: Floats  # (n, 3)
    t_min: Floats | float
    t_max: Floats | float


def read_rays(path: Path, dtype: str) -> RayFile:
    """The rays of a file, `-` for CSV from standard input; ValueError naming the first row that cannot be one."""
    if str(path) == "-":
        return _checked(*_from_csv(sys.stdin.read(), "standard input"), dtype)
    readers = {".csv": _read_csv, ".npy": _read_npy, ".parquet": _read_parquet}
    if path.suffix.lower() not in readers:
        raise ValueError(f"{path}: rays are read from .csv, .npy or .parquet files")
    return _checked(*readers[path.suffix.lower()](path), dtype)


Columns = dict[str, Floats]
Place = Callable[[int], str]


def _checked(columns: Columns, place: Place, dtype: str) -> RayFile:
    """As arrays, if every row is a ray."""
    with np.errstate(over="ignore"):
        columns = {name: values.astype(dtype) for name, values in columns.items()}
    for name, values in columns.items():
        usable = np.isfinite(values) if name in NEEDED else ~np.isnan(values)
        if not usable.all():
            row = int(np.argmin(usable))
            raise ValueError(f"{place(row)}: {name} is {values[row]}")
    origins = np.stack([columns[name] for name in NEEDED[:3]], axis=1)
    directions = np.stack([columns[name] for name in NEEDED[3:]], axis=1)
    moving = directions.any(axis=1)
    if not moving.all():
        raise ValueError(f"{place(int(np.argmin(moving)))}: the direction is zero")
    return RayFile(origins, directions, columns.get("t_min", 0.0), columns.get("t_max", np.inf))


def _read_csv(path: Path) -> tuple[Columns, Place]:
    try:
        return _from_csv(path.read_text(encoding="utf-8-sig"), str(path))
    except UnicodeDecodeError as reason:
        raise ValueError(f"{path} is not text: {reason}") from reason


def _from_csv(text: str, name: str) -> tuple[Columns, Place]:
    lines = text.splitlines()
    number = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
    if number == len(lines):
        raise ValueError(f"{name} has no rays")
    head = [cell.strip().lower() for cell in next(csv.reader([lines[number]]))]
    named = not _is_number(head[0])
    wanted = _wanted(head, name) if named else dict(zip(NEEDED, range(6), strict=True))
    body = lines[number + 1 :] if named else lines[number:]
    start = number + 1 if named else number  # lines before the body
    if not named and len(head) != 6:
        raise ValueError(f"{name} line {number + 1}: {len(head)} numbers without a header, where a ray has 6")
    filled = [i for i, line in enumerate(body) if line.strip()]
    if not filled:
        return {column: np.empty(0) for column in wanted}, lambda row: f"{name} row {row}"

    def place(row: int) -> str:
        return f"{name} line {start + filled[row] + 1}"

    try:
        places = tuple(wanted.values())
        table = np.loadtxt(body, delimiter=",", comments=None, quotechar='"', ndmin=2, usecols=places)
    except ValueError as reason:
        raise ValueError(_first_bad_line(body, place, filled, len(head), wanted) or f"{name}: {reason}") from reason
    if "_" in text or not (named or all(body[i].count(",") == 5 for i in filled)):  # what NumPy reads all the same
        wrong = _first_bad_line(body, place, filled, len(head), wanted)
        if wrong:
            raise ValueError(wrong)
    return dict(zip(wanted, table.T, strict=True)), place


def _wanted(head: list[str], name: str) -> dict[str, int]:
    """Where the named columns are."""
    missing = [column for column in NEEDED if column not in head]
    if missing:
        raise ValueError(f"{name} has no column {missing[0]}; it needs {', '.join(NEEDED)} and may have t_min, t_max")
    twice = [column for column in (*NEEDED, *RANGE) if head.count(column) > 1]
    if twice:
        raise ValueError(f"{name} has more than one column {', '.join(twice)}")
    return {column: head.index(column) for column in (*NEEDED, *RANGE) if column in head}


def _first_bad_line(body: list[str], place: Place, filled: list[int], width: int, wanted: dict[str, int]) -> str | None:
    for row, i in enumerate(filled):
        cells = next(csv.reader([body[i]]))
        if len(cells) != width:
            return f"{place(row)}: {len(cells)} values, where the first line has {width}"
        for column, k in wanted.items():
            if not _is_number(cells[k]):
                return f"{place(row)}: {column} is {cells[k].strip()!r}, not a number"
    return None


def _is_number(text: str) -> bool:
    """As tables have numbers: Python reads `1_0` as ten, too."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _read_npy(path: Path) -> tuple[Columns, Place]:
    try:
        array = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as reason:
        raise ValueError(f"{path} is not a readable .npy file: {reason}") from reason
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iuf":
        raise ValueError(f"{path} does not hold one array of real numbers")
    if array.shape[1:] not in ((6,), (2, 3)):
        raise ValueError(f"{path} has shape {array.shape}, where rays are (n, 6) or (n, 2, 3)")
    table = array.reshape(len(array), 6)
    return {name: table[:, i] for i, name in enumerate(NEEDED)}, lambda row: f"{path} row {row}"


def _read_parquet(path: Path) -> tuple[Columns, Place]:
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise ValueError(f"{path}: reading .parquet takes pyarrow; pip install pyarrow") from None
    try:
        table = parquet.read_table(path)
    except arrow.ArrowException as reason:
        raise ValueError(f"{path} is not a readable .parquet file: {reason}") from reason
    names = [name.lower() for name in table.column_names]
    columns: Columns = {}
    for name, k in _wanted(names, str(path)).items():
        try:
            columns[name] = table.column(k).cast(arrow.float64()).to_numpy(zero_copy_only=False)
        except (arrow.ArrowException, NotImplementedError) as reason:
            raise ValueError(f"{path}: column {name} does not hold numbers: {reason}") from reason
    return columns, lambda row: f"{path} row {row}"
