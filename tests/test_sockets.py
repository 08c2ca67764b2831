"""The sockets between Python and the JVM."""

from __future__ import annotations

import threading

from pyspark.sql import SparkSession


def test_nothing_that_the_jvm_says_is_kept_back(spark: SparkSession) -> None:
    """Each thread has a connection of its own."""
    assert spark.sparkContext._gateway is not None
    client = spark.sparkContext._gateway.java_gateway_server.getCallbackClient()
    found: list[bool] = []

    def look() -> None:
        spark.sql("SELECT 1")
        found.append(client.getPerThreadConnection().getSocket().getTcpNoDelay())

    look()
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [True, True]
