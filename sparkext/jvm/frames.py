"""Data frames of plans that the JVM has, and plans of rows that it has not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from pyspark import RDD
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql.classic.column import Column as ClassicColumn
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame
from pyspark.sql.types import StructType

from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.gateway import java_array, java_class, java_method
from sparkext.jvm.plans import Plan, kind_of
from sparkext.sql.quoting import identifier


def java_frame(frame: DataFrame) -> Any:
    """What the JVM has of a frame."""
    return frame._jdf


def frame_of_plan(spark: SparkSession, plan: Plan) -> AnalysedFrame:
    """The rows of a plan, analysed if it is not yet."""
    of_rows = java_method("org.apache.spark.sql.classic.Dataset", "ofRows")
    return AnalysedFrame(of_rows(spark._jsparkSession, plan), spark)


def another(frame: DataFrame) -> AnalysedFrame:
    """Another frame of the same plan."""
    return AnalysedFrame(frame._jdf, frame.sparkSession)


def columns_of(frame: DataFrame, texts: Iterable[str]) -> AnalysedFrame:
    """As ``frame.selectExpr(*texts)``, parsed at once by Spark's own parser: each text by itself would ask Python."""
    return frame_of_plan(frame.sparkSession, projection(AnalysedFrame.of(frame).analysed_plan, texts))


def with_metadata(frame: AnalysedFrame, metadata: Mapping[str, str]) -> AnalysedFrame:
    """The rows of ``frame``, some of whose columns have metadata, in JSON by their names."""
    if not metadata:
        return frame
    columns = ((name, own_column(identifier(name))) for name in frame.columns)
    marked = (
        column.alias(name, metadata=json.loads(metadata[name])) if name in metadata else column
        for name, column in columns
    )
    return AnalysedFrame.of(frame.select(*marked))


def own_column(text: str) -> Column:
    """As ``functions.expr(text)``, parsed as texts of sparkext's are, and not as the session has it."""
    return ClassicColumn(java_method("org.apache.spark.sql.classic.ExpressionUtils", "column")(expression(text)))


def expression(text: str) -> Any:
    """The expression that a text of sparkext's is to Spark's own parser, which nothing has analysed."""
    return _parser()[0].parseExpression(text)


def projection(plan: Plan, texts: Iterable[str]) -> Plan:
    """The columns ``texts`` over the rows of a plan, which are analysed with it."""
    text = "SELECT " + "\n, ".join(texts)
    wanted = _parser()[0].parsePlan(text).projectList()
    return java_class("org.apache.spark.sql.catalyst.plans.logical.Project")(wanted, plan)


def statement_over(plan: Plan, write: Callable[[str], str]) -> Plan:
    """The plan of a statement over the rows of an analysed plan; it is analysed with what it becomes a part of.

    Args:
        plan: The plan.
        write: Gives the statement for what the relation is to be called, from which it selects.
    """
    parser, those = _parser()
    # A map of Scala's is a partial function: of all operators it has a result for the relation alone.
    in_place = java_class("scala.collection.immutable.Map$Map1")(those, plan)
    return parser.parsePlan(write(_THOSE)).resolveOperatorsUp(in_place)


_THOSE = "those"
"""What statements of our own call the rows of a plan."""


def selected(frame: DataFrame, write: Callable[[str], str]) -> AnalysedFrame:
    """The rows of a statement over a frame, analysed under the confs that this thread reads.

    Args:
        frame: The frame.
        write: Gives the statement for what the relation is to be called, from which it selects.
    """
    return frame_of_plan(frame.sparkSession, statement_over(AnalysedFrame.of(frame).analysed_plan, write))


def selected_by_one_task(frame: DataFrame, write: Callable[[str], str]) -> AnalysedFrame:
    """As `selected`, with all rows in one partition, which one task reads.

    That they are is a part of the plan: a hint would be one that sessions may disable.
    """
    statement = statement_over(AnalysedFrame.of(frame).analysed_plan, write)
    return frame_of_plan(frame.sparkSession, in_one_partition(statement))


def in_one_partition(plan: Plan) -> Plan:
    """The rows of a plan, all in one partition, so that what brings them together moves none of them."""
    return java_class("org.apache.spark.sql.catalyst.plans.logical.Repartition")(1, False, plan)


def sorted_within_partitions(frame: DataFrame, order: Iterable[str]) -> AnalysedFrame:
    """As ``frame.sortWithinPartitions(*order)`` for SQL texts, for which PySpark asks the JVM fifteen times each."""
    return selected(frame, lambda rows: f"TABLE {rows} SORT BY {', '.join(order)}")


def frame_of_statement(spark: SparkSession, text: str) -> AnalysedFrame:
    """As ``spark.sql(text)``, for which PySpark asks the JVM several times more."""
    return AnalysedFrame(spark._jsparkSession.sql(text), spark)


def _parser() -> tuple[Any, Plan]:
    """Spark's own parser, which does not ask Python, and what it makes of the relation of statements of our own.

    Like the parser of a session, it may be used by many threads.
    """
    return _made(java_class("org.apache.spark.sql.execution.SparkSqlParser"))


@lru_cache(maxsize=4)
def _made(kind: Any) -> tuple[Any, Plan]:
    parser = kind()
    return parser, parser.parsePlan(f"TABLE {_THOSE}")


def known_rows(rows: AnalysedFrame) -> AnalysedFrame | None:
    """The rows themselves, in a frame of the same columns, if Spark knows them without a job; None else.

    Raises:
        CapturedException: An expression fails on them.
        JavaError: Likewise.
    """
    plan = rows.optimized_plan
    if kind_of(plan) != "LocalRelation" or not plan.schema().equals(rows._jdf.schema()):
        return None
    return frame_of_plan(rows.sparkSession, plan)


class TrendFrame(ClassicDataFrame):
    """A data frame of a trend query that is planned when it is first used."""

    def __init__(self, view: str, session: SparkSession) -> None:
        """Stand for the rows of a temporary view of ``session``."""
        self._planned: Any = None
        self._view = view
        super().__init__(None, session)

    @property
    def _jdf(self) -> Any:
        if self._planned is None:
            self._planned = self._session.table(identifier(self._view))._jdf
        return self._planned

    @_jdf.setter
    def _jdf(self, planned: Any) -> None:
        self._planned = planned

    @property
    def schema(self) -> StructType:
        """Of the rows. Planned before Python 3.11 takes the lock of a cached property, which planning needs too."""
        _ = self._jdf
        return super().schema

    @property
    def rdd(self) -> RDD[Row]:
        """The rows; planned first, as for the schema."""
        _ = self._jdf
        return super().rdd


def local_rows(spark: SparkSession, columns: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> Plan:
    """The analysed plan of ``rows``.

    Args:
        spark: Their session.
        columns: Types by names.
        rows: For each column a value that Spark casts to its type from what `str` makes of it, or None.
    """
    names = [identifier(name) for name in columns]
    strings = java_class("org.apache.spark.sql.types.StructType").fromDDL(", ".join(f"{name} STRING" for name in names))
    plan = _local_rows(spark, strings, [[None if value is None else str(value) for value in row] for row in rows])
    if {*columns.values()} == {"STRING"}:
        return plan
    texts = [f"CAST({name} AS {kind}) AS {name}" for name, kind in zip(names, columns.values(), strict=True)]
    return frame_of_plan(spark, projection(plan, texts)).analysed_plan


def local_rows_like(frame: DataFrame, rows: Iterable[Sequence[Any]]) -> Plan:
    """The analysed plan of ``rows`` of strings, numbers and truth values, with the columns of ``frame``."""
    return _local_rows(frame.sparkSession, frame._jdf.schema(), rows)


def _local_rows(spark: SparkSession, schema: Any, rows: Iterable[Sequence[Any]]) -> Plan:
    create = java_class("org.apache.spark.sql.RowFactory").create
    java_rows = java_class("java.util.ArrayList")()
    for row in rows:
        java_rows.add(create(java_array("java.lang.Object", row)))
    return spark._jsparkSession.createDataFrame(java_rows, schema).queryExecution().analyzed()
