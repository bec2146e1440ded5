"""t of a ray from far away is rounded to float32, by more than box tests allowed for: a box that held an equally near
face, or the hit at exactly t_max, was skipped, so the answer depended on the tree."""

from __future__ import annotations

import numpy as np
import pytest

from worlds import aimed_rays, everything, some, soup_mesh

pytestmark = pytest.mark.small


@pytest.mark.parametrize("kind", ["coplanar", "duplicates", "grid"])
@pytest.mark.parametrize("distance", [1e3, 1e5, 1e8])
def test_t_max_at_the_hit(kind, distance):
    mesh = soup_mesh(kind, 0, 40, np.float32)
    rays = aimed_rays(mesh, 0, some(100, 20), np.float32, distance=distance)
    wanted = everything(mesh, rays)
    hit = wanted["occluded"]
    assert hit.any()
    again = everything(mesh, (rays.origins[hit], rays.directions[hit]), t_max=wanted["t_hit"][hit])
    np.testing.assert_array_equal(again["t_hit"], wanted["t_hit"][hit])
    np.testing.assert_array_equal(again["primitive_ids"], wanted["primitive_ids"][hit])
    assert again["occluded"].all()


@pytest.mark.parametrize("distance", [1e3, 1e5, 1e8])
def test_the_smallest_id_among_equals(distance):
    mesh = soup_mesh("coplanar", 0, 40, np.float32)
    rays = aimed_rays(mesh, 0, some(100, 20), np.float32, distance=distance)
    answers = everything(mesh, rays)
    for i in np.flatnonzero(answers["count"]):
        part = slice(*answers["all_splits"][i : i + 2])
        if answers["all_t"][part][0] == answers["t_hit"][i]:
            assert answers["primitive_ids"][i] <= answers["all_ids"][part][0]
