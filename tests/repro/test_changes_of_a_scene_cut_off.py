"""Ctrl-C within a change of a scene, or a fork beside one, left rows that were half of one place and half of another,
ids that nobody had, and answers for meshes as they had been before a refit."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

import boxwood as bw
from boxwood import instances

pytestmark = pytest.mark.small

FLAT = [[0, 0, 0], [4, 0, 0], [0, 4, 0]]


def shifts(*offsets):
    matrices = np.tile(np.eye(4), (len(offsets), 1, 1))
    matrices[:, 0, 3] = offsets
    return matrices


def some_scene():
    scene, floor, wall = bw.Scene(), bw.Mesh(FLAT, [[0, 1, 2]]), bw.Mesh(np.roll(FLAT, 1, axis=1), [[0, 1, 2]])
    scene.add(floor, shifts(0, 1, 50))
    scene.add(wall)
    scene.add(floor, shifts(60, 2))
    scene.remove([2, 4])
    scene.collisions()
    return scene


CHANGES = {
    "add": lambda scene: scene.add(scene.mesh(0), shifts(3, 4, 5, 6, 7)),
    "add another mesh": lambda scene: scene.add(bw.Mesh(FLAT, [[0, 2, 1]])),
    "move": lambda scene: scene.move([0, 3, 5], shifts(9, 1, 2)),
    "move soon after": lambda scene: (scene.move(0, shifts(1)[0]), scene.move([1, 3], shifts(9, 10))),
    "remove": lambda scene: scene.remove([0, 5]),
    "remove a mesh": lambda scene: scene.remove(3),
    "refit a mesh": lambda scene: (scene.mesh(3).refit(np.roll(FLAT, 1, axis=1) + [9.0, 0, 0]), scene.collisions()),
    "empty a mesh": lambda scene: (scene.mesh(3).refit(np.zeros((3, 3))), scene.collisions()),
    "ask": lambda scene: (scene.move([0, 1], shifts(2, 8)), scene.collisions()),
}


class Cut(BaseException):
    pass


def cut_off(work, steps):
    """Do the work up to so many lines of instances.py; whether that was the end of it."""
    left = steps

    def line(frame, event, argument):
        nonlocal left
        if event == "line":
            left -= 1
            if left < 0:
                raise Cut
        return line

    def call(frame, event, argument):
        return line if frame.f_code.co_filename == instances.__file__ else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        work()
    except Cut:
        return False
    finally:
        sys.settrace(before)
    return True


def told(scene):
    """All that it holds and answers."""
    ids = scene.ids
    meshes = [scene.mesh(one).vertices.tolist() for one in ids]
    return ids.tolist(), meshes, scene.transform(ids).tolist(), scene.mask(ids).tolist(), len(scene), answers(scene)


def answers(scene):
    return scene.collisions().pairs.tolist(), scene.raycast([[0.5, 0.5, 9.0], [2.5, 0.5, 9]], [0, 0, -1]).t_hit.tolist()


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_whole_or_has_not_been(change):
    work = CHANGES[change]
    scene = some_scene()
    work(scene)
    after, steps = told(scene), 0
    while True:
        scene = some_scene()
        ended = cut_off(lambda scene=scene: work(scene), steps)
        fresh = pickle.loads(pickle.dumps(scene))
        fresh.validate()
        found = told(scene)
        assert found == told(fresh), steps
        scene.validate()
        scene.remove(scene.add(scene.mesh(1)))  # it goes on
        scene.validate()
        if ended:
            break
        steps += 1
    assert found == after
    assert steps > 5
