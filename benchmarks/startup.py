"""How long a fresh process takes to import boxwood and to give its first answer, with and without compiled kernels.

Each question is asked in processes of its own: first with an empty kernel cache (a fresh machine compiles), then three
times with the filled one (the best of them is the warm time).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

QUESTIONS = ("raycast", "occluded", "raycast_all", "count_hits")
CHILD = """
import json, time
start = time.perf_counter()
import boxwood
imported = time.perf_counter()
import numpy as np
mesh = boxwood.Mesh(np.array([[0, 0, 1], [1, 0, 1], [0, 1, 1]], np.float32), [[0, 1, 2]])
point, direction = np.array([0.2, 0.2, 0], np.float32), np.array([0, 0, 1], np.float32)
mesh.build()
built = time.perf_counter()
CALL
answered = time.perf_counter()
print(json.dumps({"import": imported - start, "build": built - imported, "answer": answered - built}))
"""


def measure(question: str, call: str | None = None) -> dict[str, float]:
    """Seconds to import, build a tiny mesh and answer, cold and warm; the call of a question that is not about rays."""
    child_code = CHILD.replace("CALL", call or f"mesh.{question}(point, direction)")
    with tempfile.TemporaryDirectory(prefix="boxwood-cache-") as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        runs = []
        for _ in range(4):
            command = [sys.executable, "-c", child_code]
            child = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            runs.append(json.loads(child.stdout))
    cold, warm = runs[0], min(runs[1:], key=lambda run: sum(run.values()))
    return {f"cold {key}": value for key, value in cold.items()} | {f"warm {key}": value for key, value in warm.items()}
