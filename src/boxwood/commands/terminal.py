"""How commands speak: results to standard output, everything else to standard error, bars only on a terminal."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from rich.console import Console
from rich.table import Table


def say(text: str) -> None:
    """One line on standard error."""
    print("boxwood:", " ".join(text.split()), file=sys.stderr, flush=True)


def reason_of(error: BaseException) -> str:
    """An error as one line."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{os.fspath(error.filename)}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"not enough memory: {error}".rstrip(": ")
    return " ".join(str(error).split()) or type(error).__name__


def print_json(value: Mapping[str, Any], *, indent: int | None = 2) -> None:
    """One JSON object on standard output; what JSON has no number for (inf, nan) is null."""
    print(json.dumps(_plain(value), indent=indent))


def print_table(title: str, columns: Mapping[str, str], rows: Sequence[Sequence[str]]) -> None:
    """A table on standard output; `columns` are headings and how to justify what is below."""
    table = Table(title=title, title_justify="left", title_style="bold")
    for heading, justify in columns.items():
        table.add_column(heading, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*row)
    output().print(table)


def output() -> Console:
    """Standard output; colours only on a terminal and without NO_COLOR. Long lines in files stay whole."""
    return Console(width=None if sys.stdout.isatty() else 100, highlight=False)


class Bar(Protocol):
    """Shows how much is done, and what is being done if that is said."""

    def __call__(self, done: int, total: int, label: str = "", /) -> object: ...


@contextmanager
def bar(title: str) -> Iterator[Bar | None]:
    """A progress bar while the block runs, or None where standard error is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(title, total=None)

        def show(done: int, total: int, label: str = "") -> None:
            bars.update(task, completed=done, total=total, description=f"{title} {label}".rstrip())

        yield show


def _plain(value: Any) -> Any:
    """Numbers, lists and mappings as JSON has them."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
