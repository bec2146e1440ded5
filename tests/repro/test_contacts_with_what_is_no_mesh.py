"""Scenes asked anything for the tree that only a mesh has, and told of an attribute; pictures raised a ValueError."""

from __future__ import annotations

import numpy as np
import pytest

import boxwood as bw

pytestmark = pytest.mark.small

CORNERS, FACES = [[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]


@pytest.mark.parametrize("other", ["mesh", None, 7, (CORNERS, FACES), bw.Scene(), bw.BoxTree(CORNERS, CORNERS)])
def test_contacts_with_what_is_no_mesh(other):
    mesh, scene = bw.Mesh(CORNERS, FACES), bw.Scene()
    scene.add(mesh)
    kind = type(other).__name__
    for name, ask in {
        "other": (mesh.intersects, mesh.intersections, mesh.relation),
        "mesh": (scene.add, scene.intersects, scene.intersections, lambda thing: bw.render(thing, 8, 8)),
    }.items():
        for one in ask:
            with pytest.raises(TypeError, match=f"{name} must be a Mesh, not {kind}"):
                one(other)
    with pytest.raises(TypeError, match=f"mesh must be a Mesh, not {kind}"):
        bw.Scene.from_parts([bw.Part("a", mesh, np.eye(4)), bw.Part("b", other, np.eye(4))])
    assert len(scene) == 1


def test_parts_that_are_none():
    mesh = bw.Mesh(CORNERS, FACES)
    with pytest.raises(TypeError, match=r"parts\[1\] must have a mesh and a transform, as a Part does, not Mesh"):
        bw.Scene.from_parts([bw.Part("a", mesh, np.eye(4)), mesh])


@pytest.mark.parametrize("bad", [0.5, "one", None, bw.Mesh(CORNERS, FACES)])
def test_relations_of_what_is_no_id(bad):
    scene = bw.Scene()
    scene.add(bw.Mesh(CORNERS, FACES))
    with pytest.raises(ValueError, match="ids must be integers"):
        scene.relation(0, bad)
