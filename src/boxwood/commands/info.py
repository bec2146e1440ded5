"""`boxwood info`: what a mesh is, and what its tree is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ..loading import Part, load_scene
from ..mesh import Mesh
from .arguments import read
from .compiling import builders, compile_all
from .terminal import bar, print_json, print_table


def info(
    mesh: Annotated[Path, typer.Argument(metavar="MESH", help="A file in a format that trimesh reads.")],
    parts: Annotated[bool, typer.Option("--parts", help="List the parts and where each is placed.")] = False,
    dtype: Annotated[str, typer.Option(help="float64 or float32.")] = "float64",
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Tell what is in a file, and what the tree over it is like."""
    whole = read(mesh, dtype)
    compile_all(builders(dtype))  # not to be taken for the time to build
    with bar("building") as progress:
        whole.build(progress=progress)
    known, of_tree = facts(whole), tree_facts(whole)
    found: dict[str, Any] = {"file": str(mesh), **known, "tree": of_tree}
    if parts:
        found["parts"] = [part_facts(part) for part in load_scene(mesh)]
    if as_json:
        print_json(found)
        return
    print_table(str(mesh), {"": "left", "mesh": "left"}, [(name, told(value)) for name, value in known.items()])
    print_table("", {"": "left", "tree": "left"}, [(name, told(value)) for name, value in of_tree.items()])
    if parts:
        rows = [
            (part["name"], told(part["faces"]), told(part["vertices"]), told(part["translation"]), part["placed"])
            for part in found["parts"]
        ]
        columns = {"part": "left", "faces": "right", "vertices": "right", "at": "left", "placed": "left"}
        print_table("", columns, rows)


def facts(mesh: Mesh) -> dict[str, Any]:
    """Of the mesh itself. The volume is signed, and means something where the mesh is closed."""
    lower, upper = mesh.bounds.astype(np.float64)
    area, volume = area_and_volume(mesh)
    return {
        "faces": len(mesh),
        "vertices": len(mesh.vertices),
        "degenerate faces": mesh.tree.degenerate,
        "dtype": str(mesh.dtype),
        "lower": lower,
        "upper": upper,
        "size": upper - lower,
        "area": area,
        "volume": volume,
    }


def area_and_volume(mesh: Mesh) -> tuple[float, float]:
    """In float64, from the middle of the bounds so that little cancels."""
    middle = mesh.bounds.astype(np.float64).mean(axis=0)
    area = volume = 0.0
    step = 1 << 20
    for first in range(0, len(mesh), step):
        corners = mesh.vertices[mesh.faces[first : first + step]].astype(np.float64) - middle
        across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        area += float(np.linalg.norm(across, axis=1).sum()) / 2
        volume += float(np.einsum("ij,ij->", corners[:, 0], across)) / 6
    return area, volume


def tree_facts(mesh: Mesh) -> dict[str, Any]:
    """Of the tree."""
    tree = mesh.statistics()
    return {
        "builder": tree.builder,
        "nodes": tree.nodes,
        "leaves": tree.leaves,
        "depth": tree.depth,
        "SAH cost": tree.sah_cost,
        "bytes": tree.bytes,
        "bytes per face": tree.bytes / max(len(mesh), 1),
        "build seconds": tree.build_seconds,
    }


def part_facts(part: Part) -> dict[str, Any]:
    moved = not np.array_equal(part.transform[:3, :3], np.eye(3))
    return {
        "name": part.name,
        "faces": len(part.mesh),
        "vertices": len(part.mesh.vertices),
        "translation": part.transform[:3, 3],
        "placed": "turned or scaled" if moved else "as it is",
        "transform": part.transform,
    }


def told(value: Any) -> str:
    """A value for people."""
    if isinstance(value, np.ndarray):
        return "  ".join(f"{float(number):.6g}" for number in value)
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
