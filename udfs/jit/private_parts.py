"""Whether numba has the parts that are not its public interface and that kernels are compiled quickly with.

docs/private_apis.md says what each is for. Without one of them, all is compiled by plain ``njit``: with the same
results, and in several times as long.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import numba

PARTS: dict[str, tuple[str, ...]] = {
    "numba._dynfunc": ("make_function",),
    "numba.core.caching": ("NullCache",),
    "numba.core.cgutils": ("alloca_once", "gep_inbounds", "voidptr_t"),
    "numba.core.codegen": ("JITCodeLibrary._finalize_final_module", "JITCodeLibrary._optimize_final_module"),
    "numba.core.compiler": ("CompilerBase", "DefaultPassBuilder.define_nopython_pipeline"),
    "numba.core.compiler_machinery": ("PassManager.add_pass", "PassManager.finalize", "register_pass"),
    "numba.core.datamodel": ("models.PrimitiveModel",),
    "numba.core.options": ("DefaultOptions._nrt", "DefaultOptions.forceinline"),
    "numba.core.registry": ("cpu_target.target_context",),
    "numba.core.targetconfig": ("TargetConfig.options", "TargetConfig.values"),
    "numba.core.typed_passes": ("NativeLowering.run_pass",),
    "numba.core.types.containers": ("BaseNamedTuple",),
    "numba.core.typing.templates": ("AttributeTemplate.generic_resolve",),
}
"""Per module of numba, what is taken from it."""


def missing(parts: dict[str, tuple[str, ...]]) -> list[str]:
    """Of some parts of numba, those that it does not have, by their full names."""
    return [f"{module}.{name}" for module, names in parts.items() for name in names if not _is_there(module, name)]


def _is_there(module: str, name: str) -> bool:
    try:
        value: Any = import_module(module)
        for part in name.split("."):
            value = getattr(value, part)
    except (ImportError, AttributeError):
        return False
    return True


MISSING = missing(PARTS)
"""Those that there are not."""

if MISSING:
    warnings.warn(
        f"numba {numba.__version__} has no {', '.join(MISSING)}, which sparkext compiles kernels with: it compiles "
        'them by plain njit, which takes several times as long. pip install "sparkext" chooses a numba that it knows.',
        RuntimeWarning,
        stacklevel=2,
    )
