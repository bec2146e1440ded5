"""Which sounds a listener hears on the way: `python examples/sound_sources.py [sources.csv] [--small]`.

Each source is heard within a radius of its own. The box around that sphere holds the listener whenever the sphere does,
so a query of radius 0 in a tree of such boxes leaves few sources to measure, however different their radii are. A
player has only so many voices: the loudest are played. Where nothing is heard, `nearest` tells what to load next, if
there is anything within reach.
"""

from __future__ import annotations

import argparse

import numpy as np

import boxwood as bw

VOICES, REACH = 8, 60.0


def sources(count: int) -> np.ndarray:
    """x, y, z and radius: many small ones, few that are heard far away."""
    rng = np.random.default_rng(4)
    places = rng.uniform(-1, 1, (count, 3)) * [8 * np.sqrt(count), 8 * np.sqrt(count), 10]
    return np.column_stack([places, 4 * rng.pareto(1.5, count).clip(0.2, 50)])


def main() -> None:
    parser = argparse.ArgumentParser(description="Which sound sources a listener hears on the way.")
    parser.add_argument("sources", nargs="?", help="a file with lines x,y,z,radius; without it, they are made up")
    parser.add_argument("--small", action="store_true", help="fewer sources and a shorter way")
    options = parser.parse_args()
    if options.sources:
        table = np.loadtxt(options.sources, delimiter=",", ndmin=2)
    else:
        table = sources(300 if options.small else 20_000)
    places, radii = table[:, :3], table[:, 3]
    heard_in = bw.BoxTree(places - radii[:, None], places + radii[:, None])
    stand = bw.BoxTree.from_points(places)

    lower, upper = stand.bounds
    way = np.linspace(lower, upper, 50 if options.small else 1000)  # from one corner to the other
    candidates = heard_in.query_sphere(way, 0.0).pairs
    place, source = candidates.T
    distances = np.linalg.norm(places[source] - way[place], axis=1)
    heard = distances <= radii[source]
    place, source, loudness = place[heard], source[heard], 1 - distances[heard] / radii[source[heard]]
    counts = np.bincount(place, minlength=len(way))
    print(f"{len(table):,} sources, {len(way)} places on the way")
    print(f"boxes leave {len(candidates):,} distances to measure; {np.count_nonzero(heard):,} sounds are heard")
    print(f"at once: {counts.mean():.1f} on average, at most {counts.max()}")

    order = np.lexsort((source, -loudness, place))
    rank = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    played = order[rank < VOICES]
    crowded = np.count_nonzero(counts > VOICES)
    print(f"{VOICES} voices play {len(played):,} of them; {crowded} places have more to hear")

    silent = way[counts == 0]
    near = stand.nearest(silent, k=3, max_distance=REACH)
    alone = np.count_nonzero(near.ids[:, 0] == -1)
    print(f"{len(silent)} places are silent; {alone} of them have no source within {REACH:g}")
    if len(silent) > alone:
        closest = np.argmin(near.distances[:, 0])
        told = zip(near.ids[closest], near.distances[closest], strict=True)
        print("nearest to a silent place:", ", ".join(f"source {i} at {d:.1f}" for i, d in told if i >= 0))


if __name__ == "__main__":
    main()
