"""Python in which the JVM is answered by other threads than it asks."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
from pyspark.sql import SparkSession
import sparkext
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
try:
    sparkext.enable(spark)
except Exception as error:
    print(type(error).__name__, error)
print(spark.sql("SELECT 40 + 2 AS n").head().n)
"""


def test_enable_says_so() -> None:
    environment = {**os.environ, "PYSPARK_PIN_THREAD": "false"}
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    first, second = ran.stdout.splitlines()
    assert first.startswith("PySparkNotImplementedError")
    assert "PYSPARK_PIN_THREAD=false" in first
    assert second == "42"
