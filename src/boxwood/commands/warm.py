"""`boxwood warm`: compile every kernel once."""

from __future__ import annotations

import os
from pathlib import Path

from ..query.ray_batch import first_bad_ray
from .compiling import compile_all, everything


def warm() -> None:
    """Compile every kernel once, for float32 and float64, so that nothing waits for it later."""
    tasks = everything()
    seconds = compile_all(tasks)
    where = cache_folder()
    kept = f"kept in {where}" if where else "not kept, since no folder for them can be written"
    print(f"{len(tasks)} sets of kernels ready in {seconds:.1f} s, {kept}")


def cache_folder() -> str | None:
    """Where compiled kernels are kept; None if nowhere."""
    stats = getattr(first_bad_ray, "stats", None)
    path = getattr(stats, "cache_path", None)
    if path is None:
        return None
    package = Path(__file__).parents[1]
    if package in Path(path).parents:
        return f"the __pycache__ folders of {package}"
    return os.environ.get("NUMBA_CACHE_DIR") or str(Path(path).parent)
