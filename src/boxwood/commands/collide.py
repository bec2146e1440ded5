"""`boxwood collide`: which parts of files meet, and where a mesh meets itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ..rendering import Picture
from ..rendering.camera import check_size
from ..rendering.picture import format_of
from ..results import Counters
from .arguments import AXES, choice, size, writable
from .clashes import KINDS, RELATIONS, Report, check_in_sight, clashes, own_contacts, pieces_of
from .compiling import builders, collisions, compile_all, pictures
from .contact_pictures import contact_picture
from .face_files import check_ply, write_faces
from .terminal import bar, print_json, print_table


def collide(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="In formats that trimesh reads, or saved by boxwood.", show_default=False
        ),
    ],
    itself: Annotated[bool, typer.Option("--self", help="Tell where each mesh meets itself, instead.")] = False,
    tolerance: Annotated[
        float, typer.Option(help="Faces no farther apart than this, in the unit of the files, touch.")
    ] = 0.0,
    min_depth: Annotated[
        float, typer.Option(help="Parts that cross where their boxes overlap by less than this count as touching.")
    ] = 0.0,
    allow: Annotated[
        str,
        typer.Option(
            help="What is no clash: touching, crossing, inside (with --self: touching, crossing, coplanar), several of"
            " them separated by commas, or none."
        ),
    ] = "touching",
    top: Annotated[int, typer.Option(min=0, help="How many are listed.")] = 20,
    picture: Annotated[
        Path | None, typer.Option(help="A .png or .jpg file, of where they meet.", show_default=False)
    ] = None,
    size_text: Annotated[str, typer.Option("--size", help="Width and height of the picture.")] = "1200x800",
    up: Annotated[str, typer.Option(help="The axis that is upward in the picture: x, y or z.")] = "z",
    ply: Annotated[Path | None, typer.Option(help="A .ply file, of the faces that meet.", show_default=False)] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="How many at once.", show_default="all")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For machines, with every pair of faces.")] = False,
) -> int:
    """Find the parts that meet, of one file or of several; exit code 1 if any do that are not allowed to."""
    allowed = allowed_of(allow, tuple(KINDS) if itself else RELATIONS)
    for option, value in (("--tolerance", tolerance), ("--min-depth", min_depth)):
        if not 0 <= value < math.inf:
            raise ValueError(f"{option} must be a finite distance and not negative, not {value}")
        if itself and value:
            raise ValueError(f"{option} and --self exclude each other")
    upward = AXES[choice("--up", up, tuple(AXES))]
    shape = check_size(*size("--size", size_text))
    if picture is not None:
        format_of(picture)
        writable(picture)
    if ply is not None:
        check_ply(ply)
        writable(ply)
    pieces = pieces_of(files, once=itself)
    if len(pieces) == 1 and not itself:
        raise ValueError(f"{files[0]} has one part only, which meets no other; --self tells where it meets itself")
    if picture is not None:
        check_in_sight(pieces)
    compile_all([*builders("float64"), *collisions(itself), *(pictures("float64", ["boxes"]) if picture else [])])
    with bar("looking") as progress:
        if itself:
            report = own_contacts(pieces, allowed, threads, progress)
        else:
            report = clashes(pieces, tolerance, min_depth, allowed, threads, progress)
    found = {"files": [str(path) for path in files], "parts": len(pieces), **report.found}
    meshes = [piece.mesh for piece in pieces]
    if picture is not None:
        with bar("rendering") as progress:
            image = contact_picture(meshes, report.places, shape, upward, threads, progress)
        Picture(image, Counters(), {}, {}).save(picture)
        found["picture"] = str(picture)
    if ply is not None:
        found["ply"] = {"path": str(ply), "faces": write_faces(ply, meshes, report.faces)}
    if as_json:
        print_json(found, indent=None)
    else:
        tell(report, top)
        for path in (picture, ply):
            if path is not None:
                print(f"written to {path}")
    return int(report.bad)


def allowed_of(text: str, choices: Sequence[str]) -> set[str]:
    """The words of --allow."""
    if text.strip() == "none":
        return set()
    return {choice("--allow", word.strip(), (*choices, "none")) for word in text.split(",")}


def tell(report: Report, top: int) -> None:
    for title, columns, rows in report.tables:
        if rows[:top]:
            print_table(title, columns, rows[:top])
        if top < len(rows):
            print(f"and {len(rows) - top:,} more; --top says how many are listed")
    for line in report.lines:
        print(line)
