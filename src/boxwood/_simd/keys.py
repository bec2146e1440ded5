"""Sorting eight float32 without a branch, by keys: int32 that order like the values, the lane in the low three bits.

Sorting the keys sorts the lanes. What the lane takes away makes a key stand for a value that is slightly less,
which is safe for a bound. The sorter is Batcher's bitonic network (1968): no processor mispredicts it.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types

from .vectors import Vector, compiled_or

_INT32 = ir.IntType(32)
_LANES = np.arange(8, dtype=np.int32)
NO_KEY = -(2**31)


def ordered(values):
    """int32 that order like these float32, outside of kernels."""
    bits = values.view(np.int32)
    return bits ^ ((bits >> 31) & 0x7FFFFFFF)


def _sorted_keys_twin(values, within):
    keys = (ordered(values) & ~np.int32(7)) | _LANES
    keys[(int(within) >> _LANES) & 1 == 0] = NO_KEY
    return np.sort(keys)[::-1]


# For each step of the network, the partner of each lane, and the lanes that keep the greater key.
_SORTER = (
    ((1, 0, 3, 2, 5, 4, 7, 6), (0, 2, 4, 6)),
    ((3, 2, 1, 0, 7, 6, 5, 4), (0, 1, 4, 5)),
    ((1, 0, 3, 2, 5, 4, 7, 6), (0, 2, 4, 6)),
    ((7, 6, 5, 4, 3, 2, 1, 0), (0, 1, 2, 3)),
    ((2, 3, 0, 1, 6, 7, 4, 5), (0, 1, 4, 5)),
    ((1, 0, 3, 2, 5, 4, 7, 6), (0, 2, 4, 6)),
)


@compiled_or(_sorted_keys_twin)
def sorted_keys(typingctx, values, within):
    """Keys of eight float32, greatest first; NO_KEY, the least of all, for lanes whose bit is not set."""
    result = Vector(types.int32, 8)

    def codegen(context, builder, signature, arguments):
        integers = result.llvm

        def constant(numbers):
            return ir.Constant(integers, list(numbers))

        bits = builder.bitcast(arguments[0], integers)
        sign = builder.and_(builder.ashr(bits, constant([31] * 8)), constant([0x7FFFFFFF] * 8))
        keys = builder.and_(builder.xor(bits, sign), constant([-8] * 8))
        keys = builder.or_(keys, constant(range(8)))
        lanes = builder.bitcast(builder.trunc(arguments[1], ir.IntType(8)), ir.VectorType(ir.IntType(1), 8))
        keys = builder.select(lanes, keys, constant([NO_KEY] * 8))
        for partners, keepers in _SORTER:
            mask = ir.Constant(ir.VectorType(_INT32, 8), list(partners))
            others = builder.shuffle_vector(keys, keys, mask)
            greater = builder.icmp_signed(">", keys, others)
            most = builder.select(greater, keys, others)
            least = builder.select(greater, others, keys)
            blend = ir.Constant(ir.VectorType(_INT32, 8), [i if i in keepers else 8 + i for i in range(8)])
            keys = builder.shuffle_vector(most, least, blend)
        return keys

    return result(values, types.uint32), codegen


def _key_bound_twin(value):
    return ordered(np.array([value], np.float32))[0] | np.int32(7)


@compiled_or(_key_bound_twin)
def key_bound(typingctx, value):
    """The greatest key that a float32 up to this value can have."""

    def codegen(context, builder, signature, arguments):
        bits = builder.bitcast(arguments[0], _INT32)
        sign = builder.and_(builder.ashr(bits, _INT32(31)), _INT32(0x7FFFFFFF))
        return builder.or_(builder.xor(bits, sign), _INT32(7))

    return types.int32(types.float32), codegen


def _splat_int_twin(x):
    return np.full(8, x, np.int32)


@compiled_or(_splat_int_twin)
def splat_int8(typingctx, x):
    """Eight times the integer, as int32."""
    result = Vector(types.int32, 8)

    def codegen(context, builder, signature, arguments):
        undefined = ir.Constant(result.llvm, ir.Undefined)
        first = builder.insert_element(undefined, builder.trunc(arguments[0], _INT32), _INT32(0))
        return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(_INT32, 8), [0] * 8))

    return result(types.int64), codegen
