"""What several test files need."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real meshes beside the repository; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("BOXWOOD_SHARED", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no folder {folder}")
    return folder
