"""In which form a kernel of completions runs: compiled, or interpreted for the first few events."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numba

from sparkext.udfs.completions import completion_kernel, latest_starts
from sparkext.udfs.jit.interpreted import CAN_INTERPRET, interpreted

PATIENCE = 3000
"""Events that a process looks at interpreted before it loads or compiles a kernel."""

FUNCTIONS: dict[ModuleType, tuple[str, ...]] = {
    completion_kernel: ("advance", "finish", "compact"),
    latest_starts: ("count", "close"),
}
"""Names of what each kernel is called by; the first one processes events."""

_COMPILED: dict[str, Callable[..., Any]] = {
    name: getattr(kernel, name) for kernel, names in FUNCTIONS.items() for name in names
}
_INTERPRETED: dict[str, Callable[..., Any]] = {name: interpreted(function) for name, function in _COMPILED.items()}
_FIRST = {name: _COMPILED[names[0]] for names in FUNCTIONS.values() for name in names}
_seen = [0]


def compile_function(name: str, signature: tuple[Any, ...]) -> None:
    """Compile a function of a kernel, or load what is kept."""
    _COMPILED[name].compile(signature)  # type: ignore[attr-defined]


class Form:
    """The functions of the kernels, by name.

    Args:
        ready: Called before a compiled form is first used; sees to it that it is there.
        patience: Events that are looked at interpreted.
    """

    def __init__(self, ready: Callable[[], object] = lambda: None, patience: int = PATIENCE) -> None:
        self._ready = ready
        self._patience = patience if CAN_INTERPRET else 0

    def of(self, name: str, rows: int = 0) -> Callable[..., Any]:
        """The form of a function to call for so many events."""
        if numba.config.DISABLE_JIT or _FIRST[name].signatures:  # type: ignore[attr-defined]
            return _COMPILED[name]
        _seen[0] += rows
        if _seen[0] <= self._patience:
            return _INTERPRETED[name]
        self._ready()
        return _COMPILED[name]
