"""Which binary nodes become the children of which wide node: the choice of least cost for rays.

The costs that `binary_tree.fit` left for each subtree with 1 to 8 places are followed from the root down (Ylitie,
Karras, Laine 2017). The result is a plan, a row of 16 integers for each wide node, depth-first: the binary nodes that
are its children, smallest first, or -1 for none; and their codes, as if the tree began with the first row.
"""

from __future__ import annotations

import numpy as np

from .._jit import inline, kernel
from ..geometry.box import cost_of, index
from ..layout import BLOCK_SIZE, BLOCKS_OF_LEAF, RECORD_FLOATS
from .binary_tree import leaf_cost

f4 = np.float32

ROW = 16


@inline
def is_leaf(nodes, links, costs, node, leaf_size):
    """Whether a node becomes a leaf: it has no children, or they would cost no less than its own blocks."""
    place = node * RECORD_FLOATS
    count = np.intp(links[index(place + 7)])
    return count > 0 or (-count <= leaf_size and leaf_cost(nodes, place, -count) <= costs[index(place)])


@inline
def share(links, costs, node, places):
    """How many of the places go to a node's first child, at the least cost."""
    left = np.intp(links[index(node * RECORD_FLOATS + 3)]) * RECORD_FLOATS
    right = left + RECORD_FLOATS + places
    best, least = np.intp(1), f4(np.inf)
    for i in range(1, places):
        cost = costs[index(left + i - 1)] + costs[index(right - i - 1)]
        if cost < least * f4(0.99999):  # not by rounding alone
            best, least = i, cost
    return best


@inline
def plan_children(nodes, links, costs, leaf_size, root, plan, row, opened, areas):
    """The binary nodes that become the children of a wide node, smallest first, to the plan; how many."""
    number, top = np.intp(0), np.intp(2)
    opened[0], opened[1] = root, 1 if is_leaf(nodes, links, costs, root, leaf_size) else 8
    while top > 0:
        top -= 2
        node, places = np.intp(opened[index(top)]), np.intp(opened[index(top + 1)])
        place = node * RECORD_FLOATS
        if places > 1 and (node == root or costs[index(place + places - 1)] < costs[index(place)]):
            first, left = np.intp(links[index(place + 3)]), share(links, costs, node, places)
            opened[index(top)], opened[index(top + 1)] = first + 1, places - left
            opened[index(top + 2)], opened[index(top + 3)] = first, left
            top += 4
            continue
        area = cost_of(nodes, place)
        i = number
        while i > 0 and areas[index(i - 1)] > area:
            plan[index(row + i)], areas[index(i)] = plan[index(row + i - 1)], areas[index(i - 1)]
            i -= 1
        plan[index(row + i)], areas[index(i)] = node, area
        number += 1
    for i in range(number, 8):
        plan[index(row + i)], plan[index(row + 8 + i)] = -1, 0
    return number


@kernel
def plan_range(nodes, links, costs, leaf_size, areas, opened, pending, root, plan, whole):
    """Plan the wide nodes of a subtree, or only its root; how many nodes, blocks and levels."""
    pending[0], pending[1], pending[2] = root, -1, 1  # binary nodes, each with the place of its code and its level
    top, row, blocks, levels = np.intp(3), np.intp(0), np.intp(0), np.intp(1)
    while top > 0:
        top -= 3
        node, place = np.intp(pending[index(top)]), np.intp(pending[index(top + 1)])
        level = np.intp(pending[index(top + 2)])
        if place >= 0 and is_leaf(nodes, links, costs, node, leaf_size):
            number = (abs(np.intp(links[index(node * RECORD_FLOATS + 7)])) + BLOCK_SIZE - 1) // BLOCK_SIZE
            plan[index(place)] = ~(blocks * BLOCKS_OF_LEAF + number)
            blocks += number
        elif place >= 0 and not whole:
            plan[index(place)] = 0
        else:
            if place >= 0:
                plan[index(place)] = row // ROW
            number = plan_children(nodes, links, costs, leaf_size, node, plan, row, opened, areas)
            for i in range(number - 1, -1, -1):
                pending[index(top)], pending[index(top + 1)] = plan[index(row + i)], row + 8 + i
                pending[index(top + 2)] = level + 1
                top += 3
            if level > levels:
                levels = level
            row += ROW
    return row // ROW, blocks, levels
