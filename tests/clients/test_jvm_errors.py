"""Spark's own exceptions on their way through the parser."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import ParseException
from pyspark.sql import SparkSession

from sparkext import session
from tests.support.sql_cases import values


def test_an_exception_without_a_condition(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some that Spark throws have a text alone. It is kept, and the session goes on."""
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    thrown = gateway.jvm.org.apache.spark.SparkException("this and nothing else")
    assert thrown.getCondition() is None
    [parser] = [
        candidate for candidate in session.parsers(spark.sparkContext) if spark._jsparkSession.equals(candidate.session)
    ]

    def fail(*_: object) -> object:
        raise Py4JJavaError("", java_exception=thrown)

    class Failing:
        def __getattr__(self, _: str) -> object:
            return fail

    monkeypatch.setattr(parser, "_delegate", Failing())
    with pytest.raises(ParseException, match="this and nothing else") as caught:
        spark.sql("SELECT 1")
    assert caught.value.getCondition() == "INTERNAL_ERROR"
    monkeypatch.undo()
    assert values(spark.sql("SELECT 1")) == [(1,)]
