"""The colours of what was hit, in linear light: one key light, a sky with its ground, and a soft gloss.

Kept to sums and products, so that a pixel costs less than its rays.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import inline, kernel

f4 = np.float32
f8 = np.float64

CLAY = (0.50, 0.44, 0.38)  # the material's own colour
KEY = (2.25, 2.04, 1.74)  # the light that casts shadows
SKY = (0.42, 0.52, 0.70)  # from above
GROUND = (0.24, 0.19, 0.15)  # and thrown back from below
GLOSS = 0.07
SPREAD = (0.8191725133961645, 0.6710436067037893, 0.5497004779019703)  # evenly over a cube (R3, Roberts 2018)
BACK_TOP = (0.060, 0.075, 0.100)  # behind everything, from the top of the picture
BACK_BOTTOM = (0.250, 0.285, 0.330)


@inline
def toned(x):
    """Brightness from 0 without end to [0, 1], after a film's curve (Narkowicz 2015)."""
    x *= 0.56
    return min(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 1.0)


@inline
def backdrop(column, row, width, height, k):
    """A glow behind the middle of the picture that fades to its top and corners."""
    x, y = (column + 0.5) / width - 0.5, (row + 0.5) / height
    down = y * y * (3.0 - 2.0 * y)
    shade = 1.0 - 0.55 * min(x * x + (y - 0.6) * (y - 0.6), 1.0)
    return (BACK_TOP[k] + (BACK_BOTTOM[k] - BACK_TOP[k]) * down) * shade


@kernel
def shade(normals, directions, lit, open_sky, light, up, width, height, first, colors, begin, end):
    """Colours (n, 3) of rays begin to end: `lit` says how much of the light each sees, `open_sky` how much of the sky.

    A zero normal means a miss. `first` is the row of the picture, `width` by `height`, in which ray 0 lies.
    """
    for i in range(begin, end):
        nx, ny, nz = f8(normals[i, 0]), f8(normals[i, 1]), f8(normals[i, 2])
        if nx == 0.0 and ny == 0.0 and nz == 0.0:
            for k in range(3):
                colors[i, k] = f4(backdrop(i % width, first + i // width, width, height, k))
            continue
        dx, dy, dz = f8(directions[i, 0]), f8(directions[i, 1]), f8(directions[i, 2])
        per = -1.0 / math.sqrt(dx * dx + dy * dy + dz * dz)
        vx, vy, vz = dx * per, dy * per, dz * per
        toward_light = max(nx * light[0] + ny * light[1] + nz * light[2], 0.0) * f8(lit[i])
        upward = 0.5 + 0.5 * (nx * up[0] + ny * up[1] + nz * up[2])
        facing = max(nx * vx + ny * vy + nz * vz, 0.0)
        # Blinn's half vector, to the 32nd power; at grazing angles everything mirrors the sky (Schlick)
        hx, hy, hz = vx + light[0], vy + light[1], vz + light[2]
        half = (nx * hx + ny * hy + nz * hz) / math.sqrt(hx * hx + hy * hy + hz * hz + 1e-12)
        power = max(half, 0.0)
        for _ in range(5):
            power *= power
        edge = (1.0 - facing) * (1.0 - facing)
        rim = 0.35 * edge * edge * upward
        sky = f8(open_sky[i])
        for k in range(3):
            around = (GROUND[k] + (SKY[k] - GROUND[k]) * upward) * sky
            diffuse = CLAY[k] * (KEY[k] * toward_light + around + 0.10 * facing)
            mirrored = GLOSS * KEY[k] * power * toward_light * 2.0 + rim * SKY[k] * sky
            colors[i, k] = f4(toned(diffuse + mirrored))


@kernel
def turn_to_color(normals, backdrop_value, colors, begin, end):
    """A normal's components, -1 to 1, as red, green and blue."""
    for i in range(begin, end):
        hit = normals[i, 0] != 0 or normals[i, 1] != 0 or normals[i, 2] != 0
        for k in range(3):
            colors[i, k] = f4(0.5) + f4(0.5) * normals[i, k] if hit else f4(backdrop_value)


@kernel
def name_by_color(ids, normals, directions, backdrop_value, colors, begin, end):
    """A colour per face, far from those of the ids around it, darker where the face turns away so that form is seen."""
    for i in range(begin, end):
        if ids[i] < 0:
            colors[i, 0] = colors[i, 1] = colors[i, 2] = f4(backdrop_value)
            continue
        length = math.sqrt(f8(directions[i, 0]) ** 2 + f8(directions[i, 1]) ** 2 + f8(directions[i, 2]) ** 2)
        facing = 0.0
        for k in range(3):
            facing -= f8(normals[i, k]) * f8(directions[i, k])
        for k in range(3):
            place = f8(ids[i]) * SPREAD[k]
            share = place - math.floor(place)
            colors[i, k] = f4((0.2 + 0.8 * share) * (0.45 + 0.55 * facing / length))
