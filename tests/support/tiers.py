"""Which cases of a test that has many are run by `make test`; `make test-all` runs all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest


def first(number: int, cases: Iterable[Any]) -> list[Any]:
    """Cases for ``parametrize``, of which those after the first ``number`` are long."""
    return [case if place < number else _long(case) for place, case in enumerate(cases)]


def every(step: int, cases: Iterable[Any]) -> list[Any]:
    """Cases for ``parametrize``, of which all are long but one of ``step``."""
    return [_long(case) if place % step else case for place, case in enumerate(cases)]


def groups(size: int, cases: Sequence[str]) -> list[Any]:
    """Cases in groups of ``size``, each a test of its own that is called after its first."""
    parts = [tuple(cases[at : at + size]) for at in range(0, len(cases), size)]
    return [pytest.param(part, id=part[0]) for part in parts]


def _long(case: Any) -> Any:
    return pytest.param(case, marks=pytest.mark.long)
