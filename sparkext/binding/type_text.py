"""Types as they are written in SQL."""

from __future__ import annotations

from pyspark.sql.types import ArrayType, DataType, MapType, StructType


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
