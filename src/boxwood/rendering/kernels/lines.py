"""Draws straight lines with smooth edges and knows which parts of them lie behind the picture."""

from __future__ import annotations

import math

import numpy as np

from ..._jit import inline, kernel

f4 = np.float32

BEHIND = 0.998
"""An inverse depth less than this part of the surface's lies behind it; what lies on it does not."""


@inline
def cover(row, column, amount, inverse, depth, seen, unseen, thick, thin):
    """Let a line that passes `amount` from the middle of a pixel cover it, `thick` to a side where it is seen."""
    if inverse * depth[row, column] < BEHIND:
        unseen[row, column] = max(unseen[row, column], f4(min(max(thin + 0.5 - amount, 0.0), 1.0)))
    else:
        seen[row, column] = max(seen[row, column], f4(min(max(thick + 0.5 - amount, 0.0), 1.0)))


@kernel
def draw_lines(lines, depth, seen, unseen, thick, thin):
    """Cover pixels with lines (n, 6): x, y in pixels and the inverse depth of both ends.

    `depth` (height, width) is that of the surface, inf where there is none; `seen` and `unseen` of the same shape take
    how much of each pixel is covered; `thick` and `thin` are half the widths of the lines.
    """
    height, width = depth.shape
    for i in range(lines.shape[0]):
        x, y, inverse = lines[i, 0], lines[i, 1], lines[i, 2]
        dx, dy, dw = lines[i, 3] - x, lines[i, 4] - y, lines[i, 5] - inverse
        flat = abs(dx) >= abs(dy)
        if not flat:
            x, y, dx, dy = y, x, dy, dx
        if dx == 0.0:
            continue
        slope, fade = dy / dx, dw / dx
        wide = math.sqrt(1.0 + slope * slope)
        along, across = (width, height) if flat else (height, width)
        first = max(math.floor(min(x, x + dx) + 0.5), 0)
        last = min(math.floor(max(x, x + dx) + 0.5), along)
        reach = (thick + 0.5) * wide
        for place in range(first, last):
            middle = y + (place + 0.5 - x) * slope
            here = inverse + (place + 0.5 - x) * fade
            low = max(math.floor(middle - reach), 0)
            high = min(math.floor(middle + reach) + 1, across)
            for other in range(low, high):
                amount = abs(other + 0.5 - middle) / wide
                if flat:
                    cover(other, place, amount, here, depth, seen, unseen, thick, thin)
                else:
                    cover(place, other, amount, here, depth, seen, unseen, thick, thin)
