"""Where the fields of a pool are in the rows that kernels write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sparkext.planner.kernel_plan.kernel_plan import Arithmetic, Field


class FieldIndexes(NamedTuple):
    """Where a field is in a row: the index of its first word, and of its float (-1: none)."""

    word: int
    float: int


def field_indexes(fields: Sequence[Field]) -> tuple[list[FieldIndexes], int, int]:
    """Indexes of all fields, the number of words and the number of floats of a row."""
    indexes: list[FieldIndexes] = []
    words = floats = 0
    for field in fields:
        if field.arithmetic is Arithmetic.NUMBER:
            indexes.append(FieldIndexes(words, floats))
            words, floats = words + 1, floats + 1
        else:
            indexes.append(FieldIndexes(words, -1))
            words += 2
    return indexes, words, floats
