"""Numbers that one float64 cannot hold: expansions, and pairs of twice the precision.

An expansion is a sum of float64 that do not overlap, so that its sign is that of its last and largest part
(Shewchuk 1997). A pair is a sum of two, rounded at about 104 bits, quick and good enough for most that one float64
leaves in doubt (Dekker 1971; errors: Joldes, Muller and Popescu 2017).
"""

from __future__ import annotations

from .._jit import inline
from .._simd import product_error


@inline
def two_sum(a, b):
    """a + b rounded, and what the rounding took."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@inline
def put_product(room, place, a, b):
    """Write a * b as two numbers; the place after them."""
    room[place], room[place + 1] = a * b, product_error(a, b)
    return place + 2


@inline
def sum_of(room, count):
    """The sum of so many numbers, to within a few roundings, however many of them cancel; they are overwritten.

    The numbers become an expansion, one after another, in the place of those already added. There are zeros between
    the digits of its parts (Shewchuk's theorem 10), so its largest part is more than all others together.
    """
    size = 0
    for i in range(count):
        value, kept = room[i], 0
        if value == 0.0:
            continue
        for k in range(size):
            value, rest = two_sum(value, room[k])
            if rest != 0.0:
                room[kept] = rest
                kept += 1
        if value != 0.0:
            room[kept] = value
            kept += 1
        size = kept
    total = 0.0
    for i in range(size):
        total += room[i]
    return total


@inline
def pair_sum(a, b):
    """a + b for pairs, off by at most 3 u² of the sum, with u = 2⁻⁵³."""
    high, rest = two_sum(a[0], b[0])
    low, lost = two_sum(a[1], b[1])
    high, rest = two_sum(high, rest + low)
    return two_sum(high, rest + lost)


@inline
def pair_product(a, b):
    """a b for pairs, off by at most 7 u² of the product."""
    high = a[0] * b[0]
    return two_sum(high, product_error(a[0], b[0]) + (a[0] * b[1] + a[1] * b[0]))


@inline
def pair_minor(a, b, c, d):
    """a b - c d for pairs."""
    left, right = pair_product(a, b), pair_product(c, d)
    return pair_sum(left, (-right[0], -right[1]))
