"""What a user holds: meshes placed in a world, each as often as wanted, that answer questions in world space.

There are two levels of trees: one over the boxes of all instances, and that of each mesh, which all its instances
share. `instances` keeps where everything stands; what can be asked is in `scene_rays` and `scene_collisions`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import archive
from ._transforms import transforms
from .instances import Instances, masks_of, restored, rows_of
from .mesh import Mesh
from .mesh_collisions import require_mesh
from .scene_collisions import SceneCollisions
from .tree.statistics import BoxStatistics

StrPath: TypeAlias = str | os.PathLike[str]

KIND = "scene"
ARRAYS = ("ids", "mesh_of", "masks", "matrices")


class Placed(Protocol):
    """A mesh and where it is, as `load_scene` reads them."""

    @property
    def mesh(self) -> Mesh: ...

    @property
    def transform(self) -> NDArray[np.float64]: ...


@dataclass(frozen=True)
class SceneStatistics:
    """The size of a scene, and how its upper tree fares.

    Attributes
    ----------
    instances, meshes : int
        How many stand in it, and of how many distinct meshes.
    triangles : int
        Faces of all instances.
    bytes : int
        Of what the scene itself holds: arrays of all instances, and the tree over them.
    bytes_per_instance : float
        nan for no instances.
    mesh_bytes : int
        Of the distinct meshes and their trees.
    builds, refits : int
        How often the tree over the instances was built, and refitted instead.
    tree : BoxStatistics
        Its shape and quality.
    """

    instances: int
    meshes: int
    triangles: int
    bytes: int
    bytes_per_instance: float
    mesh_bytes: int
    builds: int
    refits: int
    tree: BoxStatistics

    def to_dict(self) -> dict[str, Any]:
        """All numbers under their names, as Python's own types."""
        return {**self.__dict__, "tree": self.tree.to_dict()}


class Scene(SceneCollisions):
    """Meshes placed in a world: what rays hit there, and which of them meet.

    A mesh may be placed ten thousand times: instances share it and its tree, and take less than 1 kB each. Vertices of
    a mesh in the scene may move (`Mesh.refit`); the next question finds all its instances changed. Questions may be
    asked from several threads, also while another adds, moves or removes: each sees the scene as it was at one moment.

    Examples
    --------
    >>> import boxwood as bw
    >>> scene = bw.Scene()
    >>> mesh = bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    >>> first = scene.add(mesh)
    >>> second = scene.add(mesh, [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 5], [0, 0, 0, 1]])
    >>> hits = scene.raycast([0.25, 0.5, 9], [0, 0, -1])
    >>> float(hits.t_hit), int(hits.instance_ids)
    (4.0, 1)
    >>> scene.collisions().pairs.tolist()
    []
    """

    def __init__(self) -> None:
        self._instances = Instances()

    @classmethod
    def from_parts(cls, parts: Iterable[Placed], *, mask: int = ~0) -> Scene:
        """The scene of all parts that `load_scene` read: part i is instance i.

        Examples
        --------
        >>> import boxwood as bw
        >>> import numpy as np
        >>> mesh = bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
        >>> len(bw.Scene.from_parts([bw.Part("a", mesh, np.eye(4)), bw.Part("b", mesh, np.eye(4))]))
        2
        """
        scene = cls()
        for i, part in enumerate(parts):
            if not hasattr(part, "mesh") or not hasattr(part, "transform"):
                raise TypeError(
                    f"parts[{i}] must have a mesh and a transform, as a Part does, not {type(part).__name__}"
                )
            scene.add(part.mesh, part.transform, mask)
        return scene

    # Coming, moving, going

    def add(self, mesh: Mesh, transform: ArrayLike | None = None, mask: ArrayLike = ~0) -> Any:
        """Place a mesh, once or many times in one call.

        Parameters
        ----------
        mesh : Mesh
            It is not copied, however often it is added.
        transform : (4, 4) or (..., 4, 4) array_like, optional
            From the mesh's space to the world: any affine transform that can be undone, mirrors and unequal scales
            among them. None leaves the mesh where it is.
        mask : int or (...) array_like of integers
            Of 32 bits, for one or for each. Two instances can meet only if their masks have a bit in common, and a
            ray can hit only those that have one in common with its own.

        Returns
        -------
        int or int64 array (...)
            Ids: the smallest that no instance has, so those of removed instances are given again.

        Raises
        ------
        TypeError
            For anything but a `Mesh`; `as_mesh` makes one.
        ValueError
            For a transform of another shape, not finite, not affine or singular (it names the first), or a mask of
            more than 32 bits. Nothing is added then.

        Examples
        --------
        >>> import boxwood as bw
        >>> import numpy as np
        >>> mesh = bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
        >>> scene = bw.Scene()
        >>> scene.add(mesh), scene.add(mesh, np.tile(np.eye(4), (3, 1, 1))).tolist()
        (0, [1, 2, 3])
        """
        require_mesh("mesh", mesh)
        placed = transforms(transform)
        ids = self._instances.add(mesh, placed, masks_of(mask, len(placed.matrices)))
        return ids.reshape(placed.shape) if placed.shape else int(ids[0])

    def move(self, ids: ArrayLike, transforms: ArrayLike) -> None:
        """Put instances elsewhere; of an id that is there more than once, the last transform counts.

        Parameters
        ----------
        ids : int or (...) array_like of integers
        transforms : (4, 4) or (..., 4, 4) array_like
            The new transform of all, or of each; it replaces the older one.

        Raises
        ------
        KeyError
            For an id that does not exist; it names the first. Nothing is moved then.
        ValueError
            For bad transforms, as of `add`. Nothing is moved then.

        Examples
        --------
        >>> import boxwood as bw
        >>> scene = bw.Scene()
        >>> one = scene.add(bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]))
        >>> scene.move(one, [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 5], [0, 0, 0, 1]])
        >>> float(scene.raycast([0.2, 0.2, 9], [0, 0, -1]).t_hit)
        4.0
        """
        rows, shape = rows_of(ids)
        placed = _transforms_to(transforms)
        if placed.shape not in ((), shape):
            raise ValueError(f"transforms must be one or have the shape {shape} of ids, not {placed.shape}")
        self._instances.move(rows, placed)

    def remove(self, ids: ArrayLike) -> None:
        """Take instances away; a mesh of which none is left is let go. KeyError names the first that does not exist.

        Examples
        --------
        >>> import boxwood as bw
        >>> scene = bw.Scene()
        >>> one = scene.add(bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]))
        >>> scene.remove(one)
        >>> len(scene)
        0
        """
        self._instances.remove(rows_of(ids)[0])

    # What is there

    def __len__(self) -> int:
        return len(self._instances)

    def __iter__(self) -> Iterator[int]:
        return iter(self.ids.tolist())

    def __contains__(self, instance: object) -> bool:
        return isinstance(instance, int | np.integer) and bool(np.isin(instance, self.ids))

    def __repr__(self) -> str:
        meshes = len(self._instances.places)
        return f"<boxwood.Scene of {len(self)} instances of {meshes} mesh{'es' * (meshes != 1)}>"

    @property
    def ids(self) -> NDArray[np.int64]:
        """(n,) int64, rising: the instances."""
        with self._instances.lock:
            return self._instances.ids()

    def mesh(self, instance: int) -> Mesh:
        """The mesh of an instance; KeyError where there is none."""
        with self._instances.lock:
            (row,) = self._known(instance)
            mesh: Any = self._instances.meshes[self._instances.mesh_of[row]]
        return cast("Mesh", mesh)

    def transform(self, ids: ArrayLike) -> NDArray[np.float64]:
        """The transform of an instance, (4, 4), or of many, (..., 4, 4); KeyError names the first that is not there."""
        with self._instances.lock:
            rows = self._known(ids)
            matrices = np.zeros((len(rows), 4, 4))
            matrices[:, :3], matrices[:, 3, 3] = self._instances.matrices[rows], 1.0
        return matrices.reshape(*np.shape(ids), 4, 4)

    def mask(self, ids: ArrayLike) -> Any:
        """The mask of an instance, an int of 32 bits without sign, or of many, (...) uint32; KeyError likewise."""
        with self._instances.lock:
            masks = self._instances.masks[self._known(ids)]
        return masks.reshape(np.shape(ids)) if np.ndim(ids) else int(masks[0])

    @property
    def bounds(self) -> NDArray[np.float64]:
        """(2, 3): the corners of a box in the world that holds all instances, not always the least; zeros for none."""
        with self._instances.lock:
            names = self._instances.standing().names
            if len(names) == 0:
                return np.zeros((2, 3))
            lower, upper = self._instances.lower[names], self._instances.upper[names]
        return np.stack([lower.min(axis=0), upper.max(axis=0)])

    def statistics(self) -> SceneStatistics:
        """How large the scene is, and how its upper tree fares; see `SceneStatistics`."""
        with self._instances.lock:
            scene = self._instances.standing()
            meshes = [mesh for mesh in self._instances.meshes if mesh is not None]
            number = [len(mesh) if mesh is not None else 0 for mesh in self._instances.meshes]
            held = self._instances.nbytes + scene.tree.nbytes
            return SceneStatistics(
                instances=len(self),
                meshes=len(meshes),
                triangles=sum(n * k for n, k in zip(number, self._instances.numbers, strict=True)),
                bytes=held,
                bytes_per_instance=held / len(self) if len(self) else float("nan"),
                mesh_bytes=sum(mesh.vertices.nbytes + mesh.faces.nbytes + mesh.tree.nbytes for mesh in meshes),
                builds=self._instances.builds,
                refits=self._instances.refits,
                tree=scene.tree.statistics(),
            )

    def validate(self) -> None:
        """Check every invariant of the scene, its tree and its meshes; ValueError naming the first one broken."""
        self._instances.validate()

    def _known(self, ids: ArrayLike) -> NDArray[np.int64]:
        rows, _ = rows_of(ids)
        self._instances.require(rows)
        return rows

    # Keeping

    def save(self, path: StrPath) -> None:
        """Write all instances, and each mesh once with its tree where it is built, to a file that `load` reads.

        The file takes the place of an older one only when all of it is written; OSError when it cannot be.
        """
        state = self._instances.state()
        arrays = {name: state[name] for name in ARRAYS}
        told = {"meshes": str(len(state["meshes"]))}
        for i, mesh in enumerate(state["meshes"]):
            own, text = mesh._packed()
            arrays |= {f"{i}.{name}": array for name, array in own.items()}
            told |= {f"{i}.{name}": value for name, value in text.items()}
        archive.write_arrays(path, arrays, told, KIND)

    @classmethod
    def load(cls, path: StrPath, *, mmap: bool = False) -> Scene:
        """Read what `save` wrote. With `mmap`, processes that load the same file share one copy of the meshes.

        ValueError for a file that is damaged, cut off or not a saved scene.
        """
        arrays, told = archive.read_arrays(path, KIND, mmap=mmap)
        try:
            state: dict[str, Any] = {name: arrays.pop(name) for name in ARRAYS}
            number = int(told["meshes"])
            meshes = [Mesh._unpacked(_under(f"{i}.", arrays), _under(f"{i}.", told)) for i in range(number)]
            scene = cls()
            scene._instances = restored(state | {"meshes": meshes})
        except (KeyError, ValueError) as reason:
            raise ValueError(f"{os.fspath(path)} is damaged: {reason}") from reason
        return scene

    def __getstate__(self) -> dict[str, Any]:
        return self._instances.state()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._instances = restored(state)


def _under(prefix: str, held: dict[str, Any]) -> dict[str, Any]:
    """What has a name with that prefix, under the rest of the name."""
    return {name.removeprefix(prefix): value for name, value in held.items() if name.startswith(prefix)}


def _transforms_to(given: ArrayLike) -> Any:
    return transforms(given, "transforms")
