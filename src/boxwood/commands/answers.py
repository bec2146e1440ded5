"""Writes answers about rays: .csv, .npy, .parquet or .json, whole or not at all."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..archive import replacing

Columns = dict[str, NDArray[Any]]

FORMATS = (".csv", ".npy", ".parquet", ".json")
ROWS = 1 << 16  # written at a time


def check_format(path: Path) -> None:
    """ValueError if answers cannot be written to a file of that name."""
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"{path}: answers are written to {', '.join(FORMATS)} files")
    if path.suffix.lower() == ".parquet":
        _pyarrow(path)


def write_answers(path: Path, columns: Columns) -> None:
    """Columns of equal length to a file that replaces `path` once all is written."""
    suffix = path.suffix.lower()
    buffer = io.BytesIO()
    if suffix == ".csv":
        text = io.TextIOWrapper(buffer, encoding="utf-8", newline="\n", write_through=True)
        write_csv(text, columns)
        text.detach()
    elif suffix == ".npy":
        np.save(buffer, _records(columns))
    elif suffix == ".json":
        buffer.write(json.dumps({name: as_json(values) for name, values in columns.items()}).encode())
    else:
        arrow = _pyarrow(path)
        import pyarrow.parquet as parquet

        parquet.write_table(arrow.table(columns), buffer)
    with replacing(path) as file:
        file.write(buffer.getbuffer())


def write_csv(file: Any, columns: Columns) -> None:
    """A header, and a row for each answer; numbers as short as they can be without loss."""
    file.write(",".join(columns) + "\n")
    count = len(next(iter(columns.values())))
    for first in range(0, count, ROWS):
        cells = [values[first : first + ROWS].astype(str).tolist() for values in columns.values()]
        file.write("".join(f"{','.join(row)}\n" for row in zip(*cells, strict=True)))


def print_csv(columns: Columns) -> None:
    write_csv(sys.stdout, columns)


def as_json(values: NDArray[Any]) -> list[Any]:
    """A list in which what JSON has no number for (inf, nan) is null."""
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return list(values.tolist())
    return [value if finite else None for value, finite in zip(values.tolist(), np.isfinite(values), strict=True)]


def _records(columns: Columns) -> NDArray[Any]:
    """One array with named fields."""
    count = len(next(iter(columns.values())))
    records = np.empty(count, [(name, values.dtype) for name, values in columns.items()])
    for name, values in columns.items():
        records[name] = values
    return records


def _pyarrow(path: Path) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise ValueError(f"{path}: writing .parquet takes pyarrow; pip install pyarrow") from None
    return pyarrow
