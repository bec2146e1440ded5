"""The family of structures: one set of questions, the same answers, different ways to find them."""

from __future__ import annotations

from .brute import BruteForce
from .bvh import BVH
from .grid import UniformGrid
from .hashing import SpatialHash
from .kdtree import KDTree
from .orthtree import Octree, Quadtree
from .protocol import IndexStatistics, Structure
from .recommend import Recommendation, recommend
from .sweep import SweepAndPrune
from .tuning import Tuned

__all__ = [
    "BVH",
    "BruteForce",
    "IndexStatistics",
    "KDTree",
    "Octree",
    "Quadtree",
    "Recommendation",
    "SpatialHash",
    "Structure",
    "SweepAndPrune",
    "Tuned",
    "UniformGrid",
    "recommend",
]
