"""a * x + b * y overflowed to a sum that is no number, which left out what is inside."""

from __future__ import annotations

import pytest

import boxwood as bw
from boxwood.index import BruteForce

pytestmark = pytest.mark.small


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1.0, 1e200, 1e300])
@pytest.mark.parametrize("kind", [bw.BoxTree, BruteForce])
def test_length_of_the_normal_does_not_count(kind, size):
    points = kind.from_points([[1e10, 1e9], [1e9, 1e10]])
    assert points.query_frustum([[size, -size, 0.0]]).tolist() == [0]
    assert points.query_frustum([[size, size, 1e300]]).tolist() == [0, 1]
