"""Switching the extension on and off."""

from __future__ import annotations

import weakref

from pyspark import SparkContext
from pyspark.errors import PySparkNotImplementedError
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession

from sparkext.jvm_errors import install_conditions
from sparkext.python_workers import prepare
from sparkext.sharing_picture import SharingPicture, TrendSession, explain
from sparkext.spark_parser import TrendParser, TrendParserBuilder

_enabled: weakref.WeakKeyDictionary[SparkSession, SparkSession] = weakref.WeakKeyDictionary()
_builders: weakref.WeakKeyDictionary[SparkContext, TrendParserBuilder] = weakref.WeakKeyDictionary()


def enable(spark: SparkSession) -> SparkSession:
    """A session whose ``spark.sql`` understands ``MATCH_TREND`` and its commands.

    It has the temporary views, settings and registered functions of ``spark``, and becomes the active
    and default session, so that code that asks Spark for the session gets this one. Calling it again,
    with either session, returns the same session.

    Raises:
        PySparkNotImplementedError: ``spark`` is a Spark Connect session, which has no JVM to extend.
    """
    if not isinstance(spark, SparkSession):
        raise PySparkNotImplementedError(
            errorClass="NOT_IMPLEMENTED", messageParameters={"feature": "sparkext with Spark Connect"}
        )
    if spark in _enabled:
        [parser] = parsers_of(_enabled[spark])
        parser.is_on = True
        return _enabled[spark]
    context = spark.sparkContext
    gateway = context._gateway
    assert gateway is not None
    if context not in _builders:
        ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]
        gateway._callback_server.callback_server_parameters.propagate_java_exceptions = True
        install_conditions(gateway.jvm)
        _builders[context] = TrendParserBuilder(context)
        spark._jsparkSession.extensions().injectParser(_builders[context])
    prepare(spark)
    session = TrendSession(context, spark._jsparkSession.cloneSession())
    _enabled[spark] = _enabled[session] = session
    _make_current(session)
    return session


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


def explain_sharing(spark: SparkSession, only: str | None = None) -> SharingPicture:
    """What the trend queries of a session share, which notebooks show as a picture.

    Args:
        spark: The session; it is enabled if it is not yet.
        only: A view or query, when only the part that concerns it is wanted.

    Raises:
        PySparkNotImplementedError: ``spark`` is a Spark Connect session.
        ParseException: ``TREND_UNKNOWN_QUERY`` when ``only`` is none; a setting has an unknown value.
    """
    return explain(spark if is_enabled(spark) else enable(spark), only)


def parsers(context: SparkContext) -> list[TrendParser]:
    """Parsers of the enabled sessions of an application."""
    return list(_builders[context].parsers) if context in _builders else []


def is_enabled(spark: SparkSession) -> bool:
    """Whether statements of a session may have the clause, also if it was made from an enabled one."""
    return any(parser.is_on for parser in parsers_of(spark))


def parsers_of(spark: SparkSession) -> list[TrendParser]:
    """The parser of a session; nothing if Spark's own reads its statements."""
    spark._jsparkSession.sessionState()  # with it comes the parser
    return [parser for parser in parsers(spark.sparkContext) if parser.session.equals(spark._jsparkSession)]


def _make_current(session: SparkSession) -> None:
    """Let `SparkSession.getActiveSession` and `builder.getOrCreate` find the session."""
    jvm = session.sparkContext._jvm
    assert jvm is not None
    sessions = jvm.org.apache.spark.sql.classic.SparkSession
    sessions.setDefaultSession(session._jsparkSession)
    sessions.setActiveSession(session._jsparkSession)
    SparkSession._instantiatedSession = session
    SparkSession._activeSession = session
