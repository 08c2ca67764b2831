"""``sparkext thriftserver``: Spark's own JDBC and ODBC server, in this JVM, whose sessions are enabled."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from sparkext.cli.closed_sessions import serve
from sparkext.jvm.gateway import JavaError
from sparkext.jvm.spark_programs import ThriftServer, check_server_options, first_cause, hive_setting

LOOPBACK = "127.0.0.1"
BIND_HOST = "hive.server2.thrift.bind.host"
BIND_HOST_VARIABLE = "HIVE_SERVER2_THRIFT_BIND_HOST"

PORT = "hive.server2.thrift.port"
PORT_VARIABLE = "HIVE_SERVER2_THRIFT_PORT"
DEFAULT_PORT = 10000


def run(options: Sequence[str], start: Callable[[], SparkSession]) -> int:
    """Serve until the JVM ends or Spark is stopped.

    Args:
        options: Of the server.
        start: Makes the session.

    Returns:
        Exit status.
    """
    check_server_options(options)
    if not _is_host_given():
        SparkContext.setSystemProperty(f"spark.hadoop.{BIND_HOST}", LOOPBACK)
    session = start()
    try:
        server = ThriftServer(session)
    except JavaError as error:
        sys.stderr.write(f"sparkext thriftserver: cannot listen on port {_port()}: {first_cause(error)}\n")
        return 1
    sys.stderr.write(f"sparkext thriftserver: listening on {server.address}\n")
    serve(session, server.open_sessions)
    return 0


def _port() -> str:
    """The port that the server is to listen on."""
    return os.environ.get(PORT_VARIABLE) or hive_setting(PORT) or str(DEFAULT_PORT)


def _is_host_given() -> bool:
    """Whether the user has said where the server is to listen."""
    by_conf = SparkConf().get(f"spark.hadoop.{BIND_HOST}", "")
    return bool(os.environ.get(BIND_HOST_VARIABLE) or by_conf or hive_setting(BIND_HOST))
