"""The t of a face seen edge-on may lie outside of its box by rounding. It was held back to the entry only after the
comparison with t_min, and not to the exit, so that t_min at exactly that t missed the face."""

from __future__ import annotations

import numpy as np
import pytest

from worlds import aimed_rays, some, soup_mesh

pytestmark = pytest.mark.small


@pytest.mark.parametrize("kind", ["slivers", "edge_on"])
@pytest.mark.parametrize("seed", range(some(8, 2)))
def test_either_end_of_the_range_at_t(kind, seed):
    mesh = soup_mesh(kind, seed, 200, np.float32)
    rays = aimed_rays(mesh, seed, some(3000, 100), np.float32)
    wanted = mesh.raycast(*rays)
    hit = wanted.hit
    for ends in ("t_min", "t_max"):
        again = mesh.raycast(rays.origins[hit], rays.directions[hit], **{ends: wanted.t_hit[hit]})
        np.testing.assert_array_equal(again.primitive_ids, wanted.primitive_ids[hit])
        np.testing.assert_array_equal(again.t_hit, wanted.t_hit[hit])
