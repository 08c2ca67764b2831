"""``sparkext connect-server``: Spark Connect's own server, in this JVM, whose sessions are enabled."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from sparkext.cli.closed_sessions import serve
from sparkext.cli.thrift_server import LOOPBACK
from sparkext.jvm.connect_service import ConnectServer, open_sessions
from sparkext.jvm.gateway import JavaError
from sparkext.jvm.spark_programs import first_cause

HOST = "spark.connect.grpc.binding.address"
PORT = "spark.connect.grpc.binding.port"
DEFAULT_PORT = "15002"


def run(options: Sequence[str], start: Callable[[], SparkSession]) -> int:
    """Serve until the JVM ends or Spark is stopped.

    Args:
        options: Of the server, which has none.
        start: Makes the session.

    Returns:
        Exit status.
    """
    if options:
        sys.stderr.write(
            f"sparkext connect-server: unknown option {options[0]}; use --conf, as in --conf {PORT}=15003\n"
        )
        return 1
    conf = SparkConf()
    if not conf.contains(HOST):
        SparkContext.setSystemProperty(HOST, LOOPBACK)
    session = start()
    try:
        server = ConnectServer(session)
    except JavaError as error:
        port = conf.get(PORT, DEFAULT_PORT)
        sys.stderr.write(f"sparkext connect-server: cannot listen on port {port}: {first_cause(error)}\n")
        return 1
    sys.stderr.write(f"sparkext connect-server: listening on {session.conf.get(HOST)}:{server.port}\n")
    serve(session, open_sessions)
    return 0
