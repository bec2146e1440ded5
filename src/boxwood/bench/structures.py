"""Every structure of `boxwood.index` on one scene: build, move and questions, with the answers of brute force beside.

Structures take turns, round after round, and the least of the rounds counts, since whatever else the machine does only
adds. A round takes as many questions as fit its time. Before it is timed, each structure answers questions that brute
force answers too.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import index
from .scenes import NEIGHBOURS, Scene

WHOLE = ("build", "move", "tenth", "pairs")
"""What is done with all objects at once, or moved are a tenth of them: nanoseconds are those an object."""
QUESTIONS = ("sphere", "box", "frustum", "ray", "nearest", "pairs")
MOVES = ("move", "tenth")
COLUMNS = ("build", "move", "tenth", *QUESTIONS)
STRUCTURES: dict[str, type[index.Structure]] = {
    kind.__name__: kind
    for kind in (
        index.BruteForce, index.UniformGrid, index.SpatialHash, index.Quadtree, index.Octree, index.KDTree,
        index.SweepAndPrune, index.BVH,
    )
}  # fmt: skip

ROUNDS = 5
MOST_BRUTE_PAIRS = 20_000
"""Objects whose pairs brute force looks for."""
COMPARED = 2e7
"""Box tests that brute force spends on a comparison, at most; of ten questions at least."""

Progress = Callable[[int, int, str], object]


@dataclass(frozen=True)
class Row:
    """What one structure took for one thing.

    Attributes
    ----------
    scene, structure, question : str
        The question is one of COLUMNS.
    dimension, objects : int
    items : int
        Questions of a round, or objects.
    nanoseconds : float
        For one of them, in the quickest round.
    compared : int
        How many answers were compared with those of brute force; of `build` none, of moves those to spheres after them.
    same : bool
        Whether all of them were the same.
    """

    scene: str
    dimension: int
    objects: int
    structure: str
    question: str
    items: int
    nanoseconds: float
    compared: int
    same: bool

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def structures_for(dimension: int, names: Sequence[str] = ()) -> dict[str, type[index.Structure]]:
    """Those of these names, or all, that are made for that dimension."""
    return {
        name: kind
        for name, kind in STRUCTURES.items()
        if kind.DIMENSION in (None, dimension) and (not names or name in names)
    }


def ask(structure: index.Structure, question: str, scene: Scene, count: int, threads: int | None) -> Any:
    """The answers to the first `count` questions of that kind."""
    at, radius = scene.centers[:count], scene.radius
    if question == "sphere":
        return structure.query_sphere(at, radius, threads=threads)
    if question == "box":
        return structure.query_box(at - radius, at + radius, threads=threads)
    if question == "frustum":
        return structure.query_frustum(scene.planes[:count], threads=threads)
    if question == "ray":
        return structure.raycast(at, scene.directions[:count], threads=threads)
    if question == "nearest":
        return structure.nearest(at, k=NEIGHBOURS, threads=threads)
    return structure.pairs(threads=threads)


def arrays_of(answer: Any) -> list[NDArray[Any]]:
    """What two answers must have in common."""
    names = [name for name in ("splits", "ids", "t_hit", "primitive_ids", "distances") if hasattr(answer, name)]
    return [getattr(answer, name) for name in names] if names else [answer]


def same(one: Any, other: Any) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(arrays_of(one), arrays_of(other), strict=True))


def measure(
    scene: Scene,
    names: Sequence[str] = (),
    questions: Sequence[str] = COLUMNS,
    *,
    seconds: float = 0.25,
    threads: int | None = 1,
    progress: Progress | None = None,
) -> list[Row]:
    """Rows for each structure and each of the questions (of COLUMNS), each measured for about so many seconds."""
    n = len(scene.lower)
    brute = index.BruteForce(scene.lower, scene.upper)
    built = {name: kind(scene.lower, scene.upper) for name, kind in structures_for(scene.dimension, names).items()}
    rows = []
    for done, question in enumerate(questions):
        if progress is not None:
            progress(done, len(questions), f"{question}, {n:,} {scene.name}, {scene.dimension}-D")
        mostly = built
        if question in MOVES:  # which may leave a structure other than it was built
            mostly = {name: type(each)(scene.lower, scene.upper) for name, each in built.items()}
        if question == "pairs" and n > MOST_BRUTE_PAIRS:
            mostly = {name: each for name, each in built.items() if name != "BruteForce"}
        verdicts = {name: compare(brute, each, question, scene, threads) for name, each in mostly.items()}
        found = time_in_turns(mostly, question, scene, seconds, threads)
        for name, (items, nanoseconds) in found.items():
            compared, agree = verdicts[name]
            rows.append(Row(scene.name, scene.dimension, n, name, question, items, nanoseconds, compared, agree))
    return rows


def compare(
    brute: index.Structure, each: index.Structure, question: str, scene: Scene, threads: int | None
) -> tuple[int, bool]:
    """How many answers were compared, and whether all are the same."""
    n = len(scene.lower)
    count = min(len(scene.centers), max(10, int(COMPARED / max(n, 1))))
    if question == "build":
        return 0, True
    if question in MOVES:
        there, back = zip(*(moves(structure, question, scene) for structure in (brute, each)), strict=True)
        for move in there:
            move()
        agree = same(ask(brute, "sphere", scene, count, threads), ask(each, "sphere", scene, count, threads))
        for move in back:
            move()
        return count, agree
    if question == "pairs":
        return compare_pairs(brute, each.pairs(threads=threads), scene, min(count, n), threads)
    return count, same(ask(brute, question, scene, count, threads), ask(each, question, scene, count, threads))


def compare_pairs(
    brute: index.Structure, pairs: NDArray[np.int64], scene: Scene, count: int, threads: int | None
) -> tuple[int, bool]:
    """The pairs of some objects against what brute force finds around each."""
    some = np.unique(np.linspace(0, len(scene.lower) - 1, count).astype(np.int64))
    around = brute.query_box(scene.lower[some], scene.upper[some], threads=threads)
    wanted = np.stack([np.repeat(some, np.diff(around.splits)), around.ids], axis=1)  # type: ignore[union-attr]
    wanted = np.unique(np.sort(wanted[wanted[:, 0] != wanted[:, 1]], axis=1), axis=0)
    found = pairs[np.isin(pairs, some).any(axis=1)]
    return len(some), bool(np.array_equal(found, wanted))


def time_in_turns(
    built: dict[str, index.Structure], question: str, scene: Scene, seconds: float, threads: int | None
) -> dict[str, tuple[int, float]]:
    """Of each structure, the items of a round and the nanoseconds for one in the quickest."""
    calls: dict[str, Callable[[], Any]] = {}
    items: dict[str, int] = {}
    for name, each in built.items():
        items[name] = items_of(question, scene) or paced(each, question, scene, seconds, threads)
        calls[name] = call_of(each, question, scene, items[name], threads)
    least, spent = dict.fromkeys(built, np.inf), dict.fromkeys(built, 0.0)
    gc.collect()
    gc.disable()
    try:
        for turn in range(ROUNDS):
            names = list(built)
            for name in names[turn % len(names) :] + names[: turn % len(names)]:
                if turn == 0 or spent[name] < seconds:
                    elapsed = timed(calls[name])
                    spent[name] += elapsed
                    least[name] = min(least[name], elapsed)
    finally:
        gc.enable()
    return {name: (items[name], least[name] / max(items[name], 1) * 1e9) for name in built}


def items_of(question: str, scene: Scene) -> int:
    """What is done at once; 0 for questions, of which there may be any number. Moves go there and back."""
    if question in MOVES:
        return 2 * len(movers(question, scene))
    return len(scene.lower) if question in WHOLE else 0


def movers(question: str, scene: Scene) -> NDArray[np.int64]:
    """The ids of those that move."""
    return np.arange(0, len(scene.lower), 1 if question == "move" else 10)


def moves(each: index.Structure, question: str, scene: Scene) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """A small move there, and back."""
    ids = movers(question, scene)
    places = scene.lower[ids], scene.upper[ids]
    others = places[0] + scene.step[ids], places[1] + scene.step[ids]
    return lambda: each.move(ids, *others), lambda: each.move(ids, *places)


def paced(each: index.Structure, question: str, scene: Scene, seconds: float, threads: int | None) -> int:
    """How many questions fit a round."""
    most = len(scene.centers)
    few = min(most, 16)
    ask(each, question, scene, few, threads)  # compiled, and in the caches
    elapsed = max(timed(lambda: ask(each, question, scene, few, threads)), 1e-7)
    return max(few, min(most, int(few * seconds / ROUNDS / elapsed)))


def call_of(
    each: index.Structure, question: str, scene: Scene, items: int, threads: int | None
) -> Callable[[], Any]:
    if question == "build":
        return lambda: type(each)(scene.lower, scene.upper)
    if question in MOVES:
        there, back = moves(each, question, scene)
        return lambda: (there(), back())
    return lambda: ask(each, question, scene, items, threads)


def timed(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
