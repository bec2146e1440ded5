"""Where rays have hit: normals turned to the eye, and origins for the rays that go on from there.

An origin is set off the face, along its normal to the eye's side, by more than what rounding may have moved it, so
that a face never shades itself. What rounding may move grows with coordinates and with the face, hence so does the
offset; nothing is tuned to a scene.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import inline, kernel

f4 = np.float32
f8 = np.float64


@inline
def corner(vertices, faces, face, k):
    vertex = faces[face, k]
    return f8(vertices[vertex, 0]), f8(vertices[vertex, 1]), f8(vertices[vertex, 2])


@inline
def difference(a, b):
    return b[0] - a[0], b[1] - a[1], b[2] - a[2]


@inline
def largest(a):
    return max(max(abs(a[0]), abs(a[1])), abs(a[2]))


@inline
def unit_normal(first, second):
    """Of the face with these edges from one vertex; scaled before, so that no size of it overflows."""
    p, q = 1.0 / largest(first), 1.0 / largest(second)
    ax, ay, az = first[0] * p, first[1] * p, first[2] * p
    bx, by, bz = second[0] * q, second[1] * q, second[2] * q
    x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    per = 1.0 / largest((x, y, z))
    x, y, z = x * per, y * per, z * per
    per = 1.0 / math.sqrt(x * x + y * y + z * z)
    return x * per, y * per, z * per


@kernel
def meet(vertices, faces, ids, uvs, directions, light, every, grain, normals, origins, where, begin, end):
    """Fill the normals (n, 3) of rays begin to end, zero for a miss, and from the first row on the origins, and which
    ray each belongs to, of those that hit a side towards the light, or of all that hit; how many.

    `grain` is the offset in parts of the coordinates.
    """
    dtype = origins.dtype.type
    count = 0
    for i in range(begin, end):
        face = ids[i]
        if face < 0:
            normals[i, 0] = normals[i, 1] = normals[i, 2] = f4(0)
            continue
        a = corner(vertices, faces, face, 0)
        first = difference(a, corner(vertices, faces, face, 1))
        second = difference(a, corner(vertices, faces, face, 2))
        x, y, z = unit_normal(first, second)
        if x * f8(directions[i, 0]) + y * f8(directions[i, 1]) + z * f8(directions[i, 2]) > 0.0:
            x, y, z = -x, -y, -z
        normals[i, 0], normals[i, 1], normals[i, 2] = f4(x), f4(y), f4(z)
        if every or x * light[0] + y * light[1] + z * light[2] > 0.0:
            u, v = f8(uvs[i, 0]), f8(uvs[i, 1])
            off = grain * (largest(a) + 2.0 * max(largest(first), largest(second)))
            origins[count, 0] = dtype(a[0] + u * first[0] + v * second[0] + off * x)
            origins[count, 1] = dtype(a[1] + u * first[1] + v * second[1] + off * y)
            origins[count, 2] = dtype(a[2] + u * first[2] + v * second[2] + off * z)
            where[count] = i
            count += 1
    return count


@inline
def gradient_noise(x, y):
    """In [0, 1), spread evenly over every few pixels around (interleaved gradient noise, Jimenez 2014)."""
    inner = 0.06711056 * x + 0.00583715 * y
    outer = 52.9829189 * (inner - math.floor(inner))
    return outer - math.floor(outer)


@kernel
def fill_ambient(normals, where, width, first, turn, turns, directions, begin, end):
    """Directions of the ray number `turn` of `turns` around the normals of rays `where`: cosine-weighted, in strata
    of elevation and by the golden angle around, shifted from pixel to pixel.

    Basis of Duff et al. 2017, Building an orthonormal basis, revisited.
    """
    dtype = directions.dtype.type
    for j in range(begin, end):
        i = where[j]
        column, row = f8(i % width), f8(first + i // width)
        low = (turn + gradient_noise(column, row)) / turns
        angle = 6.283185307179586 * (turn * 0.6180339887498949 + gradient_noise(column + 47.0, row + 17.0))
        radius = math.sqrt(low)
        x, y, z = radius * math.cos(angle), radius * math.sin(angle), math.sqrt(1.0 - low)
        nx, ny, nz = f8(normals[i, 0]), f8(normals[i, 1]), f8(normals[i, 2])
        sign = 1.0 if nz >= 0.0 else -1.0
        a = -1.0 / (sign + nz)
        b = nx * ny * a
        directions[j, 0] = dtype(x * (1.0 + sign * nx * nx * a) + y * b + z * nx)
        directions[j, 1] = dtype(x * sign * b + y * (sign + ny * ny * a) + z * ny)
        directions[j, 2] = dtype(-x * sign * nx - y * ny + z * nz)
