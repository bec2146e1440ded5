"""What `boxwood collide` finds: boxes leave few pairs of parts, and exact contacts of their faces decide.

Parts are placed in the world first, so that a contact, a depth and a picture are all in the coordinates of the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..boxes import BoxTree
from ..interop import in_world
from ..loading import Part, load_scene
from ..mesh import Mesh
from ..relations import Intersections, Relation
from ..rendering.camera import check_distance
from .contact_pictures import Place, crowded
from .terminal import Bar

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

KINDS = {"crossing": Relation.CROSS, "touching": Relation.TOUCH, "coplanar": Relation.COPLANAR}
RELATIONS = ("touching", "crossing", "inside")  # "contains" is the last of them the other way round


class Piece(NamedTuple):
    """A part of a file, where it is in the world."""

    file: str
    name: str
    mesh: Mesh
    label: str  # by which people are told of it


class Clash(NamedTuple):
    """Two pieces that meet; `relation` is that of the first to the second."""

    first: int
    second: int
    relation: str
    contacts: Intersections
    overlap: Floats  # (2, 3): what both bounding boxes have in common
    depth: float  # its smallest extent


class Report(NamedTuple):
    """What is told of the answer: for machines, for people, in a picture, in a file of faces."""

    found: dict[str, Any]
    bad: bool
    tables: Sequence[tuple[str, Mapping[str, str], Sequence[tuple[str, ...]]]]
    lines: list[str]
    places: list[Place]
    faces: dict[int, Ids]  # of each piece, those that meet


def pieces_of(paths: Sequence[Path], *, once: bool = False) -> list[Piece]:
    """All parts of all files; `once` leaves out those of the same geometry as one before."""
    pieces = []
    for path in paths:
        parts = parts_of(path)
        if once:
            parts = list({id(part.mesh): part for part in reversed(parts)}.values())[::-1]
        for part in parts:
            if len(parts) == 1:
                label = path.name
            else:
                label = part.name if len(paths) == 1 else f"{path.name}:{part.name}"
            pieces.append(Piece(str(path), part.name, placed(path, part), label))
    return pieces


def parts_of(path: Path) -> list[Part]:
    parts = [part for part in load_scene(path) if len(part.mesh)]
    if not parts:
        raise ValueError(f"{path} has no faces")
    return parts


@contextmanager
def naming(*pieces: Piece) -> Iterator[None]:
    """What goes wrong is of these pieces, and says so."""
    try:
        yield
    except ValueError as error:
        names = " and ".join(f"{piece.file}, part {piece.name!r}" for piece in pieces)
        raise ValueError(f"{names}: {error}") from None


def check_in_sight(pieces: Sequence[Piece]) -> None:
    """ValueError for the first piece too far away to be in a picture."""
    for piece in pieces:
        with naming(piece):
            check_distance(piece.mesh.bounds)


def placed(path: Path, part: Part) -> Mesh:
    if np.array_equal(part.transform, np.eye(4)):
        return part.mesh
    try:
        return Mesh(*in_world([(part.name, part.mesh.vertices, part.mesh.faces, part.transform)]), copy=False)
    except ValueError as error:  # what overflows where it is placed
        raise ValueError(f"cannot read {path}: {error}, in part {part.name!r} in world space") from None


# Parts with each other


def clashes(
    pieces: Sequence[Piece],
    tolerance: float,
    min_depth: float,
    allowed: set[str],
    threads: int | None,
    progress: Bar | None,
) -> Report:
    """All pairs that meet, the deepest first."""
    pairs = candidates(pieces, tolerance, threads)
    every = []
    for done, (first, second) in enumerate(pairs.tolist()):
        if progress is not None:
            progress(done, len(pairs))
        with naming(pieces[first], pieces[second]):
            clash = meeting(pieces, first, second, tolerance, min_depth, threads)
        if clash is not None:
            every.append(clash)
    told = [clash for clash in every if kind_of(clash) not in allowed]
    told.sort(key=lambda clash: -clash.depth)
    left_out = Counter(kind_of(clash) for clash in every if kind_of(clash) in allowed)
    found = {
        "pairs": len(pieces) * (len(pieces) - 1) // 2,
        "pairs_of_boxes": len(pairs),
        "clashes": [clash_told(pieces, clash) for clash in told],
        "allowed": dict(left_out),
    }
    columns = {"part": "left", "": "left", "and part": "left"} | dict.fromkeys([*KINDS, "depth"], "right")
    rows = [
        (
            pieces[clash.first].label,
            clash.relation,
            pieces[clash.second].label,
            *(f"{number:,}" for number in numbers_by_kind(clash.contacts).values()),
            f"{clash.depth:.4g}",
        )
        for clash in told
    ]
    told_of = f"{len(told):,} {'clash' if len(told) == 1 else 'clashes'}"
    aside = "".join(f"; {number:,} {kind}, which is allowed" for kind, number in sorted(left_out.items()))
    line = f"{told_of} among {len(pieces):,} parts ({len(pairs):,} pairs of boxes overlap){aside}"
    tables = [("parts that meet, pairs of faces by kind, and how deep their boxes overlap", columns, rows)]
    return Report(found, bool(told), tables, [line], places_of(pieces, told), concerned(pieces, told))


def candidates(pieces: Sequence[Piece], tolerance: float, threads: int | None) -> Ids:
    """Pairs of pieces whose boxes come within the tolerance."""
    bounds, largest = np.array([piece.mesh.bounds for piece in pieces], np.float64), np.finfo(np.float64).max
    with np.errstate(over="ignore"):
        lower, upper = np.maximum(bounds[:, 0] - tolerance, -largest), np.minimum(bounds[:, 1] + tolerance, largest)
    return BoxTree(lower, upper).pairs(threads=threads)


def meeting(
    pieces: Sequence[Piece], first: int, second: int, tolerance: float, min_depth: float, threads: int | None
) -> Clash | None:
    """How two pieces meet, if they do."""
    one, other = pieces[first].mesh, pieces[second].mesh
    relation = str(one.relation(other, threads=threads))
    contacts = one.intersections(other, tolerance=tolerance, threads=threads)
    if relation == "disjoint" and not len(contacts):
        return None
    bounds = np.stack([one.bounds, other.bounds]).astype(np.float64)
    overlap = np.stack([bounds[:, 0].max(axis=0), bounds[:, 1].min(axis=0)])
    depth = max(float((overlap[1] - overlap[0]).min()), 0.0)
    if relation == "disjoint" or (relation == "crossing" and depth < min_depth):
        relation = "touching"
    return Clash(first, second, relation, contacts, overlap, depth)


def kind_of(clash: Clash) -> str:
    return "inside" if clash.relation == "contains" else clash.relation


def clash_told(pieces: Sequence[Piece], clash: Clash) -> dict[str, Any]:
    names = [{"file": piece.file, "part": piece.name} for piece in (pieces[clash.first], pieces[clash.second])]
    return {
        "first": {**names[0], "number": clash.first},
        "second": {**names[1], "number": clash.second},
        "relation": clash.relation,
        "depth": clash.depth,
        "overlap": clash.overlap,
        "numbers": numbers_by_kind(clash.contacts),
        **pairs_told(clash.contacts),
    }


def numbers_by_kind(contacts: Intersections) -> dict[str, int]:
    """How many pairs of faces cross, touch, or overlap in their plane."""
    return {name: int(np.count_nonzero(contacts.relations == kind)) for name, kind in KINDS.items()}


def pairs_told(contacts: Intersections) -> dict[str, Any]:
    """Every pair of faces, for machines."""
    return {"faces": contacts.pairs, "kinds": kinds_of(contacts), "segments": contacts.segments}


def kinds_of(contacts: Intersections) -> list[str]:
    names = {int(kind): name for name, kind in KINDS.items()}
    return [names[kind] for kind in contacts.relations.tolist()]


def concerned(pieces: Sequence[Piece], told: Sequence[Clash]) -> dict[int, Ids]:
    """The faces of each piece that meet another; all of a piece that is inside of another."""
    faces: dict[int, list[Ids]] = {}
    for clash in told:
        for piece, some in faces_of(pieces, clash).items():
            faces.setdefault(piece, []).append(some)
    return {piece: np.unique(np.concatenate(some)) for piece, some in sorted(faces.items())}


def faces_of(pieces: Sequence[Piece], clash: Clash) -> dict[int, Ids]:
    faces = {clash.first: clash.contacts.pairs[:, 0], clash.second: clash.contacts.pairs[:, 1]}
    if kind_of(clash) == "inside":
        inner = clash.first if clash.relation == "inside" else clash.second
        faces[inner] = np.arange(len(pieces[inner].mesh))
    return {piece: np.unique(some) for piece, some in faces.items()}


def places_of(pieces: Sequence[Piece], told: Sequence[Clash]) -> list[Place]:
    """For the picture: where the surfaces meet; of a piece that is inside of another, all of it."""
    places = []
    for clash in told:
        points = clash.contacts.segments.reshape(-1, 3).astype(np.float64)
        if kind_of(clash) == "inside":
            inner = pieces[clash.first if clash.relation == "inside" else clash.second].mesh
            points = np.concatenate([points, inner.vertices[inner.faces].reshape(-1, 3)])
        lines = clash.contacts.segments.astype(np.float64)
        title = f"{pieces[clash.first].label} {clash.relation} {pieces[clash.second].label}"
        places.append(Place(title, faces_of(pieces, clash), lines, points))
    return places


# A mesh with itself


def own_contacts(pieces: Sequence[Piece], allowed: set[str], threads: int | None, progress: Bar | None) -> Report:
    """Where each piece meets itself."""
    allowed_codes = [int(KINDS[kind]) for kind in allowed]
    found: list[dict[str, Any]] = []
    summary: list[tuple[str, ...]] = []
    first_few: list[tuple[str, ...]] = []
    places: list[Place] = []
    faces: dict[int, Ids] = {}
    left_out = 0
    for number, piece in enumerate(pieces):
        if progress is not None:
            progress(number, len(pieces))
        with naming(piece):
            contacts = piece.mesh.self_intersections(threads=threads)
        kinds = numbers_by_kind(contacts)
        bad = ~np.isin(contacts.relations, allowed_codes)
        left_out += int(np.count_nonzero(~bad))
        told = Intersections(contacts.pairs[bad], contacts.relations[bad], contacts.segments[bad])
        names = {"file": piece.file, "part": piece.name}
        found.append({**names, "numbers": kinds, **pairs_told(told)})
        summary.append((piece.label, f"{len(piece.mesh):,}", *(f"{count:,}" for count in kinds.values())))
        for pair, kind, at in zip(told.pairs, kinds_of(told), told.segments.mean(axis=1), strict=True):
            where = "  ".join(f"{value:.6g}" for value in at)
            first_few.append((piece.label, f"{pair[0]:,}", kind, f"{pair[1]:,}", where))
        if len(told):
            faces[number] = np.unique(told.pairs)
            lines = told.segments.astype(np.float64)
            for rows in crowded(lines, piece.mesh):
                some = np.unique(told.pairs[rows])
                title = f"{piece.label}: {len(rows):,} {'pair' if len(rows) == 1 else 'pairs'}"
                places.append(Place(title, {number: some}, lines[rows], lines[rows].reshape(-1, 3)))
    columns = {"mesh": "left"} | dict.fromkeys(["faces", *KINDS], "right")
    of_pairs = {"mesh": "left", "face": "right", "": "left", "and face": "right", "at": "left"}
    tables = [("pairs of faces that meet", columns, summary), ("where", of_pairs, first_few)]
    line = f"{len(first_few):,} pairs of faces meet" + (f"; {left_out:,} more do, which is allowed" if left_out else "")
    return Report({"meshes": found}, bool(first_few), tables, [line], places, faces)
