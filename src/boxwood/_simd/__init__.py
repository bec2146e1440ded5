"""Vectors for kernels: with `_jit`, the only part of the package that knows Numba."""

from __future__ import annotations

from .keys import key_bound, ordered, sorted_keys, splat_int8
from .vectors import (
    count_bits,
    equal,
    first_bit,
    fma,
    greater_equal,
    lanes_as,
    lanes_of,
    less,
    less_equal,
    load4,
    load8,
    maximum,
    minimum,
    number_like,
    prefetch,
    product_error,
    splat4,
    splat8,
    store,
    store_int,
)

__all__ = [
    "count_bits",
    "equal",
    "first_bit",
    "fma",
    "greater_equal",
    "key_bound",
    "lanes_as",
    "lanes_of",
    "less",
    "less_equal",
    "load4",
    "load8",
    "maximum",
    "minimum",
    "number_like",
    "ordered",
    "prefetch",
    "product_error",
    "sorted_keys",
    "splat4",
    "splat8",
    "splat_int8",
    "store",
    "store_int",
]
