"""A warning says when a query has no trends since no event has a type that it needs, as when that is misspelt."""

from __future__ import annotations

import logging

import pytest
from pyspark.sql import SparkSession

from sparkext.execution import waiting
from tests.support.pages import blocks
from tests.support.spark_programs import ROOT
from tests.support.sql_cases import relation, trends, values

LOGGER = "sparkext.execution.waiting"


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """What is logged, where nothing has been said before."""
    monkeypatch.setattr(waiting, "_told", set())
    caplog.set_level(logging.WARNING, LOGGER)
    return caplog


def test_a_misspelt_variable(spark: SparkSession, told: pytest.LogCaptureFixture) -> None:
    """Tasks report before the rows of a query are there."""
    kinds = ["Request", "Pickup", "Request", "Travel"]
    relation(spark, "e", "k, t, ty, v", (f"'x', {at}, '{kind}', 1D" for at, kind in enumerate(kinds)))
    [(_, warning)] = blocks(ROOT / "docs" / "troubleshooting.md")["The result is empty"]
    spark.conf.set("spark.sparkext.partitions", "3")
    try:
        for source, pattern in (
            ("e", "Request Pickup"),
            ("e", "Request Pikcup?"),
            ("(SELECT * FROM e WHERE v > 5)", "Request Pikcup"),
            ("e", "Nothing Pikcup"),
        ):
            spark.sql(trends(pattern, source=source)).collect()
        assert values(spark.sql(trends("Request Pikcup", more="DEFINE Pikcup AS v > 0"))) == []
        assert told.messages == []
        for _ in range(2):
            assert values(spark.sql(trends("Request Pikcup"))) == []
        [said] = told.messages
        assert said.endswith(f": {warning.strip()}")
    finally:
        spark.conf.unset("spark.sparkext.partitions")
