"""What `render` returns: the picture, and what it took to make it."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..archive import replacing
from ..results import Counters

StrPath: TypeAlias = str | os.PathLike[str]

FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG"}
PHASES = ("build", "camera rays", "shadow rays", "shading", "other")


@dataclass(frozen=True, eq=False, repr=False)
class Picture:
    """A picture and what it took.

    Attributes
    ----------
    image : uint8 array (height, width, 3)
        Red, green and blue, from the top left.
    counters : Counters
        What all rays together tested and hit.
    rays : dict
        How many "camera rays" and "shadow rays" there were; those for ambient light are among the latter.
    seconds : dict
        Wall time of "build" (0 when the tree was there), "camera rays", "shadow rays", "shading" and "other", which is
        making rays and files of pixels; checking by `verify` is not in it.
    verified : int or None
        How many camera rays were compared with brute force; None without `verify`.
    differing : int or None
        How many of them differed in any bit of the answer.

    Examples
    --------
    >>> import boxwood as bw
    >>> mesh = bw.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    >>> picture = bw.render(mesh, 40, 30, verify=True)
    >>> picture.image.shape, picture.differing
    ((30, 40, 3), 0)
    """

    image: NDArray[np.uint8]
    counters: Counters
    rays: dict[str, int]
    seconds: dict[str, float]
    verified: int | None = None
    differing: int | None = None

    @property
    def width(self) -> int:
        """Pixels in a row."""
        return int(self.image.shape[1])

    @property
    def height(self) -> int:
        """Rows of pixels."""
        return int(self.image.shape[0])

    def shares(self) -> dict[str, float]:
        """Each phase's part of the whole time; the parts sum to 1."""
        total = sum(self.seconds.values())
        return {phase: seconds / total for phase, seconds in self.seconds.items()}

    def save(self, path: StrPath) -> None:
        """Write a .png or .jpg file, whole or not at all.

        Raises
        ------
        ValueError
            For another suffix.
        OSError
            If it cannot be written; a file that was there before is untouched.
        """
        from PIL import Image

        format_name = format_of(path)
        options = {"optimize": True} if format_name == "PNG" else {"quality": 92, "subsampling": 0}
        coded = io.BytesIO()
        Image.fromarray(self.image).save(coded, format_name, **options)
        with replacing(path) as file:
            file.write(coded.getvalue())

    def __repr__(self) -> str:
        return f"<boxwood.Picture of {self.width} x {self.height}, {sum(self.seconds.values()):.3g} s>"


def format_of(path: StrPath) -> str:
    """What Pillow calls the format that the path's suffix asks for."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise ValueError(f"a picture is saved as .png or .jpg, not as {os.fspath(path)}")
    return FORMATS[suffix]
