"""The jar by which Spark finds sparkext, which has started this process: see ``extension/src``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from sparkext.jvm.connect_service import open_sessions
from sparkext.jvm.gateway import java_class, java_gateway
from sparkext.jvm.sessions import MakeParser, ParserInterface, let_java_call


def application_session() -> SparkSession:
    """A session of the application that this process is to serve."""
    SparkContext._ensure_initialized()
    gateway = java_gateway()
    context = gateway.entry_point.context()
    conf = SparkConf(_jvm=gateway.jvm, _jconf=context.getConf())
    default = java_class("org.apache.spark.sql.classic.SparkSession").getDefaultSession()
    session = default.get() if default.isDefined() else gateway.entry_point.session()
    return SparkSession(SparkContext(conf=conf, gateway=gateway, jsc=context), session)


class JarProcess:
    """This process, as the jar knows it.

    Attributes:
        number: How many the jar has started for its JVM, this one included.
    """

    def __init__(self) -> None:
        self._known = java_gateway().entry_point
        self.number = int(self._known.number())

    def offer_parsers(self, make: Callable[[Any, Any], ParserInterface]) -> None:
        """Have the jar ask for the parser of a session once one of its statements has a clause.

        Args:
            make: Gives the parser for a session of the JVM and the parser that it has had before.
        """
        let_java_call()
        self._known.join(MakeParser(make))

    def is_closed(self, session: Any) -> bool:
        """Whether a server has closed a session of the JVM."""
        if self._known.isOfConnect(session):
            return session not in open_sessions()
        return bool(self._known.isClosed(session))
