"""Where structures and questions meet: `walk` shows a question every object that it might meet.

Each structure registers its way of doing that, by the type of its arrays.
"""

from __future__ import annotations

from .._jit import generic, inline
from .questions import box_at, key, offer


@generic
def walk(structure, boxes, ids, question, batch, stack, keys):
    """Show the question all objects that it might meet; `stack` and `keys` are room for what is still to visit."""


@inline
def show(boxes, ids, row, question, batch):
    """One object, which may be shown before or not."""
    offer(question, batch, ids[row], key(question, batch, box_at(boxes, row)))
