"""COLLADA: what pycollada complains of and trimesh ignores, and what neither reads.

A geometry with one fault in it is left out as a whole, and so are skins and polygons with holes.
Source: the COLLADA 1.4 specification of the Khronos Group.
"""

from __future__ import annotations

import io
import re

from .contents import Told, counted

UNREAD = {rb"<instance_controller\b": "skins", rb"<ph>": "polygons with holes", rb"<p>[^<]*-": "negative indices"}
LOOKS = re.compile(r"(?i)light|camera|image|sampler|surface|effect|material|shading|colou?r|anim|skin|joint|morph")


def check_dae(data: bytes) -> Told:
    """Refuse faults in the geometry; those in lights, materials and the like do no harm."""
    import collada

    for pattern, what in UNREAD.items():
        if re.search(pattern, data):
            raise ValueError(f"it has {what}, which are not read")
    complaints = [str(error) for error in collada.Collada(io.BytesIO(data), ignore=[collada.common.DaeError]).errors]
    serious = [complaint for complaint in complaints if not LOOKS.search(complaint)]
    if serious:
        raise ValueError(f"it has {counted(len(serious), 'fault')} in its geometry, the first: {serious[0]}")
    return Told()
