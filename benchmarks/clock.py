"""Fair timing of several contenders in one process: they take turns, and the order changes every round.

Neighbours on the machine and its clock slow all of them alike that way, so ratios carry over where seconds do not.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple


class Fresh(NamedTuple):
    """A contender that answers once, and so is made anew for each round; only the answer is timed."""

    make: Callable[[], Any]
    ask: Callable[[Any], Any]


def take_turns(
    contenders: Mapping[str, Callable[[], Any] | Fresh], rounds: int
) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Seconds per round and the last answer of each contender; one round before the first is not counted."""
    names = list(contenders)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    answers: dict[str, Any] = {}
    gc.collect()
    gc.disable()
    try:
        for number in range(-1, rounds):
            turn = number % len(names)
            for name in names[turn:] + names[:turn]:
                # what a contender gave before is freed outside the timing
                answers[name] = None
                contender = contenders[name]
                call = partial(contender.ask, contender.make()) if isinstance(contender, Fresh) else contender
                start = time.perf_counter()
                answers[name] = call()
                elapsed = time.perf_counter() - start
                if number >= 0:
                    seconds[name].append(elapsed)
    finally:
        gc.enable()
    return seconds, answers


def ratios(seconds: dict[str, list[float]], ours: str, peer: str) -> tuple[float, float]:
    """How many times faster we are than a peer, by medians and by minima."""
    by_median = statistics.median(seconds[peer]) / statistics.median(seconds[ours])
    return by_median, min(seconds[peer]) / min(seconds[ours])
