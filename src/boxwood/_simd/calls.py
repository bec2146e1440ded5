"""What the compiler is told about the function that it works on."""

from __future__ import annotations

from numba import types

from .vectors import compiled_or


@compiled_or(lambda: None)
def stay_apart(typingctx):
    """In a function made by `apart`: it is never copied into those that call it.

    By itself the compiler copies a function that is called in one place, and then all that with the `inline` function
    around it into each kernel: exact predicates made a kernel of six orientations take 80 s to compile.
    """

    def codegen(context, builder, signature, arguments):
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.void(), codegen
