"""Fixed-width vectors for kernels: four or eight float32 or float64 numbers worked on by one instruction.

Each operation is an LLVM vector instruction, so one source becomes AVX-512, AVX2 or NEON. Each has a
NumPy twin beside it, which runs when compilation is off. Comparisons are functions that give bits,
lane 0 in bit 0, because NumPy's operators would give arrays; `+ - * /` are operators in both worlds.
"""

from __future__ import annotations

import operator
from fractions import Fraction

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from .._jit import BOUNDS_CHECKED, INTERPRETED, inline

_INT32 = ir.IntType(32)
_INT64 = ir.IntType(64)
_BYTES = ir.IntType(8).as_pointer()


class Vector(types.Type):
    """The Numba type of `lanes` numbers of type `scalar` in one register."""

    def __init__(self, scalar, lanes):
        self.scalar, self.lanes = scalar, lanes
        super().__init__(name=f"{scalar}x{lanes}")

    @property
    def llvm(self):
        element = {types.float32: ir.FloatType(), types.float64: ir.DoubleType(), types.int32: _INT32}[self.scalar]
        return ir.VectorType(element, self.lanes)


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, data_model_manager, frontend_type):
        super().__init__(data_model_manager, frontend_type, frontend_type.llvm)


def compiled_or(twin):
    """Decorates the Numba half of an operation; `twin` is its NumPy half."""

    def choose(typing):
        return twin if INTERPRETED else intrinsic(typing)

    return choose


def pointer_to(context, builder, array_type, array, index):
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [index])


# Loads and stores. Arrays are flat and contiguous; nothing is assumed about their alignment.


def _make_load(lanes):
    def twin(array, index):
        return array[index : index + lanes].copy()

    @compiled_or(twin)
    def load(typingctx, array, index):
        result = Vector(array.dtype, lanes)

        def codegen(context, builder, signature, arguments):
            pointer = pointer_to(context, builder, signature.args[0], *arguments)
            value = builder.load(builder.bitcast(pointer, result.llvm.as_pointer()))
            value.align = 4
            return value

        return result(array, types.intp), codegen

    if not BOUNDS_CHECKED or INTERPRETED:
        return load

    @inline
    def checked(array, index):
        if index < 0 or index + lanes > array.size:
            raise IndexError("a vector is loaded from outside its array")
        return load(array, index)

    return checked


load4, load8, load16 = _make_load(4), _make_load(8), _make_load(16)


def _store_twin(array, index, vector):
    array[index : index + len(vector)] = vector


@compiled_or(_store_twin)
def _store(typingctx, array, index, vector):
    def codegen(context, builder, signature, arguments):
        pointer = pointer_to(context, builder, signature.args[0], arguments[0], arguments[1])
        builder.store(arguments[2], builder.bitcast(pointer, vector.llvm.as_pointer())).align = 4
        return context.get_dummy_value()

    return types.void(array, types.intp, vector), codegen


def _store_int_twin(array, index, vector):
    array[index : index + len(vector)] = vector.astype(np.int32)


@compiled_or(_store_int_twin)
def store_int(typingctx, array, index, vector):
    """Store the lanes, truncated towards zero, into an int32 array."""

    def codegen(context, builder, signature, arguments):
        pointer = pointer_to(context, builder, signature.args[0], arguments[0], arguments[1])
        integers = ir.VectorType(_INT32, vector.lanes)
        value = builder.fptosi(arguments[2], integers)
        builder.store(value, builder.bitcast(pointer, integers.as_pointer())).align = 4
        return context.get_dummy_value()

    return types.void(array, types.intp, vector), codegen


if BOUNDS_CHECKED and not INTERPRETED:

    @inline
    def store(array, index, vector):
        if index < 0 or index + lanes_of(vector) > array.size:
            raise IndexError("a vector is stored outside its array")
        _store(array, index, vector)

else:
    store = _store


@compiled_or(len)
def lanes_of(typingctx, vector):
    """The number of lanes, a constant."""

    def codegen(context, builder, signature, arguments):
        return _INT64(vector.lanes)

    return types.intp(vector), codegen


def _prefetch_twin(array, index):
    pass


@compiled_or(_prefetch_twin)
def prefetch(typingctx, array, index):
    """Ask for the cache line of array[index] ahead of its use."""

    def codegen(context, builder, signature, arguments):
        pointer = builder.bitcast(pointer_to(context, builder, signature.args[0], *arguments), _BYTES)
        shape = ir.FunctionType(ir.VoidType(), [_BYTES, _INT32, _INT32, _INT32])
        function = cgutils.get_or_insert_function(builder.module, shape, "llvm.prefetch.p0")
        builder.call(function, [pointer, _INT32(0), _INT32(3), _INT32(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), codegen


# Making vectors.


def _make_splat(lanes):
    def twin(x):
        return np.full(lanes, x, type(x))

    @compiled_or(twin)
    def splat(typingctx, x):
        result = Vector(x, lanes)

        def codegen(context, builder, signature, arguments):
            undefined = ir.Constant(result.llvm, ir.Undefined)
            first = builder.insert_element(undefined, arguments[0], _INT32(0))
            zeros = ir.Constant(ir.VectorType(_INT32, lanes), [0] * lanes)
            return builder.shuffle_vector(first, undefined, zeros)

        return result(x), codegen

    return splat


splat4, splat8, splat16 = _make_splat(4), _make_splat(8), _make_splat(16)


def _lanes_as_twin(vector, x):
    return vector.astype(type(x))


@compiled_or(_lanes_as_twin)
def lanes_as(typingctx, vector, x):
    """The lanes as numbers of the type of the scalar x; exact from float32 to float64."""
    result = Vector(x, vector.lanes)

    def codegen(context, builder, signature, arguments):
        if vector.scalar == x:
            return arguments[0]
        if x == types.float64:
            return builder.fpext(arguments[0], result.llvm)
        return builder.fptrunc(arguments[0], result.llvm)

    return result(vector, x), codegen


def _number_like_twin(like, value):
    return type(like)(value)


@compiled_or(_number_like_twin)
def number_like(typingctx, like, value):
    """The float64 scalar value as a number of the type of `like`."""

    def codegen(context, builder, signature, arguments):
        return arguments[1] if like == types.float64 else builder.fptrunc(arguments[1], ir.FloatType())

    return like(like, types.float64), codegen


def _smallest_like_twin(like):
    return float(np.finfo(type(like)).smallest_subnormal)


@compiled_or(_smallest_like_twin)
def smallest_like(typingctx, like):
    """The smallest positive number of the type of `like`, as float64."""

    def codegen(context, builder, signature, arguments):
        return ir.DoubleType()(5e-324 if like == types.float64 else 2.0**-149)

    return types.float64(like), codegen


# Arithmetic. Nothing is fused or reordered unless `fma` asks for it.


def _binary(emit, twin, result=None):
    @compiled_or(twin)
    def operation(typingctx, a, b):
        def codegen(context, builder, signature, arguments):
            return emit(builder, *arguments)

        return (result or a)(a, b), codegen

    return operation


def _overload_operator(symbol, name):
    """Typed and lowered by hand: an `overload` of Numba's would be compiled anew wherever it is used."""

    @infer_global(symbol)
    class VectorOperator(AbstractTemplate):
        def generic(self, arguments, keywords):
            if len(arguments) == 2 and isinstance(arguments[0], Vector) and arguments[0] == arguments[1]:
                return signature(arguments[0], *arguments)
            return None

    @lower_builtin(symbol, Vector, Vector)
    def lower(context, builder, signature, arguments):
        return getattr(builder, name)(*arguments)


for _symbol, _name in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _overload_operator(_symbol, _name)

minimum = _binary(
    lambda builder, x, y: builder.select(builder.fcmp_ordered("<", x, y), x, y),
    lambda x, y: np.where(x < y, x, y),
)
maximum = _binary(
    lambda builder, x, y: builder.select(builder.fcmp_ordered(">", x, y), x, y),
    lambda x, y: np.where(x > y, x, y),
)


def _fma_twin(a, b, c):
    return (a.astype(np.float64) * b + c).astype(a.dtype)


@compiled_or(_fma_twin)
def fma(typingctx, a, b, c):
    """a * b + c with one rounding (the twin rounds twice)."""

    def codegen(context, builder, signature, arguments):
        tag = f"v{a.lanes}f{32 if a.scalar == types.float32 else 64}"
        shape = ir.FunctionType(a.llvm, [a.llvm] * 3)
        function = cgutils.get_or_insert_function(builder.module, shape, f"llvm.fma.{tag}")
        return builder.call(function, arguments)

    return a(a, b, c), codegen


def _product_error_twin(a, b):
    return float(Fraction(float(a)) * Fraction(float(b)) - Fraction(float(a) * float(b)))


@compiled_or(_product_error_twin)
def product_error(typingctx, a, b):
    """What rounding took from the float64 product a * b: a * b + product_error(a, b) is exact."""

    def codegen(context, builder, signature, arguments):
        double = ir.DoubleType()
        shape = ir.FunctionType(double, [double] * 3)
        function = cgutils.get_or_insert_function(builder.module, shape, "llvm.fma.f64")
        product = builder.fmul(*arguments)
        return builder.call(function, [*arguments, builder.fneg(product)])

    return types.float64(types.float64, types.float64), codegen


# Comparisons to bits, and bits to lanes. A comparison with NaN is false.


def _bits(predicate, compare):
    def emit(builder, x, y):
        lanes = builder.fcmp_ordered(predicate, x, y)
        return builder.zext(builder.bitcast(lanes, ir.IntType(x.type.count)), _INT32)

    def twin(x, y):
        return np.uint32(int.from_bytes(np.packbits(compare(x, y), bitorder="little").tobytes(), "little"))

    return _binary(emit, twin, types.uint32)


less = _bits("<", operator.lt)
less_equal = _bits("<=", operator.le)
greater_equal = _bits(">=", operator.ge)
equal = _bits("==", operator.eq)


def _first_bit_twin(bits):
    return (int(bits) & -int(bits)).bit_length() - 1


@compiled_or(_first_bit_twin)
def first_bit(typingctx, bits):
    """The lowest lane whose bit is set; bits must not be zero."""

    def codegen(context, builder, signature, arguments):
        shape = ir.FunctionType(_INT32, [_INT32, ir.IntType(1)])
        function = cgutils.get_or_insert_function(builder.module, shape, "llvm.cttz.i32")
        return builder.sext(builder.call(function, [arguments[0], ir.IntType(1)(1)]), _INT64)

    return types.intp(types.uint32), codegen


def _count_bits_twin(bits):
    return int(bits).bit_count()


@compiled_or(_count_bits_twin)
def count_bits(typingctx, bits):
    """How many lanes have their bit set."""

    def codegen(context, builder, signature, arguments):
        shape = ir.FunctionType(_INT32, [_INT32])
        function = cgutils.get_or_insert_function(builder.module, shape, "llvm.ctpop.i32")
        return builder.sext(builder.call(function, arguments), _INT64)

    return types.intp(types.uint32), codegen
