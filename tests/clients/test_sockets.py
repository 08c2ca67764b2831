"""The sockets between Python and the JVM."""

from __future__ import annotations

import os
import threading
from typing import Any

from pyspark.sql import SparkSession

from sparkext.jvm.gateway import java_class
from tests.support.spark_programs import eventually


class _Statement:
    """What a thread of the JVM runs, as those of servers do."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self.rows: list[Any] = []

    def run(self) -> None:
        self.rows = self._spark.sql("SELECT 1 AS one").collect()

    class Java:
        implements = ("java.lang.Runnable",)


def test_nothing_that_the_jvm_says_is_kept_back(spark: SparkSession) -> None:
    """Each thread has a connection of its own."""
    assert spark.sparkContext._gateway is not None
    client = spark.sparkContext._gateway.java_gateway_server.getCallbackClient()
    is_sent_at_once: list[bool] = []

    def look() -> None:
        spark.sql("SELECT 1")
        is_sent_at_once.append(client.getPerThreadConnection().getSocket().getTcpNoDelay())

    look()
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert is_sent_at_once == [True, True]


def test_connections_of_threads_that_have_ended_are_closed(spark: SparkSession) -> None:
    """Hundreds of statements, each in a new thread of the JVM, as Spark Connect runs them."""

    def held() -> tuple[int, int]:
        return threading.active_count(), len(os.listdir("/proc/self/fd"))

    threads_before, descriptors_before = held()
    most = 0
    for _ in range(300):
        statement = _Statement(spark)
        thread = java_class("java.lang.Thread")(statement)
        thread.start()
        thread.join()
        assert [row.one for row in statement.rows] == [1]
        most = max(most, threading.active_count())
    assert most > threads_before, "the statements ran without connections of their own"

    def is_flat() -> bool:
        threads, descriptors = held()
        return threads <= threads_before + 5 and descriptors <= descriptors_before + 10

    eventually(is_flat, seconds=30)  # a few more: the thread that closes them has a connection, too
