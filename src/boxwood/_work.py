"""What every query takes besides its question: how many threads, whom to tell how far it is, where to count the work.

They are looked at first, so that a wrong one is named before a tree is built or anything computed.
"""

from __future__ import annotations

from typing import Any

from ._arrays import positive_int
from .results import Counters


def work_options(threads: object, progress: object = None, counters: object = None) -> dict[str, Any]:
    """The three by name. TypeError for what is not callable or does not count; ValueError for a number of threads."""
    if threads is not None:
        threads = positive_int("threads", threads, 1)
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be a callable (done, total), not {progress!r}")
    if counters is not None and not isinstance(counters, Counters):
        raise TypeError(f"counters must be a boxwood.Counters, not {counters!r}")
    return {"threads": threads, "progress": progress, "counters": counters}
