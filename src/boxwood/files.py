"""Reads meshes from files: trimesh reads, and what it would lose without a word is noticed.

The file's own counts (`formats`) are held against what trimesh returns, and warnings that trimesh only logs count as
failures, so that a mesh that loads is the mesh in the file; what may be wrong all the same is said by a Python warning.
Source: the trimesh documentation, `trimesh.load_scene`.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import logging
import os
import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ._arrays import vertices_and_faces
from .formats import CHECKS, READERS
from .formats.contents import Surface, Told, counted, folded
from .interop import Arrays, Part, in_world, scene_parts

StrPath: TypeAlias = str | os.PathLike[str]

KNOWN = "stl obj ply off glb gltf 3mf dae 3dxml xaml stp step".split()
UNUSED = "visual face_normals vertex_normals face_colors vertex_colors face_attributes vertex_attributes".split()
LOOKS = re.compile("material|texture|image|bumpmap|shininess|normals|color|attribute|metadata")


def read_mesh(path: StrPath) -> Arrays:
    """Read all geometry of a file as one mesh in world space.

    Parameters
    ----------
    path : file in a format that trimesh reads, by its extension; `.gz` after it is unpacked.

    Returns
    -------
    vertices (n, 3) float64 and faces (m, 3) int32, read-only, in the order of the file: nothing is merged, polygons
    are cut into fans, and instances are placed, those of a mirroring transform with their winding turned.

    Raises
    ------
    OSError
        If there is no such file, or it cannot be opened.
    ValueError
        If it cannot be read whole, or has no faces, a vertex that is not finite or a face that refers to none; names
        the file and the reason.

    Warns
    -----
    UserWarning
        If faces of fewer than three corners, points or lines were left out, or a face is not convex.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.off").write_text("OFF 3 1 0\\n0 0 0\\n1 0 0\\n0 1 0\\n3 0 1 2\\n")
    ...     read_mesh(f"{folder}/a.off")[1]
    array([[0, 1, 2]], dtype=int32)
    """
    vertices, faces = in_world(_read(Path(path), split=False))
    try:
        return vertices_and_faces(vertices, faces, copy=False)
    except ValueError as error:  # what overflows where it is placed
        raise ValueError(f"cannot read {os.fspath(path)}: {error}, in world space") from None


def read_scene(path: StrPath) -> list[Part]:
    """Read a file as placed parts.

    Parameters, errors and warnings are those of `read_mesh`.

    Returns
    -------
    A list of (name, vertices, faces, transform): arrays as of `read_mesh` but in the part's own space, the same arrays
    for each instance, and a transform (4, 4) float64 from there to the world. The objects of an OBJ file are parts.
    """
    return _read(Path(path), split=True)


def _read(path: Path, *, split: bool) -> list[Part]:
    """The checked parts of a file; `split` makes parts of the objects of an OBJ file."""
    path.stat()
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    plain = Path(path.name.lower().removesuffix(".gz"))
    extension = plain.suffix.removeprefix(".")
    if extension not in KNOWN:
        raise ValueError(f"cannot read {path}: its extension is none of {', '.join(KNOWN)}, nor one of them with .gz")
    data = path.read_bytes()
    try:
        if path.name.lower().endswith(".gz"):
            data = gzip.decompress(data)
        if not data:
            raise ValueError("it is empty")
        if extension in READERS:
            parts, notes = _surface_parts(READERS[extension](data), split=split)
        else:
            parts, notes = _trimesh_parts(data, extension, path)
    except Exception as error:
        reason = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        raise ValueError(f"cannot read {path}: {reason}") from error
    for note in notes:
        warnings.warn(f"{path}: {note}", stacklevel=4)  # who called boxwood.load
    stem = path.name[: len(plain.stem)]
    return [(stem if re.fullmatch(r"|geometry_\d+", part[0]) else part[0], *part[1:]) for part in parts]


def _surface_parts(surface: Surface, *, split: bool) -> tuple[list[Part], list[str]]:
    if not len(surface.faces):
        raise ValueError(f"it has {counted(len(surface.vertices), 'point')} but no faces")
    vertices, faces = vertices_and_faces(surface.vertices, surface.faces, copy=False)
    notes = [*surface.notes, *folded(vertices, faces, surface.polygons)]
    if not (split and surface.objects):
        return [("", vertices, faces, np.eye(4))], notes
    names, first = zip(("", 0), *surface.objects, strict=True)
    starts = np.searchsorted(surface.polygons, [*first, surface.polygons[-1] + 1])
    parts = []
    for name, start, stop in zip(names, starts[:-1], starts[1:], strict=True):
        if start < stop:
            used, corners = np.unique(faces[start:stop], return_inverse=True)
            parts.append((name, *vertices_and_faces(vertices[used], corners.reshape(-1, 3), copy=False), np.eye(4)))
    return parts, notes


def _trimesh_parts(data: bytes, extension: str, path: Path) -> tuple[list[Part], list[str]]:
    told = CHECKS[extension](data) if extension in CHECKS else Told()
    scene = _by_trimesh(told.data or data, extension, path)
    parts = scene_parts(scene)
    triangles = sum(len(faces) for _, _, faces, _ in parts)
    declared = told.triangles if told.polygons is None else len(told.polygons)
    for what, wanted, read in (
        ("triangle", declared, triangles),
        ("mesh", told.parts, len(parts)),
        ("body", told.bodies, len(scene.geometry)),
    ):
        if wanted not in (None, read):
            raise ValueError(f"it declares {counted(wanted, what)}, but {read} would be read")
    if not triangles:
        points = sum(len(geometry.vertices) for geometry in scene.geometry.values())
        raise ValueError(f"it has {counted(points, 'point')} but no faces")
    notes = list(told.notes)
    if left_out := len(scene.graph.nodes_geometry) - len(parts):
        notes.append(f"left out {counted(left_out, 'set')} of points or lines")
    if told.polygons is not None:  # in the order of the file
        ((name, vertices, faces, transform),) = parts
        order = np.argsort(told.polygons, kind="stable")
        parts = [(name, vertices, faces[order], transform)]
        polygons = told.polygons[order]
    checked = _checked_parts(parts)
    if told.polygons is not None:
        notes += folded(*checked[0][1:3], polygons)
    return checked, notes


def _checked_parts(parts: list[Part]) -> list[Part]:
    """With sound arrays, shared by all instances of a geometry, also where trimesh has copied it."""
    checked: list[Part] = []
    by_identity: dict[int, Arrays] = {}
    by_contents: dict[bytes, Arrays] = {}
    for name, vertices, faces, transform in parts:
        if not np.isfinite(transform).all():
            raise ValueError(f"part {name!r} has a transform that is not finite")
        if id(vertices) not in by_identity:
            try:
                arrays = vertices_and_faces(vertices, faces, copy=False)
            except ValueError as error:
                raise ValueError(f"{error}, in part {name!r}") from None
            digest = hashlib.blake2b(arrays[0].data)
            digest.update(arrays[1].data)
            by_identity[id(vertices)] = by_contents.setdefault(digest.digest(), arrays)
        checked.append((name, *by_identity[id(vertices)], transform))
    return checked


def _by_trimesh(data: bytes, extension: str, path: Path) -> Any:
    """A trimesh Scene of nothing but positions and faces, as they are in the file."""
    import trimesh
    from trimesh.exchange.load import mesh_loaders

    options = {
        "ply": {"skip_materials": True, "fix_texture": False},
        "glb": {"skip_materials": True, "resolver": trimesh.resolvers.FilePathResolver(str(path))},
    }
    options["gltf"] = options["glb"]
    with _complaints() as complaints:
        found = mesh_loaders[extension](io.BytesIO(data), file_type=extension, **options.get(extension, {}))
        geometries = found["geometry"].values() if "geometry" in found else [found]
        for geometry in geometries:
            for key in UNUSED:
                geometry.pop(key, None)
            geometry["process"] = False  # which would merge vertices, and drop those that are not finite
        scene = trimesh.load_scene(found)
    if complaints:
        raise ValueError("; ".join(complaints))
    return scene


@contextmanager
def _complaints() -> Iterator[list[str]]:
    """Collects what trimesh writes to its log on this thread, but of looks; unreadable numbers are an error."""
    logger, level = logging.getLogger("trimesh"), logging.getLogger("trimesh").level
    listener = _Listener()
    if not logger.isEnabledFor(logging.WARNING):
        logger.setLevel(logging.WARNING)
    logger.addHandler(listener)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "string or file could not be read", DeprecationWarning)  # NumPy before 2.3
            yield listener.complaints
    finally:
        logger.removeHandler(listener)
        logger.setLevel(level)


class _Listener(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.complaints: list[str] = []
        self.thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread == self.thread and not LOOKS.search(record.getMessage()):
            self.complaints.append(record.getMessage())
