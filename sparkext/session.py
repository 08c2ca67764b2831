"""Sessions with the extension, and switching it on and off."""

from __future__ import annotations

import weakref
from functools import partial
from typing import Any

from pyspark import SparkContext
from pyspark.errors import PySparkNotImplementedError
from pyspark.sql import DataFrame, SparkSession

from sparkext.execution.python_workers import leave_folder_out, prepare
from sparkext.jvm.extension_jar import JarProcess
from sparkext.jvm.gateway import has_pinned_threads
from sparkext.jvm.sessions import cloned_session, inject_parser, java_session, make_current
from sparkext.parser.commands import Command, ParsedCommand, ReportForm, command
from sparkext.parser.trend_parser import TrendParser
from sparkext.sharing_picture import PlanFrame, SharingPicture, explain
from sparkext.sql.tokens import TokenError, tokenize
from sparkext.workload.interrupts import held_back
from sparkext.workload.workload import start_numbers

_enabled: weakref.WeakKeyDictionary[SparkSession, SparkSession] = weakref.WeakKeyDictionary()
_parsers: weakref.WeakKeyDictionary[SparkContext, weakref.WeakSet[TrendParser]] = weakref.WeakKeyDictionary()


class TrendSession(SparkSession):
    """An enabled session."""

    def sql(self, sqlQuery: str, *args: Any, **kwargs: Any) -> DataFrame:  # noqa: N803
        """As Spark's, of which it is the very data frame but for ``EXPLAIN SHARING``."""
        with held_back(self.sparkContext):
            frame = super().sql(sqlQuery, *args, **kwargs)
        asked = _asked(sqlQuery) if "sharing" in sqlQuery.lower() else None
        if (
            asked is None
            or asked.command is not Command.EXPLAIN_SHARING
            or asked.form is not ReportForm.TEXT
            or asked.compares
        ):
            return frame
        return PlanFrame(frame, asked.only)

    def table(self, tableName: str) -> DataFrame:  # noqa: N803
        """As Spark's."""
        with held_back(self.sparkContext):
            return super().table(tableName)


def enable(spark: SparkSession) -> SparkSession:
    """A session whose ``spark.sql`` understands ``MATCH_TREND`` and its commands.

    It has the temporary views, settings and registered functions of ``spark``, and becomes the active
    and default session, so that code that asks Spark for the session gets this one. Calling it again,
    with either session, returns the same session.

    Raises:
        PySparkNotImplementedError: ``spark`` is a Spark Connect session, which has no JVM to extend, or the
            environment has ``PYSPARK_PIN_THREAD=false``, so that the JVM is answered by other threads than it asks.
    """
    _check_has_jvm(spark)
    if not has_pinned_threads():
        raise _not_implemented("sparkext with PYSPARK_PIN_THREAD=false in the environment")
    if spark in _enabled:
        [parser] = parsers_of(_enabled[spark])
        parser.is_on = True
        make_current(_enabled[spark])
        return _enabled[spark]
    context = spark.sparkContext
    if context not in _parsers:
        _parsers[context] = weakref.WeakSet()
        inject_parser(spark, partial(_parser, context))
    prepare(context)
    session = TrendSession(context, cloned_session(spark))
    _enabled[spark] = _enabled[session] = session
    make_current(session)
    return session


def join(spark: SparkSession) -> JarProcess:
    """Read the statements of an application's sessions once they have clauses, as the jar asks that has started this
    process.

    Args:
        spark: A session of the application.
    """
    context = spark.sparkContext
    _parsers[context] = weakref.WeakSet()
    process = JarProcess()
    leave_folder_out(context)
    prepare(context)
    start_numbers(process.number)
    process.offer_parsers(partial(_parser, context))
    return process


def disable(spark: SparkSession) -> None:
    """Switch the extension off in a session, until it is enabled again.

    The temporary views that hold trend queries are dropped, with all that has been kept for them; everything
    else stays. From then on statements are read by Spark's own parser alone.

    Args:
        spark: What `enable` was given, or returned. Nothing happens to a session that is not enabled.
    """
    if spark in _enabled:
        [parser] = parsers_of(_enabled[spark])
        parser.switch_off()


def explain_sharing(spark: SparkSession, only: str | None = None, compare: bool = False) -> SharingPicture:
    """What the trend queries of a session share, which notebooks show as a picture.

    Args:
        spark: The session; it is enabled if it is not yet.
        only: A view or query, when only the part that concerns it is wanted.
        compare: Whether to say what each optimizer makes of the queries, which plans them by all.

    Raises:
        PySparkNotImplementedError: ``spark`` is a Spark Connect session.
        ParseException: ``TREND_UNKNOWN_QUERY`` when ``only`` is none; a setting has an unknown value.
    """
    return explain(spark if is_enabled(spark) else enable(spark), only, compare)


def _check_has_jvm(spark: SparkSession) -> None:
    if not isinstance(spark, SparkSession):
        raise _not_implemented("sparkext with Spark Connect")


def _not_implemented(feature: str) -> PySparkNotImplementedError:
    return PySparkNotImplementedError(errorClass="NOT_IMPLEMENTED", messageParameters={"feature": feature})


def _parser(context: SparkContext, session: Any, delegate: Any) -> TrendParser:
    """The parser of a new session of the JVM, which has Spark's own parser."""
    parser = TrendParser(context, session, delegate)
    _parsers[context].add(parser)
    return parser


def parsers(context: SparkContext) -> list[TrendParser]:
    """Parsers of the enabled sessions of an application."""
    return list(_parsers.get(context, ()))


def is_enabled(spark: SparkSession) -> bool:
    """Whether statements of a session may have the clause, also if it was made from an enabled one.

    Raises:
        PySparkNotImplementedError: ``spark`` is a Spark Connect session.
    """
    _check_has_jvm(spark)
    return any(parser.is_on for parser in parsers_of(spark))


def parsers_of(spark: SparkSession) -> list[TrendParser]:
    """The parser of a session; nothing if Spark's own reads its statements."""
    session = java_session(spark)
    return [parser for parser in parsers(spark.sparkContext) if session.equals(parser.session)]


def _asked(sql: str) -> ParsedCommand | None:
    try:
        return command(tokenize(sql))
    except TokenError:
        return None
