"""A warning says when a query has no trends since no event has a type that it needs, as when that is misspelt."""

from __future__ import annotations

import logging
import threading
import time

import pytest
from pyspark.sql import SparkSession

from sparkext.execution import waiting
from sparkext.workload.remarks import LOOKS_UP
from sparkext.workload.soon import SOON
from tests.support.pages import blocks
from tests.support.spark_programs import ROOT
from tests.support.sql_cases import relation, trends, values

LOGGER = "sparkext.execution.waiting"

NOTHING = "no event of the source has the type {}, so that a query finds no events at all; {}"
SPELT = "did you mean {}? Types and variables are compared as they are spelt"


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


def said(told: pytest.LogCaptureFixture) -> list[str]:
    """What has been said, once nobody looks for types any more."""
    time.sleep(SOON + 1.0)  # a local relation without such events makes no tasks
    for thread in threading.enumerate():
        if thread.name == LOOKS_UP:
            thread.join()
    return [message.partition(": ")[2].partition(": ")[2] for message in told.messages]


@pytest.mark.parametrize("adaptive", ["false", "true"])
@pytest.mark.parametrize("partitions", ["3", "auto"])
def test_no_variable_of_a_query_is_found(
    spark: SparkSession, told: pytest.LogCaptureFixture, adaptive: str, partitions: str
) -> None:
    """Which types the source has is looked for, and said once, of views as of other statements."""
    relation(spark, "e", "k, t, ty", ["'x', 1, 'home'", "'x', 2, 'search'", "'x', 3, 'it''s'"])
    spark.conf.set("spark.sql.adaptive.enabled", adaptive)
    spark.conf.set("spark.sparkext.partitions", partitions)
    try:
        assert values(spark.sql(trends("home search"))) == [("x", 1)]
        assert values(spark.sql(trends("Home `It's`", source="(SELECT * FROM e WHERE t > 7)"))) == []
        assert said(told) == []
        for _ in range(2):
            assert values(spark.sql(trends("Home Search"))) == []
        assert said(told) == [NOTHING.format("Home or Search", SPELT.format("'home' and 'search'"))]
        told.clear()
        for name, pattern in (("v", "Pay+"), ("w", "Buy")):
            spark.sql(f"CREATE TEMP VIEW {name} AS {trends(pattern)}")
        assert values(spark.table("v")) == []
        shown = "the source has 'home', \"it's\", 'search'"
        assert said(told) == [NOTHING.format("Pay", shown), NOTHING.format("Buy", shown)]
        told.clear()
        assert values(spark.sql(trends("Sarch+", more="DEFINE Sarch AS t > 1"))) == []
        assert values(spark.sql(trends("search+", more="DEFINE search AS t > 9"))) == []
        assert said(told) == [NOTHING.format("Sarch", SPELT.format("'search'"))]
    finally:
        spark.conf.unset("spark.sparkext.partitions")


def test_no_variable_is_found_in_what_is_not_looked_at(spark: SparkSession, told: pytest.LogCaptureFixture) -> None:
    """Rows that Spark would have to compute whole for it."""
    relation(spark, "e", "k, t, ty", ["'x', 1, 'home'", "'x', 2, 'search'"])
    assert values(spark.sql(trends("Home", source="(SELECT DISTINCT * FROM e)"))) == []
    assert said(told) == [NOTHING.format("Home", "are they misspelt?")]
