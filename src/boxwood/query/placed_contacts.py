"""Which placed meshes meet: pairs whose world boxes overlap, then the walks down their two trees.

All pairs of the same two meshes, wherever these stand, are one batch of walks. Both meshes of a pair are moved to the
world, and what decides are their corners as moved there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..build.renew import refit_box_tree
from .bodies import Bodies, BodyTree, groups, transforms_of
from .box_pairs import box_pairs
from .contact_segments import contact_segments
from .contacts import Contacts, in_order, meets, placed_contacts, told
from .overlapping import overlapping_boxes
from .pairing import pairing

BATCH = 16384
"""Pairs of bodies whose transforms are joined at a time, which bounds the memory."""


class BodyContacts(NamedTuple):
    """Contacts of pairs of bodies, sorted by pair and then by faces."""

    pairs: np.ndarray  # (m, 2) int64: bodies
    splits: np.ndarray  # (m + 1,): the contacts of pair k are from splits[k] up to splits[k + 1]
    faces: np.ndarray  # (c, 2) int64
    relations: np.ndarray  # (c,) int8, NEAR among them
    segments: np.ndarray  # (c, 2, 3) float64


def widened(tree, tolerance, threads=None):
    """A tree of boxes with each box wider by half the tolerance on all sides, so that near ones overlap."""
    if tolerance == 0.0 or len(tree.ids) == 0:
        return tree
    held = tree.ids >= 0
    corners = np.empty((np.count_nonzero(held), 2, 3))
    corners[tree.ids[held]] = tree.corners()[held]
    lower = np.nextafter(corners[:, 0] - tolerance * 0.5, -np.inf)
    upper = np.nextafter(corners[:, 1] + tolerance * 0.5, np.inf)
    return refit_box_tree(tree, lower, upper, threads)


def near_pairs(scene: BodyTree, tolerance, threads=None) -> np.ndarray:
    """(m, 2): bodies i < j whose boxes overlap and whose masks let them meet."""
    pairs = scene.names[box_pairs(widened(scene.tree, tolerance, threads), threads=threads)]
    masks = scene.bodies.masks
    return pairs[masks[pairs[:, 0]] & masks[pairs[:, 1]] != 0]


def near_bodies(scene: BodyTree, lower, upper, mask, tolerance, threads=None) -> np.ndarray:
    """(m, 2): row and body, for each row of boxes the bodies whose boxes overlap it and that the mask lets it meet."""
    low, high = np.nextafter(lower - tolerance, -np.inf), np.nextafter(upper + tolerance, np.inf)
    splits, places = overlapping_boxes(scene.tree, low, high, threads=threads)
    ids = scene.names[places]
    pairs = np.stack([np.repeat(np.arange(len(low)), np.diff(splits)), ids], axis=1)
    return pairs[scene.bodies.masks[ids] & np.uint32(mask) != 0]


def batches(left: Bodies, right: Bodies, pairs, tolerance, threads, progress):
    """Yield which pairs, the two meshes and their `PlacedPairs` for each batch of pairs of the same two meshes, and how
    to tell of the progress in it."""
    keys = left.mesh_of[pairs[:, 0]] * np.int64(len(right.solids) + 1) + right.mesh_of[pairs[:, 1]]
    done = 0
    for _, places in groups(keys):
        for begin in range(0, len(places), BATCH):
            part = places[begin : begin + BATCH]
            i, j = (np.ascontiguousarray(column) for column in pairs[part].T)
            one, other = left.solids[left.mesh_of[i[0]]], right.solids[right.mesh_of[j[0]]]
            frames = one.tree.frame, other.tree.frame
            relation = pairing(*frames, transforms_of(left), transforms_of(right), tolerance, i, j, threads)
            yield part, one, other, relation, stepped(progress, done, len(part), len(pairs))
            done += len(part)


def stepped(progress, before, number, total):
    """What a batch of that many pairs is to call, which may count in smaller steps."""
    if progress is None:
        return None
    return lambda done, steps: progress(before + (number * done // steps if steps else number), total)


def in_order_of_meshes(bodies: Bodies, pairs):
    """The pairs with the body of the earlier mesh first, and which were turned."""
    turned = bodies.mesh_of[pairs[:, 0]] > bodies.mesh_of[pairs[:, 1]]
    return np.where(turned[:, None], pairs[:, ::-1], pairs), turned


def which_meet(left: Bodies, right: Bodies, pairs, tolerance=0.0, *, threads=None, progress=None, counters=None):
    """(m,) bool: which of the pairs of a body of the one and of the other meet."""
    met = np.zeros(len(pairs), bool)
    if left is right:
        pairs, _ = in_order_of_meshes(left, pairs)
    for part, one, other, relation, step in batches(left, right, pairs, tolerance, threads, progress):
        met[part] = meets(one.tree, other.tree, relation, threads=threads, progress=step, counters=counters)
    return met


def all_contacts(left: Bodies, right: Bodies, pairs, tolerance=0.0, *, threads=None, progress=None, counters=None):
    """The `BodyContacts` of those of the pairs (m, 2), sorted, that meet."""
    asked, turned = in_order_of_meshes(left, pairs) if left is right else (pairs, np.zeros(len(pairs), bool))
    options = {"threads": threads, "counters": counters}
    held = [
        batch_contacts(part, one, other, relation, turned[part], progress=step, **options)
        for part, one, other, relation, step in batches(left, right, asked, tolerance, threads, progress)
    ]
    number = np.zeros(len(pairs), np.int64)
    for batch in held:
        number[batch.rows] = batch.number
    splits = np.concatenate([[0], np.cumsum(number)])
    met = number > 0
    return BodyContacts(pairs[met], splits[np.append(met, True)], *joined(held, splits))


class BatchContacts(NamedTuple):
    """Contacts of a batch of pairs, sorted by pair and then by faces."""

    rows: np.ndarray  # (n,) the pairs, rising
    number: np.ndarray  # (n,) of the contacts of each
    faces: np.ndarray  # (c, 2) int32
    relations: np.ndarray  # (c,) int8
    segments: np.ndarray  # (c, 2, 3) float64


def batch_contacts(rows, one, other, relation, turned, *, threads, progress, counters) -> BatchContacts:
    """Of pairs some of which are turned, whose faces are sorted and told the other way round."""
    found = placed_contacts(one.tree, other.tree, relation, threads=threads, progress=progress, counters=counters)
    faces = found.found[:, :2].copy()
    if turned.any():
        whole = np.concatenate([found.found, found.rows[:, None]], axis=1)
        swap(whole, turned)
        whole = in_order(whole, threads)
        faces = whole[:, :2].copy()
        swap(whole, turned)
        found = Contacts(whole[:, :3], whole[:, 3])
    number = np.bincount(found.rows, minlength=len(rows))
    segments = contact_segments(one, other, relation, found, threads=threads)
    return BatchContacts(rows, number, faces, told(found.found), segments)


def swap(contacts, turned):
    """The faces of contacts (m, 4) in rows that are turned."""
    there = turned[contacts[:, 3]]
    contacts[there, :2] = contacts[there, 1::-1]


def joined(held: list[BatchContacts], splits):
    """Faces, relations and segments of all batches at the places that splits tell; what is written is let go."""
    if len(held) == 1:
        return held[0].faces.astype(np.int64), held[0].relations, held[0].segments
    count = splits[-1]
    faces, relations, segments = np.empty((count, 2), np.int64), np.empty(count, np.int8), np.empty((count, 2, 3))
    while held:
        batch = held.pop()
        places = np.arange(len(batch.faces))
        places += np.repeat(splits[batch.rows] - np.cumsum(batch.number) + batch.number, batch.number)
        faces[places], relations[places], segments[places] = batch.faces, batch.relations, batch.segments
    return faces, relations, segments
