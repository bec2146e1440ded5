"""What all structures have in common: their questions (`asking`), their changes, their checks.

A structure adds what is its own: arrays for kernels (`_arrays`), how they are made (`_build`), and how they follow
when objects come, move and go (`_link`, `_relocate`, `_unlink`, for rows of the store).
"""

from __future__ import annotations

import abc
import copy
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import archive
from .._arrays import FLOAT32, FLOAT64, boxed
from ..archive import StrPath
from . import arguments
from .asking import Asking, Ids
from .store import Store
from .tuning import Tuned, tune


@dataclass(frozen=True)
class IndexStatistics:
    """What a structure is made of.

    Attributes
    ----------
    objects : int
    bytes : int
        Of all arrays, room for more objects among them.
    build_seconds : float
        What the last build took.
    rebuilds : int
        How often changes made the structure build itself anew.
    details : dict of str to number
        What this kind of structure has: cells, nodes, depth and so on.
    """

    objects: int
    bytes: int
    build_seconds: float
    rebuilds: int
    details: dict[str, float] = field(default_factory=dict)


class Structure(Asking):
    """Boxes or points in 2-D or 3-D that can be asked, and that come, move and go.

    Parameters
    ----------
    lower, upper : (n, 2) or (n, 3) array_like
        Corners of n boxes, closed, so that touching counts. float32 and float64 are kept and decide the precision of
        answers; integers become float64. They are copied. Their ids are 0 to n - 1.

    Raises
    ------
    ValueError
        For a wrong shape, a corner that is not finite, or lower > upper; it names the first bad row.
    """

    DIMENSION: int | None = None
    """The only one that a structure is made for."""

    TUNED: str | None = None
    """The own parameter that `tune` chooses."""

    def __init__(self, lower: ArrayLike, upper: ArrayLike) -> None:
        batch, self._dimension = arguments.boxes(lower, upper, self.DIMENSION)
        self._single = batch.single
        self._store = Store(batch.rows)
        self._rebuilds = 0
        self._rebuild()

    @classmethod
    def from_points(cls, points: ArrayLike, **own_parameters: Any) -> Self:
        """A structure of points, which are boxes without size: points (n, 2) or (n, 3)."""
        return cls(points, points, **own_parameters)

    @classmethod
    def tune(
        cls,
        lower: ArrayLike,
        upper: ArrayLike,
        ask: Callable[[Self], object] | None = None,
        *,
        values: Sequence[float] | None = None,
        rounds: int = 3,
    ) -> Tuned:
        """Choose the own parameter (cell_size, max_objects or leaf_size) by measurement on these boxes.

        Parameters
        ----------
        lower, upper : (n, 2) or (n, 3) array_like
        ask : callable, optional
            Does with the structure what it is wanted for: asks, moves. By default spheres about a thousand of the
            objects, as large as the usual distance between neighbours.
        values : sequence of numbers, optional
            To choose among; by default a few around the usual one.
        rounds : int
            The quickest of so many counts; values that take three times as long as the best are tried once.

        Returns
        -------
        Tuned
            ``parameters`` for this structure, and the seconds that each value took.

        Examples
        --------
        >>> import numpy as np
        >>> from boxwood.index import UniformGrid
        >>> points = np.random.default_rng(1).uniform(0, 100, (500, 2))
        >>> tuned = UniformGrid.tune(points, points, lambda grid: grid.query_sphere(points, 9.0))
        >>> grid = UniformGrid(points, points, **tuned.parameters)
        """
        return tune(cls, lower, upper, ask, values, rounds)

    @classmethod
    def _values(cls, boxes: NDArray[np.float64], dimension: int) -> list[Any]:
        """Of the own parameter, what `tune` tries."""
        return [2, 4, 8, 16, 32]

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return self._dimension

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the boxes; float64 as soon as one was given in it."""
        return FLOAT32 if self._single else FLOAT64

    @property
    def ids(self) -> Ids:
        """(n,) int64: of the objects that are there, rising."""
        return self._store.live_ids

    def boxes(self, ids: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
        """The lower and upper corners of these objects, (n, d) each, or (d,) for one id."""
        numbers, shape = arguments.ids(ids)
        rows = self._store.boxes[self._store.rows_of(numbers, once=False)].astype(self.dtype)
        return boxed(shape, rows[:, : self._dimension]), boxed(shape, rows[:, 3 : 3 + self._dimension])

    def __repr__(self) -> str:
        return f"<boxwood.index.{type(self).__name__} of {len(self)} boxes, {self._dimension}-D, {self.dtype}>"

    def __copy__(self) -> Self:
        """With arrays of its own, since objects move."""
        return copy.deepcopy(self)

    # Changes

    def insert(self, lower: ArrayLike, upper: ArrayLike) -> Any:
        """Add boxes (n, d), or one (d,); gives their ids (n,), or its id.

        Ids count up, and none is given twice. The dtype becomes float64 if these boxes are float64.
        """
        batch, _ = arguments.boxes(lower, upper, self._dimension)
        rows, ids = self._store.add(batch.rows)
        self._single &= batch.single
        self._link(rows)
        return boxed(batch.shape, ids)

    def move(self, ids: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> int:
        """Give objects other boxes; gives for how many of them the structure had to change.

        Parameters
        ----------
        ids : int or array_like (n,)
            Of an id that comes twice, the last box counts.
        lower, upper : (n, d) array_like, or (d,) for all

        Raises
        ------
        KeyError
            Naming the first id that is not there.
        """
        numbers, shape = arguments.ids(ids)
        batch, _ = arguments.boxes(lower, upper, self._dimension, shape)
        rows = self._store.rows_of(numbers, once=False)
        self._single &= batch.single
        return self._relocate(rows, batch.rows)

    def remove(self, ids: ArrayLike) -> None:
        """Take objects out, by id (n,) or one; KeyError naming the first that is not there, or comes twice."""
        numbers, _ = arguments.ids(ids)
        rows = self._store.rows_of(numbers, once=True)
        self._unlink(rows)
        self._store.remove(rows)

    # Keeping

    def save(self, path: StrPath) -> None:
        """Write objects, their ids and the own parameters to a safetensors file, from which `load` builds it again.

        The file takes the place of an older one only when all of it is written; OSError when it cannot be.
        """
        ids = self.ids
        lower, upper = self.boxes(ids)
        arrays = {"lower": lower, "upper": upper, "ids": ids}
        told = {"given": str(self._store.given), "parameters": json.dumps(self._parameters())}
        archive.write_arrays(path, arrays, told, kind_of(type(self)))

    @classmethod
    def load(cls, path: StrPath) -> Self:
        """Build what `save` wrote; ValueError for a file that is damaged, cut off or of another structure."""
        arrays, told = archive.read_arrays(path, kind_of(cls))
        try:
            structure = cls(arrays["lower"], arrays["upper"], **json.loads(told["parameters"]))
            if structure._store.renumber(arrays["ids"], int(told["given"])):
                structure._rebuild()
        except (KeyError, TypeError, ValueError) as reason:
            raise ValueError(f"{os.fspath(path)} is damaged: {reason}") from reason
        return structure

    # Checks

    def statistics(self) -> IndexStatistics:
        """What the structure is made of: objects, bytes, build seconds, and what its kind has."""
        size = self._store.nbytes + sum(a.nbytes for a in self._arrays() if isinstance(a, np.ndarray))
        return IndexStatistics(len(self), size, self._seconds, self._rebuilds, self._details())

    def validate(self) -> None:
        """Check every invariant; ValueError naming the first that is broken."""
        store = self._store
        rows = store.live_rows
        expect(bool((store.rows[store.ids[rows]] == rows).all()), "a row and its id do not refer to each other")
        expect(len(rows) == len(store.live_ids) == len(store), "rows in use and ids are not as many")
        expect(bool((store.boxes[rows, :3] <= store.boxes[rows, 3:]).all()), "a box has lower > upper")
        expect(bool((store.ids[store.spare] < 0).all()), "a row to use again is in use")
        self._check()

    # What each structure has of its own

    @abc.abstractmethod
    def _build(self) -> None:
        """Make the structure anew, for all rows in use."""

    @abc.abstractmethod
    def _link(self, rows: Ids) -> None:
        """Take in rows that are new in the store."""

    @abc.abstractmethod
    def _relocate(self, rows: Ids, boxes: NDArray[np.float64]) -> int:
        """Write new boxes into rows, and follow; gives for how many the structure changed."""

    @abc.abstractmethod
    def _unlink(self, rows: Ids) -> None:
        """Forget rows, which the store still has."""

    def _parameters(self) -> dict[str, Any]:
        """The own parameters, as the constructor takes them."""
        return {}

    def _check(self) -> None:
        """Raise for a broken invariant."""
        return

    def _details(self) -> dict[str, float]:
        return {}

    def _rebuild(self) -> None:
        start = time.perf_counter()
        self._build()
        self._seconds = time.perf_counter() - start


def kind_of(cls: type[Structure]) -> str:
    """What a file that holds such a structure is."""
    return f"index.{cls.__name__}"


def expect(true: bool, fault: str) -> None:
    if not true:
        raise ValueError(fault)
