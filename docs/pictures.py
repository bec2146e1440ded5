"""Renders the pictures of the documentation: `python docs/pictures.py`, half a minute or so."""

from __future__ import annotations

from pathlib import Path

import trimesh

import boxwood as bw
from boxwood.commands.clashes import Piece, clashes
from boxwood.commands.contact_pictures import contact_picture
from boxwood.rendering import Camera, Picture, render
from boxwood.samples import spot

FOLDER = Path(__file__).parent / "pictures"
LEVELS = 4
DIRECTION = (-0.55, 0.75, -0.4)


def save(name: str, picture: Picture) -> None:
    path = FOLDER / name
    picture.save(path)
    print(f"{path.relative_to(FOLDER.parent.parent)}: {path.stat().st_size / 1000:.0f} kB, {picture!r}")


def clashing() -> Picture:
    """A cow in a meadow of things that it should not stand in."""
    ring = trimesh.creation.torus(0.75, 0.12, major_sections=96, minor_sections=32)
    ring.apply_transform(trimesh.transformations.rotation_matrix(1.2, [1, 0, 0], [0, 0, 0]))
    ball = trimesh.creation.icosphere(4, 0.3).apply_translation([0.2, -0.55, 0.75])
    floor = trimesh.creation.box((3, 3, 0.2)).subdivide_to_size(0.1).apply_translation([0, 0.1, -0.78])
    things = {"cow": bw.Mesh(*spot(3, plinth=False))} | {
        name: bw.as_mesh(thing) for name, thing in (("ring", ring), ("ball", ball), ("floor", floor))
    }
    pieces = [Piece("", name, mesh, name) for name, mesh in things.items()]
    report = clashes(pieces, 0.0, 0.0, {"touching"}, None, None)
    image = contact_picture(list(things.values()), report.places, (1200, 800), (0, 0, 1), None, None)
    return Picture(image, bw.Counters(), {}, {})


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    mesh = bw.Mesh(*spot())
    view = Camera.fit(mesh, DIRECTION, aspect=1200 / 800)
    save("demo.png", render(mesh, 1200, 800, view, samples=9, ambient=8))

    view = Camera.fit(mesh.bounds, DIRECTION, aspect=720 / 540)
    save("heat.png", render(mesh, 720, 540, view, "heat", samples=9))
    for level in range(1, LEVELS + 1):
        save(f"level-{level}.png", render(mesh, 720, 540, view, "boxes", samples=9, ambient=8, levels=[level]))
    view = Camera.fit(mesh, DIRECTION, aspect=480 / 360)
    save("normals.png", render(mesh, 480, 360, view, "normals", samples=9))
    save("depth.png", render(mesh, 480, 360, view, "depth", samples=9))
    save("clashes.png", clashing())
    coarse = bw.Mesh(*spot(3))
    save("ids.png", render(coarse, 480, 360, view, "ids", samples=9))


if __name__ == "__main__":
    main()
