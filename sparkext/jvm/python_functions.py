"""Python functions that Spark calls with Arrow batches, made with few questions to the JVM."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pyspark import SparkContext
from pyspark.serializers import CloudPickleSerializer
from pyspark.sql import DataFrame
from pyspark.sql.types import DataType, StructType
from pyspark.sql.udf import _wrap_function
from pyspark.util import PythonEvalType

from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.gateway import java_class, java_gateway, java_method, scala_object
from sparkext.udfs.workers.task import ArrowFunction, as_task

_MOST_BYTES = 1 << 20
"""Size of a pickled function up to which Spark sends it with each task, unless it is told otherwise."""


def map_in_arrow(frame: DataFrame, function: ArrowFunction, schema: StructType | str) -> AnalysedFrame:
    """As ``frame.mapInArrow(function, schema)``, for which PySpark asks the JVM twenty times, and twice a column."""
    spark = frame.sparkSession
    kind = StructType.fromDDL(schema) if isinstance(schema, str) else schema
    called = java_class("org.apache.spark.sql.catalyst.expressions.PythonUDF")(
        getattr(function, "__name__", type(function).__name__),
        _python_function(spark.sparkContext, as_task(function), kind),
        spark._jsparkSession.parseDataType(kind.json()),
        AnalysedFrame.of(frame).analysed_plan.output(),
        PythonEvalType.SQL_MAP_ARROW_ITER_UDF,
        True,  # deterministic
        _expressions(java_gateway().jvm).newExprId(),
    )
    column = java_method("org.apache.spark.sql.classic.ExpressionUtils", "column")(called)
    return AnalysedFrame(frame._jdf.mapInArrow(column, False, None), spark)


@lru_cache(maxsize=4)
def _expressions(_: Any) -> Any:
    """What numbers expressions, of a JVM."""
    return scala_object("org.apache.spark.sql.catalyst.expressions.NamedExpression")


def _python_function(context: SparkContext, function: ArrowFunction, schema: DataType) -> Any:
    """A function and what it returns, as the JVM has them."""
    command: bytes = CloudPickleSerializer().dumps((function, schema))  # type: ignore[no-untyped-call]
    if len(command) > _MOST_BYTES:
        return _wrap_function(context, function, schema)
    of_workers = tuple(sorted(context.environment.items())), tuple(context._python_includes or ())
    environment, includes, broadcasts = _surroundings(java_gateway().jvm, *of_workers)
    arguments = bytearray(command), environment, includes, context.pythonExec, context.pythonVer, broadcasts
    return java_class("org.apache.spark.api.python.SimplePythonFunction")(*arguments, context._javaAccumulator)


@lru_cache(maxsize=16)
def _surroundings(_: Any, environment: tuple[tuple[str, str], ...], includes: tuple[str, ...]) -> tuple[Any, Any, Any]:
    """Variables of Python workers, what they can import, and no broadcasts: as a JVM has them, for many functions."""
    variables, files = java_class("java.util.HashMap")(), java_class("java.util.ArrayList")()
    for name, value in environment:
        variables.put(name, value)
    for file in includes:
        files.add(file)
    return variables, files, java_class("java.util.ArrayList")()
