"""`boxwood render`: a picture of a mesh."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .._arrays import one_of
from ..mesh import Mesh
from ..rendering import Camera, Picture, render
from ..rendering.camera import check_distance, check_size
from ..rendering.modes import MODES
from ..rendering.picture import format_of
from ..rendering.render import SAMPLES
from .arguments import AXES, choice, direction, levels, numbers, read, size, writable
from .compiling import builders, compile_all, pictures
from .terminal import bar, print_json, print_table, say


def render_command(
    mesh: Annotated[Path, typer.Argument(metavar="MESH", help="A file in a format that trimesh reads.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A .png or .jpg file.", show_default="MESH-MODE.png")
    ] = None,
    mode: Annotated[str, typer.Option(help=f"One of {', '.join(MODES)}.")] = "shaded",
    size_text: Annotated[str, typer.Option("--size", help="Width and height in pixels.")] = "1024x768",
    camera: Annotated[
        str | None, typer.Option(help="Azimuth and elevation in degrees: where from to look at the whole mesh.")
    ] = None,
    eye: Annotated[str | None, typer.Option(help="Where to look from, x,y,z; needs --target.")] = None,
    target: Annotated[str | None, typer.Option(help="What to look at, x,y,z.")] = None,
    up: Annotated[str, typer.Option(help="The axis that is upward: x, y or z.")] = "z",
    samples: Annotated[int, typer.Option(help="Rays in a pixel: 1, 4 or 9.")] = 4,
    shadows: Annotated[bool, typer.Option(help="Whether the light casts shadows.")] = True,
    ambient: Annotated[bool, typer.Option(help="Darken hollows that see little of the sky.")] = False,
    levels_text: Annotated[
        str | None, typer.Option("--levels", help="Of the tree, for mode boxes: 3,4.", show_default=False)
    ] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Compare hits with brute force; 1 if any differ.")] = False,
    dtype: Annotated[str, typer.Option(help="float64, or float32 for speed.")] = "float64",
    threads: Annotated[int | None, typer.Option(min=1, help="How many at once.", show_default="all")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> int:
    """Take a picture of a mesh, and tell where the time went."""
    width, height = check_size(*size("--size", size_text))
    chosen_levels = levels("--levels", levels_text)
    one_of("samples", samples, SAMPLES)
    mode = choice("--mode", mode, tuple(MODES))
    path = output or Path(f"{mesh.name.split('.')[0]}-{mode}.png")
    format_of(path)
    writable(path)
    whole = read(mesh, dtype)
    try:
        check_distance(whole.bounds)
    except ValueError as error:
        raise ValueError(f"{mesh}: {error}") from None
    view = view_of(whole, mode, width / height, camera, eye, target, up)
    compile_all([*builders(dtype), *pictures(dtype, [mode], ambient=ambient)])
    with bar("rendering") as progress:
        picture = render(
            whole, width, height, view, mode, shadows=shadows, ambient=ambient, samples=samples,  # type: ignore[arg-type]
            levels=chosen_levels, verify=verify, threads=threads, progress=progress,
        )  # fmt: skip
    picture.save(path)
    found = {"picture": str(path), "width": width, "height": height, "mode": mode, **summary(picture)}
    if as_json:
        print_json(found)
    else:
        tell(picture, path)
    if picture.differing:
        say(f"{picture.differing} of {picture.verified} camera rays differ from brute force")
        return 1
    return 0


def view_of(
    mesh: Mesh, mode: str, aspect: float, camera: str | None, eye: str | None, target: str | None, up: str
) -> Camera:
    """The camera that the options describe."""
    upward = AXES[choice("--up", up, tuple(AXES))]
    if (eye is None) != (target is None):
        raise ValueError("--eye and --target go together")
    if eye is not None and target is not None:
        if camera is not None:
            raise ValueError("give --camera, or --eye and --target, not both")
        return Camera(numbers("--eye", eye, 3), numbers("--target", target, 3), upward)  # type: ignore[arg-type]
    along = direction("--camera", camera or "-54,23", upward)
    return Camera.fit(mesh.bounds if mode in ("boxes", "heat") else mesh, along, aspect=aspect, up=upward)


def summary(picture: Picture) -> dict[str, Any]:
    """What a picture took."""
    counters = picture.counters
    found = {
        "seconds": picture.seconds,
        "shares": picture.shares(),
        "rays": picture.rays,
        "boxes_per_ray": counters.boxes_per_query,
        "triangles_per_ray": counters.primitives_per_query,
    }
    if picture.verified is not None:
        found |= {"verified": picture.verified, "differing": picture.differing}
    return found


def tell(picture: Picture, path: Path) -> None:
    shares = picture.shares()
    rows = []
    for phase, seconds in picture.seconds.items():
        count = picture.rays.get(phase, 0)
        rate = f"{count / seconds / 1e6:.1f}" if count and seconds else ""
        rows.append((phase, f"{seconds:.3f}", f"{100 * shares[phase]:.1f} %", f"{count:,}" if count else "", rate))
    columns = {"": "left", "seconds": "right", "share": "right", "rays": "right", "million/s": "right"}
    print_table(f"{picture.width} x {picture.height} pixels: {path}", columns, rows)
    if picture.verified is not None:
        agree = picture.verified - (picture.differing or 0)
        print(f"brute force over all triangles agrees on {agree:,} of {picture.verified:,} camera rays")
