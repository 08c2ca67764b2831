"""The least and the greatest difference of two ends of a trend: its type, and the columns that its parts are held in.

Of the trends that an event ends, all have the same value at that event. So the least of their differences is that value
less the greatest of what they have had at their earlier end, and it does not matter which of the two ends is taken away
from which: a total is the least sum of the parts that have come, of which one may be negative.

Of doubles this is so but where ∞ meets -∞ in a sum, which is NaN, the greatest of all. If the least part before is -∞,
others may make a sum that is less than NaN; and if the greatest part before is not -∞, another that is may make NaN. So
there is a second total of the parts that are not -∞, or of those that are, and the difference is the less, or greater.
"""

from __future__ import annotations

import re
from dataclasses import replace

from sparkext.planner.kernel_plan.kernel_plan import Column, Encoding
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.query import Aggregate, End, Function

_WHOLE = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20, "date": 20, "timestamp": 20, "timestamp_ntz": 20}
"""Digits of what is held as a whole number."""

_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_MOST_DIGITS = 38


def difference_type(ends: tuple[End, ...]) -> str:
    """What the difference of two ends is held as, as Spark spells types: ``double``, or a decimal with all its digits.

    Times are so many microseconds or days. As in Spark, a decimal difference has a digit more than its parts, before
    the point; where these are too many for a decimal, it is a double.
    """
    digits = [_digits(end.attribute.type) for end in ends]
    if None in digits:
        return "double"
    before, after = (max(pair[index] for pair in digits if pair is not None) for index in (0, 1))
    if not after and before <= _WHOLE["bigint"]:
        return f"decimal({_WHOLE['bigint']},0)"
    return "double" if before + after >= _MOST_DIGITS else f"decimal({before + after + 1},{after})"


def _digits(kind: str) -> tuple[int, int] | None:
    """Digits before and after the point; None for a double."""
    if kind in _WHOLE:
        return _WHOLE[kind], 0
    match = _DECIMAL.fullmatch(kind)
    return None if match is None else (int(match[1]) - int(match[2]), int(match[2]))


def difference_columns(aggregate: Aggregate) -> tuple[Column, ...]:
    """What a whole difference is held as; for doubles, in two totals."""
    text, kind = " - ".join(map(str, aggregate.ends)), difference_type(aggregate.ends)
    encoding = Encoding.LEAST if aggregate.function is Function.MIN else Encoding.GREATEST
    whole = Column(Attribute(text, kind), encoding)
    return (whole, replace(whole, is_beside=True)) if kind == "double" else (whole,)


def part_column(whole: Column, end: End, is_taken: bool) -> Column:
    """What the value at one end of a difference is held as."""
    digits = _digits(whole.attribute.type)
    if digits is None:
        unit = "double"
    elif digits[1] == 0 and end.attribute.type in _WHOLE:
        unit = "bigint"
    else:
        unit = f"decimal({_MOST_DIGITS},{digits[1]})"
    is_least = whole.encoding is Encoding.LEAST
    encoding = Encoding.LEAST_DIFFERENCE if is_least else Encoding.GREATEST_DIFFERENCE
    return Column(end.attribute, encoding, unit=unit, is_taken=is_taken, is_beside=whole.is_beside)
