"""Ctrl-C while the main thread was compiling, or loading what was compiled, left LLVM's lock held for ever: helpers
that waited for it never ended, and the batch waited for the helpers. Only the main thread gets Ctrl-C, so another
one must do that work."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import boxwood as bw
from worlds import INTERPRETED

SCRIPT = """
import threading
import llvmlite.binding.ffi as ffi
import numpy as np
from worlds import closed_mesh
taken = []
ffi.register_lock_callback(lambda: taken.append(threading.current_thread() is threading.main_thread()), lambda: None)
mesh = closed_mesh("cube", np.float32)
assert mesh.raycast(np.zeros((5, 3), np.float32), np.ones((5, 3), np.float32)).hit.all()
print(len(taken) > 0, sum(taken))
"""


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_the_main_thread_leaves_llvm_to_others():
    path = os.pathsep.join([str(Path(bw.__file__).parents[1]), str(Path(__file__).parents[1])])
    finished = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.stdout.split() == ["True", "0"], finished.stderr
