"""Which cases of a test that has many are run by `make test`; `make test-all` runs all.

`make check` runs kernels interpreted, which need not be compiled, and take a hundred times as long for an event.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

IS_INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"
"""Whether kernels are not compiled."""

EXAMPLES = int(os.environ.get("SPARKEXT_POOLS", "300"))
"""About how many pools or plans a random test draws."""

many_events = pytest.mark.compiled
"""Of tests with so many events that kernels have to be compiled for them; `make check` leaves them out."""


def first(number: int, cases: Iterable[Any], interpreted: int | None = None) -> list[Any]:
    """Cases for ``parametrize``, of which those after the first ``number`` are long.

    Args:
        number: How many are not.
        cases: The cases.
        interpreted: How many are not while kernels are interpreted, if that is another number.
    """
    short = interpreted if IS_INTERPRETED and interpreted is not None else number
    return [case if index < short else _long(case) for index, case in enumerate(cases)]


def every(step: int, cases: Iterable[Any]) -> list[Any]:
    """Cases for ``parametrize``, of which all are long but one of ``step``."""
    return [_long(case) if index % step else case for index, case in enumerate(cases)]


def groups(size: int, cases: Sequence[str]) -> list[Any]:
    """Cases in groups of ``size``, each a test of its own that is called after its first."""
    parts = [tuple(cases[at : at + size]) for at in range(0, len(cases), size)]
    return [pytest.param(part, id=part[0]) for part in parts]


def _long(case: Any) -> Any:
    return pytest.param(case, marks=pytest.mark.long)
