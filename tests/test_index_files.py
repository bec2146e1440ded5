"""Structures in files: what is read asks, changes and numbers as what was saved."""

from __future__ import annotations

import json

import numpy as np
import pytest

from boxwood import archive, index

pytestmark = pytest.mark.small

MADE = [
    (index.BruteForce, {}),
    (index.UniformGrid, {"cell_size": 2.0}),
    (index.UniformGrid, {"max_bytes": 1e6}),
    (index.SpatialHash, {}),
    (index.Quadtree, {"max_objects": 3, "max_depth": 5}),
    (index.Octree, {"max_objects": 5}),
    (index.KDTree, {"leaf_size": 3}),
    (index.SweepAndPrune, {}),
    (index.BVH, {"builder": "median", "leaf_size": 2}),
]


def made(kind, own, dtype=np.float32):
    dimension = kind.DIMENSION or 2
    lower = np.random.default_rng(1).uniform(0, 10, (40, dimension)).astype(dtype)
    return kind(lower, lower + lower.dtype.type(1), **own), lower


@pytest.mark.parametrize(("kind", "own"), MADE)
@pytest.mark.parametrize("changed", [False, True])
def test_what_is_read_is_what_was_saved(kind, own, changed, tmp_path):
    structure, lower = made(kind, own)
    if changed:
        structure.remove([3, 17, 39])
        structure.insert(lower[:2] + 5, lower[:2] + 6)
        structure.remove(41)
        structure.move(5, lower[6], lower[7] + 9)
    structure.save(tmp_path / "a.boxwood")
    read = kind.load(tmp_path / "a.boxwood")
    read.validate()
    assert read.dtype == structure.dtype == np.float32
    assert read.ids.tolist() == structure.ids.tolist()
    assert read._parameters() == structure._parameters()
    for each in (read, structure):
        assert each.insert(lower[0], lower[0]) == (42 if changed else 40)
    assert np.array_equal(read.pairs(), structure.pairs())
    assert np.array_equal(read.nearest(lower, 3).ids, structure.nearest(lower, 3).ids)
    assert np.array_equal(read.query_box(lower, lower + 2).pairs, structure.query_box(lower, lower + 2).pairs)


@pytest.mark.parametrize("kind", [index.BruteForce, index.UniformGrid])
def test_nothing_in_it(kind, tmp_path):
    structure = kind(np.empty((0, 2)), np.empty((0, 2)))
    structure.save(tmp_path / "a.boxwood")
    read = kind.load(tmp_path / "a.boxwood")
    assert (len(read), read.dimension) == (0, 2)


def test_files_that_hold_something_else(tmp_path):
    path = tmp_path / "a.boxwood"
    made(index.KDTree, {})[0].save(path)
    with pytest.raises(ValueError, match=r"a\.boxwood"):
        index.BVH.load(path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"a\.boxwood"):
        index.KDTree.load(path)
    corners = np.zeros((2, 2)), np.ones((2, 2))
    for ids, own in (([0, 0], {}), ([0, 2], {}), ([-1, 0], {}), ([0], {}), ([0, 1], {"depth": 3})):
        arrays = {"lower": corners[0], "upper": corners[1], "ids": np.array(ids)}
        told = {"given": "2", "parameters": json.dumps(own)}
        archive.write_arrays(path, arrays, told, "index.KDTree")
        with pytest.raises(ValueError, match=r"a\.boxwood is damaged"):
            index.KDTree.load(path)
