"""From colours per sample to bytes per pixel: the mean of a pixel's samples, through a table."""

from __future__ import annotations

import numpy as np

from ..._jit import kernel

f4 = np.float32


@kernel
def develop(colors, side, table, image, first, begin, end):
    """Write pixels begin to end, counted from the row `first` of the image, each from side * side samples.

    `colors` are rows of samples, side for each row of pixels, values 0 to 1; `table` gives the bytes for them.
    """
    width, last = image.shape[1], f4(table.shape[0] - 1)
    share = last / f4(side * side)
    for i in range(begin, end):
        row, column = i // width, i % width
        for k in range(3):
            total = f4(0)
            for down in range(side):
                sample = ((row * side + down) * width + column) * side
                for right in range(side):
                    total += colors[sample + right, k]
            image[first + row, column, k] = table[np.intp(min(max(total * share, f4(0)), last) + f4(0.5))]
