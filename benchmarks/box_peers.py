"""How other libraries find the pairs of boxes that overlap, each asked in the way that it is made for.

Search trees and managers hold the boxes and are asked (`that_hold`); physics engines find pairs while they step, which
builds what they search too (`that_step`), so a new world is made for each round, outside the timing. Where reading the
pairs out takes time of its own, the answer is a function that does it, called outside the timing.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import boxwood
from clock import Fresh

NAMES = ("shapely", "rtree", "scipy", "pykdtree", "fcl", "coal", "pybullet", "pymunk", "rapier3d")
HERE = {name for name in NAMES if importlib.util.find_spec(name)}

Contenders = dict[str, Callable[[], Any] | Fresh]

SLACK = 1e-6
"""By how much the corners of a box may move in a library that holds it by its middle, or in float32."""

MOST_TO_LET_GO = 3e10
"""Boxes times pairs: each shape that leaves a space of pymunk looks at all pairs, beyond that for more than minutes."""


def that_hold(lower: np.ndarray, upper: np.ndarray, most: int) -> Contenders:
    """What finds the pairs, at most so many, among boxes that it holds already."""
    found: Contenders = {}
    if lower.shape[1] == 2:
        if "shapely" in HERE:
            import shapely

            shapes = shapely.box(*lower.T, *upper.T)
            tree = shapely.STRtree(shapes)
            found["shapely"] = lambda: tree.query(shapes).T
        if "rtree" in HERE:
            from rtree import index

            slow = index.Index((np.arange(len(lower)), lower, upper))
            found["rtree"] = lambda: counted(*slow.intersection_v(lower, upper))
        return found
    if "fcl" in HERE:
        found["fcl"] = partial(_fcl_pairs, _fcl_manager(lower, upper))
    if "coal" in HERE:
        import coal

        manager = _coal_manager(lower, upper)
        found["coal"] = Fresh(partial(coal.CollisionCallBackCollect, most), partial(_coal_pairs, *manager))
    if "pybullet" in HERE:
        found["pybullet"] = _pybullet_world(lower, upper)
    return found


def that_step(lower: np.ndarray, upper: np.ndarray, pairs: int) -> Contenders:
    """What builds and finds the pairs, about so many, in one."""
    found: Contenders = {}
    if lower.shape[1] == 2:
        if "shapely" in HERE:
            import shapely

            shapes = shapely.box(*lower.T, *upper.T)
            found["shapely"] = lambda: shapely.STRtree(shapes).query(shapes).T
        if "pymunk" in HERE and pairs * len(lower) <= MOST_TO_LET_GO:
            found["pymunk"] = Fresh(partial(_pymunk_space, lower, upper), _pymunk_step)
    elif "rapier3d" in HERE:
        found["rapier3d"] = Fresh(partial(_rapier_colliders, lower, upper), _rapier_step)
    return found


def counted(ids: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Ids row after row, and how many each has, as pairs."""
    rows = np.repeat(np.arange(len(numbers)), numbers.astype(np.int64))
    return np.stack([rows, ids.astype(np.int64)], axis=1)


class Judge:
    """Whether an answer holds the pairs of a set: as pairs in any order, once or twice, or how many they are.

    An array must hold them to the last bit. A number or a function comes from a library that holds a box by its middle:
    pairs that overlap, or miss each other, by no more than a rounding may be in it or not.
    """

    def __init__(self, lower: np.ndarray, upper: np.ndarray) -> None:
        slack = SLACK * float(np.abs([lower, upper]).max(initial=0))
        pairs = boxwood.BoxTree(lower - slack, upper + slack).pairs()
        i, j = pairs.T
        depth = (np.minimum(upper[i], upper[j]) - np.maximum(lower[i], lower[j])).min(axis=1)
        self.most = keys(pairs)
        self.least = self.most[depth > slack]

    def __call__(self, ours: Any, other: Any) -> bool:
        if isinstance(other, int):
            return len(self.least) <= other <= len(self.most)
        if isinstance(other, np.ndarray):
            return np.array_equal(self.once(other), keys(ours))
        found = self.once(other())
        return within(self.least, found) and within(found, self.most)

    def once(self, pairs: np.ndarray) -> np.ndarray:
        """Keys of the pairs, each once and none of a box with itself."""
        pairs = np.sort(pairs.reshape(-1, 2), axis=1)
        return np.unique(keys(pairs[pairs[:, 0] < pairs[:, 1]]))


def keys(pairs: np.ndarray) -> np.ndarray:
    """One number for each pair, in the same order."""
    return pairs[:, 0].astype(np.int64) << 32 | pairs[:, 1].astype(np.int64)


def within(part: np.ndarray, whole: np.ndarray) -> bool:
    """Whether all of one sorted array is in the other."""
    if len(part) == 0 or len(whole) == 0:
        return len(part) == 0
    return bool(np.all(whole[np.searchsorted(whole, part).clip(max=len(whole) - 1)] == part))


def _middles(lower: np.ndarray, upper: np.ndarray) -> Iterator[tuple[list[float], list[float]]]:
    """The middle and half the size of each box."""
    lower, upper = lower.astype(np.float64), upper.astype(np.float64)
    return zip(((lower + upper) / 2).tolist(), ((upper - lower) / 2).tolist(), strict=True)


# python-fcl and coal: managers of collision objects


def _fcl_manager(lower: np.ndarray, upper: np.ndarray) -> Any:
    import fcl

    manager = fcl.DynamicAABBTreeCollisionManager()
    manager.registerObjects(
        [
            fcl.CollisionObject(fcl.Box(2 * x, 2 * y, 2 * z), fcl.Transform(np.array(middle)))
            for middle, (x, y, z) in _middles(lower, upper)
        ]
    )
    manager.setup()
    return manager


def _fcl_pairs(manager: Any) -> int:
    """Only how many: a callback, which must be Python, is not told which objects they are."""
    found: list[None] = []

    def note(_one: Any, _other: Any, _data: Any) -> bool:
        found.append(None)
        return False

    manager.collide(None, note)
    return len(found)


def _coal_manager(lower: np.ndarray, upper: np.ndarray) -> tuple[Any, list[Any]]:
    """With the objects, which it does not keep."""
    import coal

    turn = np.eye(3)
    objects = [
        coal.CollisionObject(coal.Box(2 * x, 2 * y, 2 * z), coal.Transform3s(turn, np.array(middle)))
        for middle, (x, y, z) in _middles(lower, upper)
    ]
    manager = coal.DynamicAABBTreeCollisionManager()
    for each in objects:
        manager.registerObject(each)
    manager.setup()
    return manager, objects


def _coal_pairs(manager: Any, _objects: list[Any], collect: Any) -> int:
    """Collected in C++ into room that is made before, but Python may read only how many."""
    manager.collide(collect)
    return int(collect.numCollisionPairs())


# Physics engines


def _pybullet_world(lower: np.ndarray, upper: np.ndarray) -> Callable[[], Any]:
    """Its tree is asked box by box, which gives each pair twice; there is no question for all of them."""
    import pybullet

    if pybullet.isConnected(0):
        pybullet.disconnect(0)  # the set before this one, which takes much memory
    world = pybullet.connect(pybullet.DIRECT)
    shape = partial(pybullet.createCollisionShape, pybullet.GEOM_BOX, physicsClientId=world)
    number = {
        pybullet.createMultiBody(0, shape(halfExtents=half), basePosition=middle, physicsClientId=world): i
        for i, (middle, half) in enumerate(_middles(lower, upper))
    }
    corners = list(zip(lower.tolist(), upper.tolist(), strict=True))

    def ask() -> Callable[[], np.ndarray]:
        found = [pybullet.getOverlappingObjects(low, high, physicsClientId=world) for low, high in corners]
        return lambda: np.array([(i, number[body]) for i, row in enumerate(found) for body, _ in row or ()], np.int64)

    return ask


def _pymunk_space(lower: np.ndarray, upper: np.ndarray) -> tuple[Any, dict[Any, int]]:
    """Bodies that may collide and stand still, and the number of each shape."""
    import pymunk

    space, number = pymunk.Space(), {}
    for i, (middle, (x, y)) in enumerate(_middles(lower, upper)):
        body = pymunk.Body(1, 1)
        body.position = middle[0], middle[1]
        shape = pymunk.Poly.create_box(body, (2 * x, 2 * y))
        space.add(body, shape)
        number[shape] = i
    return space, number


def _pymunk_step(made: tuple[Any, dict[Any, int]]) -> Callable[[], np.ndarray]:
    space, number = made
    space.step(1e-12)

    def read() -> np.ndarray:
        found: list[tuple[int, ...]] = []
        for body in space.bodies:
            body.each_arbiter(lambda arbiter: found.append(tuple(number[shape] for shape in arbiter.shapes)))
        return np.array(found, np.int64)

    return read


def _rapier_colliders(lower: np.ndarray, upper: np.ndarray) -> Any:
    """Sensors, for which the narrow phase does the least; ids count from 0 as they are put in."""
    import rapier3d as rapier

    colliders, every = rapier.ColliderSet(), rapier.ActiveCollisionTypes.all()
    for middle, half in _middles(lower, upper):
        box = rapier.Collider.cuboid(*half).translation(middle)
        colliders.insert(box.sensor(True).active_collision_types(every))
    return colliders


def _rapier_step(colliders: Any) -> Callable[[], np.ndarray]:
    import rapier3d as rapier

    found = rapier.NarrowPhase()
    bodies, islands = rapier.RigidBodySet(), rapier.IslandManager()
    rapier.CollisionPipeline().step(0.0, islands, rapier.BroadPhaseBvh(), found, bodies, colliders)
    pairs = found.intersection_pairs
    return lambda: np.array([(one.index, other.index) for one, other, _ in pairs()], np.int64)
