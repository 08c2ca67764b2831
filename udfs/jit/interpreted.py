"""The interpreted form of a kernel: the same source as its compiled form, over the same arrays."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

CAN_INTERPRET = int(np.__version__.split(".")[0]) >= 2
"""Whether an index of 64 bits without a sign stays one when a number is added to it, which NumPy 1 made a double."""

_globals: dict[str, dict[str, Any]] = {}
"""Of each module with kernels, its names, with functions in their interpreted form."""


def interpreted(kernel: Any) -> Callable[..., Any]:
    """A compiled function as plain Python, and so is all that it calls.

    NumPy warns of single numbers that do not fit, where words are meant to wrap; here it does not.

    Args:
        kernel: What a decorator of `sparkext.udfs.jit.compiled` has made.
    """
    return np.errstate(all="ignore")(_plain(kernel) if hasattr(kernel, "py_func") else kernel)


def _plain(kernel: Any) -> Callable[..., Any]:
    """The function without what is done at each call of `interpreted`."""
    source: FunctionType = kernel.py_func
    if source.__module__ not in _globals:
        names = _globals[source.__module__] = dict(source.__globals__)
        for name, value in source.__globals__.items():
            if hasattr(value, "py_func"):
                names[name] = _plain(value)
    return FunctionType(source.__code__, _globals[source.__module__], source.__name__)
