"""Functions that are linked into the kernels that call them, and not compiled for themselves.

Numba optimises each function with all that it calls, turns it into machine code, and does so again for each that calls
it. Nothing but kernels is called by Python, so all but those are only lowered to LLVM's language, once; LLVM does the
rest when it has all of a kernel.
"""

from __future__ import annotations

from typing import Any

from numba import _dynfunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import NativeLowering


class _Part(JITCodeLibrary):  # type: ignore[misc]
    """LLVM's form of a function and of what it calls, as it is lowered."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):  # type: ignore[misc]
    """Lowers a function for its callers, without an address of its own."""

    _name = "lowering_for_callers"

    def run_pass(self, state: Any) -> bool:
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state.cr
        name = lowered.fndesc.qualname
        nowhere = _dynfunc.make_function(lowered.fndesc.lookup_module(), name, name, 0, lowered.env, (state.library,))
        state.targetctx.insert_user_function(nowhere, lowered.fndesc, [state.library])
        state.cr = lowered._replace(cfunc=nowhere)
        return True


_NEEDLESS = frozenset(
    (
        "AnnotateTypes",
        "DumpParforDiagnostics",
        "FindLiterallyCalls",
        "InlineClosureLikes",
        "InlineInlinables",
        "InlineOverloads",
        "LiteralPropagationSubPipelinePass",
        "LiteralUnroll",
        "MakeFunctionToJitFunction",
        "RewriteDynamicRaises",
        "WithLift",
    )
)
"""Passes for what no part has: closures, ``with``, literal types, exceptions, numba's own way to inline.

They find nothing to do; but after each that may change it, numba looks again for where each variable is used, which
took a tenth of all the time."""


class LinkingCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's pipeline for functions that are linked into their callers."""

    def define_pipelines(self) -> list[PassManager]:
        """Numba's own, but for how it lowers, and without what it would do for other functions."""
        usual = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline = PassManager("linked")
        for kind, description in usual.passes:
            if kind.__name__ not in _NEEDLESS:
                pipeline.add_pass(_Lowering if kind is NativeLowering else kind, description)
        pipeline.finalize()
        return [pipeline]
