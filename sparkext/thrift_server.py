"""``sparkext thriftserver``: Spark's own JDBC and ODBC server, in this JVM, whose sessions are enabled."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from typing import Any

from pyspark.sql import SparkSession

from sparkext.session import parsers

log = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
BIND_HOST = "hive.server2.thrift.bind.host"
BIND_HOST_VARIABLE = "HIVE_SERVER2_THRIFT_BIND_HOST"

SECONDS = 1.0
"""How often the server looks for sessions that have been closed."""


def run(jvm: Any, options: Any, start: Callable[[], SparkSession]) -> int:
    """Serve until the JVM ends or Spark is stopped.

    Args:
        jvm: Where to.
        options: Of the server; an array of Java's.
        start: Makes the session.

    Returns:
        Exit status.
    """
    service = jvm.org.apache.hive.service.server
    processor = getattr(service, "HiveServer2$ServerOptionsProcessor")("HiveThriftServer2")
    processor.parse(options)  # ends the JVM if they are wrong
    if not _is_host_given(jvm):
        jvm.java.lang.System.setProperty(f"spark.hadoop.{BIND_HOST}", LOOPBACK)
    session = start()
    server = jvm.org.apache.spark.sql.hive.thriftserver.HiveThriftServer2.startWithContext(
        session._jsparkSession.sqlContext()
    )
    services = {one.getName(): one for one in server.getServices()}
    listening = next(one for name, one in services.items() if name.startswith("Thrift"))
    address = f"{listening.getServerIPAddress().getHostAddress()}:{listening.getPortNumber()}"
    jvm.java.lang.System.err.println(f"sparkext thriftserver: listening on {address}")
    contexts = _sessions_by_handle(services["CLIService"])
    scala_context = session.sparkContext._jsc.sc()
    while not scala_context.isStopped():
        release_closed(session, contexts)
        time.sleep(SECONDS)
    return 0


def release_closed(base: SparkSession, contexts: Any) -> None:
    """Release what the trend queries of closed sessions hold.

    Args:
        base: The session that those of clients are made from, or that all clients use.
        contexts: Open sessions by handle.
    """
    # A session has no queries before it is among the open ones.
    holding = [parser for parser in parsers(base.sparkContext) if parser.session != base._jsparkSession]
    holding = [parser for parser in holding if parser.holds_queries()]
    if not holding:
        return
    still_open = list(contexts.values())
    for parser in holding:
        if parser.session not in still_open:
            log.info("a session was closed; its trend queries and their results are released")
            parser.workload.release()


def _is_host_given(jvm: Any) -> bool:
    """Whether the user has said where the server is to listen."""
    given = [
        os.environ.get(BIND_HOST_VARIABLE),
        jvm.org.apache.spark.SparkConf().get(f"spark.hadoop.{BIND_HOST}", ""),
        jvm.org.apache.hadoop.hive.conf.HiveConf().get(BIND_HOST),  # of hive-site.xml and --hiveconf
    ]
    return any(given)


def _sessions_by_handle(service: Any) -> Any:
    """The server's own map of open sessions."""
    manager = service.getSessionManager()
    field = manager.getClass().getDeclaredMethod("sparkSqlOperationManager", None)
    field.setAccessible(True)
    return field.invoke(manager, None).sessionToContexts()
