"""What several test files need."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import hypothesis
import pytest

sys.path.append(str(Path(__file__).parent))  # for `worlds` and `oracle`

# A run in the background may have been told to ignore Ctrl-C; what the tests start must hear it.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples on every run, so that a red run is red again; ten times as many now and then:
# HYPOTHESIS_PROFILE=thorough.
INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
hypothesis.settings.register_profile(
    "usual",
    derandomize=True,
    database=None,
    deadline=None,
    print_blob=True,
    max_examples=8 if INTERPRETED else 40,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile(
    "thorough", hypothesis.settings.get_profile("usual"), derandomize=False, max_examples=400
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "usual"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real meshes beside the repository; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("BOXWOOD_SHARED", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no folder {folder}")
    return folder
