"""Functions made by `apart` were copied into every `inline` function that calls them, and so into all kernels: Numba
hands that option down to callees that do not set it. A kernel of six orientations took 80 seconds to compile."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from boxwood._jit import INTERPRETED, apart, inline, kernel
from boxwood._simd import stay_apart


@apart
def seldom(x):
    stay_apart()
    return x * x + 1.0


@inline
def often(x):
    return seldom(x) if x < 0.0 else x


@kernel
def total(numbers):
    result = 0.0
    for i in range(len(numbers)):
        result += often(numbers[i])
    return result


@pytest.mark.small
def test_the_answer():
    assert total(np.array([1.0, -2.0])) == 6.0


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_it_is_called():
    fresh = numba.njit(total.py_func)  # what is loaded from the disk cannot be looked into
    fresh(np.array([1.0, -2.0]))
    (code,) = fresh.inspect_llvm().values()
    assert [line for line in code.splitlines() if " call " in line and "seldom" in line]
