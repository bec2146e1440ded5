"""What cannot be meant is refused, by name and by the first bad row."""

from __future__ import annotations

import numpy as np
import pytest

from boxwood.index import BruteForce, SpatialHash, UniformGrid

pytestmark = pytest.mark.small
NAN, INF = np.nan, np.inf


@pytest.fixture(scope="module")
def boxes():
    return BruteForce([[0.0, 0], [2, 2]], [[1.0, 1], [3, 3]])


@pytest.mark.parametrize(
    ("lower", "upper", "fault"),
    [
        ([[0, 0], [0, NAN]], [[1, 1], [1, 1]], r"lower\[1\] is not finite: \(0, nan\)"),
        ([[0, 0], [0, 0]], [[1, 1], [INF, 1]], r"upper\[1\] is not finite: \(inf, 1\)"),
        ([[0, 0], [2, 0]], [[1, 1], [1, 1]], r"lower\[1\] is above upper\[1\]: \(2, 0\), \(1, 1\)"),
        ([[0, 0, 0, 0]], [[1, 1, 1, 1]], r"lower must have shape \(n, 2\) or \(n, 3\), not \(1, 4\)"),
        ([[0, 0]], [[1, 1, 1]], r"upper must have shape \(2,\) or \(..., 2\), not \(1, 3\)"),
        ([[0, 0]] * 2, [[1, 1]] * 3, r"shapes do not fit together: lower \(2, 2\), upper \(3, 2\)"),
        (0.0, 1.0, r"lower must have shape"),
        ([["a", "b"]], [[1, 1]], "lower must be real numbers"),
        ([[1j, 0]], [[1, 1]], "lower must be real numbers"),
    ],
)
def test_boxes(boxes, lower, upper, fault):
    with pytest.raises(ValueError, match=fault):
        BruteForce(lower, upper)
    if "n, 2" not in fault and "n, 3" not in fault and np.ndim(lower):
        with pytest.raises(ValueError, match=fault):
            boxes.query_box(lower, upper)
        with pytest.raises(ValueError, match=fault):
            boxes.insert(lower, upper)


def test_questions(boxes):
    for ask, fault in (
        (lambda: boxes.query_box([0, 0, 0], [1, 1, 1]), r"lower must have shape \(2,\) or \(..., 2\), not \(3,\)"),
        (lambda: boxes.query_box([1, 1], [1, 0]), r"lower is above upper: \(1, 1\), \(1, 0\)"),
        (lambda: boxes.query_sphere([0, 0], -1), "radius is negative: -1"),
        (lambda: boxes.query_sphere([[0, 0]] * 2, [1, -2]), r"radius\[1\] is negative: -2"),
        (lambda: boxes.query_sphere([0, 0], NAN), "radius is not finite: nan"),
        (lambda: boxes.query_sphere([0, 0], INF), "radius is not finite: inf"),
        (lambda: boxes.query_sphere([[0, 0], [INF, 0]], 1), r"center\[1\] is not finite: \(inf, 0\)"),
        (lambda: boxes.query_sphere([[0, 0]] * 2, [1, 2, 3]), r"shapes do not fit together: center \(2,\)"),
        (lambda: boxes.query_frustum([[1, 0, 0], [0, 0, 1]]), r"planes\[1\] has no normal: \(0, 0, 1\)"),
        (lambda: boxes.query_frustum([[[1, 0, 0], [0, NAN, 1]]]), r"planes\[0, 1\] is not finite: \(0, nan, 1\)"),
        (lambda: boxes.query_frustum([1, 0, 0]), r"planes must have shape \(k, 3\) or \(..., k, 3\), not \(3,\)"),
        (lambda: boxes.query_frustum([[1, 0, 0, 0]]), r"planes must have shape \(k, 3\)"),
        (lambda: boxes.raycast([[0, 0], [1, 1]], [[1, 0], [0, 0]]), r"directions\[1\] is zero"),
        (lambda: boxes.raycast([0, 0], [0, 0]), "directions is zero"),
        (lambda: boxes.raycast([[0, 0], [NAN, 0]], [1, 0]), r"origins\[1\] is not finite: \(nan, 0\)"),
        (lambda: boxes.raycast([0, 0], [INF, 0]), r"directions is not finite: \(inf, 0\)"),
        (lambda: boxes.raycast([[0, 0]] * 2, [1, 0], t_max=[1, NAN]), r"t_max\[1\] is nan"),
        (lambda: boxes.raycast([0, 0], [1, 0], t_min=NAN), "t_min is nan"),
        (lambda: boxes.raycast([0, 0, 0], [1, 0, 0]), r"origins must have shape \(2,\)"),
        (lambda: boxes.nearest([[0, 0], [0, INF]]), r"points\[1\] is not finite: \(0, inf\)"),
        (lambda: boxes.nearest([0, 0], k=0), "k must be an integer from 1 to 2147483647, not 0"),
        (lambda: boxes.nearest([0, 0], k=1.5), "k must be an integer"),
        (lambda: boxes.nearest([0, 0], max_distance=-1), "max_distance must be a number of at least 0, not -1"),
        (lambda: boxes.nearest([0, 0], max_distance=NAN), "max_distance must be a number"),
        (
            lambda: boxes.nearest([[0, 0]] * 2, max_distance=[1, -2]),
            r"max_distance\[1\] must be a number of at least 0",
        ),
        (lambda: boxes.nearest([[0, 0]] * 2, max_distance=[1, 2, 3]), "shapes do not fit together"),
        (lambda: boxes.pairs(threads=0), "threads must be an integer of at least 1, not 0"),
    ):
        with pytest.raises(ValueError, match=fault):
            ask()


def test_own_parameters():
    for make, fault in (
        (lambda: UniformGrid([[0, 0]], [[1, 1]], cell_size=0), "cell_size must be a positive number, not 0"),
        (lambda: SpatialHash([[0, 0]], [[1, 1]], cell_size=-1), "cell_size must be a positive number, not -1"),
        (lambda: SpatialHash([[0, 0]], [[1, 1]], cell_size=NAN), "cell_size must be a positive number"),
        (lambda: UniformGrid([[0, 0]], [[1, 1]], max_bytes=0), "max_bytes must be a positive number, not 0"),
    ):
        with pytest.raises(ValueError, match=fault):
            make()


def test_a_grid_that_would_not_fit_names_its_memory():
    with pytest.raises(ValueError, match=r"a grid of 1000001 x 1000001 cells of size 0.001 would take 4e\+12 bytes"):
        UniformGrid.from_points([[0, 0], [1000, 1000]], cell_size=0.001)
    with pytest.raises(ValueError, match=r"would take 8.008e\+04 bytes, more than max_bytes = 8e\+04"):
        UniformGrid.from_points([[0, 0], [1000, 19]], cell_size=1, max_bytes=80_000)
    UniformGrid.from_points([[0, 0], [1000, 19]], cell_size=1, max_bytes=80_080)


def test_nothing_is_asked_of_the_users_arrays():
    lower = np.asfortranarray(np.arange(6.0).reshape(3, 2))
    lower.setflags(write=False)
    built = BruteForce(lower, lower[::-1].max(axis=0))
    assert built.query_box(lower[::-2], lower[::-2]).splits.tolist() == [0, 3, 4]
    assert BruteForce(np.arange(4).reshape(2, 2), np.arange(4).reshape(2, 2) + 1).dtype == np.float64
    assert BruteForce([], []).dimension == 3


def test_the_first_bad_row_of_all_arguments_is_named(boxes):
    place, away = np.zeros((6, 2)), np.ones((6, 2))
    bad = np.where(np.arange(6)[:, None] == 5, NAN, place)
    sizes = np.array([1, 1, -1, 1, 1, 1.0])
    for ask, fault in (
        (lambda: boxes.query_box(bad, away * [[1], [1], [-1], [1], [1], [1]]), r"lower\[2\] is above"),
        (lambda: boxes.query_sphere(bad, sizes), r"radius\[2\] is negative"),
        (lambda: boxes.nearest(bad, max_distance=sizes), r"max_distance\[2\]"),
        (lambda: boxes.raycast(bad, np.where(np.arange(6)[:, None] == 2, 0, away)), r"directions\[2\] is zero"),
        (lambda: boxes.raycast(bad, away, t_max=np.where(sizes < 0, NAN, 1)), r"t_max\[2\] is nan"),
        (lambda: boxes.query_frustum([[1, 0, 1], [0, 0, 1], [NAN, 0, 1]]), r"planes\[1\] has no normal"),
    ):
        with pytest.raises(ValueError, match=fault):
            ask()


def test_what_cannot_be_told_how_far_it_is_or_count(boxes):
    for ask in (
        lambda **work: boxes.query_box([0, 0], [1, 1], **work),
        lambda **work: boxes.query_sphere([0, 0], 1, **work),
        lambda **work: boxes.query_frustum([[1, 0, 0]], **work),
        lambda **work: boxes.raycast([0, 0], [1, 0], **work),
        lambda **work: boxes.nearest([0, 0], **work),
        lambda **work: boxes.pairs(**work),
    ):
        with pytest.raises(TypeError, match=r"counters must be a boxwood.Counters, not \{\}"):
            ask(counters={})
        with pytest.raises(TypeError, match="progress must be a callable"):
            ask(progress=3)
