"""Sessions of the JVM, and the parser that they have from Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession

from sparkext.jvm.gateway import java_class, java_gateway
from sparkext.jvm.spark_errors import install_conditions, shorten_errors_of_frames


class ParserInterface:
    """What Spark takes for a parser. It is called by the names of its methods."""

    class Java:
        implements = ("org.apache.spark.sql.catalyst.parser.ParserInterface",)


class Reference:
    """A session of the JVM, or a part of it, as its own parser knows it.

    The session has the parser, which is of this process: were it held here, neither side could ever collect it. Spark
    makes a session for each plan that it keeps, besides those of users.
    """

    def __init__(self, of: Any) -> None:
        """To an object of the JVM."""
        self._reference = java_class("java.lang.ref.WeakReference")(of)

    def get(self) -> Any:
        """The object; None if it is gone."""
        return self._reference.get()


class MakeParser:
    """What Spark's session extensions, or the jar, call with a session and the parser that it has."""

    def __init__(self, make: Callable[[Any, Any], ParserInterface]) -> None:
        self._make = make

    def apply(self, session: Any, delegate: Any) -> ParserInterface:
        """The parser of ``session``."""
        return self._make(session, delegate)

    class Java:
        implements = ("scala.Function2",)


def inject_parser(spark: SparkSession, make: Callable[[Any, Any], ParserInterface]) -> None:
    """Have the sessions that are made from this one ask Python for their parsers.

    Args:
        spark: The session.
        make: Gives the parser for a session of the JVM and Spark's own parser.
    """
    let_java_call()
    spark._jsparkSession.extensions().injectParser(MakeParser(make))


def let_java_call() -> None:
    """Let the JVM call objects of this process, and give errors of theirs to the user as they are."""
    gateway = java_gateway()
    ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]
    gateway._callback_server.callback_server_parameters.propagate_java_exceptions = True
    install_conditions()
    shorten_errors_of_frames()


def cloned_session(spark: SparkSession) -> Any:
    """A new session of the JVM, with the views, confs and functions of this one."""
    return spark._jsparkSession.cloneSession()


def java_session(spark: SparkSession) -> Any:
    """The session that the JVM has, with its state: its parser has been made."""
    session = spark._jsparkSession
    session.sessionState()
    return session


_ids: WeakKeyDictionary[SparkSession, str] = WeakKeyDictionary()
"""Of sessions that have been asked for it."""


def session_id(spark: SparkSession) -> str:
    """UUID of a session."""
    uuid = _ids.get(spark)
    if uuid is None:
        uuid = _ids[spark] = str(spark._jsparkSession.sessionUUID())
    return uuid


def shared_state(spark: SparkSession) -> Any:
    """What a session has in common with others: catalog and cache. Equal for those that have it in common."""
    return spark._jsparkSession.sharedState()


def make_current(session: SparkSession) -> None:
    """Let `SparkSession.getActiveSession` and ``builder.getOrCreate`` find a session."""
    sessions = java_class("org.apache.spark.sql.classic.SparkSession")
    sessions.setDefaultSession(session._jsparkSession)
    sessions.setActiveSession(session._jsparkSession)
    SparkSession._instantiatedSession = session
    SparkSession._activeSession = session
