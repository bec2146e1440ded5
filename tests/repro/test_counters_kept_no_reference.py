"""A function compiled without reference counts returned the array of counts inside a tuple, and the kernel that got it
released the array once for every node: after enough queries with counters the process died."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import boxwood as bw
from worlds import some

pytestmark = pytest.mark.small

SCRIPT = """
import numpy as np
import boxwood as bw
from worlds import aimed_rays, closed_mesh
mesh, counters = closed_mesh("sphere", np.float32), bw.Counters()
rays = aimed_rays(mesh, 1, {rays}, np.float32)
for _ in range({rounds}):
    mesh.raycast(*rays, counters=counters)
    filler = [np.zeros(2, np.int64) for _ in range(100)]
print(counters.queries)
"""


def test_many_queries_with_counters():
    rays, rounds = some(2000, 20), some(100, 2)
    path = os.pathsep.join([str(Path(bw.__file__).parents[1]), str(Path(__file__).parents[1])])
    finished = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(rays=rays, rounds=rounds)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.stdout.split() == [str(rays * rounds)], finished.stderr
