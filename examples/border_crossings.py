"""Which countries' boxes a flight crosses: `python examples/border_crossings.py [countries.npz] [--small]`.

In the plane, longitude and latitude. The shortest way over the globe is cut into short straight pieces; each is a ray
from its beginning (t = 0) to its end (t = 1), and `raycast_all` gives every box that it enters or begins in. A country
has a box for each of its parts. A box is more than the country, so these are the countries whose borders are worth
testing. A file has `boxes` (n, 4), with least x, least y, greatest x, greatest y, and `ids` (n,), whose box it is.
"""

from __future__ import annotations

import argparse

import numpy as np

import boxwood as bw


def made_up(count: int) -> tuple[np.ndarray, np.ndarray]:
    """The globe cut again and again, the largest piece first, and then each piece grown or drawn in a little."""
    rng = np.random.default_rng(6)
    pieces = [(-180.0, -60.0, 180.0, 75.0)]
    while len(pieces) < count:
        largest = max(pieces, key=lambda box: (box[2] - box[0]) * (box[3] - box[1]))
        pieces.remove(largest)
        x0, y0, x1, y1 = largest
        part = rng.uniform(0.3, 0.7)
        if x1 - x0 > y1 - y0:
            cut = x0 + part * (x1 - x0)
            pieces += [(x0, y0, cut, y1), (cut, y0, x1, y1)]
        else:
            cut = y0 + part * (y1 - y0)
            pieces += [(x0, y0, x1, cut), (x0, cut, x1, y1)]
    boxes = np.array(pieces)
    margin = 0.1 * (boxes[:, 2:] - boxes[:, :2]) * rng.uniform(-1, 1, (count, 2))  # overlap, or sea in between
    boxes = np.concatenate([boxes[:, :2] - margin, boxes[:, 2:] + margin], axis=1)
    return boxes, np.array([f"{chr(65 + i // 26)}{chr(65 + i % 26)}" for i in range(count)])


def shortest_way(start: np.ndarray, end: np.ndarray, pieces: int) -> np.ndarray:
    """(pieces + 1, 2) degrees along the great circle, longitude running on at 180."""
    longitude, latitude = np.radians([start, end]).T
    points = np.stack(
        [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)], axis=1
    )
    angle = np.arccos(np.clip(points[0] @ points[1], -1, 1))
    part = np.linspace(0, 1, pieces + 1)[:, None]
    way = (np.sin((1 - part) * angle) * points[0] + np.sin(part * angle) * points[1]) / np.sin(angle)
    return np.column_stack([np.degrees(np.unwrap(np.arctan2(way[:, 1], way[:, 0]))), np.degrees(np.arcsin(way[:, 2]))])


def main() -> None:
    parser = argparse.ArgumentParser(description="Which countries' boxes a flight crosses.")
    parser.add_argument("countries", nargs="?", help="a .npz file of boxes and ids; without it, they are made up")
    parser.add_argument("--start", type=float, nargs=2, default=(-9.1, 38.8), help="longitude and latitude (Lisbon)")
    parser.add_argument("--end", type=float, nargs=2, default=(139.7, 35.7), help="longitude and latitude (Tokyo)")
    parser.add_argument("--small", action="store_true", help="fewer countries and fewer pieces of the way")
    options = parser.parse_args()
    if options.countries:
        with np.load(options.countries, allow_pickle=False) as file:
            boxes, names = file["boxes"], file["ids"]
    else:
        boxes, names = made_up(60 if options.small else 400)
    tree = bw.BoxTree(boxes[:, :2], boxes[:, 2:])

    way = shortest_way(np.array(options.start), np.array(options.end), 100 if options.small else 5000)
    steps = np.diff(way, axis=0)
    way[:, 0] = (way[:, 0] + 180) % 360 - 180  # of a piece over 180 degrees, what lies beyond is missed
    met = tree.raycast_all(way[:-1], steps, t_max=1.0)
    when = (met.ray_ids + met.t_hit) / len(steps)  # 0 at the start, 1 at the end; a box is met by many pieces
    crossed, first = np.unique(names[met.primitive_ids], return_index=True)  # met in order: the first is the earliest
    order = np.argsort(when[first], kind="stable")
    print(f"{len(tree):,} boxes of {len(np.unique(names)):,} regions; the way has {len(steps):,} pieces")
    print(f"it crosses {len(np.unique(met.primitive_ids)):,} boxes of {len(crossed)} regions")
    told = [f"{crossed[i]} {when[first[i]]:.0%}" for i in order[:12]]
    print("the first ones, and where on the way: " + ", ".join(told) + (" ..." if len(order) > 12 else ""))
    around = tree.query_box(way.min(axis=0), way.max(axis=0))
    print(f"the one box around the whole way would have told {len(np.unique(names[around]))} regions")
    sea = ~np.isin(np.arange(len(steps)), met.ray_ids)
    print(f"{sea.mean():.0%} of the way is in no region's box")


if __name__ == "__main__":
    main()
