"""What each question asks of a box: the arithmetic of the whole family of structures, written once.

A question gives every box a `key`, and meets those whose key is not above its `limit`; `offer` takes them.
Every step is monotone, rounding included: the key of a box is never above that of a box inside it. So structures may
ask it of boxes around many objects, and all give the answers of brute force, bit for bit.

Questions are scalars, since what kernels call must not hold on to arrays; `batch` has the arrays that they read and
fill (`answers.py`). Coordinates are float64 and 3-D here, whatever the user gave: float32 is exact in it, and 2-D has
z = 0. What users see, t and distances, is rounded to their dtype before it is compared (`shown`), so ties are those
that they see.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import generic, inline
from ..geometry.distance import TINY, gap, length, shown

LARGEST = float(np.finfo(np.float64).max)  # limits are not above it, so that inf means never
SLACK = 4e-7
"""More than rounding to float32 changes a number, relatively."""


class Box(NamedTuple):
    """Which boxes overlap this one?"""

    box: tuple  # lower x, y, z, upper x, y, z
    after: int  # only ids greater than this


class Sphere(NamedTuple):
    """Which boxes reach within the radius of the center?"""

    center: tuple
    radius: float
    within: float  # a square of a distance that is surely not more than the radius
    beyond: float  # and one that is surely more
    single: bool  # float32 is what the user sees


class Frustum(NamedTuple):
    """Which boxes does no plane have entirely outside?"""

    row: int  # of batch.planes


class Ray(NamedTuple):
    """Which box does the ray enter first?"""

    origin: tuple
    direction: tuple
    t_min: float
    single: bool
    row: int


class Near(NamedTuple):
    """Which k boxes are nearest to the point?"""

    point: tuple
    single: bool
    row: int


@inline
def box_at(boxes, place):
    return (
        boxes[place, 0], boxes[place, 1], boxes[place, 2], boxes[place, 3], boxes[place, 4], boxes[place, 5],
    )  # fmt: skip


@inline
def overlap(a, b):
    """Closed boxes: touching counts. Without branches, which would be guessed wrong half of the time."""
    return (
        (a[0] <= b[3]) & (a[1] <= b[4]) & (a[2] <= b[5]) & (b[0] <= a[3]) & (b[1] <= a[4]) & (b[2] <= a[5])
    )  # fmt: skip


@inline
def gaps(box, point):
    """From a point to a box on each axis, and the square of the distance."""
    x = gap(box[0], box[3], point[0])
    y = gap(box[1], box[4], point[1])
    z = gap(box[2], box[5], point[2])
    return x, y, z, x * x + y * y + z * z


@inline
def slab(lower, upper, origin, along):
    """Where a ray is between two planes. Division, unlike a reciprocal, knows no 0 * inf, and gives exact t."""
    if along > 0.0:
        return (lower - origin) / along, (upper - origin) / along
    if along < 0.0:
        return (upper - origin) / along, (lower - origin) / along
    if lower <= origin <= upper:
        return -np.inf, np.inf
    return np.inf, -np.inf


@inline
def crossing(ray, box):
    """Where the line enters a box and leaves it; it misses when the first is greater."""
    x, far_x = slab(box[0], box[3], ray.origin[0], ray.direction[0])
    y, far_y = slab(box[1], box[4], ray.origin[1], ray.direction[1])
    z, far_z = slab(box[2], box[5], ray.origin[2], ray.direction[2])
    return max(max(x, y), z), min(min(far_x, far_y), far_z)


@generic
def key(question, batch, box):
    """How soon the question meets the box; inf for never."""


@generic
def limit(question, batch):
    """The largest key that still counts."""


@generic
def offer(question, batch, number, at):
    """The object with this id has this key: take it, if that counts."""


@generic
def extent(question, batch, bounds):
    """A box that holds every place where the question can meet something inside the bounds."""


@inline
def note(batch, number, meets):
    """Without a branch on whether it meets: the place is written to, and then kept or not."""
    place = batch.used[0]
    if place < batch.found.shape[0]:
        batch.found[place] = number
    batch.used[0] = place + np.int64(meets)


# Boxes


@key.implemented_for(Box)
def _(question, batch, box):
    return 0.0 if overlap(question.box, box) else np.inf


@limit.implemented_for(Box)
def _(question, batch):
    return 0.0


@offer.implemented_for(Box)
def _(question, batch, number, at):
    note(batch, number, (at <= 0.0) & (number > question.after))


@extent.implemented_for(Box)
def _(question, batch, bounds):
    return question.box


# Spheres


@inline
def square_within(radius):
    r = radius * (1.0 - SLACK)
    return min(r * r, LARGEST) if r * r > TINY else -1.0


@inline
def square_beyond(radius):
    r = radius * (1.0 + SLACK)
    return max(r * r, TINY)


@key.implemented_for(Sphere)
def _(question, batch, box):
    """The distance, or what is as good where no root is needed: 0 for surely within, inf for surely beyond.

    Hardly any is neither, so the branch is guessed right.
    """
    x, y, z, square = gaps(box, question.center)
    if square > question.beyond:
        return np.inf
    if square <= question.within:
        return 0.0
    return shown(length(x, y, z, square), question.single)


@limit.implemented_for(Sphere)
def _(question, batch):
    return question.radius


@offer.implemented_for(Sphere)
def _(question, batch, number, at):
    note(batch, number, at <= question.radius)


@extent.implemented_for(Sphere)
def _(question, batch, bounds):
    return around(question.center, question.radius)


@inline
def around(point, radius):
    """A box that holds whatever has at most this distance, as computed and shown."""
    x, y, z = point
    r = radius + radius * SLACK + 1e-300
    px, py, pz = r + abs(x) * 1e-15, r + abs(y) * 1e-15, r + abs(z) * 1e-15
    return x - px, y - py, z - pz, x + px, y + py, z + pz


# Frustums


@key.implemented_for(Frustum)
def _(question, batch, box):
    planes, row = batch.planes, question.row
    for i in range(planes.shape[1]):
        a, b, c = planes[row, i, 0], planes[row, i, 1], planes[row, i, 2]
        x = box[3] if a >= 0.0 else box[0]
        y = box[4] if b >= 0.0 else box[1]
        z = box[5] if c >= 0.0 else box[2]
        if not a * x + b * y + c * z + planes[row, i, 3] >= 0.0:  # so what overflows to nan is outside
            return np.inf
    return 0.0


@limit.implemented_for(Frustum)
def _(question, batch):
    return 0.0


@offer.implemented_for(Frustum)
def _(question, batch, number, at):
    note(batch, number, at <= 0.0)


@extent.implemented_for(Frustum)
def _(question, batch, bounds):
    return box_at(bounds, 0)


# Rays


@key.implemented_for(Ray)
def _(question, batch, box):
    near, far = crossing(question, box)
    if near <= far:
        near, far = shown(near, question.single), shown(far, question.single)
        if far >= question.t_min:
            return max(near, question.t_min) + 0.0  # and no -0.0
    return np.inf


@limit.implemented_for(Ray)
def _(question, batch):
    return batch.t_hit[question.row]


@offer.implemented_for(Ray)
def _(question, batch, number, at):
    row = question.row
    first = at < batch.t_hit[row] or number < batch.hit[row] or batch.hit[row] < 0
    if first and at <= batch.t_hit[row]:
        batch.t_hit[row], batch.hit[row] = at, number


@extent.implemented_for(Ray)
def _(question, batch, bounds):
    """Of the part inside the bounds; anything when the ray misses them."""
    box = box_at(bounds, 0)
    near, far = inside(question, batch, box)
    _, from_x, to_x = stretch(question, 0, near, far, box[0], box[3])
    _, from_y, to_y = stretch(question, 1, near, far, box[1], box[4])
    _, from_z, to_z = stretch(question, 2, near, far, box[2], box[5])
    return from_x, from_y, from_z, to_x, to_y, to_z


@inline
def inside(ray, batch, box):
    """The t between which a ray can meet something inside a box; none when the first is greater."""
    near, far = crossing(ray, box)
    last = limit(ray, batch)
    near = max(max(near, ray.t_min - abs(ray.t_min) * SLACK), -LARGEST)
    far = min(min(far, last + abs(last) * SLACK), LARGEST)
    return near, far


@inline
def stretch(ray, axis, near, far, lower, upper):
    """The coordinates that a ray has on an axis between two t, and the rounding that they allow for."""
    origin, along = ray.origin[axis], ray.direction[axis]
    pad = (abs(origin) + max(abs(lower), abs(upper))) * 1e-14
    first, last = origin + near * along, origin + far * along
    return pad, max(min(first, last), lower) - pad, min(max(first, last), upper) + pad


# The nearest


@key.implemented_for(Near)
def _(question, batch, box):
    x, y, z, square = gaps(box, question.point)
    return shown(length(x, y, z, square), question.single)


@limit.implemented_for(Near)
def _(question, batch):
    return batch.distances[question.row, batch.distances.shape[1] - 1]


@offer.implemented_for(Near)
def _(question, batch, number, at):
    """Into its place in the row, if it is not there yet (structures may show an object several times)."""
    distances, ids, row = batch.distances, batch.nearest, question.row
    if at > limit(question, batch):
        return
    place = distances.shape[1]
    while place > 0:
        before, other = distances[row, place - 1], ids[row, place - 1]
        if other >= 0 and (before < at or (before == at and other <= number)):
            if before == at and other == number:
                return
            break
        place -= 1
    if place == distances.shape[1]:
        return
    for i in range(distances.shape[1] - 1, place, -1):
        distances[row, i], ids[row, i] = distances[row, i - 1], ids[row, i - 1]
    distances[row, place], ids[row, place] = at, number


@extent.implemented_for(Near)
def _(question, batch, bounds):
    return around(question.point, limit(question, batch))
