"""A refit between two looks at a mesh: pairs of faces from the tree of before with segments from the vertices of
after, hits whose points were elsewhere, and for good the tree of older vertices when it came during a build."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import boxwood as bw
from boxwood import boxes, mesh, mesh_collisions, mesh_rays

pytestmark = pytest.mark.small

FLOOR = np.array([[0.0, 0, 0], [4, 0, 0], [0, 4, 0]])


def triangle(vertices=FLOOR):
    return bw.Mesh(vertices, [[0, 1, 2]]).build()


def refit_after(monkeypatch, module, name, held):
    """Have the mesh moved as soon as the function of that name has its answer."""
    plain = getattr(module, name)

    def moving(*args, **kwargs):
        answer = plain(*args, **kwargs)
        held.refit(held.vertices + [100, 0, 0])
        return answer

    monkeypatch.setattr(module, name, moving)


@pytest.mark.parametrize("name", ["pairing", "placed_contacts"])
def test_segments_are_of_the_mesh_that_was_asked(monkeypatch, name):
    floor, wall = triangle(), triangle(FLOOR[:, [0, 2, 1]] + [0, 1, -1])
    wanted = floor.intersections(wall).segments
    assert len(wanted) == 1
    refit_after(monkeypatch, mesh_collisions, name, floor)
    np.testing.assert_array_equal(floor.intersections(wall).segments, wanted)


@pytest.mark.parametrize("question", ["raycast", "raycast_all"])
def test_points_are_of_the_mesh_that_was_asked(monkeypatch, question):
    floor = triangle()
    refit_after(monkeypatch, mesh_rays, {"raycast": "closest_hit", "raycast_all": "all_hits"}[question], floor)
    np.testing.assert_array_equal(getattr(floor, question)([[1, 1, 1]], [0, 0, -1]).points, [[1, 1, 0]])


def test_a_refit_during_a_build(monkeypatch):
    floor, plain = triangle(), bw.BoxTree(FLOOR, FLOOR + 1).build()
    refit_after(monkeypatch, mesh, "build_tree", floor)
    floor.build()
    floor.validate()
    pickle.loads(pickle.dumps(floor)).validate()
    build = boxes.build_box_tree

    def moving(*args, **kwargs):
        tree = build(*args, **kwargs)
        plain.refit(FLOOR + 7, FLOOR + 8)
        return tree

    monkeypatch.setattr(boxes, "build_box_tree", moving)
    plain.build()
    plain.validate()
