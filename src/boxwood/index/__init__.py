"""The family of structures: one set of questions, the same answers, different ways to find them."""

from __future__ import annotations

from .brute import BruteForce
from .bvh import BVH
from .grid import UniformGrid
from .hashing import SpatialHash
from .kdtree import KDTree
from .orthtree import Octree, Quadtree
from .protocol import IndexStatistics, Structure
from .sweep import SweepAndPrune

__all__ = [
    "BVH",
    "BruteForce",
    "IndexStatistics",
    "KDTree",
    "Octree",
    "Quadtree",
    "SpatialHash",
    "Structure",
    "SweepAndPrune",
    "UniformGrid",
]
