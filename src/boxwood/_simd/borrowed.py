"""Arrays by their addresses: how a kernel is given as many arrays as there are meshes, which no type can tell it."""

from __future__ import annotations

import ctypes

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.np.arrayobj import make_array, populate_array

from .vectors import compiled_or

_INT64 = ir.IntType(64)


def _twin(address, size, like):
    held = (ctypes.c_byte * (int(size) * like.itemsize)).from_address(int(address))
    return np.frombuffer(held, like.dtype)


@compiled_or(_twin)
def array_at(typingctx, address, size, like):
    """The flat array of so many elements at an address, of the dtype of `like`; who gave the address keeps it alive.

    It has no references to be counted, so that unlike others it may be made in what kernels call.
    """
    result = types.Array(like.dtype, 1, "C")

    def codegen(context, builder, signature, arguments):
        array = make_array(result)(context, builder)
        itemsize = _INT64(context.get_abi_sizeof(context.get_data_type(result.dtype)))
        populate_array(
            array,
            data=builder.inttoptr(arguments[0], array.data.type),
            shape=cgutils.pack_array(builder, [arguments[1]]),
            strides=cgutils.pack_array(builder, [itemsize]),
            itemsize=itemsize,
            meminfo=None,
        )
        return array._getvalue()

    return result(types.int64, types.int64, like), codegen
