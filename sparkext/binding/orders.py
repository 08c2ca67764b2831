"""Types whose values workers know the order of."""

from __future__ import annotations

import re
from collections.abc import Callable

from pyspark.sql import types as t

KEY_TYPES = (
    t.NumericType,
    t.StringType,
    t.BooleanType,
    t.BinaryType,
    t.DateType,
    t.TimestampType,
    t.TimestampNTZType,
    t.DayTimeIntervalType,
)
"""Those of which a key may be."""


def has_known_order(kind: t.DataType) -> bool:
    """Whether workers order values of a type as Spark does: plain ones, arrays and structs; texts by their bytes."""
    return _all_parts(kind, _is_known)


def has_order(kind: t.DataType) -> bool:
    """Whether Spark orders values of a type."""
    return _all_parts(kind, _is_ordered)


def _all_parts(kind: t.DataType, is_so: Callable[[t.DataType], bool]) -> bool:
    """Whether something is so of all types that structs and arrays consist of, or of a type that is neither."""
    match kind:
        case t.StructType():
            return all(_all_parts(field.dataType, is_so) for field in kind.fields)
        case t.ArrayType():
            return _all_parts(kind.elementType, is_so)
        case _:
            return is_so(kind)


def _is_known(kind: t.DataType) -> bool:
    if isinstance(kind, t.StringType):
        return bool(kind.isUTF8BinaryCollation())
    return isinstance(kind, KEY_TYPES)


def _is_ordered(kind: t.DataType) -> bool:
    if isinstance(kind, t.UserDefinedType):
        return has_order(kind.sqlType())
    return _WITHOUT_ORDER.match(kind.simpleString()) is None


_WITHOUT_ORDER = re.compile(r"map<|interval$|variant$|geometry|geography")
"""How Spark calls types whose values have no order, some of which PySpark knows in later versions only."""
