"""Batches over threads: order, errors, progress, nesting, forks and interruption."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import boxwood._threads as threads_module
from boxwood._threads import run_chunks, run_steps, usable_cpus


def bounds(start, stop):
    return start, stop


def slow_bounds(start, stop):
    time.sleep(0.001)
    return start, stop


def in_python(script, timeout=60):
    """Run a script in a process of its own, and return what it printed."""
    source = str(Path(threads_module.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": source}
    finished = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.split()


@pytest.mark.parametrize("threads", [None, 1, 2, 7])
@pytest.mark.parametrize("count", [1, 2, 511, 512, 513, 5000, 16384, 100_003])
@pytest.mark.parametrize("chunk", [1000, 16384])
def test_chunks_cover_the_batch_in_order(count, chunk, threads):
    results = run_chunks(bounds, count, chunk=chunk, threads=threads)
    assert [start for start, _ in results] == [0] + [stop for _, stop in results[:-1]]
    assert results[-1][1] == count
    assert all(0 < stop - start <= chunk for start, stop in results)


def test_nothing_to_do_is_an_empty_list():
    told = []
    assert run_chunks(bounds, 0, progress=lambda *state: told.append(state)) == []
    assert told == [(0, 0)]


def test_small_batches_are_cut_finer_but_not_below_a_worthwhile_size():
    assert len(run_chunks(bounds, 16384, threads=2)) == 2 * threads_module.CHUNKS_PER_THREAD
    assert all(stop - start >= 512 for start, stop in run_chunks(bounds, 5120, threads=64))
    assert len(run_chunks(bounds, 16384, threads=1)) == 1
    assert len(run_chunks(bounds, 40, chunk=10, threads=2)) == 4


@pytest.mark.parametrize(("count", "threads"), [(512, None), (512, 4), (100_000, 1)])
def test_small_batches_and_one_thread_stay_on_the_callers_thread(count, threads):
    used = run_chunks(lambda *_: threading.get_ident(), count, threads=threads)
    assert set(used) == {threading.get_ident()}


def test_threads_work_at_the_same_time_and_the_pool_grows():
    for threads in (2, 5):
        meeting = threading.Barrier(threads, timeout=20)
        used = run_chunks(
            lambda *_, all_here=meeting.wait: all_here() * 0 + threading.get_ident(), threads, chunk=1, threads=threads
        )
        assert len(set(used)) == threads
        assert threading.get_ident() in used


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True])
@pytest.mark.parametrize("count", [0, 1, 100_000])
def test_bad_thread_counts_are_refused_whatever_the_batch(threads, count):
    with pytest.raises(ValueError, match="threads must be an integer of at least 1"):
        run_chunks(bounds, count, threads=threads)


def test_usable_cpus():
    assert 1 <= usable_cpus() <= (os.cpu_count() or 1)


# -- progress


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("count", [5, 100, 3333])
def test_progress_rises_to_the_end_on_the_callers_thread(count, threads):
    told = []
    run_chunks(
        slow_bounds,
        count,
        chunk=100,
        threads=threads,
        progress=lambda *state: told.append((*state, threading.get_ident())),
    )
    done = [state[0] for state in told]
    assert done == sorted(set(done))
    assert done[-1] == count
    assert {state[1:] for state in told} == {(count, threading.get_ident())}


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_in_progress_stops_the_batch(threads):
    ran = []

    def cancel(done, _):
        if done >= 300:
            raise TimeoutError("enough")

    with pytest.raises(TimeoutError, match="enough"):
        run_chunks(
            lambda start, _: ran.append(slow_bounds(start, 0)), 10_000, chunk=100, threads=threads, progress=cancel
        )
    stopped_at = len(ran)
    assert stopped_at < 50
    time.sleep(0.02)
    assert len(ran) == stopped_at  # nothing runs on behind the caller's back


# -- errors


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_first_error_by_chunk_is_raised_and_the_rest_not_begun(threads):
    ran = []

    def work(start, stop):
        ran.append(start)
        if start == 300:
            time.sleep(0.02)  # later chunks fail sooner
        if start >= 300:
            raise LookupError(f"chunk at {start}")
        return start, stop

    for _ in range(3):
        ran.clear()
        with pytest.raises(LookupError, match=r"^chunk at 300$"):
            run_chunks(work, 10_000, chunk=100, threads=threads)
        assert len(ran) <= 3 + threads
    assert run_chunks(bounds, 200, chunk=100, threads=threads) == [(0, 100), (100, 200)]


def test_an_interrupt_in_work_is_never_hidden_behind_an_error():
    together = threading.Barrier(2, timeout=20)

    def work(start, _):
        together.wait()
        raise [LookupError, KeyboardInterrupt][start]

    with pytest.raises(KeyboardInterrupt):
        run_chunks(work, 2, chunk=1, threads=2)


def test_without_threads_to_be_had_the_caller_works_alone(monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads_module, "_pool", threads_module._Pool())
    monkeypatch.setattr(threads_module._thread, "start_new_thread", refuse)
    used = run_chunks(lambda *_: threading.get_ident(), 10, chunk=1, threads=4)
    assert used == [threading.get_ident()] * 10


def test_a_batch_as_the_process_ends():
    script = """
import atexit
from boxwood._threads import run_chunks
batch = lambda: print(len(run_chunks(lambda start, stop: None, 100, chunk=1, threads=3)))
atexit.register(batch)
batch()
"""
    assert in_python(script) == ["100", "100"]


# -- steps


def in_steps(size, ran, seconds=0.0):
    def work(start, stop):
        for place in range(start, stop, size):
            ran.append(place)
            time.sleep(seconds)
            yield min(place + size, stop)

    return work


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("count", [0, 1, 100, 777, 5000])
def test_steps_cover_the_batch_and_progress_rises(count, threads):
    told, ran = [], []
    run_steps(in_steps(7, ran), count, chunk=600, threads=threads, progress=lambda *state: told.append(state))
    chunks = run_chunks(bounds, count, chunk=600, threads=threads)
    assert sorted(ran) == [place for start, stop in chunks for place in range(start, stop, 7)]
    assert told == sorted(set(told))
    assert told[-1] == (count, count)
    assert len(told) > 1 or count <= 7


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("count", [400, 4000])
def test_an_error_stops_between_steps_of_all_threads(count, threads):
    ran = []

    def cancel(done, _):
        if done >= 100:
            raise TimeoutError("enough")

    with pytest.raises(TimeoutError, match="enough"):
        run_steps(in_steps(10, ran, 0.001), count, chunk=1000, threads=threads, progress=cancel)
    stopped_at = len(ran)
    assert stopped_at < 40
    time.sleep(0.02)
    assert len(ran) == stopped_at


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_within_a_step_is_raised(threads):
    def work(start, stop):
        yield start
        raise LookupError(f"after a step of {start}")

    with pytest.raises(LookupError, match=r"^after a step of 0$"):
        run_steps(work, 100, chunk=10, threads=threads)


# -- many callers


def test_several_python_threads_at_once():
    def caller(number):
        return [
            run_chunks(lambda start, stop: (number, start, stop), 2000, chunk=50, threads=1 + (number + turn) % 5)
            for turn in range(20)
        ]

    with ThreadPoolExecutor(8) as callers:
        for number, batches in enumerate(callers.map(caller, range(8))):
            expected = [(number, start, start + 50) for start in range(0, 2000, 50)]
            assert all(results == expected for results in batches)


def test_batches_within_batches_do_not_wait_for_each_other():
    def outer(start, stop):
        def middle(first, last):
            return sum(b - a for a, b in run_chunks(slow_bounds, last - first, chunk=1, threads=3))

        return sum(run_chunks(middle, stop - start, chunk=4, threads=3))

    assert sum(run_chunks(outer, 96, chunk=12, threads=3)) == 96


# -- processes


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_makes_its_own_pool():
    script = """
import os, time, warnings
from boxwood._threads import run_chunks
warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of any fork beside threads
work = lambda start, stop: (time.sleep(0.002), os.getpid())[1]
run_chunks(work, 40, chunk=1, threads=4)
child = os.fork()
if child == 0:
    assert set(run_chunks(work, 40, chunk=1, threads=4)) == {os.getpid()}
    raise SystemExit
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(len(run_chunks(work, 40, chunk=1, threads=4)))
"""
    assert in_python(script) == ["0", "40"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_forked_while_other_threads_work():
    script = """
import os, threading, time, warnings
from boxwood._threads import run_chunks
warnings.simplefilter("ignore", DeprecationWarning)
busy = True
def keep_busy():
    while busy:
        run_chunks(lambda start, stop: None, 20, chunk=1, threads=3)
others = [threading.Thread(target=keep_busy) for _ in range(2)]
for other in others: other.start()
codes = set()
for _ in range(20):
    child = os.fork()
    if child == 0:
        os._exit(len(run_chunks(lambda start, stop: None, 40, chunk=1, threads=3)))
    codes.add(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
busy = False
for other in others: other.join()
print(*codes)
"""
    assert in_python(script) == ["40"]


def test_spawned_processes():
    script = """
import multiprocessing, operator
from boxwood._threads import run_chunks
with multiprocessing.get_context("spawn").Pool(2) as pool:
    batches = [pool.apply_async(run_chunks, (operator.sub, 100), {"chunk": 10, "threads": 3}) for _ in range(4)]
    print(*{sum(batch.get(timeout=50)) for batch in batches})
"""
    assert in_python(script) == ["-100"]


@pytest.mark.parametrize(("place", "threads"), [("work", 1), ("work", 3), ("waiting", 3)])
def test_ctrl_c_stops_soon_and_leaves_the_pool_usable(threads, place):
    script = f"""
import _thread, threading, time
from boxwood._threads import run_chunks
main = threading.get_ident()
ran = []
def work(start, stop):
    ran.append(start)
    # the caller sleeps in its own chunks, or soon waits for helpers that do
    helping = threading.get_ident() != main
    time.sleep(0.6 if helping and {place!r} == "waiting" else 0.05)
threading.Timer(0.3, _thread.interrupt_main).start()
began = time.perf_counter()
try:
    run_chunks(work, {6 if place == "waiting" else 1000}, chunk=1, threads={threads})
except KeyboardInterrupt:
    seconds = time.perf_counter() - began
    count = len(ran)
    time.sleep(0.1)
    print(seconds < 1.2, len(ran) == count)
else:
    print("was not", "interrupted")
print(len(run_chunks(lambda start, stop: None, 100, chunk=1, threads={threads})))
"""
    assert in_python(script) == ["True", "True", "100"]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("count", [1, 3, 30])
def test_ctrl_c_stops_within_chunks_that_take_steps(threads, count):
    script = f"""
import _thread, threading, time
from boxwood._threads import run_chunks, run_steps
ran = []
def work(start, stop):
    for _ in range(1000):
        ran.append(start)
        time.sleep(0.01)
        yield start
threading.Timer(0.3, _thread.interrupt_main).start()
began = time.perf_counter()
try:
    run_steps(work, {count}, chunk=1, threads={threads})
except KeyboardInterrupt:
    seconds = time.perf_counter() - began
    count = len(ran)
    time.sleep(0.1)
    print(seconds < 1.2, len(ran) == count)
print(len(run_chunks(lambda start, stop: None, 100, chunk=1, threads={threads})))
"""
    assert in_python(script) == ["True", "True", "100"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
def test_ctrl_c_at_any_moment():
    script = """
import signal, time
from boxwood._threads import run_chunks
signal.signal(signal.SIGALRM, signal.default_int_handler)
interrupted = 0
for turn in range(1000):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.00002 + 0.000015 * (turn % 60))
        run_chunks(lambda start, stop: time.sleep(1e-5), 60, chunk=1, threads=3 + turn // 50)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        interrupted += 1
print(interrupted > 100, len(run_chunks(lambda start, stop: None, 100, chunk=1, threads=3)))
"""
    assert in_python(script) == ["True", "100"]
