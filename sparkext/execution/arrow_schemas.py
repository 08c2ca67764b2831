"""Schemas of Spark as Arrow's."""

from __future__ import annotations

from inspect import signature
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

_ZONE: dict[str, Any] = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}


def arrow_schema(schema: StructType) -> pa.Schema:
    """The columns that Spark hands to Python for those of a frame, times in UTC.

    Some versions of PySpark want the zone to be said.
    """
    return to_arrow_schema(schema, **_ZONE)
