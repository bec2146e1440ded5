"""3MF and 3DXML, both XML in a zip archive: bodies that trimesh mixes up or drops.

In a 3MF whose components lie in files of their own, trimesh gives each component all bodies of its file, once per
mention. In a 3DXML, of bodies in parts of the same name it keeps the last.
Sources: the 3MF production extension; the 3DXML files at hand.
"""

from __future__ import annotations

import io
import re
import zipfile
from xml.etree import ElementTree

from .contents import Told, counted


def check_3mf(data: bytes) -> Told:
    """Refuse components that would get more than their own body."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        model = next((name for name in archive.namelist() if "3d/3dmodel.model" in name.lower()), None)
        if model is None:
            raise ValueError("its archive has no 3D/3dmodel.model")
        text = archive.read(model)
        if not re.search(rb"<(\w+:)?item\b", text):
            raise ValueError("it places no object")
        paths = re.findall(rb'<(?:\w+:)?component\b[^>]*\s(?:\w+:)?path="/?([^"]*)"', text)
        for path in sorted(set(paths)):
            bodies = len(re.findall(rb"<(?:\w+:)?mesh\b", archive.read(path.decode())))
            if bodies != 1 or paths.count(path) > 1:
                components = counted(paths.count(path), "component")
                raise ValueError(
                    f"it has {components} made of {counted(bodies, 'body')} in {path.decode()}, which are not told "
                    "apart; export it without the production extension"
                )
    return Told()


def check_3dxml(data: bytes) -> Told:
    """Count the different bodies."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        root = ElementTree.fromstring(archive.read("Manifest.xml")).findtext("{*}Root")
        tree = ElementTree.fromstring(archive.read(root or ""))
    return Told(bodies=len({found.text for found in tree.iterfind(".//{*}InstanceRep/{*}IsInstanceOf")}))
