"""glTF 2.0: how many meshes the scene places, and nothing in it that trimesh passes over.

trimesh leaves out triangle fans, instances made by an extension, a mesh on a camera's node and the second place of a
node, and takes sparse, normalized and undecoded positions for what they are not.
Source: the glTF 2.0 specification of the Khronos Group.
"""

from __future__ import annotations

import json
import re

from .contents import Told, counted

DRACO, INSTANCING = "KHR_draco_mesh_compression", "EXT_mesh_gpu_instancing"
# Extensions that change how things look and not where they are; and quantization, which only allows integers.
HARMLESS = re.compile(r"KHR_(materials|texture|lights|mesh_quantization|xmp)|EXT_(texture|lights)|" + DRACO)
TRIANGLES, STRIP, FAN = 4, 5, 6


def check_glb(data: bytes) -> Told:
    """The binary container: its size, then the JSON in its first chunk."""
    size = int.from_bytes(data[8:12], "little")
    if data[:4] != b"glTF" or len(data) < max(size, 20):
        raise ValueError(f"it is cut off, or no GLB file: it has {len(data)} bytes, and declares {size}")
    return check_gltf(data[20 : 20 + int.from_bytes(data[12:16], "little")])


def check_gltf(data: bytes) -> Told:
    """Count the primitives that the scene places."""
    tree = json.loads(data)
    meshes, nodes = tree.get("meshes", []), tree.get("nodes", [])
    needed = [name for name in tree.get("extensionsRequired", []) if not HARMLESS.match(name)]
    if any(INSTANCING in node.get("extensions", {}) for node in nodes):
        needed.append(INSTANCING)
    if needed:
        raise ValueError(f"it needs extensions that are not read: {', '.join(sorted(set(needed)))}")
    for primitive in (primitive for mesh in meshes for primitive in mesh["primitives"]):
        if primitive.get("mode", TRIANGLES) == FAN:
            raise ValueError("it has triangle fans, which are not read; export it as triangles")
        used = [primitive["attributes"]["POSITION"], *([primitive["indices"]] if "indices" in primitive else [])]
        for accessor in (tree["accessors"][index] for index in used):
            stored = "bufferView" in accessor or DRACO in primitive.get("extensions", {})
            if "sparse" in accessor or accessor.get("normalized") or not stored:
                raise ValueError("it has sparse, normalized or missing positions or indices, which are not read")
    scenes = tree.get("scenes", [])
    waiting = list(scenes[tree.get("scene", 0)].get("nodes", [])) if scenes else []
    seen: set[int] = set()
    parts = 0
    while waiting:
        index = waiting.pop()
        if index in seen:
            raise ValueError(f"node {index} has two places, or lies within itself")
        seen.add(index)
        waiting += nodes[index].get("children", [])
        if "mesh" in nodes[index]:
            modes = [primitive.get("mode", TRIANGLES) for primitive in meshes[nodes[index]["mesh"]]["primitives"]]
            parts += sum(mode in (TRIANGLES, STRIP) for mode in modes)
    if meshes and not parts:
        raise ValueError(f"it has {counted(len(meshes), 'mesh')}, but its scene places none that has triangles")
    posed = sum("skin" in nodes[index] for index in seen)
    notes = (f"read {counted(posed, 'mesh')} as modelled, not in the pose of a skeleton",) if posed else ()
    return Told(parts=parts, notes=notes)
