"""What each of a thousand agents sees around it: `python examples/crowd.py [agents.npy] [--small] [--steps 50]`.

Everyone walks, and turns toward the way and the middle of those whom it sees, away from those who come too close. What
an agent sees is all that is within a radius, of which itself is one, so it is taken out. Everyone moves at every step,
so the tree is built anew each time, which for a thousand points costs less than asking.
"""

from __future__ import annotations

import argparse

import numpy as np

import boxwood as bw

SEES, TOO_CLOSE, PACE = 5.0, 1.0, 0.2
ALIGN, GATHER, PART = 0.10, 0.02, 0.30  # how much of each an agent heeds in one step


def seen(places: np.ndarray) -> np.ndarray:
    """Pairs (agent, another agent that it sees)."""
    pairs = bw.BoxTree.from_points(places).query_sphere(places, SEES).pairs
    return pairs[pairs[:, 0] != pairs[:, 1]]


def sums(rows: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """Of the values (m, d) of each row."""
    return np.stack([np.bincount(rows, column, count) for column in values.T], axis=1)


def turn(places: np.ndarray, velocities: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """The velocities after everyone has looked around."""
    one, other = pairs.T
    number = np.bincount(one, minlength=len(places))[:, None]
    offsets = places[other] - places[one]
    close = (offsets**2).sum(axis=1) < TOO_CLOSE**2
    wish = ALIGN * (sums(one, velocities[other], len(places)) / np.maximum(number, 1) - velocities) * (number > 0)
    wish += GATHER * PACE * sums(one, offsets, len(places)) / np.maximum(number, 1)
    wish -= PART * PACE * sums(one[close], offsets[close], len(places))
    velocities = velocities + wish
    return PACE * velocities / np.linalg.norm(velocities, axis=1, keepdims=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="What each of many agents sees around it, while all of them walk.")
    parser.add_argument("agents", nargs="?", help="a .npy file of places (n, 2) or (n, 3); without it, a thousand")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--small", action="store_true", help="fewer agents and three steps")
    options = parser.parse_args()
    rng = np.random.default_rng(5)
    count, steps = (200, 3) if options.small else (1000, options.steps)
    places = np.load(options.agents) if options.agents else rng.uniform(0, 4 * np.sqrt(count), (count, 2))
    velocities = rng.normal(size=places.shape)
    velocities *= PACE / np.linalg.norm(velocities, axis=1, keepdims=True)

    print(f"{len(places):,} agents, each sees {SEES:g} far")
    for step in range(steps + 1):
        pairs = seen(places)
        if step % max(steps // 5, 1) == 0:
            numbers = np.bincount(pairs[:, 0], minlength=len(places))
            order = np.linalg.norm(velocities.mean(axis=0)) / PACE
            print(
                f"step {step}: an agent sees {numbers.mean():.1f} others, at most {numbers.max()}; "
                f"{np.count_nonzero(numbers == 0)} see nobody; {order:.0%} go one way"
            )
        velocities = turn(places, velocities, pairs)
        places = places + velocities


if __name__ == "__main__":
    main()
