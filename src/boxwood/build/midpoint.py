"""Cuts each range in the middle of the longest axis of its centroids' bounds: quick, and good where triangles lie
evenly spread.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .top_down import longest_axis, measure, partition, split

f4 = np.float32


class Midpoint(NamedTuple):
    middle: float = 0.5  # where between the bounds to cut

    def room(self, _count):
        return 8


@split.implemented_for(Midpoint)
def split_midpoint(builder, records, first, count, scratch, integers):
    measure(records, first, count, scratch)
    axis = longest_axis(scratch)
    limit = scratch[axis] + (scratch[4 + axis] - scratch[axis]) * f4(builder.middle)
    return partition(records, first, count, axis, f4(0), f4(1), limit)
