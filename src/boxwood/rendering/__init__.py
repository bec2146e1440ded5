"""Pictures of meshes and of their trees."""

from __future__ import annotations

from .camera import Camera
from .picture import Picture
from .render import render
from .spots import Spots, draw_spots

__all__ = ["Camera", "Picture", "Spots", "draw_spots", "render"]
