"""How the fields of a pool are held in columns of its results, partial and final ones.

A field has one column of 64 bits. What does not fit, which is rare, is in a column beside them all: a map from the
number of a field to a word and a double, NULL where everything fits.
"""

from __future__ import annotations

from planner.kernel_plan import Field

BEYOND = "beyond"
"""Name of that map. Of an EXACT field the word is the high word of the count, when it is not 0. Of a NUMBER field it
is the scale and the double is the number, when the scale is not 0; the field's own column is 0 then."""

WORD, VALUE = "word", "value"
"""Names of the parts of a value of the map."""

MATRIX = "matrix"
"""Name of a column beside them where keys are computed in stretches: what a stretch does, in rows without results."""


def field_column(number: int, field: Field) -> str:
    """Name of the column of a field: the low word of a count, a number of scale 0, or an extreme."""
    return f"{field.arithmetic.name.lower()}_{number}"
