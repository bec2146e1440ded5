"""The family of structures: one set of questions, the same answers, different ways to find them."""

from __future__ import annotations

from .brute import BruteForce
from .grid import UniformGrid
from .hashing import SpatialHash
from .orthtree import Octree, Quadtree
from .protocol import IndexStatistics, Structure

__all__ = ["BruteForce", "IndexStatistics", "Octree", "Quadtree", "SpatialHash", "Structure", "UniformGrid"]
