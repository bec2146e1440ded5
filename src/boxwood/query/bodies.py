"""Placed meshes as questions see them: each mesh once, and for each place which mesh, where, and with which mask."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._threads import new_lock
from .._transforms import Transforms
from ..tree.box_tree import BoxSetTree
from .solids import Solid


class Bodies(NamedTuple):
    """Meshes and the places that they have; an id is a row of all arrays."""

    solids: tuple[Solid, ...]
    mesh_of: np.ndarray  # (n,) int32
    masks: np.ndarray  # (n,) uint32
    matrices: np.ndarray  # (n, 3, 4) float64
    inverses: np.ndarray  # (n, 3, 3) float64: of the linear parts
    errors: np.ndarray  # (n,) float64: of the inverses (`_transforms`)


class BodyTree(NamedTuple):
    """The upper of two levels: a tree over the world boxes of bodies."""

    bodies: Bodies
    names: np.ndarray  # (r,) int64, rising: which body each box of the tree is of
    tree: BoxSetTree


def transforms_of(bodies: Bodies, ids=slice(None)) -> Transforms:
    matrices = bodies.matrices[ids]
    return Transforms(matrices, (len(matrices),), bodies.inverses[ids], bodies.errors[ids])


def groups(keys):
    """The places of each distinct key: (key, places), the places rising."""
    if len(keys) == 0:
        return
    if (keys == keys[0]).all():
        yield keys[0], np.arange(len(keys))
        return
    order = np.argsort(keys, kind="stable")
    ends = np.flatnonzero(np.diff(keys[order])) + 1
    for places in np.split(order, ends):
        yield keys[places[0]], places


class Tally:
    """Takes the work of questions that are steps of one, as a `Counters` does."""

    def __init__(self):
        self.boxes_tested = self.primitives_tested = 0
        self._lock = new_lock()

    def add(self, *, queries=0, boxes_tested=0, primitives_tested=0, hits=0):
        with self._lock:
            self.boxes_tested += int(boxes_tested)
            self.primitives_tested += int(primitives_tested)
