"""Numbers that tell how good and how large a wide tree is."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..layout import BLOCK_SIZE, BLOCKS_OF_LEAF
from .binary_tree import TRAVERSE_COST
from .validate import children_of, half_areas

if TYPE_CHECKING:
    from .box_tree import BoxSetTree
    from .triangle_tree import TriangleTree
    from .wide_tree import WideTree


class _Numbers:
    """Numbers with names, to read for people and machines."""

    def to_dict(self) -> dict[str, Any]:
        """All numbers under their names, as Python's own types."""
        return {**asdict(self), "leaf_sizes": self.leaf_sizes.tolist()}  # type: ignore[call-overload, attr-defined]

    def __repr__(self) -> str:
        lines = [f"{name} {_text(value)}" for name, value in self.to_dict().items()]
        return "<Statistics\n  " + "\n  ".join(lines) + ">"


@dataclass(frozen=True, eq=False, repr=False)
class Statistics(_Numbers):
    """The shape, quality and size of a tree.

    Attributes
    ----------
    triangles : int
        Triangles that the tree holds.
    degenerate : int
        Faces without area, which are left out since nothing can hit them.
    nodes : int
        Inner nodes, of up to eight children each.
    leaves : int
        Leaves, of one or more blocks each.
    blocks : int
        Blocks of up to four triangles, which are tested together.
    depth : int
        Levels of inner nodes.
    leaf_sizes : int64 array
        ``leaf_sizes[k]`` leaves hold k triangles.
    sah_cost : float
        What the surface area heuristic expects of a ray that passes the root's box: the nodes visited plus the blocks
        tested, each counted with its surface area over that of the root.
    overlap : float
        The surface area that pairs of siblings have in common, over the surface area of their parents, summed over
        all nodes: 0 when no two siblings overlap.
    bytes : int
        Of all arrays of the tree, the copies of the triangles' corners among them.
    bytes_per_triangle : float
        ``bytes`` over ``triangles``; nan for no triangles.
    builder : str
        What made the tree.
    build_seconds : float
        How long that took.
    """

    triangles: int
    degenerate: int
    nodes: int
    leaves: int
    blocks: int
    depth: int
    leaf_sizes: NDArray[np.int64]
    sah_cost: float
    overlap: float
    bytes: int
    bytes_per_triangle: float
    builder: str
    build_seconds: float


@dataclass(frozen=True, eq=False, repr=False)
class BoxStatistics(_Numbers):
    """The shape, quality and size of a tree of boxes; in the plane, the surface area of a box is its perimeter.

    Attributes
    ----------
    boxes : int
        Boxes or points that the tree holds.
    nodes : int
        Inner nodes, of up to eight children each.
    leaves : int
        Leaves, of one or more blocks each.
    blocks : int
        Blocks of up to four boxes, which are tested together.
    depth : int
        Levels of inner nodes.
    leaf_sizes : int64 array
        ``leaf_sizes[k]`` leaves hold k boxes.
    sah_cost : float
        What the surface area heuristic expects of a ray that passes the root's box: the nodes visited plus the blocks
        tested, each counted with its surface area over that of the root.
    overlap : float
        The surface area that pairs of siblings have in common, over the surface area of their parents, summed over
        all nodes: 0 when no two siblings overlap.
    bytes : int
        Of all arrays of the tree, the copies of the boxes among them.
    bytes_per_box : float
        ``bytes`` over ``boxes``; nan for no boxes.
    builder : str
        What made the tree.
    build_seconds : float
        How long that took.
    """

    boxes: int
    nodes: int
    leaves: int
    blocks: int
    depth: int
    leaf_sizes: NDArray[np.int64]
    sah_cost: float
    overlap: float
    bytes: int
    bytes_per_box: float
    builder: str
    build_seconds: float


def statistics_of(tree: TriangleTree) -> Statistics:
    """Look at all nodes and blocks of a tree of triangles."""
    triangles, bytes_each, common = _measure(tree)
    return Statistics(triangles=triangles, degenerate=tree.degenerate, bytes_per_triangle=bytes_each, **common)


def box_statistics_of(tree: BoxSetTree) -> BoxStatistics:
    """Look at all nodes and blocks of a tree of boxes."""
    boxes, bytes_each, common = _measure(tree)
    return BoxStatistics(boxes=boxes, bytes_per_box=bytes_each, **common)


def _measure(tree: WideTree) -> tuple[int, float, dict[str, Any]]:
    """How many primitives a tree holds, bytes for each, and what all kinds of trees tell."""
    lower, upper, codes = children_of(tree)
    there = lower[:, 0] <= upper[:, 0]
    leaf = there & (codes < 0)
    numbers = ~codes % BLOCKS_OF_LEAF
    held = np.count_nonzero(tree.ids.reshape(-1, BLOCK_SIZE) >= 0, axis=1)
    ends = np.concatenate([[0], np.cumsum(held)])
    first = ~codes[leaf] // BLOCKS_OF_LEAF
    sizes = ends[first + numbers[leaf]] - ends[first]

    lower, upper = lower.astype(np.float64), upper.astype(np.float64)
    own_lower, own_upper = lower.min(axis=2, keepdims=True), upper.max(axis=2, keepdims=True)
    areas, own = half_areas(lower, upper), half_areas(own_lower, own_upper)[:, 0]
    cost = own.sum() * float(TRAVERSE_COST) + np.sum(areas[leaf] * numbers[leaf])
    common = 0.0
    for i, j in combinations(range(8), 2):
        shared = np.maximum(lower[..., i], lower[..., j]), np.minimum(upper[..., i], upper[..., j])
        common += float(half_areas(*(corner[..., None] for corner in shared)).sum())
    number = int(held.sum())
    return number, tree.nbytes / number if number else float("nan"), {
        "nodes": len(codes),
        "leaves": int(leaf.sum()),
        "blocks": len(held),
        "depth": tree.depth,
        "leaf_sizes": np.bincount(sizes, minlength=1),
        "sah_cost": float(cost / own[0]) if own[0] > 0 else 0.0,
        "overlap": common / float(own.sum()) if own[0] > 0 else 0.0,
        "bytes": tree.nbytes,
        "builder": tree.builder,
        "build_seconds": tree.build_seconds,
    }  # fmt: skip


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
