"""What a user holds: a fixed set of boxes or points, in the plane or in space, that answers questions about them.

A set is two arrays and, from the first question on, the tree over them (`build`, `tree`); `box_questions` has what it
can be asked.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import archive
from ._regions import box_set, moved_boxes, point_set
from ._threads import new_lock
from ._work import work_options
from .box_questions import BoxQuestions
from .build.choose import build_box_tree
from .build.compare import validate_boxes
from .build.renew import refit_box_tree
from .tree.box_tree import BoxSetTree
from .tree.levels import levels_of
from .tree.statistics import BoxStatistics
from .tree.validate import validate_links

Progress: TypeAlias = Callable[[int, int], object]
StrPath: TypeAlias = str | os.PathLike[str]

KIND = "boxes"
TREE_ARRAYS = ("nodes", "blocks", "ids", "frame")


class Held(NamedTuple):
    lower: NDArray[Any]
    upper: NDArray[Any]  # the same array for points
    tree: BoxSetTree | None


class BoxTree(BoxQuestions):
    """A fixed set of boxes, in the plane or in space, that can be asked what overlaps, what is near and what is hit.

    Boxes are closed: what touches one overlaps it. Ids are rows of `lower` and `upper`.

    Parameters
    ----------
    lower, upper : (n, 2) or (n, 3) array_like
        The corners of the boxes, lower nowhere above upper. float32 is kept when both are; else float64.
    copy : bool
        False borrows arrays that need no conversion; they must not be changed afterwards.

    Raises
    ------
    ValueError
        For wrong shapes, a corner that is not finite, or a lower corner above the upper one; it names the first.

    Examples
    --------
    >>> import boxwood as bw
    >>> tree = bw.BoxTree([[0, 0], [2, 0], [5, 5]], [[1, 1], [3, 1], [6, 6]])
    >>> tree.query_box([0.5, 0.5], [2, 2]).tolist()
    [0, 1]
    """

    def __init__(self, lower: ArrayLike, upper: ArrayLike, *, copy: bool = True) -> None:
        self._hold(*box_set(lower, upper, copy=copy))

    @classmethod
    def from_points(cls, points: ArrayLike, *, copy: bool = True) -> BoxTree:
        """A set of points (n, 2) or (n, 3): boxes without extent, in half the memory.

        Examples
        --------
        >>> import boxwood as bw
        >>> tree = bw.BoxTree.from_points([[0, 0, 0], [1, 0, 0], [0, 3, 4]])
        >>> tree.query_sphere([0, 0, 0], 5).tolist()
        [0, 1, 2]
        """
        held = point_set(points, copy=copy)
        tree = cls.__new__(cls)
        tree._hold(held, held)
        return tree

    def _hold(self, lower: NDArray[Any], upper: NDArray[Any]) -> None:
        # all that a refit exchanges in one: who looks at more than one of them must not read twice
        self._now = Held(lower, upper, None)
        self._building = new_lock()

    @property
    def lower(self) -> NDArray[Any]:
        """(n, d) float32 or float64, read-only."""
        return self._now.lower

    @property
    def upper(self) -> NDArray[Any]:
        """(n, d) float32 or float64, read-only."""
        return self._now.upper

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return int(self.lower.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the corners."""
        return self.lower.dtype

    @property
    def bounds(self) -> NDArray[Any]:
        """(2, d): the least and the greatest coordinates of all boxes; zeros when there are none."""
        if len(self) == 0:
            return np.zeros((2, self.dimension), self.dtype)
        lower, upper, _ = self._now
        return np.stack([lower.min(axis=0), upper.max(axis=0)])

    def __len__(self) -> int:
        return len(self.lower)

    def __repr__(self) -> str:
        kind = "points" if self.lower is self.upper else "boxes"
        return f"<boxwood.BoxTree of {len(self)} {kind} in {self.dimension}-D, {self.dtype}>"

    # The tree

    def build(
        self,
        builder: str | None = None,
        *,
        bins: int = 16,
        leaf_size: int = 4,
        quality: Literal["low", "medium", "high"] | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> BoxTree:
        """Build the tree now, in place of one that is there; otherwise the first question builds the default.

        Parameters are those of `Mesh.build`. In the plane, the surface area heuristic counts perimeters.

        Returns
        -------
        BoxTree
            This set.
        """
        work_options(threads, progress)
        with self._building:
            now = self._now
            tree = build_box_tree(
                now.lower,
                now.upper,
                builder,
                bins=bins,
                leaf_size=leaf_size,
                quality=quality,
                threads=threads,
                progress=progress,
            )
            self._now = now._replace(tree=tree)
        return self

    def refit(self, lower: ArrayLike, upper: ArrayLike | None = None, *, threads: int | None = None) -> BoxTree:
        """Move the boxes, and the tree with them: as many as before, the same tree, and every box of it fitted anew.

        It takes a small part of the time of a build. Questions get slower as boxes that were neighbours move apart;
        `build` makes a new tree.

        Parameters
        ----------
        lower, upper : (n, d) array_like
            As many as before, in as many dimensions; of a set of points the first alone. A set in float32 takes
            float32, and not float64, which it would have to round.
        threads : int, optional
            How many may work at once; None for all.

        Returns
        -------
        BoxTree
            This set.

        Raises
        ------
        ValueError
            As the constructor, and for another number of boxes or a dtype to be narrowed. The set is then as it was.

        Examples
        --------
        >>> import boxwood as bw
        >>> tree = bw.BoxTree([[0, 0], [2, 0]], [[1, 1], [3, 1]])
        >>> tree.refit([[0, 5], [2, 0]], [[1, 6], [3, 1]]).query_box([0, 0], [9, 4]).tolist()
        [1]
        """
        low, high = moved_boxes(lower, upper, self.lower, points=self.upper is self.lower)
        with self._building:
            tree = self._now.tree
            if tree is not None:
                tree = refit_box_tree(tree, low, high, threads)
            self._now = Held(low, high, tree)
        return self

    @property
    def tree(self) -> BoxSetTree:
        """The tree that answers; built on first use."""
        return cast(BoxSetTree, self._built().tree)

    def _built(self) -> Held:
        now = self._now
        if now.tree is None:
            with self._building:
                now = self._now
                if now.tree is None:
                    now = self._now = now._replace(tree=build_box_tree(now.lower, now.upper))
        return now

    def statistics(self) -> BoxStatistics:
        """Size, shape and quality of the tree: nodes, leaves, depth, SAH cost, overlap, bytes, seconds to build."""
        return self.tree.statistics()

    def validate(self) -> None:
        """Check every invariant of the tree, and that it holds these boxes; ValueError naming the first one broken."""
        lower, upper, tree = self._built()
        cast(BoxSetTree, tree).validate()
        validate_boxes(tree, lower, upper)

    def levels(self) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """The boxes of each level of the tree, for pictures: a list of lower (m, d) and upper (m, d), float64.

        Level 0 is one box around everything, level 1 has its up to eight children, and so on; a leaf stands on the
        level where it hangs and on none below. They are rounded outward. An empty set has no levels.
        """
        return levels_of(self.tree)

    # Keeping

    def save(self, path: StrPath) -> None:
        """Write the set and, where it is built, its tree to a safetensors file that `load` reads.

        The file takes the place of an older one only when all of it is written; OSError when it cannot be.
        """
        lower, upper, tree = self._now
        arrays: dict[str, NDArray[Any]] = {"lower": lower}
        if upper is not lower:
            arrays["upper"] = upper
        told = {}
        if tree is not None:
            arrays |= {name: getattr(tree, name) for name in TREE_ARRAYS}
            told = {name: repr(getattr(tree, name)) for name in ("build_seconds", "refits")} | {"builder": tree.builder}
        archive.write_arrays(path, arrays, told, KIND)

    @classmethod
    def load(cls, path: StrPath, *, mmap: bool = False) -> BoxTree:
        """Read what `save` wrote. With `mmap`, processes that load the same file share one copy of its arrays.

        ValueError for a file that is damaged, cut off or not a saved set.
        """
        arrays, told = archive.read_arrays(path, KIND, mmap=mmap)
        try:
            lower, points = arrays.pop("lower"), "upper" not in arrays
            boxes = cls.from_points(lower, copy=False) if points else cls(lower, arrays.pop("upper"), copy=False)
            if arrays:
                held: dict[str, Any] = {name: arrays.pop(name) for name in TREE_ARRAYS}
                tree = BoxSetTree(
                    **held,
                    builder=told["builder"],
                    build_seconds=float(told["build_seconds"]),
                    refits=int(told["refits"]),
                    dimension=boxes.dimension,
                    points=points,
                )
                # The checksum tells that the file is what was saved; this, that no walk can leave the arrays.
                validate_links(tree)
                ids = tree.ids if len(tree.ids) else np.full(1, -1)
                if tree.blocks.dtype != boxes.dtype or ids.min() < -1 or ids.max() >= len(boxes):
                    raise ValueError("its tree belongs to another set")
                boxes._now = boxes._now._replace(tree=tree)
        except (KeyError, ValueError) as reason:
            raise ValueError(f"{os.fspath(path)} is damaged: {reason}") from reason
        if arrays:
            raise ValueError(f"{os.fspath(path)} is damaged: it holds {', '.join(arrays)}, which no set has")
        return boxes

    def __getstate__(self) -> dict[str, Any]:
        return self._now._asdict()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._hold(state["lower"], state["upper"])
        self._now = Held(**state)
        self.lower.flags.writeable = self.upper.flags.writeable = False
