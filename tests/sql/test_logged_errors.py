"""What PySpark's log has of errors: of sparkext's own nothing, since who makes the statement is told."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from pyspark.errors import AnalysisException
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from tests.support.sql_cases import stream, trends


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """Messages that PySpark's loggers of errors hand on."""
    messages: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(str(record.msg))

    handler = Handler()
    loggers = [PySparkLogger.getLogger(name) for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger")]
    for logger in loggers:
        logger.addHandler(handler)
    yield messages
    for logger in loggers:
        logger.removeHandler(handler)


def test_errors_of_clauses_are_raised_and_not_logged(spark: SparkSession, logged: list[str]) -> None:
    stream(spark, {"x": "a1 b2"})
    for statement in (trends("A B", "COUNT(nope) AS n"), trends("A B", more="DEFINE B AS nope > 1")):
        with pytest.raises(AnalysisException, match="TREND_"):
            spark.sql(statement)
    assert logged == []


def test_other_errors_are_logged_as_ever(spark: SparkSession, logged: list[str]) -> None:
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        spark.sql("SELECT * FROM no_such_relation")
    assert any("TABLE_OR_VIEW_NOT_FOUND" in message for message in logged)
