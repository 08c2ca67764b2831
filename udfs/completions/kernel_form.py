"""In which form the kernel of completions runs: compiled, or interpreted for the first few events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

from sparkext.udfs.completions import completion_kernel
from sparkext.udfs.jit.interpreted import CAN_INTERPRET, interpreted

PATIENCE = 3000
"""Events that a process looks at interpreted before it loads or compiles the kernel."""

_NAMES = ("advance", "finish", "settle_time", "compact")
_COMPILED: dict[str, Callable[..., Any]] = {name: getattr(completion_kernel, name) for name in _NAMES}
_INTERPRETED: dict[str, Callable[..., Any]] = {name: interpreted(getattr(completion_kernel, name)) for name in _NAMES}
_seen = [0]


class Form:
    """The functions of the kernel, by name.

    Args:
        ready: Called before the compiled form is first used; sees to it that it is there.
        patience: Events that are looked at interpreted.
    """

    def __init__(self, ready: Callable[[], object] = lambda: None, patience: int = PATIENCE) -> None:
        self._ready = ready
        self._patience = patience if CAN_INTERPRET else 0

    def of(self, name: str, rows: int = 0) -> Callable[..., Any]:
        """The form of a function to call for so many events."""
        if numba.config.DISABLE_JIT or completion_kernel.advance.signatures:
            return _COMPILED[name]
        _seen[0] += rows
        if _seen[0] <= self._patience:
            return _INTERPRETED[name]
        self._ready()
        return _COMPILED[name]
