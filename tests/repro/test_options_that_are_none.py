"""`counters={}` and `progress=3` failed deep inside, after all was computed; an array as `cull` was ambiguous."""

from __future__ import annotations

import numpy as np
import pytest

import boxwood as bw

pytestmark = pytest.mark.small


def questions():
    mesh = bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    boxes = bw.BoxTree([[0, 0, 0]], [[1, 1, 1]])
    ray = [0.2, 0.2, 1], [0, 0, -1]
    for holder in (mesh, boxes):
        for name in ("raycast", "occluded", "raycast_all", "count_hits"):
            yield holder, getattr(holder, name), ray
    for name, asked in (
        ("query_box", ([0, 0, 0], [1, 1, 1])),
        ("query_sphere", ([0, 0, 0], 1)),
        ("query_frustum", ([[1, 0, 0, 0]],)),
        ("nearest", ([0, 0, 0],)),
        ("pairs", ()),
        ("sweep_box", ([0, 0, 0], [1, 1, 1], [1, 0, 0])),
    ):
        yield boxes, getattr(boxes, name), asked


@pytest.mark.parametrize(("holder", "ask", "asked"), list(questions()))
def test_named_before_anything_is_built(holder, ask, asked):
    with pytest.raises(TypeError, match=r"counters must be a boxwood.Counters, not \{\}"):
        ask(*asked, counters={})
    with pytest.raises(TypeError, match=r"progress must be a callable \(done, total\), not 3"):
        ask(*asked, progress=3)
    assert holder._now.tree is None


def test_builds_too():
    with pytest.raises(TypeError, match="progress must be a callable"):
        bw.Mesh([[0, 0, 0]], [[0, 0, 0]]).build(progress="often")
    with pytest.raises(TypeError, match="progress must be a callable"):
        bw.BoxTree([[0, 0]], [[1, 1]]).build(progress="often")


@pytest.mark.parametrize("cull", [np.array(["back", "front"]), ["back"], {}, np.array("back")])
def test_an_array_is_no_choice(cull):
    mesh = bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    with pytest.raises(ValueError, match="cull must be one of None, 'back', 'front', not"):
        mesh.raycast([0, 0, 1], [0, 0, -1], cull=cull)
