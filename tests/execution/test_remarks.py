"""What is said, once, of keys that are NULL, of events at one time, and of keys that tell variables apart."""

from __future__ import annotations

import logging

import pytest
from pyspark.sql import SparkSession

from sparkext.execution import waiting
from tests.support.sql_cases import relation, stream, trends, values


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """What is logged, where nothing has been said before."""
    monkeypatch.setattr(waiting, "_told", set())
    caplog.set_level(logging.WARNING, "sparkext")
    return caplog


def said(told: pytest.LogCaptureFixture) -> list[str]:
    """What has been said of keys and times; a pass that an earlier test has made may yet say of its own."""
    words = "agrees with NULL", "in common with another", "events of a trend agree"
    return [message for message in told.messages if any(word in message for word in words)]


def explained(spark: SparkSession, view: str = "") -> list[str]:
    """Lines of EXPLAIN SHARING."""
    text = spark.sql(f"EXPLAIN SHARING{view and f' FOR {view}'}").collect()[0].plan
    return [line.strip() for line in text.splitlines()]


NULLS = (
    "k is NULL at some events, and NULL agrees with NULL: all events without k are of one k. "
    "SELECT … WHERE k IS NOT NULL before MATCH_TREND leaves them out"
)
TIES = (
    "40 % of the events have their keys and t in common with another; such events are never in one trend. "
    "ORDER BY a finer time, or, for completions, ORDER BY t, seq with a number that tells them apart"
)


def test_keys_that_are_null(spark: SparkSession, told: pytest.LogCaptureFixture) -> None:
    """By a pass, and by a sample: one is taken where queries may share, and the pass does not say it again."""
    relation(spark, "e", "k, t, ty", ["NULL, 1, 'A'", "NULL, 2, 'B'", "'x', 3, 'A'"])
    keys = "PARTITION BY k GROUP BY ty IS NULL AS g ORDER BY t TYPE BY ty"
    assert values(spark.sql(trends("A B", keys="GROUP BY k ORDER BY t TYPE BY ty"))) == [(None, 1)]
    assert said(told) == [], "that is what GROUP BY means everywhere"
    for name, pattern in (("v", "A B+"), ("w", "A+ B+")):
        spark.sql(f"CREATE TEMP VIEW {name} AS {trends(pattern, keys=keys)}")
    spark.sql("CREATE TEMP VIEW u AS " + trends("A B"))
    for _ in range(2):
        assert values(spark.table("v")) == [(False, 1)]
        assert values(spark.table("u")) == [(None, 1)]
    [remark] = said(told)
    assert remark.endswith(f": {NULLS}")
    assert explained(spark).count(f"note: {NULLS}") == 2


def test_events_at_one_time(spark: SparkSession, told: pytest.LogCaptureFixture) -> None:
    stream(spark, {"x": "a1 b1 b2", "y": "a1 b2"})
    assert values(spark.sql(trends("A B"))) == [("x", 1), ("y", 1)]
    spark.sql(f"CREATE TEMP VIEW v AS {trends('A B')}")
    assert values(spark.table("v")) == [("x", 1), ("y", 1)]
    [remark] = said(told)
    assert remark.endswith(f": {TIES}")
    assert f"note: {TIES}" in explained(spark)
    told.clear()
    stream(spark, {"x": "a1 b2", "y": "a1 b2"})
    assert values(spark.table("v")) == [("x", 1), ("y", 1)]
    assert said(told) == []
    assert "note:" not in "".join(explained(spark))


def test_numbers_that_doubles_take_for_one(spark: SparkSession, told: pytest.LogCaptureFixture) -> None:
    relation(spark, "e", "k, t, ty", [f"'x', {2**53 + at}L, 'A'" for at in range(4)])
    assert values(spark.sql(trends("A A"))) == [("x", 6)]
    assert said(told) == []


TRAPS = [
    ("GROUP BY ty ORDER BY t TYPE BY ty", "", "GROUP BY"),
    ("GROUP BY TY  ORDER BY t TYPE BY lower(ty)", "", "GROUP BY"),
    ("PARTITION BY k, ty GROUP BY k ORDER BY t TYPE BY ty", "", "PARTITION BY"),
    ("GROUP BY ty ORDER BY t", "DEFINE a AS ty = 'a' AND v > 0, b AS b.ty IN ('b', 'c')", "GROUP BY"),
    ("GROUP BY ty ORDER BY t", "DEFINE a AS v > 0 AND (ty = 'a'), b AS (b.ty == 'b')", "GROUP BY"),
]
NO_TRAPS = [
    ("GROUP BY k ORDER BY t TYPE BY ty", ""),
    ("GROUP BY ty ORDER BY t", "DEFINE a AS ty = 'a' OR v > 0, b AS b.ty IN ('b', 'c')"),
    ("GROUP BY ty ORDER BY t", "DEFINE a AS ty = 'a' AND v > 0, b AS ty = 'a' AND v < 0"),
    ("GROUP BY k ORDER BY t", "DEFINE a AS ty = 'a', b AS ty = 'b'"),
    ("GROUP BY ty ORDER BY t TYPE BY concat(ty, k)", ""),
]


@pytest.mark.parametrize(("keys", "more", "clause"), TRAPS)
def test_keys_that_tell_variables_apart(
    spark: SparkSession, told: pytest.LogCaptureFixture, keys: str, more: str, clause: str
) -> None:
    relation(spark, "e", "k, t, ty, v", ["'x', 1, 'a', 1", "'x', 2, 'b', 1"])
    spark.sql(f"CREATE TEMP VIEW v AS {trends('(a | b)+ b', keys=keys, more=more)}")
    for _ in range(2):
        spark.table("v").collect()
    [remark] = said(told)
    remark = remark.partition(": v: ")[2]
    assert remark.startswith(f"all events of a trend agree on {'TY' if 'TY  ' in keys else 'ty'}, which tells ")
    assert f"out of {clause} for" in remark
    assert f"note: {remark}" in explained(spark)


@pytest.mark.parametrize(("keys", "more"), NO_TRAPS)
def test_keys_that_do_not(spark: SparkSession, told: pytest.LogCaptureFixture, keys: str, more: str) -> None:
    relation(spark, "e", "k, t, ty, v", ["'x', 1, 'a', 1", "'x', 2, 'b', 1"])
    spark.sql(trends("(a | b)+ b", keys=keys, more=more)).collect()
    assert said(told) == []


def test_variables_of_which_a_trend_has_one(spark: SparkSession, told: pytest.LogCaptureFixture) -> None:
    """No trend has several of them in any case."""
    stream(spark, {"x": "a1 b2"})
    assert values(spark.sql(trends("A+ | B+", keys="GROUP BY ty ORDER BY t TYPE BY ty"))) == [("A", 1), ("B", 1)]
    assert said(told) == []
