"""How two triangles lie to each other, decided by signs alone: no point of their intersection is ever computed.

Where no plane of one has the other on one side, both triangles meet the line that the planes share, each in an
interval; its ends are ordered by the orientations of two edges each (Devillers and Guigue 2003). Triangles are closed,
given by six tuples of three float64; one without area is the segment or the point that it is.
"""

from __future__ import annotations

from .._jit import apart, inline
from .._simd import stay_apart
from .predicates import orient2d, orient3d, side_of
from .triangles_in_plane import (
    COPLANAR,
    CROSS,
    DISJOINT,
    TOUCH,
    axis_of,
    dropped,
    flat_relation,
)

__all__ = ["COPLANAR", "CROSS", "DISJOINT", "TOUCH", "neighbour_relation", "relation_of"]


@inline
def relation_of(p, q, r, a, b, c, room):
    """The relation of two triangles p, q, r and a, b, c; the same for any order of triangles and of corners.

    CROSS: not all in one plane, and their interiors have a point in common. COPLANAR: in one plane, and their interiors
    have an area in common. TOUCH: they meet in another way. DISJOINT: they do not meet. The interior of a segment is
    what lies between its ends, that of a point is the point; so a segment can cross a triangle, while two segments that
    meet lie in one plane, have no area, and touch.
    """
    sp, sq, sr = orient3d(a, b, c, p, room), orient3d(a, b, c, q, room), orient3d(a, b, c, r, room)
    if sp == sq == sr != 0:
        return DISJOINT
    sa, sb, sc = orient3d(p, q, r, a, room), orient3d(p, q, r, b, room), orient3d(p, q, r, c, room)
    if sa == sb == sc != 0:
        return DISJOINT
    return meeting(p, q, r, a, b, c, sp, sq, sr, sa, sb, sc, room)


@apart
def meeting(p, q, r, a, b, c, sp, sq, sr, sa, sb, sc, room):
    """The same when the sides of all corners are known, and neither triangle lies on one side of the other's plane."""
    stay_apart()
    if sp == sq == sr:
        if sa == sb == sc:
            return flat_relation(p, q, r, a, b, c, room)
        return pierced(p, q, r, a, b, c, sa, sb, sc, room)
    if sa == sb == sc:
        return pierced(a, b, c, p, q, r, sp, sq, sr, room)
    p, q, r, a, b, c, _ = arranged(p, q, r, a, b, c, sp, sq, sr, sa, sb, sc)
    first, second = side_of(p, q, a, b, room), side_of(p, r, c, a, room)
    if first > 0 or second > 0:
        return DISJOINT
    if first < 0 and second < 0 and both_sides(sp, sq, sr) and both_sides(sa, sb, sc):
        return CROSS
    return TOUCH


@inline
def both_sides(x, y, z):
    """Whether there is a positive and a negative sign among three."""
    return max(x, y, z) - min(x, y, z) == 2


@inline
def lone(x, y, z):
    """Which of three signs, not all equal, is to stand first: one that is not on the side of the two others, where
    the edges from it meet the plane, each in one point; and whether signs must be turned for it to be >= 0."""
    if x * y > 0:
        return 2, x > 0
    if x * z > 0:
        return 1, x > 0
    if y * z > 0:
        return 0, y > 0
    return (0, x < 0) if x != 0 else (1, y < 0) if y != 0 else (2, z < 0)


@inline
def arranged(p, q, r, a, b, c, sp, sq, sr, sa, sb, sc):
    """The same triangles, so that p has a side >= 0 of the plane of a, b, c, and q and r have sides <= 0 of it and are
    not in it with p; and likewise a. And whether one of them has been turned over, and not both."""
    place, turned = lone(sp, sq, sr)
    other, other_turned = lone(sa, sb, sc)
    if place == 1:
        p, q, r = q, r, p
    elif place == 2:
        p, q, r = r, p, q
    if other == 1:
        a, b, c = b, c, a
    elif other == 2:
        a, b, c = c, a, b
    if turned:
        b, c = c, b
    if other_turned:
        q, r = r, q
    return p, q, r, a, b, c, turned != other_turned


@apart
def pierced(p, q, r, a, b, c, sa, sb, sc, room):
    """Of a triangle with area and a segment a, b, c that is not in its plane."""
    stay_apart()
    u, v = ends_across(a, b, c, sa, sb, sc)
    if not both_sides(sa, sb, sc):
        return flat_relation(p, q, r, u, u, u, room)
    x, y, z = side_of(u, v, p, q, room), side_of(u, v, q, r, room), side_of(u, v, r, p, room)
    if both_sides(x, y, z):
        return DISJOINT
    return CROSS if x != 0 and y != 0 and z != 0 else TOUCH


@inline
def ends_across(a, b, c, sa, sb, sc):
    """Two of three points of a line: one on either side of a plane, or else the one that is in it twice."""
    if both_sides(sa, sb, sc):
        u = a if sa > 0 else b if sb > 0 else c
        v = a if sa < 0 else b if sb < 0 else c
        return u, v
    u = a if sa == 0 else b if sb == 0 else c
    return u, u


@inline
def same(p, q):
    return p[0] == q[0] and p[1] == q[1] and p[2] == q[2]


@apart
def neighbour_relation(p, q, r, a, b, c, room):
    """What two triangles of one mesh, both with an area, have in common beyond the corners that they share.

    Corners with equal coordinates are shared. The codes are those of `relation_of`, so two that share an edge and are
    not folded flat upon each other are DISJOINT, and so are two that share a corner and meet only there.
    """
    stay_apart()
    pa, pb, pc = same(p, a), same(p, b), same(p, c)
    qa, qb, qc = same(q, a), same(q, b), same(q, c)
    ra, rb, rc = same(r, a), same(r, b), same(r, c)
    shared = int(pa) + int(pb) + int(pc) + int(qa) + int(qb) + int(qc) + int(ra) + int(rb) + int(rc)
    if shared == 0:
        return relation_of(p, q, r, a, b, c, room)
    if shared == 3:
        return COPLANAR
    # the corner that decides comes first: the shared one of two that share one, and the other one where they share two
    wanted = shared == 1
    if (qa or qb or qc) == wanted:
        p, q, r = q, r, p
    elif (ra or rb or rc) == wanted:
        p, q, r = r, p, q
    if (pb or qb or rb) == wanted:
        a, b, c = b, c, a
    elif (pc or qc or rc) == wanted:
        a, b, c = c, a, b
    if shared == 2:
        return folded(p, q, r, a, room)
    return beyond_corner(p, q, r, b, c, room)


@inline
def folded(p, q, r, a, room):
    """Of two triangles that share the edge q, r."""
    if side_of(p, q, r, a, room) != 0:
        return DISJOINT
    axis = axis_of(p, q, r, room)
    px, py = dropped(p, axis)
    qx, qy = dropped(q, axis)
    rx, ry = dropped(r, axis)
    ax, ay = dropped(a, axis)
    return COPLANAR if orient2d(qx, qy, rx, ry, px, py, room) == orient2d(qx, qy, rx, ry, ax, ay, room) else DISJOINT


@inline
def beyond_corner(v, q, r, b, c, room):
    """Of two triangles that share the corner v alone: near it they are sectors, which meet in a ray or in v only."""
    sq, sr = side_of(v, b, c, q, room), side_of(v, b, c, r, room)
    if sq == sr != 0:
        return DISJOINT
    sb, sc = side_of(v, q, r, b, room), side_of(v, q, r, c, room)
    if sb == sc != 0:
        return DISJOINT
    if sq == sr:
        return sectors_in_plane(v, q, r, b, c, room)
    crossing = sq * sr < 0 and sb * sc < 0
    if sq == 0:
        q, r = r, q
    if sb == 0:
        b, c = c, b
    # both sectors meet the line of the planes, in q r and b c: on the same side of v?
    if side_of(q, v, b, c, room) == side_of(q, r, b, v, room):
        return DISJOINT
    return CROSS if crossing else TOUCH


@apart
def sectors_in_plane(v, q, r, b, c, room):
    """Of two sectors in one plane, from v along q and r, and along b and c."""
    stay_apart()
    axis = axis_of(v, q, r, room)
    vx, vy = dropped(v, axis)
    qx, qy = dropped(q, axis)
    rx, ry = dropped(r, axis)
    bx, by = dropped(b, axis)
    cx, cy = dropped(c, axis)
    if orient2d(vx, vy, qx, qy, rx, ry, room) < 0:
        qx, qy, rx, ry = rx, ry, qx, qy
    if orient2d(vx, vy, bx, by, cx, cy, room) < 0:
        bx, by, cx, cy = cx, cy, bx, by
    # now each turns left from its first ray to its second
    qb, qc = orient2d(vx, vy, qx, qy, bx, by, room), orient2d(vx, vy, qx, qy, cx, cy, room)
    rb, rc = orient2d(vx, vy, rx, ry, bx, by, room), orient2d(vx, vy, rx, ry, cx, cy, room)
    if not ((qb <= 0 and qc <= 0) or (rb >= 0 and rc >= 0) or (qb >= 0 and rb >= 0) or (qc <= 0 and rc <= 0)):
        return COPLANAR
    if qc == 0 and (qx > vx) == (cx > vx) and (qy > vy) == (cy > vy):
        return TOUCH
    if rb == 0 and (rx > vx) == (bx > vx) and (ry > vy) == (by > vy):
        return TOUCH
    return DISJOINT
