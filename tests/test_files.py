"""Reading meshes: what is in the file comes out, whole and in its order, or the reader says why not.

Each damaged or unusual file below is one that trimesh 5.2 reads otherwise, most of them without a word.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import logging
import struct
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

from boxwood.files import read_mesh, read_scene

SQUARE = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
POINTS = np.array([*SQUARE, [0, 0, 1]], float)  # the square and an apex above its first corner
HALVES = [[0, 1, 2], [0, 2, 3]]


def write(folder: Path, name: str, data: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


# --- files, each as a function of what may be wrong with it ---------------------------------------------------------


def stl(count: int | None = None, head: bytes = b"") -> bytes:
    facets = b"".join(struct.pack("<12fH", 0, 0, 1, *POINTS[list(face)].ravel(), 7) for face in HALVES)
    return head.ljust(80, b"\0") + struct.pack("<I", 2 if count is None else count) + facets


FACET = "facet normal 0 0 1\n outer loop\n  vertex 0 0 0\n  vertex 1 0 0\n  vertex 1 1 0\n endloop\nendfacet\n"
SOLID = f"solid one\n{FACET}{FACET}endsolid one\n"

V = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\n"

OFF_POINTS = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1\n"


def off(*faces: str, counts: str | None = None) -> str:
    return f"OFF\n{counts or f'5 {len(faces)} 0'}\n{OFF_POINTS}" + "".join(face + "\n" for face in faces)


def ply_header(encoding: str, faces: int, vertices: int = 5) -> str:
    return (
        f"ply\nformat {encoding} 1.0\ncomment here\nelement vertex {vertices}\nproperty float x\nproperty float y\n"
        f"property float z\nelement face {faces}\nproperty list uchar int vertex_indices\nend_header\n"
    )


def ply(*faces: str, count: int | None = None) -> str:
    return ply_header("ascii", len(faces) if count is None else count) + OFF_POINTS + "".join(f + "\n" for f in faces)


def binary_ply(*faces: list[int], order: str = "<", vertices: int = 5) -> bytes:
    header = ply_header(f"binary_{'little' if order == '<' else 'big'}_endian", len(faces), vertices)
    rows = b"".join(struct.pack(f"{order}B{len(face)}i", len(face), *face) for face in faces)
    return header.encode() + POINTS.astype(order + "f4").tobytes() + rows


def gltf(*, primitive=(), accessor=(), nodes=None, scenes=None, indices=HALVES, **more) -> tuple[dict, bytes]:
    positions, corners = POINTS.astype("<f4").tobytes(), np.array(indices, "<u4").tobytes()
    tree = {
        "asset": {"version": "2.0"},
        "nodes": [{"mesh": 0, "name": "only"}] if nodes is None else nodes,
        "scenes": [{"nodes": [0]}] if scenes is None else scenes,
        "meshes": [{"name": "m", "primitives": [{"attributes": {"POSITION": 0}, "indices": 1} | dict(primitive)]}],
        "buffers": [{"byteLength": len(positions + corners)}],
        "bufferViews": [
            {"buffer": 0, "byteLength": len(positions)},
            {"buffer": 0, "byteOffset": len(positions), "byteLength": len(corners)},
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 5, "type": "VEC3"} | dict(accessor),
            {"bufferView": 1, "componentType": 5125, "count": len(corners) // 4, "type": "SCALAR"},
        ],
    }
    return tree | more, positions + corners


def glb(**options) -> bytes:
    tree, data = gltf(**options)
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(data), b"BIN\0") + data
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def model(resources: str, build: str) -> str:
    return (
        '<model unit="millimeter" xmlns="http://schemas.microsoft.com/3dmanufacturing/core/2015/02" '
        'xmlns:p="http://schemas.microsoft.com/3dmanufacturing/production/2015/06">'
        f"<resources>{resources}</resources><build>{build}</build></model>"
    )


def body(number: int) -> str:
    points = "".join(f'<vertex x="{x}" y="{y}" z="{z}"/>' for x, y, z in SQUARE)
    faces = "".join(f'<triangle v1="{a}" v2="{b}" v3="{c}"/>' for a, b, c in HALVES)
    return f'<object id="{number}"><mesh><vertices>{points}</vertices><triangles>{faces}</triangles></mesh></object>'


def component(path: str, number: int) -> str:
    return f'<component p:path="/{path}" objectid="{number}"/>'


def packed(files: dict[str, str]) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as into:
        for name, text in files.items():
            into.writestr(name, text)
    return archive.getvalue()


def threemf(resources: str, build: str, a_model: str = "") -> bytes:
    return packed({"3D/3dmodel.model": model(resources, build)} | ({"a.model": a_model} if a_model else {}))


def assembly(*components: str) -> str:
    return f'<object id="9"><components>{"".join(components)}</components></object>'


def threedxml(second_name: str) -> bytes:
    """Two parts of one body each."""
    structure = '<ProductStructure root="1"><Reference3D id="1" name="root"/>'
    for number, name in ((2, "first"), (3, second_name)):
        structure += (
            f'<Reference3D id="{number}" name="{name}"/>'
            f'<Instance3D id="{number}0" name="i{number}"><IsAggregatedBy>1</IsAggregatedBy>'
            f"<IsInstanceOf>{number}</IsInstanceOf>"
            f"<RelativeMatrix>1 0 0 0 1 0 0 0 1 {number} 0 0</RelativeMatrix></Instance3D>"
            f'<ReferenceRep id="{number}1" format="TESSELLATED" associatedFile="urn:3DXML:rep{number}"/>'
            f'<InstanceRep id="{number}2"><IsAggregatedBy>{number}</IsAggregatedBy>'
            f"<IsInstanceOf>{number}1</IsInstanceOf></InstanceRep>"
        )
    rep = (
        '<XMLRepresentation><Rep><Faces><Face triangles="0 1 2"/></Faces><VertexBuffer><Positions>0 0 0,1 0 0,0 1 {0}'
        "</Positions><Normals>0 0 1,0 0 1,0 0 1</Normals></VertexBuffer></Rep></XMLRepresentation>"
    )
    manifest, tree = "<Manifest><Root>tree</Root></Manifest>", f"<Model>{structure}</ProductStructure></Model>"
    return packed({"Manifest.xml": manifest, "tree": tree} | {f"rep{number}": rep.format(number) for number in (2, 3)})


def dae(primitives: str, nodes: str = '<node><instance_geometry url="#g"/></node>', libraries: str = "") -> str:
    numbers = " ".join(str(number) for point in SQUARE for number in point)
    primitives = primitives.replace("<p>", '<input semantic="VERTEX" source="#v" offset="0"/><p>', 1)
    return (
        '<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset/><library_geometries>'
        f'<geometry id="g"><mesh><source id="s"><float_array id="a" count="12">{numbers}</float_array>'
        '<technique_common><accessor source="#a" count="4" stride="3"><param name="X" type="float"/>'
        '<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>'
        f'<vertices id="v"><input semantic="POSITION" source="#s"/></vertices>{primitives}</mesh></geometry>'
        f"</library_geometries>{libraries}<library_visual_scenes><visual_scene id='w'>{nodes}</visual_scene>"
        "</library_visual_scenes><scene><instance_visual_scene url='#w'/></scene></COLLADA>"
    )


DAE_HALVES = '<triangles count="2"><p>0 1 2 0 2 3</p></triangles>'
XAML = (
    '<V xmlns="http://schemas.microsoft.com/winfx/2006/xaml/presentation"><GeometryModel3D><GeometryModel3D.Geometry>'
    '<MeshGeometry3D Positions="0 0 0,1 0 0,1 1 0,0 1 0" TriangleIndices="0 1 2,0 2 3" '
    'Normals="0 0 1,0 0 1,0 0 1,0 0 1"/>'
    "</GeometryModel3D.Geometry></GeometryModel3D></V>"
)

# --- what comes out -------------------------------------------------------------------------------------------------

QUAD_AND_FIVE = [[0, 1, 4], [0, 1, 2], [0, 2, 3], [0, 1, 2], [0, 2, 3], [0, 3, 4]]  # a triangle, a quad, a pentagon
SIX = [[1, 2, 3], [1, 3, 4], [1, 4, 0], [1, 0, 1]]
READ = {
    "binary.stl": (stl(), HALVES),
    "solid in front.stl": (stl(head=b"solid box"), HALVES),
    "text.stl": (SOLID, [[0, 1, 2]] * 2),
    "CRLF.STL": (SOLID.replace("\n", "\r\n").upper(), [[0, 1, 2]] * 2),
    "two solids.stl": (SOLID * 2, [[0, 1, 2]] * 4),
    "plain.obj": (V + "f 1 2 3\nf 1 3 4\n", HALVES),
    "relative.obj": (V[:24] + "f -3 -2 -1\n" + V[24:] + "f -5 -3 -2\n", HALVES),
    "forward.obj": ("f 1 2 3\nf 1 3 4\n" + V, HALVES),
    "indented.obj": ("\t" + V.replace("\n", "\n  ") + "f\t1 2 3\n  f 1 3 4 \r\n", HALVES),
    "slashes.obj": (V + "vt 0 0\nvn 0 0 1\nf 1/1 2 3//1\nf 1/1/1 3 4\n", HALVES),
    "six numbers.obj": (V + "vt 0 0\nf 1/1 2/1 5/1\nf 1 2 3 4\nf 1 2 3 4 5\nf 2 3 4 5 1 2\n", [*QUAD_AND_FIVE, *SIX]),
    "materials.obj": (V + "usemtl b\nf 1 2 3\nusemtl a\nf 1 3 4\nusemtl b\nf 1 2 5\n", [*HALVES, [0, 1, 4]]),
    "comments.obj": ("\ufeff# v 9 9 9\n" + V + "o a # b\nf 1 2 3 # 4\nf 1 \\\n3 4\n", HALVES),
    "colors.obj": (V.replace("0\n", "0 1 0.5 0\n") + "f 1 2 3\nf 1 3 4\n", HALVES),
    "old Macintosh.obj": ((V + "f 1 2 3\nf 1 3 4\n").replace("\n", "\r"), HALVES),
    "polygons.obj": (V + "f 1 2 5\nf 1 2 3 4\nf 1 2 3 4 5\n", QUAD_AND_FIVE),
    "plain.off": (off("3 0 1 2", "3 0 2 3"), HALVES),
    "loose.off": ("# hi\nOFF 5 2 0 # counts\n\n" + OFF_POINTS + "3  0 1 2 255 0 0\n\n3 0 2 3", HALVES),
    "colors.off": (off("3 0 1 2", "3 0 2 3").replace("OFF", "COFF").replace("0\n1", "0 255 0 0 1\n1"), HALVES),
    "polygons.off": (off("3 0 1 4", "4 0 1 2 3", "5 0 1 2 3 4"), QUAD_AND_FIVE),
    "text.ply": (ply("3 0 1 2", "3 0 2 3"), HALVES),
    "blank lines.ply": (ply("", "3 0 1 2", "", "3 0 2 3", count=2), HALVES),
    "polygons.ply": (ply("5 0 1 2 3 4", "4 0 1 2 3", "3 0 1 4"), [*QUAD_AND_FIVE[3:], *HALVES, [0, 1, 4]]),
    "little.ply": (binary_ply(*HALVES), HALVES),
    "big.ply": (binary_ply(*HALVES, order=">"), HALVES),
    "quads.ply": (binary_ply([0, 1, 2, 3], [1, 2, 3, 4]), [*HALVES, [1, 2, 3], [1, 3, 4]]),
    "pentagon.ply": (binary_ply([0, 1, 2, 3, 4]), QUAD_AND_FIVE[3:]),
    "binary.glb": (glb(), HALVES),
    "quantized.glb": (glb(extensionsRequired=["KHR_mesh_quantization", "KHR_texture_transform"]), HALVES),
    "strip.glb": (glb(primitive={"mode": 5}, indices=[0, 1, 3, 2]), [[0, 1, 3], [1, 2, 3]]),
    "tail.glb": (glb() + b"\0\0", HALVES),
    "body.3mf": (threemf(body(1), '<item objectid="1"/>'), HALVES),
    "parts.3mf": (
        threemf(assembly(component("a.model", 1)), '<item objectid="9"/>', a_model=model(body(1), "")),
        HALVES,
    ),
    "triangles.dae": (dae(DAE_HALVES), HALVES),
    "polygons.dae": (dae('<polylist count="1"><vcount>4</vcount><p>0 1 2 3</p></polylist>'), HALVES),
    "no lamp.dae": (dae(DAE_HALVES, '<node><instance_geometry url="#g"/><instance_light url="#no"/></node>'), HALVES),
    "drawing.xaml": (XAML, HALVES),
}


@pytest.mark.parametrize("name", READ)
def test_the_faces_of_the_file_come_out_in_their_order(tmp_path: Path, name: str):
    data, expected = READ[name]
    vertices, faces = read_mesh(write(tmp_path, name, data))
    assert (vertices.dtype, faces.dtype) == (np.float64, np.int32)
    assert not vertices.flags.writeable
    assert not faces.flags.writeable
    wanted = POINTS[np.array(expected)]
    assert vertices[faces].shape == wanted.shape
    for triangle, other in zip(vertices[faces], wanted, strict=True):  # whichever corner comes first
        assert any(np.array_equal(np.roll(triangle, turn, 0), other) for turn in range(3))
    if name.endswith(("obj", "off", "ply", "glb")):
        assert np.array_equal(vertices, POINTS)  # unreferenced ones too
    zipped = write(tmp_path, name + ".gz", gzip.compress(data if isinstance(data, bytes) else data.encode()))
    assert np.array_equal(read_mesh(zipped)[0], vertices)


def test_gltf_with_its_buffer_in_a_file(tmp_path: Path):
    tree, data = gltf()
    tree["buffers"][0]["uri"] = "data.bin"
    path = write(tmp_path, "a.gltf", json.dumps(tree))
    with pytest.raises(ValueError, match=r"cannot read .*a.gltf: .*data.bin"):
        read_mesh(path)
    write(tmp_path, "data.bin", data)
    assert np.array_equal(read_mesh(path)[1], HALVES)


NO_FACES = "it has 5 points but no faces"
REFUSED = {
    # STL
    "cut.stl": (stl()[:-30], "declares 2 triangles, 184 bytes, and has 154"),
    "cut at a facet.stl": (stl()[:-50], "declares 2 triangles, 184 bytes, and has 134"),
    "cut, solid in front.stl": (stl(head=b"solid box")[:-1], "declares 2 triangles"),
    "long.stl": (stl() + b"\n", "declares 2 triangles, 184 bytes, and has 185"),
    "huge count.stl": (stl(count=2**32 - 1), "declares 4294967295 triangles"),
    "no facets.stl": (bytes(84), "it has 0 points but no faces"),
    "other.stl": (b"hello", "no STL file"),
    "no end.stl": (SOLID[:-13], "2 of 2 facets and 0 of 1 solids end"),
    "cut in a facet.stl": (SOLID[:-40], "1 of 2 facets and 0 of 1 solids end"),
    "cut in the second solid.stl": (SOLID + SOLID[:100], "2 of 3 facets and 1 of 2 solids end"),
    "two vertices.stl": (SOLID.replace("  vertex 1 0 0\n", "", 1), "5 vertices are whole"),
    "four vertices.stl": (SOLID.replace(" endloop", "vertex 9 9 9\n endloop"), "8 vertices are whole"),
    "short vertex.stl": (SOLID.replace("1 0 0", "1 0", 1).replace("1 1 0", "1 1 0 0", 1), "4 vertices are whole"),
    "no number.stl": (SOLID.replace("1 0 0", "1 q 0"), "cannot read"),
    "nan.stl": (SOLID.replace("1 0 0", "1 nan 0"), r"vertices\[1\] is not finite: \(1, nan, 0\)"),
    # OBJ
    "points.obj": (V, NO_FACES),
    "lines.obj": (V + "l 1 2 3\n", NO_FACES),
    "zero.obj": (V + "f 1 2 3\nf 0 1 2\n", "line 7 refers to a vertex that is none of the 5"),
    "too far.obj": (V + "f 1 2 3 4\nf 1 2 6\n", "line 7 refers to a vertex"),
    "too far back.obj": (V + "f 1 2 -6\n", "line 6 refers to a vertex"),
    "no integer.obj": (V + "f 1.0 2 3\n", "line 6 is malformed: 'f 1.0 2 3'"),
    "no number.obj": (V + "v 1 x 3\nf 1 2 3\n", "line 6 is malformed: 'v 1 x 3'"),
    "two numbers.obj": (V + "v 1 2\nf 1 2 3\n", "line 6 is malformed"),
    "infinite.obj": (V + "v 1 -inf 2\nf 1 2 3\n", r"vertices\[5\] is not finite: \(1, -inf, 2\)"),
    # OFF
    "points.off": (off(), NO_FACES),
    "cut.off": (off("3 0 1 2", counts="5 2 0"), "declares 5 vertices and 2 faces, but 6 lines follow"),
    "long.off": (off("3 0 1 2", "3 0 2 3", counts="5 1 0"), "declares 5 vertices and 1 faces, but 7 lines follow"),
    "cut face.off": (off("3 0 1 2", "4 0 1 2"), "face 1 is malformed, or refers to a missing vertex: '4 0 1 2'"),
    "missing vertex.off": (off("3 0 1 5"), "face 0 is malformed, or refers to a missing vertex"),
    "negative vertex.off": (off("3 0 1 -1"), "face 0 is malformed"),
    "no number.off": (off("3 0 1 2").replace("1 1 0", "1 - 0"), "vertex 2 is malformed"),
    "two numbers.off": (off("3 0 1 2").replace("1 1 0", "1 1"), "vertex 2 is malformed"),
    "negative count.off": (off("3 0 1 2", counts="5 -1 0"), "declares 5 vertices and -1 faces"),
    "no count.off": ("OFF\n", "does not declare"),
    "four coordinates.off": (off("3 0 1 2").replace("OFF", "4OFF"), "no OFF file, or one in binary"),
    "binary.off": (b"OFF BINARY\n\0\0\0\5", "no OFF file, or one in binary"),
    # PLY
    "no faces.ply": (ply(), NO_FACES),
    "cloud.ply": (ply().replace("element face 0\nproperty list uchar int vertex_indices\n", ""), NO_FACES),
    "cut.ply": (ply("3 0 1 2", count=2), "declares 7 rows, 5 of vertex and 2 of face, but 6 follow"),
    "cut in vertices.ply": (ply(count=2)[:-8], "declares 7 rows, 5 of vertex and 2 of face, but 4 follow"),
    "cut face.ply": (ply("3 0 1 2", "4 0 1 2"), "face 1 should have 5 numbers, but has 4"),
    "long face.ply": (ply("3 0 1 2", "3 0 1 2 3"), "face 1 should have 4 numbers, but has 5"),
    "short vertex.ply": (ply("3 0 1 2").replace("1 1 0", "1 1"), "vertex 2 should have 3 numbers, but has 2"),
    "no number.ply": (ply("3 0 1 2").replace("1 1 0", "1 x 0"), "cannot read"),
    "missing vertex.ply": (ply("3 0 1 2", "3 0 1 5"), r"faces\[1\] refers to vertex 5, but there are 5 vertices"),
    "negative vertex.ply": (ply("3 0 1 2", "3 0 1 -1"), r"faces\[1\] refers to vertex -1"),
    "other name.ply": (ply("3 0 1 2").replace("vertex_indices", "corners"), "no list called vertex_indices"),
    "mixed.ply": (binary_ply([0, 1, 2], [0, 1, 2, 3]), "face 1 has a list of 4 and the first has one of 3"),
    "mixed, right size.ply": (binary_ply([0, 1, 2, 3], [0, 1, 2], [0, 1, 2, 3, 4]), "face 1 has a list of 3"),
    "cut binary.ply": (binary_ply(*HALVES)[:-5], "it declares 2 of face, but 1 follow"),
    "no binary faces.ply": (binary_ply(*HALVES)[:-26], "it declares 2 of face, but 0 follow"),
    "long binary.ply": (binary_ply(*HALVES) + b"ab", "it has 2 bytes more than its header declares"),
    "huge.ply": (binary_ply(*HALVES, vertices=10**15), "it declares 1000000000000000 of vertex, but 7 follow"),
    "cut header.ply": (ply("3 0 1 2")[:60], "no PLY header, or only part of one"),
    "odd type.ply": (ply("3 0 1 2").replace("float y", "real y"), "its header is malformed: 'property real y'"),
    "negative count.ply": (ply("3 0 1 2").replace("vertex 5", "vertex -5"), "negative number of rows"),
    # glTF
    "cut.glb": (glb()[:-1], r"it has \d+ bytes, and declares \d+"),
    "cut at a chunk.glb": (glb()[: -8 - 84], "it is cut off"),
    "other.glb": (b"glTH" + glb()[4:], "no GLB file"),
    "fan.glb": (glb(primitive={"mode": 6}), "triangle fans"),
    "points.glb": (glb(primitive={"mode": 0}), "it has 1 mesh, but its scene places none that has triangles"),
    "no scene.glb": (glb(scenes=[]), "its scene places none"),
    "sparse.glb": (glb(accessor={"sparse": {}}), "sparse, normalized or missing"),
    "normalized.glb": (glb(accessor={"normalized": True}), "sparse, normalized or missing"),
    "missing.glb": (glb(accessor={"bufferView": 9}), "cannot read"),
    "instances.glb": (glb(nodes=[{"mesh": 0, "extensions": {"EXT_mesh_gpu_instancing": {}}}]), "read: EXT_mesh_gpu"),
    "extension.glb": (glb(extensionsRequired=["EXT_meshopt_compression"]), "extensions that are not read: EXT_meshopt"),
    "camera.glb": (glb(nodes=[{"mesh": 0, "camera": 0}], cameras=[{"perspective": {"yfov": 1}}]), "1 mesh, but 0"),
    "two places.glb": (glb(nodes=[{"children": [1, 1]}, {"mesh": 0}]), "node 1 has two places"),
    "circle.glb": (glb(nodes=[{"children": [1]}, {"mesh": 0, "children": [0]}]), "node 0 has .* or lies within"),
    "missing vertex.glb": (glb(indices=[[0, 1, 2], [0, 1, 5]]), r"faces\[1\] refers to vertex 5, .* in part 'only'"),
    "two indices.glb": (glb(indices=[[0, 1]]), "cannot read"),
    "placed nowhere.glb": (glb(nodes=[{"mesh": 0, "matrix": [1e999] * 16}]), "transform that is not finite"),
    "no JSON.glb": (glb().replace(b'"asset"', b"'asset'"), "Expecting property name"),
    # 3MF and 3DXML
    "cut.3mf": (threemf(body(1), '<item objectid="1"/>')[:-30], "BadZipFile"),
    "other.3mf": (packed({"a": "b"}), "no 3D/3dmodel.model"),
    "no build.3mf": (threemf(body(1), ""), "it places no object"),
    "undefined.3mf": (threemf(body(1), '<item objectid="1"/><item objectid="7"/>'), "id 7 included but not defined"),
    "cut XML.3mf": (packed({"3D/3dmodel.model": model(body(1), '<item objectid="1"/>')[:-9]}), "XMLSyntaxError"),
    "no number.3mf": (threemf(body(1).replace('x="1"', 'x="q"'), '<item objectid="1"/>'), "cannot read"),
    "two in a file.3mf": (
        threemf(assembly(component("a.model", 1)), '<item objectid="9"/>', a_model=model(body(1) + body(2), "")),
        "1 component made of 2 bodies in a.model",
    ),
    "twice.3mf": (
        threemf(assembly(component("a.model", 1) * 2), '<item objectid="9"/>', a_model=model(body(1), "")),
        "2 components made of 1 body in a.model",
    ),
    "missing file.3mf": (threemf(assembly(component("a.model", 1)), '<item objectid="9"/>'), "a.model"),
    "same names.3dxml": (threedxml("first"), "it declares 2 bodies, but 1 would be read"),
    # COLLADA
    "no scene.dae": (dae(DAE_HALVES, ""), "no faces"),
    "lines.dae": (dae('<lines count="1"><p>0 1</p></lines>'), "no faces"),
    "cut XML.dae": (dae(DAE_HALVES)[:-20], "DaeMalformedError"),
    "cut triangle.dae": (dae(DAE_HALVES.replace(" 3<", "<")), "cannot read"),
    "missing vertex.dae": (dae(DAE_HALVES.replace(" 3<", " 4<")), "2 faults in its geometry"),
    "negative vertex.dae": (dae(DAE_HALVES.replace(" 3<", " -1<")), "negative indices"),
    "no number.dae": (dae(DAE_HALVES.replace(" 3<", " x<")), "in its geometry"),
    "missing geometry.dae": (
        dae(DAE_HALVES, '<node><instance_geometry url="#g"/><instance_geometry url="#no"/></node>'),
        "1 fault in its geometry, the first: DaeBrokenRefError: Geometry #no not found",
    ),
    "hole.dae": (dae('<polygons count="1"><ph><p>0 1 2 3</p><h>0 1 2</h></ph></polygons>'), "polygons with holes"),
    "skin.dae": (dae(DAE_HALVES, '<node><instance_controller url="#c"/></node>'), "it has skins"),
    # of any format
    "empty.obj": (b"", "it is empty"),
    "empty.glb": (b"", "it is empty"),
    "not packed.obj.gz": (b"v 0 0 0", "BadGzipFile"),
    "cut.obj.gz": (gzip.compress(V.encode())[:-9], "EOFError"),
    "part.blend": (b"x", "its extension is none of stl, obj, ply,"),
    "part": (b"x", "its extension is none of"),
    "part.tar.gz": (b"x", "its extension is none of"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.filterwarnings("ignore:invalid value encountered in dot")
def test_what_cannot_be_read_whole_is_refused(tmp_path: Path, name: str):
    data, reason = REFUSED[name]
    path = write(tmp_path, name, data)
    for read in (read_mesh, read_scene):
        with pytest.raises(ValueError, match=reason) as caught:
            read(path)
        assert str(caught.value).startswith(f"cannot read {path}: ")


CONCAVE = "v 0 0 0\nv 4 0 0\nv 1 1 0\nv 0 4 0\n"
TOLD = {
    "two corners.obj": (V + "f 1 2 3\nf 1 2\nf\n", 1, r"left out 2 faces of .* three corners \(first: line 7\)"),
    "two corners.off": (off("3 0 1 2", "2 0 1"), 1, r"left out 1 face of fewer than three corners \(first: face 1\)"),
    "two corners.ply": (ply("2 0 1", "3 0 1 2"), 1, r"left out 1 face of fewer than three corners \(first: face 0\)"),
    "concave.obj": (CONCAVE + "f 3 4 1 2\nf 2 3 4 1\n", 4, r"1 face not convex \(first: face 1\)"),
    "concave.ply": (
        ply_header("ascii", 2, 4) + CONCAVE.replace("v ", "") + "4 2 3 0 1\n4 1 2 3 0\n",
        4,
        r"1 face not convex \(first: face 1\)",
    ),
    "posed.glb": (glb(nodes=[{"mesh": 0, "skin": 0}]), 2, "read 1 mesh as modelled, not in the pose of a skeleton"),
    "points too.glb": (
        glb(
            meshes=[
                {"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]},
                {"primitives": [{"attributes": {"POSITION": 0}, "mode": 0}]},
            ],
            nodes=[{"mesh": 0}, {"mesh": 1}],
            scenes=[{"nodes": [0, 1]}],
        ),
        2,
        "left out 1 set of points or lines",
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_what_may_be_wrong_is_said(tmp_path: Path, name: str):
    data, count, message = TOLD[name]
    path = write(tmp_path, name, data)
    with pytest.warns(UserWarning, match=message) as said:
        _, faces = read_mesh(path)
    assert len(faces) == count
    assert len(said) == 1
    assert str(said[0].message).startswith(f"{path}: ")


def test_a_convex_or_bent_polygon_is_not_remarked_upon(tmp_path: Path):
    around = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    circle = "".join(f"v {np.cos(a)} {np.sin(a)} {0.1 * np.sin(2 * a)}\n" for a in around)
    straight = "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 0.1 0.3 0.7\n"
    faces = "f " + " ".join(map(str, range(1, 13))) + "\nf 13 14 15 16\nf 14 15 16 13\n"
    assert len(read_mesh(write(tmp_path, "a.obj", circle + straight + faces))[1]) == 14


WHOLE = ["binary.stl", "text.stl", "plain.off", "text.ply", "little.ply", "binary.glb", "body.3mf", "polygons.dae"]


@pytest.mark.parametrize("name", WHOLE)
def test_every_cut_is_noticed(tmp_path: Path, name: str):
    data, expected = READ[name]
    data = data if isinstance(data, bytes) else data.encode()
    refused = 0
    for size in range(len(data)):
        try:
            vertices, faces = read_mesh(write(tmp_path, name, data[:size]))
        except ValueError:
            refused += 1
        else:  # nothing is lost: a name, or the last end of line
            assert size >= len(data) - 5
            assert len(faces) == len(expected)
            assert np.array_equal(vertices[faces[-1]], POINTS[expected[-1]])
    assert refused >= len(data) - 5


@pytest.mark.parametrize("name", [*WHOLE, "polygons.obj", "drawing.xaml"])
@pytest.mark.filterwarnings("ignore")
def test_no_damage_ends_otherwise_than_in_a_value_error(tmp_path: Path, name: str):
    data = READ[name][0]
    data = data if isinstance(data, bytes) else data.encode()
    random = np.random.default_rng(5)
    for _ in range(100):
        damaged = bytearray(data)
        for place in random.integers(0, len(data), random.integers(1, 4)):
            damaged[place] = random.integers(0, 256)
        with contextlib.suppress(ValueError):
            vertices, faces = read_mesh(write(tmp_path, name, bytes(damaged)))
            assert np.isfinite(vertices).all()
            assert faces.min() >= 0
            assert faces.max() < len(vertices)


def test_files_that_cannot_be_opened(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match=r"none\.stl"):
        read_mesh(tmp_path / "none.stl")
    with pytest.raises(IsADirectoryError, match=tmp_path.name):
        read_mesh(tmp_path)


def test_a_failure_that_trimesh_only_logs_is_heard_even_when_its_log_is_off(tmp_path: Path):
    path = write(tmp_path, "a.3mf", REFUSED["undefined.3mf"][0])
    logger = logging.getLogger("trimesh")
    handlers, level = list(logger.handlers), logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with pytest.raises(ValueError, match="id 7 included but not defined"):
            read_mesh(path)
        assert logger.level == logging.CRITICAL
        assert logger.handlers == handlers
    finally:
        logger.setLevel(level)


def test_values_of_an_older_numpy_warning_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def fromstring(*_, **__):
        warnings.warn("string or file could not be read to its end", DeprecationWarning, stacklevel=2)
        return np.zeros(18)

    monkeypatch.setattr(np, "fromstring", fromstring)
    with pytest.raises(ValueError, match="could not be read to its end"):
        read_mesh(write(tmp_path, "a.stl", SOLID))


# --- scenes -----------------------------------------------------------------------------------------------------------

MIRRORED = {"mesh": 0, "name": "b", "translation": [3, 0, 0], "scale": [-2, 1, 1]}


def test_instances_share_arrays_and_are_placed(tmp_path: Path):
    path = write(tmp_path, "a.glb", glb(nodes=[{"mesh": 0, "name": "a"}, MIRRORED], scenes=[{"nodes": [0, 1]}]))
    parts = {name: rest for name, *rest in read_scene(path)}
    assert sorted(parts) == ["a", "b"]
    assert parts["a"][0] is parts["b"][0]
    assert parts["a"][1] is parts["b"][1]
    assert np.array_equal(parts["a"][2], np.eye(4))
    assert np.array_equal(parts["b"][2], [[-2, 0, 0, 3], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    vertices, faces = read_mesh(path)
    assert len(vertices) == 10
    a, b, c = vertices[faces.T]
    assert (np.cross(b - a, c - a)[:, 2] > 0).all()  # the mirrored square faces up like the other
    assert vertices[:, 0].min() == 0
    assert vertices[:, 0].max() == 3


def test_copies_of_a_geometry_are_shared(tmp_path: Path):
    node = '<node>{}<instance_geometry url="#g"/></node>'
    nodes = node.format("") + node.format("<translate>3 0 0</translate>")
    first, second = read_scene(write(tmp_path, "a.dae", dae(DAE_HALVES, nodes)))
    assert first[1] is second[1]
    assert first[2] is second[2]
    assert second[3][0, 3] == 3
    assert first[0] != second[0]


def test_names_of_parts_do_not_change_from_one_reading_to_the_next(tmp_path: Path):
    primitives = [{"attributes": {"POSITION": 0}, "indices": 1}] * 2
    path = write(tmp_path, "a.glb", glb(meshes=[{"name": "m", "primitives": primitives}]))
    names = [[part[0] for part in read_scene(path)] for _ in range(2)]
    assert names == [["only/m", "only/m_1"]] * 2


@pytest.mark.parametrize("name", ["plain.obj", "little.ply", "binary.stl", "plain.off", "drawing.xaml"])
def test_a_part_without_a_name_has_that_of_the_file(tmp_path: Path, name: str):
    ((part, *_),) = read_scene(write(tmp_path, name, READ[name][0]))
    assert part == name[:-4].removesuffix(".")


def test_solids_and_objects_are_parts(tmp_path: Path):
    two = SOLID + SOLID.replace("one", "two").replace(" 1 ", " 7 ")
    assert [(part[0], len(part[2])) for part in read_scene(write(tmp_path, "a.stl", two))] == [("one", 2), ("two", 2)]
    objects = "o none\n" + V + "f 1 2 3 4\no the second\no third\nv 9 9 9\nf 2 6 1\nf -1 1 2\n"
    path = write(tmp_path, "a.obj", objects)
    parts = read_scene(path)
    assert [(name, faces.tolist()) for name, _, faces, _ in parts] == [
        ("none", HALVES),
        ("third", [[1, 2, 0], [2, 0, 1]]),
    ]
    assert np.array_equal(parts[1][1], [[0, 0, 0], [1, 0, 0], [9, 9, 9]])
    assert len(read_mesh(path)[0]) == 6
    assert [part[0] for part in read_scene(write(tmp_path, "b.obj", V + "f 1 2 3\no x\nf 1 2 3"))] == ["b", "x"]


def test_different_bodies_of_a_3dxml(tmp_path: Path):
    parts = read_scene(write(tmp_path, "a.3dxml", threedxml("second")))
    assert sorted(part[3][0, 3] for part in parts) == [2, 3]
    assert sorted(part[1][2, 2] for part in parts) == [2, 3]


# --- real files -------------------------------------------------------------------------------------------------------


def test_real_files_have_the_faces_that_were_counted(shared: Path):
    facts = json.loads((shared / "facts.json").read_text())
    sound = {name: fact for name, fact in facts.items() if fact.get("f")}
    assert len(sound) > 40
    for name, fact in sound.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # looked at below
            vertices, faces = read_mesh(shared / name)
        assert len(faces) == fact["f"], name
        corners = vertices[faces]
        area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum() / 2
        assert area == pytest.approx(fact["area"], rel=1e-5), name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("assimp/invalid/malformed2.obj", r"left out 1 face of fewer than three corners \(first: line 23\)"),
        ("pybullet/samurai_monastry.obj", r"left out 201 faces of fewer than three corners \(first: line 331218\)"),
        ("recast/Meshes/nav_test.obj", r"7 faces not convex \(first: face 233\)"),
    ],
)
def test_real_files_with_remarks(shared: Path, name: str, message: str):
    with pytest.warns(UserWarning, match=message):
        read_mesh(shared / name)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("assimp/invalid/OutOfMemory.off", "it declares 353535235358 vertices and 6 faces, but 14 lines follow"),
        ("assimp/invalid/box_nested_animation_4286.dae", "it has skins"),
        ("assimp/invalid/crash-30d6d0f7c529b3b66b4131700b7a4580cd7082df.ply", "no PLY header, or only part of one"),
        ("assimp/invalid/malformed.obj", "line 23 refers to a vertex that is none of the 8"),
        ("draco/inf_nan.obj", r"vertices\[0\] is not finite: \(inf, nan, inf\)"),
        ("bim-whale/LargeBuilding_products.npz", "its extension is none of"),
    ],
)
def test_real_files_that_are_broken(shared: Path, name: str, reason: str):
    with pytest.raises(ValueError, match=reason):
        read_mesh(shared / name)


def test_hostile_files_are_refused_at_once(shared: Path):
    files = sorted((shared / "assimp" / "invalid").iterdir())
    assert len(files) > 15
    start = time.monotonic()
    refused = 0
    for file in files:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read_mesh(file)
        except ValueError as error:
            refused += str(file) in str(error)
    assert refused == len(files) - 1  # malformed2.obj lacks one face
    assert time.monotonic() - start < 20


def test_a_real_assembly_shares_its_bodies(shared: Path):
    parts = read_scene(shared / "trimesh" / "cycloidal.3DXML")
    assert len(parts) == 72
    assert len({id(part[1]) for part in parts}) == len({id(part[2]) for part in parts}) <= 13
    assert len({part[0] for part in parts}) == 72
