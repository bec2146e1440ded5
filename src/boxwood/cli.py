"""The command `boxwood`.

Each subcommand is a file in `commands`; here is what they share: whatever a user gives that cannot be used ends with
one line on standard error and exit code 2, an interruption with 130, and a reader that went away with silence.
"""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import typer

from . import __version__
from .commands.bench import structures
from .commands.collide import collide
from .commands.demo import demo
from .commands.info import info
from .commands.rays import rays
from .commands.render import render_command
from .commands.terminal import reason_of, say
from .commands.warm import warm

app = typer.Typer(
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Spatial questions about meshes: what rays hit, and pictures of it.",
)


def guarded(command: Callable[..., int | None]) -> Callable[..., int]:
    """A command that ends with a line and an exit code where it would end with a traceback."""

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> int:
        try:
            code = command(*arguments, **options) or 0
            sys.stdout.flush()
        except KeyboardInterrupt:
            say("interrupted")
            return 130
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that the last flush finds a reader
            return 0
        except (ValueError, OSError, MemoryError) as error:
            say(reason_of(error))
            return 2
        return code

    return run


for _name, _command in (
    ("collide", collide),
    ("demo", demo),
    ("info", info),
    ("rays", rays),
    ("render", render_command),
    ("warm", warm),
):
    app.command(_name)(guarded(_command))

bench = typer.Typer(help="Measure boxwood on this machine.", no_args_is_help=True)
bench.command("structures")(guarded(structures))
app.add_typer(bench, name="bench")


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context, version: bool = typer.Option(False, "--version", help="Print the version and end.")
) -> None:
    if version:
        print(__version__)
    elif context.invoked_subcommand is None:
        print(context.get_help())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    command = typer.main.get_command(app)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = lambda message, *_, **__: say(f"warning: {message}")
            code = command.main(arguments, "boxwood", standalone_mode=False)
    except KeyboardInterrupt:
        say("interrupted")
        code = 130
    except typer.Abort:
        code = 130
    except Exception as error:
        if not hasattr(error, "format_message"):  # of the command line itself, whichever click typer brings
            raise
        say(error.format_message())
        code = 2
    sys.exit(code or 0)
