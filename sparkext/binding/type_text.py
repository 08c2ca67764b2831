"""Types as they are written in SQL, and values of types that cannot be written."""

from __future__ import annotations

import re

from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from sparkext.sql.quoting import identifier


def type_text(kind: DataType) -> str:
    """Such as ``ARRAY<INT>`` or ``STRUCT<v: INT>``: names of types in upper case, names of fields as they are."""
    match kind:
        case StructType():
            return f"STRUCT<{', '.join(f'{field.name}: {type_text(field.dataType)}' for field in kind.fields)}>"
        case ArrayType():
            return f"ARRAY<{type_text(kind.elementType)}>"
        case MapType():
            return f"MAP<{type_text(kind.keyType)}, {type_text(kind.valueType)}>"
        case _:
            return kind.simpleString().upper()


def type_sql(kind: DataType) -> str:
    """How Spark calls a type, in a form that it reads, too: names of fields that are no words are quoted."""
    match kind:
        case StructType():
            fields = (f"{_field(field.name)}:{type_sql(field.dataType)}" for field in kind.fields)
            return f"struct<{','.join(fields)}>"
        case ArrayType():
            return f"array<{type_sql(kind.elementType)}>"
        case MapType():
            return f"map<{type_sql(kind.keyType)},{type_sql(kind.valueType)}>"
        case _:
            return kind.simpleString()


def _field(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else identifier(name)


def carried_type(kind: str) -> str:
    """The type by which workers are given values of a type of `type_sql`: Arrow for Python has no intervals of months.

    Spark casts these to numbers and back, also within arrays, maps and structs.
    """
    return _MONTHS.sub(lambda found: "int" if found[1] else found[0], kind)


_MONTHS = re.compile(r"`(?:[^`]|``)*`|(interval (?:year to month|year|month))(?! to)")
_NEGATIVE_SCALE = re.compile(r"decimal\((\d+),-(\d+)\)")


def null_sql(kind: str) -> str:
    """SQL of a NULL of a type that is no array, map or struct, by how Spark calls the type.

    SQL has no name for decimals of negative scale, only constants of such a type.
    """
    match = _NEGATIVE_SCALE.fullmatch(kind)
    return f"CAST(NULL AS {kind})" if match is None else f"CASE WHEN FALSE THEN {'9' * int(match[1])}E{match[2]}BD END"
