"""What a batch over threads worked on was freed only by the garbage collector: megabytes after every collision step."""

from __future__ import annotations

import gc
import time
import weakref

import numpy as np
import pytest

from boxwood._threads import run_chunks, run_steps


class Held:
    """Something large, as arrays are."""

    def __init__(self):
        self.array = np.zeros(10)


@pytest.mark.small
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("run", [run_chunks, run_steps])
def test_a_batch_that_has_ended_is_gone(run, threads):
    gc.collect()
    gc.disable()
    try:
        held = Held()
        gone = weakref.ref(held)

        def work(begin, end, held=held):
            return iter([end]) if held is not None else None

        run(work, 100, chunk=10, threads=threads)
        del work, held
        until = time.monotonic() + 10
        while gone() is not None and time.monotonic() < until:  # a helper that came too late may still look at it
            time.sleep(0.01)
        assert gone() is None
    finally:
        gc.enable()
