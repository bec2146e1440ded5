"""boxwood: spatial questions about meshes, boxes and points, answered by bounding volume hierarchies."""

from __future__ import annotations

import importlib

from .boxes import BoxTree
from .exact import orient2d, orient3d, triangle_relations
from .loading import Part, as_mesh, load, load_scene
from .mesh import Mesh
from .relations import Intersections, Relation, TriangleRelations
from .rendering import Camera, Picture, render
from .results import AllHits, Counters, Hits, Nearest, Ragged
from .scene import Scene
from .scene_results import AllSceneHits, Collisions, SceneHits

__version__ = "0.1.0"

__all__ = [
    "AllHits",
    "AllSceneHits",
    "BoxTree",
    "Camera",
    "Collisions",
    "Counters",
    "Hits",
    "Intersections",
    "Mesh",
    "Nearest",
    "Part",
    "Picture",
    "Ragged",
    "Relation",
    "Scene",
    "SceneHits",
    "TriangleRelations",
    "__version__",
    "as_mesh",
    "load",
    "load_scene",
    "orient2d",
    "orient3d",
    "render",
    "triangle_relations",
]


def __getattr__(name: str) -> object:
    """`boxwood.index` is imported when it is first used."""
    if name == "index":
        return importlib.import_module(".index", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
