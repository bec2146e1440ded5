"""How other libraries find contacts between meshes, each asked in the way that it is made for.

python-fcl and Coal look for a first contact, pose by pose; MeshLib and libigl for all pairs of triangles; trimesh's
manager and that of python-fcl for pairs in a scene. What holds meshes is made before the timing. Where reading an
answer out takes time of its own, it is a function that does it, called outside the timing.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from clock import Fresh
from collision_sets import Motion, Shape

MODULES = {"python-fcl": "fcl", "Coal": "coal", "MeshLib": "meshlib", "libigl": "igl", "trimesh": "trimesh"}
HERE = {name for name, module in MODULES.items() if importlib.util.find_spec(module)}

Contenders = dict[str, Callable[[], Any] | Fresh]


# First contacts


def first_contacts(motion: Motion) -> Contenders:
    """Which poses are contacts, (n,) bool, with models and transforms made before."""
    found: Contenders = {}
    if "python-fcl" in HERE:
        found["python-fcl"] = partial(_fcl_poses, *_fcl_models(motion))
    if "Coal" in HERE:
        found["Coal"] = partial(_coal_poses, *_coal_models(motion))
    return found


def fcl_model(mesh: Shape) -> Any:
    import fcl

    model = fcl.BVHModel()
    model.beginModel(len(mesh[0]), len(mesh[1]))
    model.addSubModel(mesh[0].astype(np.float64), mesh[1])
    model.endModel()
    return model


def _fcl_models(motion: Motion) -> tuple[Any, ...]:
    import fcl

    one, other = (fcl.CollisionObject(fcl_model(mesh)) for mesh in (motion.mesh, motion.other))
    return one, other, [fcl.Transform(row[:3, :3], row[:3, 3]) for row in motion.transforms]


def _fcl_poses(one: Any, other: Any, transforms: list[Any]) -> np.ndarray:
    import fcl

    found = np.zeros(len(transforms), bool)
    request = fcl.CollisionRequest(num_max_contacts=1)
    for i, transform in enumerate(transforms):
        other.setTransform(transform)
        found[i] = fcl.collide(one, other, request, fcl.CollisionResult()) > 0
    return found


def _coal_models(motion: Motion) -> tuple[Any, ...]:
    import coal

    models = []
    for vertices, faces in (motion.mesh, motion.other):
        model = coal.BVHModelOBBRSS()
        model.beginModel(len(faces), len(vertices))
        model.addVertices(vertices.astype(np.float64))
        model.addTriangles(faces.astype(np.int64))
        model.endModel()
        models.append(model)
    return *models, [coal.Transform3s(row[:3, :3], row[:3, 3]) for row in motion.transforms]


def _coal_poses(one: Any, other: Any, transforms: list[Any]) -> np.ndarray:
    import coal

    found = np.zeros(len(transforms), bool)
    still, request, result = coal.Transform3s(), coal.CollisionRequest(), coal.CollisionResult()
    request.num_max_contacts = 1
    for i, transform in enumerate(transforms):
        result.clear()
        found[i] = coal.collide(one, still, other, transform, request, result) > 0
    return found


# All pairs


def meshlib_mesh(mesh: Shape) -> Any:
    """With its tree, or None where it left faces out, which leaves their numbers in doubt."""
    from meshlib import mrmeshnumpy

    made = mrmeshnumpy.meshFromFacesVerts(mesh[1], mesh[0])
    made.getAABBTree()
    return made if made.topology.numValidFaces() == len(mesh[1]) else None


def all_pairs(mesh: Shape, other: Shape) -> Contenders:
    """Pairs of triangles of two meshes, whose trees are made before."""
    if "MeshLib" not in HERE:
        return {}
    from meshlib import mrmeshpy

    one, two = meshlib_mesh(mesh), meshlib_mesh(other)
    if one is None or two is None:
        return {}
    parts = mrmeshpy.MeshPart(one), mrmeshpy.MeshPart(two)
    return {"MeshLib": lambda: partial(_read, mrmeshpy.findCollidingTriangles(*parts))}


def own_pairs(mesh: Shape) -> Contenders:
    """Pairs of triangles of one mesh, whose tree is made before; libigl, which holds none, builds it each time."""
    found: Contenders = {}
    if "MeshLib" in HERE:
        from meshlib import mrmeshpy

        made = meshlib_mesh(mesh)
        if made is not None:
            part = mrmeshpy.MeshPart(made)
            found["MeshLib"] = lambda: partial(_read, mrmeshpy.findSelfCollidingTriangles(part))
    if "libigl" in HERE:
        from igl.copyleft import cgal

        vertices, faces = mesh[0].astype(np.float64), mesh[1].astype(np.int64)
        found["libigl"] = lambda: cgal.remesh_self_intersections(vertices, faces, detect_only=True)[2]
    return found


def _read(pairs: Any) -> np.ndarray:
    return np.array([(int(pair.aFace), int(pair.bFace)) for pair in pairs], np.int64).reshape(-1, 2)


# Scenes


def scenes(mesh: Shape, steps: np.ndarray) -> Contenders:
    """Moves all objects on by one step and finds the pairs that touch, again from the first step after the last."""
    found: Contenders = {}
    if "python-fcl" in HERE:
        found["python-fcl"] = _FclScene(mesh, steps)
        if "trimesh" in HERE:
            found["trimesh"] = _TrimeshScene(mesh, steps)
    return found


class _FclScene:
    """One model for all objects. Its manager must call Python for each pair of boxes."""

    def __init__(self, mesh: Shape, steps: np.ndarray) -> None:
        import fcl

        model = fcl_model(mesh)
        self.fcl, self.turn = fcl, 0
        self.steps = [[fcl.Transform(row[:3, :3], row[:3, 3]) for row in step] for step in steps]
        self.objects = [fcl.CollisionObject(model, transform) for transform in self.steps[0]]
        self.manager = fcl.DynamicAABBTreeCollisionManager()
        self.manager.registerObjects(self.objects)
        self.manager.setup()

    def __call__(self) -> Callable[[], np.ndarray]:
        for each, transform in zip(self.objects, self.steps[self.turn % len(self.steps)], strict=True):
            each.setTransform(transform)
        self.turn += 1
        self.manager.update()
        touching: list[tuple[Any, Any]] = []
        request, collide, result = self.fcl.CollisionRequest(), self.fcl.collide, self.fcl.CollisionResult

        def meet(one: Any, other: Any, _data: Any) -> bool:
            if collide(one, other, request, result()):
                touching.append((one, other))
            return False

        self.manager.collide(None, meet)
        return lambda: self.read(touching)

    def read(self, touching: list[tuple[Any, Any]]) -> np.ndarray:
        """A callback gets copies of the objects, which only their places tell apart."""
        number = {tuple(each.getTranslation()): i for i, each in enumerate(self.objects)}
        rows = [[number[tuple(each.getTranslation())] for each in pair] for pair in touching]
        return np.array(rows, np.int64).reshape(-1, 2)


class _TrimeshScene:
    """Names are told by model, so each object has one of its own."""

    def __init__(self, mesh: Shape, steps: np.ndarray) -> None:
        import trimesh

        self.steps, self.turn = steps, 0
        self.manager = trimesh.collision.CollisionManager()
        made = trimesh.Trimesh(*mesh, process=False)
        for i, transform in enumerate(steps[0]):
            self.manager.add_object(str(i), made, transform)

    def __call__(self) -> Callable[[], np.ndarray]:
        for i, transform in enumerate(self.steps[self.turn % len(self.steps)]):
            self.manager.set_transform(str(i), transform)
        self.turn += 1
        _, names = self.manager.in_collision_internal(return_names=True)
        return lambda: np.array([(int(one), int(other)) for one, other in names], np.int64).reshape(-1, 2)
