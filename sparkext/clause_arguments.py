"""Arguments of `match_trend` as text of a clause: SQL, columns, numbers and durations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TypeAlias

from pyspark.errors import PySparkTypeError, PySparkValueError
from pyspark.sql import Column, DataFrame
from pyspark.sql.classic.column import Column as ClassicColumn

from sparkext.jvm.column_text import NoTextError, column_text, spark_text
from sparkext.planner.patterns.query import Selection
from sparkext.sql.quoting import identifier, string

Expression: TypeAlias = str | Column
"""SQL text, or a column."""

Expressions: TypeAlias = Expression | Sequence[Expression]
"""One, or several."""

Length: TypeAlias = str | int | timedelta
"""SQL text such as ``INTERVAL 10 MINUTES``, a duration as ``window()`` takes it, or a number."""

_ONE_MICROSECOND = timedelta(microseconds=1)
_UNITS = ("microsecond", "millisecond", "second", "minute", "hour", "day", "week")


def text_of(name: str, value: object) -> str:
    """An argument that is text.

    Raises:
        PySparkTypeError: It is none.
        PySparkValueError: It is empty.
    """
    if not isinstance(value, str):
        raise _wrong(name, value, "a str")
    if not value.strip():
        raise PySparkValueError(f"match_trend: {name} is empty.")
    return value


def expression_of(name: str, value: object) -> str:
    """An expression as SQL.

    Raises:
        PySparkTypeError: It is neither text nor a column, or a column that has no text.
        PySparkValueError: It is empty.
    """
    if isinstance(value, Column):
        return _column_text(name, value)
    if not isinstance(value, str):
        raise _wrong(name, value, "a str or a Column")
    return text_of(name, value)


def expressions_of(name: str, values: object) -> list[str]:
    """One expression or several, as SQL; raises as `expression_of`."""
    if isinstance(values, str | Column):
        return [expression_of(name, values)]
    if not isinstance(values, Iterable) or isinstance(values, Mapping | DataFrame | bytes):
        raise _wrong(name, values, "a str, a Column, or a list of them")
    return [expression_of(name, value) for value in values]


def measures_of(values: object) -> list[str]:
    """Measures as they stand in ``MEASURES``.

    Raises:
        PySparkTypeError: They are neither text, nor a list of texts, nor texts by name.
        PySparkValueError: One is empty.
    """
    if isinstance(values, Mapping):
        return [f"{text_of('measures', text)} AS {_name('measures', name)}" for name, text in values.items()]
    if isinstance(values, str):
        return [text_of("measures", values)]
    if not isinstance(values, Iterable) or isinstance(values, Column | DataFrame | bytes):
        raise _wrong("measures", values, "a str, a list of str, or a dict of names and str")
    return [text_of("measures", value) for value in values]


def definitions_of(values: object) -> list[str]:
    """Conditions by variable, as they stand in ``DEFINE``.

    Raises:
        PySparkTypeError: They are no mapping, or a condition is neither text nor a column.
        PySparkValueError: One is empty.
    """
    if not isinstance(values, Mapping):
        raise _wrong("define", values, "a dict of variables and conditions")
    return [f"{_name('define', name)} AS {expression_of('define', value)}" for name, value in values.items()]


def length_of(name: str, value: object) -> str:
    """The length of a window or a trend, as SQL.

    Raises:
        PySparkTypeError: It is neither text, nor a whole number, nor a duration.
        PySparkValueError: It is empty.
    """
    if isinstance(value, timedelta):
        return string(f"{value // _ONE_MICROSECOND} microseconds")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise _wrong(name, value, "a str, an int or a timedelta")
    text = text_of(name, value).strip()
    words = text.lower().split()
    is_duration = len(words) % 2 == 0 and all(word.rstrip("s") in _UNITS for word in words[1::2])
    return string(text) if is_duration and words[0].lstrip("+-").isdigit() else text


def selection_of(value: object) -> str:
    """Which events a trend may leave out, as the clause says it.

    Raises:
        PySparkTypeError: It is no text.
        PySparkValueError: It says none of that.
    """
    words = " ".join(text_of("selection", value).upper().split())
    selections = [selection.value for selection in Selection]
    if words not in selections:
        raise PySparkValueError(f"match_trend: selection is {value!r}, and can be {', '.join(selections)}.")
    return words


def _column_text(name: str, column: Column) -> str:
    if not isinstance(column, ClassicColumn):
        raise PySparkTypeError(f"match_trend: {name} is given a Column of Spark Connect, which is not supported.")
    try:
        return column_text(column)
    except NoTextError:
        raise PySparkTypeError(
            f"match_trend: the Column {spark_text(column)} of {name} cannot be written as SQL; give {name} as a str."
        ) from None


def _name(argument: str, name: object) -> str:
    if not isinstance(name, str):
        raise _wrong(f"a name in {argument}", name, "a str")
    return identifier(name)


def _wrong(name: str, value: object, wanted: str) -> PySparkTypeError:
    return PySparkTypeError(f"match_trend: {name} must be {wanted}, not {type(value).__name__}.")
