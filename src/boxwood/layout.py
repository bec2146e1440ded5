"""The records of the trees. Read this first.

Everything below lies in a tree's own space: mesh coordinates times a power of two, less the centre, so that
every box lies within [-1, 1] (`geometry.ray`), or about so (`EXTENT`). Bounds are float32, rounded outward.

Binary tree, what builders make. One flat float32 array, eight numbers (32 bytes) a node, siblings adjacent:

    0..2  minus the lower corner     3  first child, or first record of a leaf   (int32)
    4..6  the upper corner           7  how many records a leaf has; 0 or less: an inner node   (int32)

With the lower corner negated, one `maximum` merges two boxes. A record is what builders sort: the same eight
numbers, with the primitive's id in 3 and nothing in 7. The root is node 0; node 1 is never used.

Wide tree, what queries read. One flat float32 array, 64 numbers (256 bytes, four cache lines) a node:

    0..7   lower x of the eight children     8..15  lower y     16..23  lower z
    24..31 upper x                           32..39 upper y     40..47  upper z
    48..55 codes of the children (int32)     56..63 unused

A code that is not negative is the index of an inner node. A negative one is a leaf: `~code` is the index of
its first block times 16 plus its number of blocks, 1 to 15. A missing child has an empty box (lower +inf,
upper -inf), which no query reaches. Children stand in rising order of area, so
that a walk that sorts nothing takes the largest first from its stack. Nodes lie in depth-first order,
and so do the blocks.

Block, four triangles as structure of arrays in the mesh's dtype, 36 numbers:

    0..3   x of the first vertex of the four     4..7  y     8..11  z
    12..23 the second vertex                     24..35 the third

Vertices are scaled by the tree's power of two but not centred: scaling is exact. Their ids (int32) lie in an
array of their own, four a block. A short block is padded with NaN vertices and id -1, which nothing hits.

Block, four boxes of a set in the set's dtype, 24 numbers; of points, which are boxes without extent, the first 12; in
the plane without the rows of z, so 16 and 8:

    0..3   lower x of the four               4..7  lower y      8..11  lower z
    12..15 upper x                           16..19 upper y     20..23 upper z

They are neither scaled nor centred, so that what decides is what was given. Ids and padding are those of triangles.

In records and nodes a set in the plane is one in space, where every box is a pillar from -PILLAR to PILLAR on the z
axis. Beside that height the rest of a box's surface rounds away, so what `geometry.box.cost_of`
tells of it is its perimeter, times a power of two.
"""

from __future__ import annotations

RECORD_FLOATS = 8
NODE_FLOATS = 64
CHILDREN = 48
BLOCK_SIZE = 4
BLOCK_FLOATS = 36
BLOCKS_OF_LEAF = 16
LARGEST_LEAF = 15 * BLOCK_SIZE

EXTENT = 2.001
"""No box but a pillar reaches farther from the tree's centre: 1, or 2 at the largest scale, and rounding."""

PILLAR = 2.0**59

# The frame: one float64 array that kernels read.
FRAME_CENTER = 0
FRAME_SCALE = 3
FRAME_DEPTH = 4
FRAME_SIZE = 5
