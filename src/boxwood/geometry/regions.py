"""What a kind of region of space answers: `reach` (see `descend`) and three functions more.

A region is a NamedTuple of arrays: all regions that are asked about, and a few numbers for the one at hand, which
`aim` sets and `reach` reads.
"""

from __future__ import annotations

from .._jit import generic


@generic
def aim(regions, frame, r):
    """Turn to region r: set the numbers that `reach` reads; the limit to walk with."""


@generic
def touches(regions, r, blocks, block, shape):
    """The bits of the four boxes of a block (of that `box_blocks.BlockShape`) that region r touches, exactly."""


@generic
def inside(regions, frame, r, nodes, place, flat):
    """Whether region r touches whatever lies in the box of a node's child, for certain. `place` is that of its lower x;
    `flat` sets have no z."""
