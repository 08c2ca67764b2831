"""Types whose values workers know the order of."""

from __future__ import annotations

import re

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
    match kind:
        case t.StructType():
            return all(has_known_order(field.dataType) for field in kind.fields)
        case t.ArrayType():
            return has_known_order(kind.elementType)
        case t.StringType():
            return bool(kind.isUTF8BinaryCollation())
        case _:
            return isinstance(kind, KEY_TYPES)


def has_order(kind: t.DataType) -> bool:
    """Whether Spark orders values of a type."""
    match kind:
        case t.StructType():
            return all(has_order(field.dataType) for field in kind.fields)
        case t.ArrayType():
            return has_order(kind.elementType)
        case t.UserDefinedType():
            return has_order(kind.sqlType())
        case _:
            return _WITHOUT_ORDER.match(kind.simpleString()) is None


_WITHOUT_ORDER = re.compile(r"map<|interval$|variant$|geometry|geography")
"""How Spark calls types whose values have no order, some of which PySpark knows in later versions only."""
