"""The picture that `boxwood collide` makes: everything in one view, and beside it up to three places from near by."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..mesh import Mesh
from ..rendering.spots import (
    FIRST,
    FIRST_MEETS,
    PLAIN,
    SECOND,
    SECOND_MEETS,
    Spots,
    clearest_view,
    draw_ring,
    draw_spots,
    write,
)
from .terminal import Bar

Floats = NDArray[np.float64]

CLOSE_UPS = 3
ROOM = 1.7  # of what is around a place in a close-up, in parts of its size
ALL_OF_IT = 0.4  # from this size on, in parts of what there is, a place is shown with everything around it
LEAST = 0.06  # the size of a close-up, in parts of what it shows


class Place(NamedTuple):
    """Where meshes meet: which of them, the faces of each, and what the faces have in common (m, 2, 3)."""

    title: str
    faces: Mapping[int, NDArray[np.int64]]
    lines: Floats
    points: Floats  # (n, 3): what has to be in view


def contact_picture(
    meshes: Sequence[Mesh],
    places: Sequence[Place],
    size: tuple[int, int],
    up: Sequence[float],
    threads: int | None,
    progress: Bar | None,
) -> NDArray[np.uint8]:
    """(height, width, 3): all meshes, and from near by the first few places, each with its meshes alone."""
    width, height = size
    upward = np.array(up)
    whole = spots_of(meshes, range(len(meshes)), places)
    points = np.concatenate([np.empty((0, 3)), *(place.points for place in places)])
    near = [place for place in places[:CLOSE_UPS] if len(places) > 1 or small(place, whole.mesh)]
    main = width * 2 // 3 if near else width
    camera = clearest_view(whole.mesh, points, whole.mesh, main / height, upward)
    image = np.zeros((height, width, 3), np.uint8)
    overview = draw_spots(whole, camera, main, height, threads).image
    rings = [draw_ring(overview, camera, place.points) for place in near]
    for number, ring in enumerate(rings):
        if ring is not None and len(rings) > 1:
            x, y, radius = ring
            away, turn = radius + height / 45, number * np.pi / 3  # so that names of rings in one place stand apart
            name = str(number + 1)
            write(overview, x + away * np.cos(turn), y - away * np.sin(turn), name, max(height // 40, 12), "mm")
    image[:, :main] = overview
    for number, place in enumerate(near):
        if progress is not None:
            progress(number + 1, len(near) + 1)
        top, bottom = height * number // len(near), height * (number + 1) // len(near)
        tile = close_up(meshes, place, width - main - 2, bottom - top - 2 * (number > 0), upward, threads)
        text = max(height // 45, 11)
        title = place.title if len(near) == 1 else f"{number + 1}  {place.title}"
        write(tile, text * 0.7, text * 0.7, title, text, "lt")
        image[bottom - len(tile) : bottom, main + 2 :] = tile
    return image


def close_up(
    meshes: Sequence[Mesh], place: Place, width: int, height: int, up: Floats, threads: int | None
) -> NDArray[np.uint8]:
    spots = spots_of(meshes, place.faces, [place])
    lower, upper = place.points.min(axis=0), place.points.max(axis=0)
    all_of_it = math.hypot(*np.subtract(*spots.mesh.bounds))
    extent = float((upper - lower).max())
    half, middle = max(ROOM * extent, LEAST * all_of_it) / 2, (lower + upper) / 2
    in_view = spots.mesh if extent > ALL_OF_IT * all_of_it else [middle - half, middle + half]
    camera = clearest_view(spots.mesh, place.points, in_view, width / height, up)
    return draw_spots(spots, camera, width, height, threads).image


def spots_of(meshes: Sequence[Mesh], which: Iterable[int], places: Sequence[Place]) -> Spots:
    """The meshes as one: of two that meet each has its colour; of one alone only the faces that meet have."""
    colors: dict[int, int] = {}
    marks: dict[int, int] = {}
    for place in places:
        for turn, number in enumerate(place.faces):
            if len(place.faces) > 1:
                colors.setdefault(number, (FIRST, SECOND)[turn])
            marks[number] = FIRST_MEETS if colors.get(number) == FIRST else SECOND_MEETS
    vertices, faces, kinds, start = [], [], [], 0
    for number in which:
        mesh = meshes[number]
        kind = np.full(len(mesh), colors.get(number, PLAIN), np.int8)
        for place in places:
            if number in place.faces:
                kind[place.faces[number]] = marks[number]
        vertices.append(mesh.vertices.astype(np.float64))
        faces.append(mesh.faces + start)
        kinds.append(kind)
        start += len(mesh.vertices)
    whole = Mesh(np.concatenate(vertices), np.concatenate(faces), copy=False)
    lines = np.concatenate([np.empty((0, 2, 3)), *(place.lines for place in places)])
    return Spots(whole, np.concatenate(kinds), lines)


def small(place: Place, mesh: Mesh) -> bool:
    """Whether there is more to be seen of a place from near by."""
    return math.hypot(*np.ptp(place.points, axis=0)) < 0.3 * math.hypot(*np.subtract(*mesh.bounds))


def crowded(lines: Floats, mesh: Mesh) -> list[NDArray[np.int64]]:
    """Rows of the lines that lie together, the most first: cells of a grid over the mesh, with their neighbours.

    The last group, after as many as there are close-ups, is of all the others.
    """
    middles = lines.mean(axis=1)
    lower, upper = mesh.bounds.astype(np.float64)
    cells = np.floor((middles - lower) / (float((upper - lower).max()) / 24 or 1.0)).astype(np.int64)
    groups: list[NDArray[np.int64]] = []
    free = np.ones(len(lines), bool)
    while free.any() and len(groups) < CLOSE_UPS:
        names, counts = np.unique(cells[free], axis=0, return_counts=True)
        middle = names[np.argmax(counts)]
        around = free & (np.abs(cells - middle) <= 1).all(axis=1)
        groups.append(np.flatnonzero(around))
        free &= ~around
    return [*groups, np.flatnonzero(free)] if free.any() else groups
