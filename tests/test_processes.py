"""Meshes used by several threads and processes at once, after fork and spawn, and after Ctrl-C."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import boxwood as bw
from worlds import aimed_rays, answers_of_soup, assert_same, closed_mesh, everything, some, soup_mesh

small = pytest.mark.small


def at_once(*tasks):
    """What each task returns, all begun at the same moment on threads of their own."""
    barrier, results = threading.Barrier(len(tasks)), [None] * len(tasks)

    def run(i):
        barrier.wait()
        try:
            results[i] = tasks[i]()
        except BaseException as error:
            results[i] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(tasks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


def in_python(script, **environment):
    """Run a script in a fresh process, and return what it printed."""
    source = str(Path(bw.__file__).parents[1])
    finished = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([source, str(Path(__file__).parent)]), **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.split()


@small
def test_threads_that_race_to_build_the_same_mesh():
    for seed in range(some(10, 1)):
        mesh = soup_mesh("uniform", seed, some(100, 30), np.float32)
        rays = aimed_rays(mesh, seed, some(2000, 20), np.float32)
        wanted = everything(bw.Mesh(mesh.vertices, mesh.faces).build(threads=1), rays)
        trees = []

        def ask(mesh=mesh, rays=rays, trees=trees):
            trees.append(mesh.tree)
            return everything(mesh, rays)

        for answers in at_once(*[ask] * 5):
            assert_same(wanted, answers)
        assert len(set(map(id, trees))) == 1


@small
def test_threads_on_meshes_of_their_own_and_rebuilding():
    meshes = [soup_mesh("slivers", seed, some(150, 20), np.float64) for seed in range(3)]
    rays = [aimed_rays(mesh, seed, some(1500, 10), np.float64) for seed, mesh in enumerate(meshes)]
    wanted = [everything(mesh, batch) for mesh, batch in zip(meshes, rays, strict=True)]

    def ask(i):
        for leaf_size in (1, 7):
            assert_same(wanted[i], everything(meshes[i], rays[i], threads=2))
            meshes[i].build(leaf_size=leaf_size)  # while another thread may be asking
        return True

    assert all(at_once(*[lambda i=i: ask(i % 3) for i in range(6)]))


@small
def test_counters_shared_by_threads():
    mesh = closed_mesh("sphere", np.float32)
    rays = aimed_rays(mesh, 1, some(3000, 40), np.float32)
    alone, shared = bw.Counters(), bw.Counters()
    mesh.raycast(*rays, counters=alone)
    at_once(*[lambda: mesh.raycast(*rays, counters=shared)] * 4)
    assert shared.queries == 4 * alone.queries
    assert shared.hits == 4 * alone.hits
    assert shared.boxes_tested == 4 * alone.boxes_tested
    assert shared.primitives_tested == 4 * alone.primitives_tested


@pytest.mark.skipif(some(False, True), reason="nothing is compiled")
def test_threads_that_race_to_compile():
    printed = in_python(
        """
        import threading
        import numpy as np
        from worlds import aimed_rays, assert_same, everything, soup_mesh
        meshes = [soup_mesh("uniform", i % 2, 50, np.float32) for i in range(4)]
        rays = [aimed_rays(mesh, 0, 300, np.float32) for mesh in meshes]
        barrier, answers = threading.Barrier(4), [None] * 4
        def ask(i):
            barrier.wait()
            answers[i] = meshes[i].raycast(*rays[i]).t_hit
        threads = [threading.Thread(target=ask, args=(i,)) for i in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        for i in range(4):
            assert (answers[i] == meshes[i].raycast(*rays[i], threads=1).t_hit).all()
        print("done")
        """
    )
    assert printed == ["done"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_answers_with_the_parent_s_tree():
    mesh = soup_mesh("clustered", 4, 200, np.float32)
    rays = aimed_rays(mesh, 4, some(5000, 50), np.float32)
    wanted = everything(mesh, rays, threads=2)
    context = multiprocessing.get_context("fork")
    for used in (mesh, bw.Mesh(mesh.vertices, mesh.faces)):  # built before, and in the child
        answers = context.SimpleQueue()
        children = [context.Process(target=lambda: answers.put(everything(used, rays))) for _ in range(2)]  # noqa: B023
        for child in children:
            child.start()
        for _ in children:
            assert_same(wanted, answers.get())
        for child in children:
            child.join(60)
            assert child.exitcode == 0
    assert_same(wanted, everything(mesh, rays))


def test_a_spawned_child_answers_alike():
    world = "clustered", 4, 100, "float64"
    wanted = answers_of_soup(*world)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert_same(wanted, pool.apply(answers_of_soup, world))


@pytest.mark.skipif(os.name == "nt" or some(False, True), reason="signals as on Unix, and a cast that takes long")
@pytest.mark.parametrize("threads", [1, None])
def test_ctrl_c_stops_a_long_cast_within_a_second(threads):
    """The child tells when it begins; soon after the signal it must be over, and the mesh answer as before."""
    script = f"""
        import numpy as np
        from worlds import aimed_rays, everything, soup_mesh
        mesh = soup_mesh("slivers", 1, 3000, np.float64)
        rays = aimed_rays(mesh, 1, 1000, np.float64)
        wanted = everything(mesh, rays)
        many = [np.tile(array, (5000, 1)) for array in rays]
        print("begun", flush=True)
        try:
            mesh.raycast_all(*many, threads={threads})
            print("never interrupted", flush=True)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        answers = everything(mesh, rays)
        assert all(np.array_equal(answers[name], wanted[name], equal_nan=True) for name in wanted)
        print("usable", flush=True)
        """
    source = str(Path(bw.__file__).parents[1])
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([source, str(Path(__file__).parent)])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout.readline() == "begun\n"
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        sent = time.perf_counter()
        printed, errors = child.communicate(timeout=60)
        taken = time.perf_counter() - sent
    finally:
        child.kill()
    assert printed.split() == ["interrupted", "usable"], errors
    assert taken < 10  # a second for the interruption, the rest for a slow machine
