"""Where a picture is taken from: a pinhole camera that makes one ray per pixel.

A ray's direction has length one along the view axis, not along the ray, so that its t is the depth of what it hits.
`Camera.fit` backs off along one direction until every point is inside the four sides of the view, which two linear
bounds per side decide exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from .._arrays import positive_int
from .._threads import run_chunks
from ..mesh import Mesh
from .kernels.directions import fill_directions

Vector: TypeAlias = tuple[float, float, float]

MOST_PIXELS = 2**27  # with all samples; a picture of them takes 400 MB
DIRECTION = (-0.55, 0.75, -0.4)
FARTHEST = 1e300  # coordinates in a picture are smaller, so that a camera has room behind them


@dataclass(frozen=True)
class Camera:
    """A pinhole camera; give it three numbers for each vector.

    Attributes
    ----------
    position, target : (3,)
        Where it stands and what it looks at, in the mesh's unit.
    up : (3,)
        What is upward in the picture; not along the view.
    field_of_view : float
        Vertical, in degrees, more than 0 and less than 180.
    near : float
        What is nearer than this, in the mesh's unit along the view axis, is cut away.

    Examples
    --------
    >>> import boxwood as bw
    >>> camera = bw.Camera((0, -5, 0), (0, 0, 0))
    >>> origin, directions = camera.rays(3, 3)
    >>> origin.tolist(), directions[1, 1].tolist()
    ([0.0, -5.0, 0.0], [0.0, 1.0, 0.0])
    """

    position: Vector
    target: Vector
    up: Vector = (0.0, 0.0, 1.0)
    field_of_view: float = 35.0
    near: float = 0.0

    def __post_init__(self) -> None:
        for name in ("position", "target", "up"):
            object.__setattr__(self, name, _vector(name, getattr(self, name)))
        if not 0 < self.field_of_view < 180:
            raise ValueError(f"field_of_view must be between 0 and 180 degrees, not {self.field_of_view}")
        if not 0 <= self.near < math.inf:
            raise ValueError(f"near must be a finite distance, not {self.near}")
        if self.position == self.target:
            raise ValueError(f"position and target must differ, both are {self.position}")
        self.axes()

    @classmethod
    def fit(
        cls,
        mesh_or_bounds: Mesh | ArrayLike,
        direction: ArrayLike = DIRECTION,
        *,
        aspect: float = 4 / 3,
        up: ArrayLike = (0.0, 0.0, 1.0),
        field_of_view: float = 35.0,
        margin: float = 0.05,
    ) -> Camera:
        """A camera that looks along a direction and has everything in view.

        Parameters
        ----------
        mesh_or_bounds : Mesh or (2, 3) array_like
            All of whose vertices, or corners, are to be seen.
        direction, up : (3,) array_like
            The view axis, and what is upward in the picture.
        aspect : float
            Width of the picture by its height.
        margin : float
            What stays free on each side, as a part of the picture.

        Raises
        ------
        ValueError
            For what reaches to 1e300 or beyond, and for options out of range.

        Examples
        --------
        >>> import boxwood as bw
        >>> bw.Camera.fit([[-1, -1, -1], [1, 1, 1]], direction=(0, 1, 0)).target
        (0.0, 0.0, 0.0)
        """
        points = _points(mesh_or_bounds)
        check_distance(points)
        lower, upper = (points.min(axis=0), points.max(axis=0)) if len(points) else (np.zeros(3), np.zeros(3))
        middle = lower / 2 + upper / 2
        radius = float((upper / 2 - lower / 2).max()) or max(float(np.abs(middle).max()), 1.0) / 2
        forward = np.array(_vector("direction", direction))
        if not forward.any():
            raise ValueError("direction is zero")
        if not 0 < aspect < math.inf:
            raise ValueError(f"aspect must be positive, not {aspect}")
        if not 0 <= margin < 0.5:
            raise ValueError(f"margin must be at least 0 and less than 0.5, not {margin}")
        probe = cls(_vector("", -forward), (0.0, 0.0, 0.0), _vector("up", up), field_of_view)
        axes = probe.axes()
        x, y, z = axes @ ((points - middle) / radius).T if len(points) else np.zeros((3, 1))
        tangent = math.tan(math.radians(field_of_view) / 2) * (1 - 2 * margin)
        # The sides of the view through a camera at c: x - c_x <= slope (z - c_z), and so on for the other three.
        right, left = np.max(x - tangent * aspect * z), np.max(-x - tangent * aspect * z)
        above, below = np.max(y - tangent * z), np.max(-y - tangent * z)
        depth = max((right + left) / (2 * tangent * aspect), (above + below) / (2 * tangent), 0.1 - float(z.min()))
        aside = _middle(x, z + depth, (right - left) / 2) * axes[0]
        aside += _middle(y, z + depth, (above - below) / 2) * axes[1]
        position = middle + radius * (aside - depth * axes[2])
        return cls(_vector("", position), _vector("", middle + radius * aside), probe.up, field_of_view)

    def axes(self) -> NDArray[np.float64]:
        """(3, 3): unit vectors to the right, upward and forward."""
        forward = np.subtract(self.target, self.position)
        forward /= np.abs(forward).max()
        forward /= np.linalg.norm(forward)
        right = np.cross(forward, np.divide(self.up, np.abs(self.up).max() or 1.0))
        length = np.linalg.norm(right)
        if not length > 1e-9:
            raise ValueError(f"up {self.up} must not be zero or along the view")
        right /= length
        return np.stack([right, np.cross(right, forward), forward])

    def rays(
        self, width: int, height: int, *, dtype: DTypeLike = np.float64
    ) -> tuple[NDArray[Any], NDArray[np.floating[Any]]]:
        """One ray through the middle of each pixel.

        Returns
        -------
        origin (3,) and directions (height, width, 3) from the top left, in the dtype. The t of a hit is its depth
        along the view axis; what is hidden by `near` is that with a smaller t.
        """
        width, height = check_size(width, height)
        directions = self.rows(width, height, 0, height, np.dtype(dtype))
        return np.array(self.position, dtype), directions.reshape(height, width, 3)

    def rows(
        self, width: int, height: int, first: int, stop: int, dtype: np.dtype[Any], threads: int | None = None
    ) -> NDArray[np.floating[Any]]:
        """The directions ((stop - first) * width, 3) of some rows of a picture."""
        directions = np.empty(((stop - first) * width, 3), dtype)
        axes = self.axes()
        tangent = math.tan(math.radians(self.field_of_view) / 2)
        axes[0] *= tangent * width / height
        axes[1] *= tangent

        def work(begin: int, end: int) -> None:
            fill_directions(axes, width, height, first, directions, begin, end)

        run_chunks(work, len(directions), threads=threads)
        return directions


def check_size(width: object, height: object, samples: int = 1) -> tuple[int, int]:
    """Width and height as numbers, if a picture can have them."""
    width, height = positive_int("width", width, 1), positive_int("height", height, 1)
    if width * height * samples > MOST_PIXELS:
        each = f" of {samples} samples" if samples > 1 else ""
        raise ValueError(f"{width} x {height} pixels{each} are too many: a picture can have {MOST_PIXELS:,}")
    return width, height


def _vector(name: str, value: ArrayLike) -> Vector:
    try:
        vector = np.array(value, np.float64)
    except (TypeError, ValueError) as reason:
        raise ValueError(f"{name} must be three numbers, not {value!r}") from reason
    if vector.shape != (3,):
        raise ValueError(f"{name} must be three numbers, not {value!r}")
    if not np.isfinite(vector).all():
        raise ValueError(f"{name} is not finite: {vector.tolist()}")
    x, y, z = vector.tolist()
    return x, y, z


def check_distance(points: NDArray[Any]) -> None:
    """ValueError for points so far away that no camera can be placed where it sees them."""
    reach = float(np.abs(points).max(initial=0.0))
    if not reach < FARTHEST:
        raise ValueError(f"no camera can see it: it reaches to {reach:.3g}, which is not less than {FARTHEST:g}")


def _points(mesh_or_bounds: Mesh | ArrayLike) -> NDArray[np.float64]:
    """The points to be seen: vertices, or the corners of a box."""
    if isinstance(mesh_or_bounds, Mesh):
        return mesh_or_bounds.vertices.astype(np.float64)
    bounds = np.asarray(mesh_or_bounds, np.float64)
    if bounds.shape != (2, 3) or not np.isfinite(bounds).all():
        raise ValueError(f"bounds must be two finite corners, of shape (2, 3), not {bounds.tolist()}")
    return np.array([[bounds[(i >> k) & 1, k] for k in range(3)] for i in range(8)])


def _middle(offsets: NDArray[np.float64], depths: NDArray[np.float64], start: float) -> float:
    """Where to stand so that what is farthest aside on either side in the picture is so by the same angle."""
    for _ in range(8):
        seen = (offsets - start) / depths
        i, k = int(np.argmax(seen)), int(np.argmin(seen))
        start = float((offsets[i] * depths[k] + offsets[k] * depths[i]) / (depths[i] + depths[k]))
    return start
