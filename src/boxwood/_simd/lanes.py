"""Lanes filled from one place of an array or from its columns, and what all lanes together have."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types

from .._jit import BOUNDS_CHECKED, INTERPRETED, inline
from .vectors import Vector, compiled_or, pointer_to

_INT32 = ir.IntType(32)
_INT64 = ir.IntType(64)


def _make_spread(lanes):
    def twin(array, index):
        return np.full(lanes, array[index], array.dtype)

    @compiled_or(twin)
    def spread(typingctx, array, index):
        result = Vector(array.dtype, lanes)

        def codegen(context, builder, signature, arguments):
            value = builder.load(pointer_to(context, builder, signature.args[0], *arguments))
            first = builder.insert_element(ir.Constant(result.llvm, ir.Undefined), value, _INT32(0))
            return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(_INT32, lanes), [0] * lanes))

        return result(array, types.intp), codegen

    if not BOUNDS_CHECKED or INTERPRETED:
        return spread

    @inline
    def checked(array, index):
        if index < 0 or index >= array.size:
            raise IndexError("a number is loaded from outside its array")
        return spread(array, index)

    return checked


# The number in one place of an array, in all lanes. Unlike `splat8(array[index])` no place counts from the end.
spread8, spread16 = _make_spread(8), _make_spread(16)


def _columns_twin(array, row):
    return tuple(array[row : row + 16, column].copy() for column in range(3))


@compiled_or(_columns_twin)
def _load_columns16(typingctx, array, row):
    result = Vector(array.dtype, 16)

    def codegen(context, builder, signature, arguments):
        whole = ir.VectorType(result.llvm.element, 48)
        begin = builder.mul(arguments[1], _INT64(3))
        pointer = pointer_to(context, builder, signature.args[0], arguments[0], begin)
        rows = builder.load(builder.bitcast(pointer, whole.as_pointer()))
        rows.align = 4
        lanes = ir.VectorType(_INT32, 16)
        columns = [
            builder.shuffle_vector(rows, rows, ir.Constant(lanes, [3 * i + column for i in range(16)]))
            for column in range(3)
        ]
        return context.make_tuple(builder, signature.return_type, columns)

    return types.UniTuple(result, 3)(array, types.intp), codegen


if BOUNDS_CHECKED and not INTERPRETED:

    @inline
    def load_columns16(array, row):
        """x, y and z of sixteen rows of an (n, 3) array."""
        if row < 0 or row + 16 > array.shape[0]:
            raise IndexError("rows are loaded from outside their array")
        return _load_columns16(array, row)

else:
    load_columns16 = _load_columns16


def _reduction(predicate, twin):
    @compiled_or(twin)
    def reduce(typingctx, vector):
        def codegen(context, builder, signature, arguments):
            (best,) = arguments
            step = vector.lanes // 2
            while step:
                partners = ir.Constant(ir.VectorType(_INT32, vector.lanes), [i ^ step for i in range(vector.lanes)])
                others = builder.shuffle_vector(best, best, partners)
                best = builder.select(builder.fcmp_ordered(predicate, best, others), best, others)
                step //= 2
            return builder.extract_element(best, _INT32(0))

        return vector.scalar(vector), codegen

    return reduce


# Of lanes none of which is nan.
least_of = _reduction("<", np.min)
greatest_of = _reduction(">", np.max)


def _shifted_twin(vector):
    return np.concatenate([vector[:1], vector[:-1]])


@compiled_or(_shifted_twin)
def shifted(typingctx, vector):
    """The number of the lane before in each lane; the first keeps its own."""
    lanes = [max(i - 1, 0) for i in range(vector.lanes)]

    def codegen(context, builder, signature, arguments):
        mask = ir.Constant(ir.VectorType(_INT32, vector.lanes), lanes)
        return builder.shuffle_vector(arguments[0], arguments[0], mask)

    return vector(vector), codegen


@compiled_or(lambda a, b, x, y: np.where(a > b, x, y))
def where_greater(typingctx, a, b, x, y):
    """The lanes of x where a is greater than b, and those of y elsewhere."""

    def codegen(context, builder, signature, arguments):
        a, b, x, y = arguments
        return builder.select(builder.fcmp_ordered(">", a, b), x, y)

    return x(a, b, x, y), codegen
