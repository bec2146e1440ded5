"""Ctrl-C while a kernel's arrays were handed to Python came out as a SystemError, which no `except` expects."""

from __future__ import annotations

import numpy as np
import pytest

import boxwood as bw
from boxwood._threads import run_chunks
from boxwood.query import box_pairs, contacts


def interrupted(begin, end):
    try:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as cause:
            raise SystemError("unpickle returned a result with an exception set") from cause
    except SystemError as cause:
        raise SystemError("once more") from cause


@pytest.mark.small
@pytest.mark.parametrize("count", [1, 5000])
@pytest.mark.parametrize("threads", [1, 2])
def test_it_is_ctrl_c(count, threads):
    with pytest.raises(KeyboardInterrupt):
        run_chunks(interrupted, count, threads=threads)


@pytest.mark.small
@pytest.mark.parametrize("count", [1, 5000])
def test_other_system_errors_stay(count):
    def broken(begin, end):
        raise SystemError("of its own")

    with pytest.raises(SystemError, match="of its own"):
        run_chunks(broken, count)


QUESTIONS = {
    "open_all": (box_pairs, lambda mesh: mesh.self_intersections()),
    "find_contacts": (contacts, lambda mesh: mesh.intersects(mesh)),
}


@pytest.mark.small
@pytest.mark.parametrize("kernel", QUESTIONS)
def test_it_is_ctrl_c_before_a_walk_is_cut(monkeypatch, kernel):
    module, question = QUESTIONS[kernel]
    monkeypatch.setattr(module, kernel, lambda *arguments: interrupted(0, 1))
    with pytest.raises(KeyboardInterrupt):
        question(bw.Mesh(np.eye(3), [[0, 1, 2]]))
