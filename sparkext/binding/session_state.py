"""What of a session Spark's analyzer reads: the same text may mean something else when it has changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import SparkSession

from sparkext.jvm.analysis_context import ANSI, current_namespace, functions_hash

_CASE_SENSITIVE = "spark.sql.caseSensitive"

_NOT_READ = (
    "spark.sql.adaptive.",
    "spark.sql.autoBroadcastJoinThreshold",
    "spark.sql.cbo.",
    "spark.sql.codegen.",
    "spark.sql.debug.",
    "spark.sql.execution.",
    "spark.sql.files.",
    "spark.sql.hive.convert",
    "spark.sql.inMemoryColumnarStorage.",
    "spark.sql.join.",
    "spark.sql.maxNestedViewDepth",
    "spark.sql.optimizer.",
    "spark.sql.parquet.",
    "spark.sql.planChangeLog.",
    "spark.sql.repl.",
    "spark.sql.shuffle.",
    "spark.sql.statistics.",
    "spark.sql.streaming.",
    "spark.sql.thriftServer.",
    "spark.sql.ui.",
)
"""Beginnings of the names of confs that say how something is run, and not what it means."""

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
    read = sorted((name, value) for name, value in confs.items() if _is_read(spark, name))
    is_case_sensitive = confs.get(_CASE_SENSITIVE, "false").lower() == "true"
    return Environment(tuple(read), namespace or current_namespace(spark), confs[ANSI] == "true", is_case_sensitive)


def _is_read(spark: SparkSession, name: str) -> bool:
    """Whether the analyzer may read a conf, and sessions may differ in it."""
    if not name.startswith("spark.sql.") or name.startswith(_NOT_READ):
        return False
    if name not in _modifiable:
        _modifiable[name] = spark.conf.isModifiable(name)
    return _modifiable[name]
