"""Ctrl-C was heard after chunks of 2048 questions, which took half a minute where each had very many answers."""

from __future__ import annotations

import _thread
import threading
import time

import numpy as np
import pytest

import boxwood as bw


def sets(count):
    """Boxes all of which overlap all others; and points at one place, and others that only float64 tells from them."""
    rng = np.random.default_rng(1)
    middle, half = rng.uniform(-1, 1, (count, 3)), rng.uniform(2, 3, (count, 3))
    points = np.full((count, 2), 1e9)
    points[0] = -1e9
    close = bw.BoxTree.from_points(points).build(), bw.BoxTree.from_points(points + 2.0**-20).build()
    return bw.BoxTree(middle - half, middle + half).build(), close


@pytest.fixture(scope="module")
def many():
    return sets(100_000)


def some(count):
    return np.random.default_rng(2).uniform(-1, 1, (count, 3))


ASKED = {
    "query_box": lambda wide, close, n: wide.query_box(-np.ones(3), some(n) + 1),
    "query_sphere": lambda wide, close, n: wide.query_sphere(some(n), 100.0),
    "query_frustum": lambda wide, close, n: wide.query_frustum(np.hstack([some(n), np.full((n, 1), 1.0)])[:, None]),
    "nearest": lambda wide, close, n: wide.nearest(some(n // 10) + 20, 20_000),
    "count_hits": lambda wide, close, n: wide.count_hits(some(n * 4), some(n * 4)[::-1]),
    "raycast_all": lambda wide, close, n: wide.raycast_all(some(n), some(n)[::-1]),
    "pairs": lambda wide, close, n: wide.pairs(),
    "nothing found": lambda wide, close, n: close[0].query_box(*[np.full((n * 8, 2), 1e9 + 2.0**-20)] * 2),
    "no pairs": lambda wide, close, n: close[0].pairs(close[1]),
    "ties": lambda wide, close, n: close[0].nearest(np.ones((n * 8, 2)), 3),
}


def ask_for_ever(question, many):
    while True:
        ASKED[question](*many, 1000)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("question", ASKED)
def test_it_stops_within_a_second(many, question, threads, monkeypatch):
    monkeypatch.setattr("boxwood._threads.usable_cpus", lambda: threads)
    ASKED[question](*sets(20), 20)  # what is compiled is not stopped
    before = many[0].query_sphere([0, 0, 0], 0.1)
    began = []

    def interrupt():
        began.append(time.perf_counter())
        _thread.interrupt_main()

    threading.Timer(0.3, interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        ask_for_ever(question, many)
    seconds = time.perf_counter() - began[0]
    assert seconds < 1.2
    np.testing.assert_array_equal(many[0].query_sphere([0, 0, 0], 0.1), before)
