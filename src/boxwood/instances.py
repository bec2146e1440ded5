"""Where meshes stand: the arrays behind a scene, and the tree over the boxes of all instances, made when asked for.

An id is a row of all arrays; no object is made for an instance. A question takes the arrays as they are: who changes
them afterwards makes copies first, so that questions in other threads go on undisturbed.

A change may be cut off, by Ctrl-C or because another thread forks and its child has the scene as it was then. So what
is to be done is noted before anything is done, and whoever comes next does it to the end, or once more.

The tree is refitted when instances have moved, and built anew when they have come or gone, or when its boxes have grown
by half in surface area, all told, since it was built.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._threads import new_lock
from ._transforms import Transforms, transforms
from .build.choose import build_box_tree
from .build.compare import validate_boxes
from .build.renew import refit_box_tree
from .build.world_boxes import NOTHING, Outline, Outlines, cost_of, fill_world_boxes, outline, outlines_of
from .query.bodies import Bodies, BodyTree
from .query.solids import Solid

if TYPE_CHECKING:
    from .mesh import Mesh

Ids: TypeAlias = NDArray[np.int64]

NO_SOLID = Solid(np.zeros((0, 3)), np.zeros((0, 3), np.int32), cast(Any, None))

GROWN = 1.5
"""By which factor the boxes of the tree may grow in surface area until it is built anew."""

LARGEST = 1e300
"""Coordinates in the world must be smaller, so that sums and differences of them are numbers."""

ARRAYS = ("mesh_of", "masks", "matrices", "inverses", "errors", "alive", "stale", "lower", "upper")


class Instances:
    """All that stands in a scene."""

    def __init__(self) -> None:
        self.meshes: list[Mesh | None] = []
        self.numbers: list[int] = []  # of instances of each mesh
        self.reaches: list[NDArray[np.float64]] = []  # largest coordinate of each on every axis
        self.places: dict[int, int] = {}  # of each mesh in these lists
        self.used = 0  # rows of the arrays that have ever been in use
        self.free: list[int] = []  # those that are not any more, falling
        self.mesh_of = np.zeros(0, np.int32)
        self.masks = np.zeros(0, np.uint32)
        self.matrices = np.zeros((0, 3, 4))
        self.inverses = np.zeros((0, 3, 3))
        self.errors = np.zeros(0)
        self.alive = np.zeros(0, np.bool_)
        self.stale = np.zeros(0, np.bool_)  # whose boxes are to be computed
        self.lower, self.upper = np.zeros((0, 3)), np.zeros((0, 3))
        self.asked: BodyTree | None = None  # what questions have now, and the arrays with it
        self.tree: Any = None
        self.names: Ids = np.zeros(0, np.int64)  # the instances whose boxes are in the tree
        self.trees: list[Any] = []  # of each mesh, as its boxes were computed from
        self.outlines: list[Outline] = []
        self.built_cost = 0.0
        self.builds = self.refits = 0
        self.begun: tuple[Any, ...] | None = None  # a change that may not be whole: what does it, and its arguments
        self.lock = new_lock()

    def __len__(self) -> int:
        with self.lock:
            self._finish()
            return self.used - len(self.free)

    # Changes

    def _change(self, do: Callable[..., None], *args: Any) -> None:
        """Begin a change and finish it; done again from any point, it leads to the same."""
        self.begun = do, *args
        self._finish()

    def _finish(self) -> None:
        if self.begun is not None:
            do, *args = self.begun
            do(*args)
            self.begun = None

    def add(self, mesh: Mesh, placed: Transforms, masks: NDArray[np.uint32], name: str = "transform") -> Ids:
        with self.lock:
            self._finish()
            count = len(placed.matrices)
            reach = self.reaches[self.places[id(mesh)]] if id(mesh) in self.places else reach_of(mesh.vertices)
            _refuse_beyond(placed, np.broadcast_to(reach, (count, 3)), name)
            again = self.free[: -count - 1 : -1]
            used = self.used + count - len(again)
            ids = np.array([*again, *range(self.used, used)], np.int64)
            if count:
                place = self._place_of(mesh)
                number = count + (self.numbers[place] if id(mesh) in self.places else 0)
                self._own(used)
                left = len(self.free) - len(again)
                self._change(self._added, ids, used, left, mesh, place, number, reach, masks, placed)
            return ids

    def _added(
        self,
        ids: Ids,
        used: int,
        left: int,
        mesh: Mesh,
        place: int,
        number: int,
        reach: NDArray[np.float64],
        masks: NDArray[np.uint32],
        placed: Transforms,
    ) -> None:
        del self.free[left:]
        self.used = used
        lists: Any = (self.meshes, self.numbers, self.reaches, self.trees, self.outlines)
        for held, value in zip(lists, (mesh, number, reach, None, NOTHING), strict=True):
            if len(held) == place:
                held.append(value)
        self.meshes[place], self.numbers[place], self.reaches[place] = mesh, number, reach
        self.places[id(mesh)] = place
        self.mesh_of[ids], self.masks[ids], self.alive[ids] = place, masks, True
        self.tree = None
        self._put(ids, placed)

    def move(self, ids: Ids, placed: Transforms, name: str = "transforms") -> None:
        with self.lock:
            self.require(ids)
            reaches = np.array(self.reaches).reshape(-1, 3)[self.mesh_of[ids]]
            _refuse_beyond(placed, reaches, name)
            self._own(self.used)
            self._change(self._put, ids, placed)

    def remove(self, ids: Ids) -> None:
        with self.lock:
            self.require(ids)
            ids = np.unique(ids)
            if len(ids) == 0:
                return
            places, gone = (array.tolist() for array in np.unique(self.mesh_of[ids], return_counts=True))
            numbers = {place: self.numbers[place] - number for place, number in zip(places, gone, strict=True)}
            self._own(self.used)
            self._change(self._removed, ids, sorted([*self.free, *ids.tolist()], reverse=True), numbers)

    def _removed(self, ids: Ids, free: list[int], numbers: dict[int, int]) -> None:
        self.alive[ids] = False
        self.free = free
        for place, number in numbers.items():
            self.numbers[place] = number
            if number == 0:
                self.places.pop(id(self.meshes[place]), None)
                self.trees[place], self.outlines[place] = None, NOTHING
                self.meshes[place] = None
        self.tree = None

    def require(self, ids: Ids) -> None:
        """KeyError naming the first that does not exist."""
        self._finish()
        known = (ids >= 0) & (ids < self.used)
        known[known] = self.alive[ids[known]]
        if not known.all():
            raise KeyError(f"no instance {ids[np.argmin(known)]}")

    def ids(self) -> Ids:
        self._finish()
        return np.flatnonzero(self.alive[: self.used])

    def _place_of(self, mesh: Mesh) -> int:
        """Where it is in the lists, or will be."""
        if id(mesh) in self.places:
            return self.places[id(mesh)]
        return self.meshes.index(None) if None in self.meshes else len(self.meshes)

    def _put(self, ids: Ids, placed: Transforms) -> None:
        self.matrices[ids], self.inverses[ids], self.errors[ids] = placed.matrices, placed.inverses, placed.errors
        self.stale[ids] = True
        self.asked = None

    def _own(self, rows: int) -> None:
        """Make room for so many rows, in arrays that no question has."""
        if rows <= len(self.alive) and self.asked is None:
            return
        room = len(self.alive) if rows <= len(self.alive) else rows + rows // 4
        arrays = {}
        for name in ARRAYS:
            older = getattr(self, name)
            arrays[name] = np.zeros((room, *older.shape[1:]), older.dtype)
            arrays[name][: len(older)] = older
        self.__dict__.update(arrays)  # in one step
        self.asked = None

    # Questions

    def standing(self, threads: int | None = None) -> BodyTree:
        """What questions are asked of: all instances as they stand now."""
        with self.lock:
            self._finish()
            solids = [NO_SOLID if mesh is None else mesh._solid() for mesh in self.meshes]
            if self.asked is None or any(one.tree is not tree for one, tree in zip(solids, self.trees, strict=True)):
                self.asked = self._renewed(solids, threads)
                self.trees = [one.tree for one in solids]  # last, so that all is done again if it is interrupted
            return self.asked

    def _renewed(self, solids: list[Solid], threads: int | None) -> BodyTree:
        for place, solid in enumerate(solids):
            if solid.tree is not self.trees[place]:
                self.stale[: self.used] |= self.mesh_of[: self.used] == place
                newer = outline(*solid)
                if (len(newer.boxes) > 0) != (len(self.outlines[place].boxes) > 0):
                    self.tree = None
                self.outlines[place], self.reaches[place] = newer, reach_of(solid.vertices)
        rows = np.flatnonzero(self.stale[: self.used] & self.alive[: self.used])
        outlines = outlines_of(self.outlines)
        arrays = self.mesh_of, self.matrices, self.errors
        fill_world_boxes(outlines, *arrays, rows, self.lower, self.upper, threads)
        self.stale[: self.used] = False
        if self.tree is None:
            self.names = np.flatnonzero(self.alive[: self.used] & self._held(outlines))
        lower, upper = self.lower[self.names], self.upper[self.names]
        beyond = ~(np.abs(lower).max(axis=1, initial=0.0) < np.inf)
        if beyond.any():
            raise ValueError(f"instance {self.names[np.argmax(beyond)]} reaches beyond the numbers")
        if self.tree is not None:
            self.tree = refit_box_tree(self.tree, lower, upper, threads)
            self.refits += 1
            if cost_of(self.tree) > GROWN * self.built_cost:
                self.tree = None
        if self.tree is None:
            self.tree = build_box_tree(lower, upper, threads=threads)
            self.built_cost = cost_of(self.tree)
            self.builds += 1
        bodies = Bodies(tuple(solids), self.mesh_of, self.masks, self.matrices, self.inverses, self.errors)
        return BodyTree(bodies, self.names, self.tree)

    def _held(self, outlines: Outlines) -> NDArray[np.bool_]:
        """Which rows have a mesh that is not empty."""
        held = np.diff(outlines.splits) > 0
        return held[self.mesh_of[: self.used]] if len(held) else np.zeros(self.used, np.bool_)

    # Checks and keeping

    def validate(self) -> None:
        """ValueError naming the first thing that is not so."""
        with self.lock:
            scene = self.standing()
            ids = self.ids()
            if np.flatnonzero(~self.alive[: self.used]).tolist() != self.free[::-1]:
                raise ValueError("the list of free ids is not that of the rows that are not in use")
            numbers = np.bincount(self.mesh_of[ids], minlength=len(self.meshes))
            if not np.array_equal(numbers, self.numbers):
                raise ValueError("the numbers of instances of the meshes are not those counted")
            again = transforms(_full(self.matrices[ids]))
            if not np.array_equal(again.inverses, self.inverses[ids]):
                raise ValueError("an inverse is not that of its transform")
            scene.tree.validate()
            validate_boxes(scene.tree, self.lower[scene.names], self.upper[scene.names])
            for mesh in self.meshes:
                if mesh is not None:
                    mesh.validate()
            held = ids[self._held(outlines_of(self.outlines))[ids]]
            if not np.array_equal(held, scene.names):
                raise ValueError("the tree does not hold the boxes of all instances")
            for one in scene.names:
                solid = scene.bodies.solids[self.mesh_of[one]]
                used = solid.faces[solid.tree.ids[solid.tree.ids >= 0]]
                corners = solid.vertices[np.unique(used)] @ self.matrices[one, :, :3].T + self.matrices[one, :, 3]
                if (corners < self.lower[one]).any() or (corners > self.upper[one]).any():
                    raise ValueError(f"instance {one} reaches out of its box")

    @property
    def nbytes(self) -> int:
        """Of all arrays, without the tree."""
        return int(sum(getattr(self, name).nbytes for name in ARRAYS)) + self.names.nbytes

    def state(self) -> dict[str, Any]:
        """Distinct meshes and arrays from which `restored` makes the same again."""
        with self.lock:
            ids = self.ids()
            used, mesh_of = np.unique(self.mesh_of[ids], return_inverse=True)
            return {
                "meshes": [self.meshes[place] for place in used],
                "ids": ids,
                "mesh_of": mesh_of.reshape(-1).astype(np.int32),
                "masks": self.masks[ids],
                "matrices": self.matrices[ids],
            }


def restored(state: dict[str, Any]) -> Instances:
    """What `Instances.state` tells; ValueError where that cannot be."""
    made = Instances()
    ids, mesh_of, meshes = state["ids"], state["mesh_of"], state["meshes"]
    count = len(ids)
    if not (np.diff(ids) > 0).all() or ids.min(initial=0) < 0 or len(mesh_of) != count:
        raise ValueError("its ids do not rise")
    if count and (mesh_of.min() < 0 or mesh_of.max() >= len(meshes)):
        raise ValueError("an instance has no mesh")
    placed = transforms(_full(state["matrices"]))
    made.used = int(ids.max(initial=-1)) + 1
    made._own(made.used)
    for place, mesh in enumerate(meshes):
        of = np.flatnonzero(mesh_of == place)
        reach = reach_of(mesh.vertices)
        rows = Transforms(placed.matrices[of], (len(of),), placed.inverses[of], placed.errors[of])
        _refuse_beyond(rows, reach, "transform")
        made._added(ids[of], made.used, 0, mesh, place, len(of), reach, state["masks"][of], rows)
    made.free = np.flatnonzero(~made.alive[: made.used])[::-1].tolist()
    return made


def reach_of(vertices: NDArray[Any]) -> NDArray[np.float64]:
    reach: NDArray[np.float64] = np.maximum(vertices.max(axis=0, initial=0.0), -vertices.min(axis=0, initial=0.0))
    return reach.astype(np.float64)


def masks_of(mask: ArrayLike, count: int) -> NDArray[np.uint32]:
    """Masks (count,), or (1,) for a single number; those of 32 bits may be given with a sign."""
    given = np.asarray(mask)
    if given.dtype.kind not in "iu" or given.dtype == np.bool_:
        raise ValueError(f"mask must be of integers, not {given.dtype}")
    if given.ndim and given.size != count:
        raise ValueError(f"mask must be a number or have {count} of them, not shape {given.shape}")
    rows = given.reshape(-1).astype(object) if given.dtype == np.uint64 else given.reshape(-1).astype(np.int64)
    good = np.asarray((rows >= -(2**31)) & (rows < 2**32), np.bool_)
    if not good.all():
        raise ValueError(f"mask must have 32 bits, and {rows[np.argmin(good)]} does not")
    return (rows.astype(np.int64) & (2**32 - 1)).astype(np.uint32)


def rows_of(ids: ArrayLike) -> tuple[Ids, tuple[int, ...]]:
    """Ids (n,), and the shape in which they were given."""
    given = np.asarray(ids)
    if given.size == 0:
        given = given.astype(np.int64)
    if given.dtype.kind not in "iu":
        raise ValueError(f"ids must be integers, not {given.dtype}")
    return given.reshape(-1).astype(np.int64), given.shape


def _full(matrices: NDArray[np.float64]) -> NDArray[np.float64]:
    full = np.zeros((len(matrices), 4, 4))
    full[:, :3], full[:, 3, 3] = matrices, 1.0
    return full


def _refuse_beyond(placed: Transforms, reaches: NDArray[np.float64], name: str) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        far = (np.abs(placed.matrices[:, :, :3]) * reaches[..., None, :]).sum(axis=2) + np.abs(placed.matrices[:, :, 3])
    good = (far < LARGEST).all(axis=1)
    if not good.all():
        row = [int(i) for i in np.unravel_index(int(np.argmin(good)), placed.shape)] if placed.shape else ""
        raise ValueError(f"{name}{row} moves the mesh beyond the numbers")
