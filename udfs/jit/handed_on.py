"""How compiled functions hand on named tuples of arrays: as one pointer, where numba can be taught that."""

from __future__ import annotations

from typing import TypeVar

from numba import njit

from sparkext.udfs.jit.private_parts import MISSING

_Parts = TypeVar("_Parts")


def by_reference(parts: _Parts) -> _Parts:
    """A named tuple as a pointer, for as long as the function runs that asks for it; None stays None.

    Interpreted, the tuple itself.
    """
    return parts


if MISSING:
    by_reference = njit(by_reference)
else:
    from sparkext.udfs.jit.pointers import teach

    teach(by_reference)
