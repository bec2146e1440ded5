"""A process that forked while another thread built or refitted left the child with a lock that nobody held or freed."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest

import boxwood as bw
from boxwood import boxes, instances, mesh
from boxwood._threads import new_lock
from worlds import icosphere, some

pytestmark = [
    pytest.mark.small,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]


def child_succeeds(work):
    """Whether a forked child does the work, which must be true, within a minute."""
    child = os.fork()
    if child == 0:
        done = False
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(60)
            done = bool(work())
        finally:
            os._exit(0 if done else 1)
    return os.waitpid(child, 0)[1] == 0


class Held:
    """A thread that has begun to call a function of a module, and goes on when it is left."""

    def __init__(self, monkeypatch, module, name, ask):
        self.reached, self.left = threading.Event(), threading.Event()
        plain = getattr(module, name)

        def waiting(*args, **kwargs):
            if threading.current_thread() is self.thread:
                self.reached.set()
                self.left.wait(60)
            return plain(*args, **kwargs)

        monkeypatch.setattr(module, name, waiting)
        self.thread = threading.Thread(target=ask)

    def __enter__(self):
        self.thread.start()
        assert self.reached.wait(60)

    def __exit__(self, *error):
        self.left.set()
        self.thread.join()


def sphere():
    return bw.Mesh(*icosphere(1))


def test_a_mesh_that_another_thread_builds(monkeypatch):
    def works(one):
        return one.raycast(np.zeros(3), [0, 0, 1]).hit and one.refit(one.vertices * 2).build()

    one = sphere()
    assert works(sphere())  # compiled: what the child would do takes long
    with Held(monkeypatch, mesh, "build_tree", lambda: one.tree):
        assert child_succeeds(lambda: works(one))


def test_boxes_that_another_thread_refits(monkeypatch):
    corners = np.random.default_rng(0).uniform(size=(50, 3))
    one = bw.BoxTree(corners, corners + 0.1).build()
    one.refit(corners, corners + 0.1)
    assert len(one.query_box([0, 0, 0], [2, 2, 2])) == 50
    with Held(monkeypatch, boxes, "refit_box_tree", lambda: one.refit(corners + 1, corners + 2)):
        assert child_succeeds(lambda: len(one.refit(corners, corners).query_box([0, 0, 0], [2, 2, 2])) == 50)


def test_a_scene_that_another_thread_asks(monkeypatch):
    scene = bw.Scene()
    scene.add(sphere().build())
    scene.add(sphere().build())
    assert len(scene.collisions()) == 1
    scene.move(0, np.eye(4))
    with Held(monkeypatch, instances, "fill_world_boxes", lambda: scene.collisions()):
        assert child_succeeds(lambda: len(scene.collisions()) == 1)


def test_a_lock_that_the_forking_thread_holds_is_kept():
    lock = new_lock()

    def child():
        with lock:
            other = []
            thread = threading.Thread(target=lambda: other.append(lock.acquire(blocking=False)))
            thread.start()
            thread.join()
        return other == [False]

    with lock:
        assert child_succeeds(child)


def test_counters_that_another_thread_adds_to():
    """As often as it takes to fork within an addition."""
    counters, ended = bw.Counters(), threading.Event()

    def add():
        while not ended.is_set():
            counters.add(hits=1)

    thread = threading.Thread(target=add)
    thread.start()
    try:
        assert all(child_succeeds(lambda: counters.add(hits=1) is None) for _ in range(some(40, 10)))
    finally:
        ended.set()
        thread.join()


def test_many_forks_beside_a_thread_that_moves_everything():
    one, origin = sphere().build(), np.zeros(3)
    scene = bw.Scene()
    placed = scene.add(one, np.tile(np.eye(4), (3, 1, 1)))
    ended, moves = threading.Event(), np.tile(np.eye(4), (3, 1, 1))

    def move():
        while not ended.is_set():
            one.refit(one.vertices)
            scene.move(placed, moves)
            scene.remove(scene.add(one))
            scene.collisions()

    def child():
        scene.validate()
        one.validate()
        return one.raycast(origin, [0, 0, 1]).hit and len(scene) in (3, 4) and len(scene.collisions()) in (3, 6)

    assert len(scene.collisions()) == 3
    one.refit(one.vertices)
    assert child()
    thread = threading.Thread(target=move)
    thread.start()
    try:
        assert all(child_succeeds(child) for _ in range(some(30, 3)))
    finally:
        ended.set()
        thread.join()
