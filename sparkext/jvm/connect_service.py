"""Spark Connect's server, in the JVM that has started this process."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from sparkext.jvm.gateway import java_class, scala_object

_THREADS = ("SparkConnect", "grpc-")
"""How names of the threads begin that serve clients."""

_SERVICE = "org.apache.spark.sql.connect.service.SparkConnectService"


class ConnectServer:
    """The server, listening.

    Attributes:
        port: That it listens on.
    """

    def __init__(self, session: SparkSession) -> None:
        """Start it; its clients have sessions made from ``session``.

        Raises:
            JavaError: It cannot listen.
        """
        service = scala_object(_SERVICE)
        service.start(session.sparkContext._jsc.sc())
        self.port = int(service.localPort())


def is_of_client() -> bool:
    """Whether this thread is told to parse a statement of a client, whose plan the server remembers as it is parsed.

    A data frame of the client is analysed whenever it is used, out of that plan.
    """
    thread = java_class("java.lang.Thread").currentThread()
    return str(thread.getName()).startswith(_THREADS)


def open_sessions() -> list[Any]:
    """Sessions of the JVM that clients have open."""
    manager = scala_object(_SERVICE).sessionManager()
    held = manager.getClass().getDeclaredField("sessionStore")
    held.setAccessible(True)
    return [holder.session() for holder in held.get(manager).values()]
