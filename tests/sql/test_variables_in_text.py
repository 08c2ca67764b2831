"""``${name}`` in the text of a statement, which Spark replaces before it parses it, and texts that SET keeps."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.errors import ParseException
from pyspark.sql import SparkSession

from tests.support.sql_cases import fails, position, values

TEXT = "SELECT * FROM ev MATCH_TREND (PARTITION BY k ORDER BY t TYPE BY e MEASURES COUNT(*) AS n PATTERN ({}) {})"


@pytest.fixture
def events(spark: SparkSession) -> Iterator[SparkSession]:
    """The session with a relation and variables."""
    rows = [("x", 1, "A", 5), ("x", 2, "B", 50), ("x", 3, "$B", 60), ("x", 4, "${B}", 70)]
    spark.createDataFrame(rows, "k STRING, t INT, e STRING, v INT").createOrReplaceTempView("ev")
    spark.sql("SET hivevar:kind=B")
    spark.sql("SET hivevar:low=10")
    yield spark
    for name in ("kind", "low", "my.text"):
        spark.conf.unset(name)
    spark.conf.unset("spark.sql.variable.substitute")


def test_everywhere_in_a_clause(events: SparkSession) -> None:
    assert values(events.sql(TEXT.format("A ${kind}", ""))) == [("x", 1)]
    assert values(events.sql(TEXT.format("A ${hivevar:kind}", "DEFINE ${kind} AS v > ${low}"))) == [("x", 1)]
    assert values(events.sql(TEXT.format("A B", "WITHIN ${low}"))) == [("x", 0, 10, 1)]
    assert values(events.sql(TEXT.format("A `$B`", ""))) == [("x", 1)]
    frame = events.sql(TEXT.format("A ${kind}", "DEFINE ${kind} AS v > :least"), args={"least": 10})
    assert values(frame) == [("x", 1)]


def test_a_view_keeps_the_values(events: SparkSession) -> None:
    events.sql(f"CREATE OR REPLACE TEMP VIEW one AS {TEXT.format('A ${kind}', 'DEFINE B AS v > ${low}')}")
    events.sql("SET hivevar:low=100")
    assert values(events.table("one")) == [("x", 1)]


def test_set_keeps_a_text_as_it_is(events: SparkSession) -> None:
    whole = TEXT.format("A B", "")
    for text in (whole, whole[whole.index("MATCH_TREND") :]):
        events.sql(f"SET my.text={text}")
        assert events.conf.get("my.text") == text
        assert values(events.sql("${my.text}" if text is whole else "SELECT * FROM ev ${my.text}")) == [("x", 1)]
    events.sql("DECLARE OR REPLACE VARIABLE found BIGINT")
    events.sql(f"SET VAR found = (SELECT CAST(n AS BIGINT) FROM ({whole}))")
    assert values(events.sql("SELECT found")) == [(1,)]
    events.sql("DROP TEMPORARY VARIABLE found")


def test_switched_off(events: SparkSession) -> None:
    events.conf.set("spark.sql.variable.substitute", "false")
    assert values(events.sql(TEXT.format("A `${B}`", ""))) == [("x", 1)]
    fails(events, TEXT.format("A ${kind}", ""), "TREND_PATTERN_SYNTAX")


def test_errors_are_placed_in_the_text_that_was_written(events: SparkSession) -> None:
    text = TEXT.format("A ${kind}", "DEFINE ${kind} AS nope > ${low}")
    with pytest.raises(ParseException, match="TREND_UNKNOWN_COLUMN") as caught:
        events.sql(text)
    assert position(caught.value) == (1, text.index("nope") + 1)
    assert "${low}" in str(caught.value)
