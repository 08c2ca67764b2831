"""What Spark's analyzer goes by: confs, current catalog and schema, functions, and what it is at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import SparkSession

from sparkext.jvm.gateway import JvmError, java_class, java_gateway, java_method

TIME_ZONE = "spark.sql.session.timeZone"
ANSI = "spark.sql.ansi.enabled"

_ORIGIN = "org.apache.spark.sql.catalyst.trees.CurrentOrigin"

_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)
"""Names that Spark shows as they are."""


@dataclass(frozen=True, slots=True, eq=False)
class AnalysisContext:
    """What the analysis that this thread is making is at.

    Attributes:
        is_outermost: Whether that is a statement, or a view by itself, and not a view that is read.
        namespace: Catalog and schema of the view; empty for those of the session.
        analysis: What all views that the analysis comes across have in common, for `SeenAnalysis`.
    """

    is_outermost: bool
    namespace: tuple[str, ...]
    analysis: Any


def analysis_context() -> AnalysisContext:
    """The context in which this thread analyses a plan now."""
    context = java_method("org.apache.spark.sql.catalyst.analysis.AnalysisContext", "get")()
    names = str(context.catalogAndNamespace().mkString("\0"))
    namespace = tuple(names.split("\0")) if names else ()
    return AnalysisContext(context.nestedViewDepth() == 0, namespace, context.relationCache())


@contextmanager
def of_no_view() -> Iterator[None]:
    """What this thread parses is of no view: expressions that fail do not name the one that is being read."""
    get, reset, put = (java_method(_ORIGIN, name) for name in ("get", "reset", "set"))
    before = get()
    reset()
    try:
        yield
    finally:
        put(before)


class SeenAnalysis:
    """An analysis of Spark's, told from all others."""

    def __init__(self, context: AnalysisContext) -> None:
        """Of the analysis that a thread is making."""
        self._seen = java_class("java.lang.ref.WeakReference")(context.analysis)

    def is_that_of(self, context: AnalysisContext) -> bool:
        """Whether a thread is still making it."""
        return bool(self._seen.refersTo(context.analysis))


def analysis_confs() -> dict[str, str]:
    """Confs that this thread's analyses read: those of the session, or of the view that is being read.

    The time zone and `ANSI` are always among them.
    """
    return _confs(java_method("org.apache.spark.sql.internal.SQLConf", "get")())


def has_double_quoted_names() -> bool:
    """Whether to this thread's statements and views double quotes are around names, and not around strings."""
    return bool(java_method("org.apache.spark.sql.internal.SQLConf", "get")().doubleQuotedIdentifiers())


@lru_cache(maxsize=4)
def _ansi_by_default(_: Any) -> str:
    """What a JVM takes `ANSI` for where it is not set: what it was started with."""
    return str(java_class("org.apache.spark.sql.internal.SQLConf")().ansiEnabled())


@lru_cache(maxsize=1024)
def default_of(name: str) -> str | None:
    """The value that a conf has where it is not set; None if there is none."""
    try:
        return str(java_class("org.apache.spark.sql.internal.SQLConf")().getConfString(name))
    except (CapturedException, JvmError):
        return None


@lru_cache(maxsize=1024)
def is_built_in(name: str) -> bool:
    """Whether a name is that of a function of Spark's own, which it is in every schema."""
    functions = java_class("org.apache.spark.sql.catalyst.analysis.FunctionRegistry").expressions()
    return bool(functions.contains(name.lower()))


def session_confs(spark: SparkSession) -> dict[str, str]:
    """Confs that a session has now, the time zone and `ANSI` always among them."""
    return _confs(_session(spark).conf)


def _confs(conf: Any) -> dict[str, str]:
    entries = (entry.partition(" -> ") for entry in str(conf.getAllConfs().mkString("\0")).split("\0"))
    confs = {name: value for name, _, value in entries}
    # These two a view keeps also when the session has them by default.
    confs[TIME_ZONE] = confs.get(TIME_ZONE) or str(conf.sessionLocalTimeZone())
    confs[ANSI] = (confs.get(ANSI) or _ansi_by_default(java_gateway().jvm)).lower()
    return confs


class _Session:
    """What a session of the JVM has for all its life, so that the JVM is asked for it once."""

    def __init__(self, spark: SparkSession) -> None:
        state = spark._jsparkSession.sessionState()
        self.conf = state.conf()
        self.catalog = spark._jsparkSession.catalog()
        self.catalogs = state.catalogManager()
        self.functions = state.functionRegistry().functionBuilders()


_sessions: WeakKeyDictionary[SparkSession, _Session] = WeakKeyDictionary()


def _session(spark: SparkSession) -> _Session:
    session = _sessions.get(spark)
    if session is None:
        session = _sessions[spark] = _Session(spark)
    return session


def current_namespace(spark: SparkSession) -> tuple[str, ...]:
    """Current catalog and schema of a session."""
    session = _session(spark)
    schema = str(session.catalog.currentDatabase())
    if _PLAIN.fullmatch(schema) is None:  # it may have several parts
        return (str(session.catalog.currentCatalog()), *map(str, session.catalogs.currentNamespace()))
    return str(session.catalog.currentCatalog()), schema


def functions_hash(spark: SparkSession) -> int:
    """A number that changes whenever a function of the session is another."""
    return int(_session(spark).functions.hashCode())


def is_aggregate(name: str) -> bool:
    """Whether a name is that of an aggregate function of Spark's own."""
    functions = java_class("org.apache.spark.sql.catalyst.analysis.FunctionRegistry").expressions()
    function = functions.get(name.lower())
    return bool(function.isDefined() and function.get()._1().getGroup() == "agg_funcs")
