"""How the fields of a pool are held in columns of its results, partial and final ones.

A field has one column of 64 bits, which says it all, or is NULL. What does not fit, which is rare, is in a column
beside them all: a map from the number of a field to what it holds, NULL where everything fits.
"""

from __future__ import annotations

from sparkext.planner.kernel_plan.kernel_plan import Field

BEYOND = "beyond"
"""Name of that map."""

EXACT = "exact"
"""Part of a value of the map: a count from 2^63 on, as DECIMAL(38,0). NULL if it has more digits, and for numbers."""

DOUBLE = "double"
"""Part of a value of the map: a number whose scale is not 0, as a double; infinite if it is none. NULL for counts."""

NUMBER, SCALE = "number", "scale"
"""Parts of a value of the map: the number and its scale, a double and 64 bits. NULL for counts."""

MATRIX = "matrix"
"""Name of a column beside them where keys are computed in stretches: what a stretch does, in rows without results."""


def field_column(number: int, field: Field) -> str:
    """Name of the column of a field: a count, a number of scale 0, or an extreme."""
    return f"{field.arithmetic.name.lower()}_{number}"


def beside_column(bank: int, index: int) -> str:
    """Name of the column in which rows of other banks have what is counted once, of which a bank has several counts."""
    return f"beside_{bank}_{index}"
