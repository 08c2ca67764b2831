"""What of a session Spark's analyzer reads: the same text may mean something else when it has changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import SparkSession

from sparkext.jvm.analysis_context import ANSI, current_namespace, default_of, functions_hash

_CASE_SENSITIVE = "spark.sql.caseSensitive"

_NOT_READ = (
    "spark.sql.adaptive.",
    "spark.sql.artifact.",
    "spark.sql.autoBroadcastJoinThreshold",
    "spark.sql.bucketing.",
    "spark.sql.cbo.",
    "spark.sql.codegen.",
    "spark.sql.debug.",
    "spark.sql.execution.",
    "spark.sql.files.maxPartition",
    "spark.sql.files.maxRecordsPerFile",
    "spark.sql.files.minPartitionNum",
    "spark.sql.files.openCostInBytes",
    "spark.sql.hive.convert",
    "spark.sql.hive.filesourcePartitionFileCacheSize",
    "spark.sql.hive.metastorePartitionPruning",
    "spark.sql.inMemoryColumnarStorage.",
    "spark.sql.join.",
    "spark.sql.maxNestedViewDepth",
    "spark.sql.optimizer.",
    "spark.sql.orc.columnar",
    "spark.sql.orc.compression.",
    "spark.sql.orc.enable",
    "spark.sql.orc.filterPushdown",
    "spark.sql.parquet.aggregatePushdown",
    "spark.sql.parquet.columnar",
    "spark.sql.parquet.compression.",
    "spark.sql.parquet.enable",
    "spark.sql.parquet.filterPushdown",
    "spark.sql.parquet.output",
    "spark.sql.parquet.pushdown.",
    "spark.sql.parquet.recordLevelFilter.",
    "spark.sql.parquet.writeLegacyFormat",
    "spark.sql.planChangeLog.",
    "spark.sql.repl.",
    "spark.sql.shuffle.",
    "spark.sql.statistics.",
    "spark.sql.streaming.",
    "spark.sql.thriftServer.",
    "spark.sql.ui.",
)
"""Beginnings of the names of confs that say how something is run, and not what it means."""

_READ = (
    "spark.sql.execution.pandas.",
    "spark.sql.execution.pyspark.binaryAsBytes",
    "spark.sql.execution.pythonUDF",
)
"""Beginnings of those among them that decide what functions in Python are given, and give."""

_SET_BY_SPARK = {"spark.sql.binaryOutputStyle": "UTF-8"}
"""Confs that Spark itself sets in a session once it has shown rows at a prompt or to a client of its Thrift server.

Of what is kept they decide nothing but what ``to_csv`` makes of binary columns: a session that has shown rows, and the
views that it creates then, are to be pooled with those before.
"""

_modifiable: dict[str, bool] = {}
"""Whether confs can be changed in a session, by name; those of the application are the same in all."""


@dataclass(frozen=True, slots=True)
class Environment:
    """What a view keeps of the session that it was created in: confs, current catalog and schema.

    Attributes:
        confs: Those that the analyzer may read, by name, sorted.
        namespace: Current catalog and schema.
        ansi: Whether Spark is to fail where standard SQL does.
        is_case_sensitive: Whether names differ that differ in case alone.
    """

    confs: tuple[tuple[str, str], ...]
    namespace: tuple[str, ...]
    ansi: bool
    is_case_sensitive: bool


@dataclass(frozen=True, slots=True)
class SessionState:
    """What Spark's analyzer reads of a session, but for the values of variables.

    Attributes:
        environment: Of the statement, or of the view that is being read.
        functions: Changes whenever a function of the session is another.
    """

    environment: Environment
    functions: int


def session_state(spark: SparkSession, confs: Mapping[str, str], namespace: tuple[str, ...] = ()) -> SessionState:
    """The state that this thread's analyses read.

    Args:
        spark: The session.
        confs: That these analyses read, as `sparkext.jvm.analysis_context.analysis_confs` gives them.
        namespace: Of the view that is being read; the current one if left out.
    """
    return SessionState(_environment(spark, confs, namespace), functions_hash(spark))


def _environment(spark: SparkSession, confs: Mapping[str, str], namespace: tuple[str, ...]) -> Environment:
    read = confs_that_are_read(spark, confs)
    is_case_sensitive = confs.get(_CASE_SENSITIVE, "false").lower() == "true"
    return Environment(read, namespace or current_namespace(spark), confs[ANSI] == "true", is_case_sensitive)


def confs_that_are_read(spark: SparkSession, confs: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Those of ``confs``, by name, sorted, that decide what a statement means or which rows it gives."""
    read = (name for name, value in confs.items() if _is_read(spark, name) and not _is_unset(name, value))
    return tuple(sorted((name, confs[name]) for name in read))


def _is_unset(name: str, value: str) -> bool:
    """Whether a conf has been given the value that it has without that, or that Spark gives it by itself."""
    default = _SET_BY_SPARK.get(name) or default_of(name)
    return default is not None and default.lower() == value.lower()


def _is_read(spark: SparkSession, name: str) -> bool:
    """Whether a conf may decide rows, and sessions may differ in it."""
    if not name.startswith("spark.sql.") or (name.startswith(_NOT_READ) and not name.startswith(_READ)):
        return False
    if name not in _modifiable:
        _modifiable[name] = spark.conf.isModifiable(name)
    return _modifiable[name]
