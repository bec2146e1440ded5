"""The picture of a mesh in one call."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import numpy as np

from .._arrays import one_of, positive_int
from ..mesh import Mesh
from ..mesh_collisions import require_mesh
from .camera import Camera, check_size
from .modes import MODES, Options
from .picture import Picture
from .shot import Shot

Mode: TypeAlias = Literal["shaded", "normals", "depth", "ids", "heat", "boxes"]

AMBIENT_RAYS = 16
SAMPLES = {1: 1, 4: 2, 9: 3}  # and how many to a side


def render(
    mesh: Mesh,
    width: int = 1024,
    height: int = 768,
    camera: Camera | None = None,
    mode: Mode = "shaded",
    *,
    shadows: bool = True,
    ambient: bool | int = False,
    samples: int = 1,
    levels: Sequence[int] | None = None,
    verify: bool = False,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Picture:
    """A picture of a mesh by ray casting.

    Parameters
    ----------
    mesh : Mesh
    width, height : int
        In pixels.
    camera : Camera, optional
        By default one that has all of the mesh in view, obliquely from above, z up.
    mode : {"shaded", "normals", "depth", "ids", "heat", "boxes"}
        What to show: the surface in light, sides turned to the camera whichever way they are wound; normals, turned
        likewise, as colours; inverse depth, near is bright; a colour for each face; how many boxes of the tree each
        ray tested; or boxes of the tree over the dimmed surface.
    shadows : bool
        Whether the light casts shadows (shaded, boxes).
    ambient : bool or int
        Whether hollows see less of the sky, by 16 rays or as many as given from each place hit (shaded, boxes).
    samples : {1, 4, 9}
        Camera rays in a pixel, for smooth edges.
    levels : sequence of int, optional
        Of the tree, for boxes: 0 is the box of everything. By default the last two with at most a hundred boxes.
    verify : bool
        Compare what camera rays hit with brute force over all triangles; of large pictures of large meshes only as
        many rays as take a few seconds, evenly spread. See `Picture.verified` and `Picture.differing`.
    threads : int, optional
        How many may work at once; None for all. The picture does not depend on it.
    progress : callable, optional
        Called with (pixels done, pixels in all).

    Returns
    -------
    Picture
        The image, and the work and time it took.

    Raises
    ------
    TypeError
        For anything but a `Mesh`; `as_mesh` makes one.
    ValueError
        For sizes that are not positive or too large, and for choices that there are not.

    Examples
    --------
    >>> import boxwood as bw
    >>> mesh = bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    >>> bw.render(mesh, 64, 48, mode="normals").image.shape
    (48, 64, 3)
    """
    require_mesh("mesh", mesh)
    show = MODES[one_of("mode", mode, tuple(MODES))]
    side = SAMPLES[one_of("samples", samples, SAMPLES)]
    width, height = check_size(width, height, samples)
    turns = AMBIENT_RAYS if ambient is True else positive_int("ambient", int(ambient), 0, 1024)
    if threads is not None:
        threads = positive_int("threads", threads, 1)
    if camera is None:
        camera = Camera.fit(mesh.bounds if mode in ("boxes", "heat") else mesh, aspect=width / height)
    began = time.perf_counter()
    shot = Shot(mesh, camera, width * side, height * side, side, threads)
    if mesh._now.tree is None:
        with shot.timed("build"):
            mesh.build(threads=threads)
    image = np.zeros((height, width, 3), np.uint8)
    show(shot, image, Options(shadows, turns, levels, verify, progress))
    shot.seconds["other"] = time.perf_counter() - began - shot.checking - sum(shot.seconds.values())
    checked = (shot.verified, shot.differing) if verify else (None, None)
    return Picture(image, shot.counters, shot.rays, shot.seconds, *checked)
