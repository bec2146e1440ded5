"""What the bytes of a mesh file say, one file per format, where trimesh would lose some of it without a word.

A check counts what the file declares, for comparison with what trimesh makes of it, and refuses what is cut off or
beyond trimesh. OBJ and OFF are read here: a scanner that notices all that trimesh mistakes has parsed the file already.
Sources: the formats' specifications, and trimesh 5.2 (`trimesh/exchange`) tried on damaged files.
"""

from __future__ import annotations

from collections.abc import Callable

from .archives import check_3dxml, check_3mf
from .contents import Surface, Told
from .dae import check_dae
from .gltf import check_glb, check_gltf
from .obj import read_obj
from .off import read_off
from .ply import check_ply
from .stl import check_stl

CHECKS: dict[str, Callable[[bytes], Told]] = {
    "stl": check_stl,
    "ply": check_ply,
    "glb": check_glb,
    "gltf": check_gltf,
    "3mf": check_3mf,
    "3dxml": check_3dxml,
    "dae": check_dae,
}
READERS: dict[str, Callable[[bytes], Surface]] = {"obj": read_obj, "off": read_off}
