"""UNION ALLs of clauses over a stream: one operator, whose rows are those of a batch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from pyspark.errors import AnalysisException, ParseException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import sparkext
from tests.streams.test_streams import CLAUSES, disordered
from tests.support.live import Feed, able_to_stream
from tests.support.tiers import groups

ORDINARY = "sliding", "not", "previous", "earlier", "next", "contiguous", "panes"
"""Kinds of clauses with the same keys, none of which asks for completions."""

DIGEST = "sparkext_71dfb9d1"
"""Name of the metrics of a clause that no view has: the same in each process."""

SOON = "window_end < '2026-01-12'"
"""Windows without the two events far ahead."""


@pytest.fixture
def feed(spark: SparkSession, tmp_path: Path) -> Iterator[Feed]:
    with able_to_stream(spark):
        yield Feed(spark, tmp_path)


def create(spark: SparkSession, names: tuple[str, ...] | list[str], events: DataFrame) -> None:
    """Views ``v_name`` of clauses over events."""
    events.createOrReplaceTempView("ev")
    for name in names:
        spark.sql(f"CREATE OR REPLACE TEMP VIEW `v_{name}` AS SELECT * FROM ev MATCH_TREND ({CLAUSES[name]})")


def union(names: tuple[str, ...] | list[str], which: str = SOON) -> str:
    """A UNION ALL of the views, each of its branches a projection over a filter."""
    return "\nUNION ALL ".join(
        f"SELECT '{name}' AS query, k, window_end, to_json(struct(*)) AS row "
        f"FROM (SELECT * FROM `v_{name}` WHERE a > 0) WHERE {which}"
        for name in names
    )


def operators(rows: DataFrame) -> int:
    """How many operators with a state a stream has."""
    return str(rows._jdf.queryExecution().analyzed().toString()).count("TransformWithState")


def names(rows: DataFrame) -> list[str]:
    """What the metrics of a stream are called."""
    return re.findall(r"CollectMetrics (\S+), \[", str(rows._jdf.queryExecution().analyzed().toString()))


def rows_of(rows: DataFrame) -> list[tuple[object, ...]]:
    return sorted(map(tuple, rows.collect()), key=str)


def test_a_pool_equals_a_batch_with_a_restart_after_each_micro_batch(spark: SparkSession, feed: Feed) -> None:
    check(spark, feed, ["sliding", "not", "next"], files=1)


def test_counts_beside_totals_of_one_window(spark: SparkSession, feed: Feed) -> None:
    """Several queries of one window, each with counts of its own."""
    monotonous = CLAUSES["counted and added up"].replace("(A B)", "(A+ B)")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(CLAUSES, "monotonous", monotonous)
        check(spark, feed, ["counted", "counted and added up", "monotonous"], files=1)


@pytest.mark.long
@pytest.mark.parametrize("names", groups(4, ORDINARY))
def test_pools_of_each_kind_equal_a_batch(spark: SparkSession, feed: Feed, names: tuple[str, ...]) -> None:
    check(spark, feed, [*names], files=3)


def check(spark: SparkSession, feed: Feed, names: list[str], files: int) -> None:
    """Run a UNION ALL of clauses, each time from its text anew and with branches in another order."""
    random, found = Random(str(names)), []
    for part in disordered(random, files, 60):
        feed.put(part)
        create(spark, names, feed.stream())
        rows = spark.sql(union(random.sample(names, len(names))))
        assert operators(rows) == 1
        found += feed.all_now(rows)
    create(spark, names, feed.batch())
    wanted = rows_of(spark.sql(union(names)))
    assert {row[0] for row in wanted} == set(names)
    assert sorted(found, key=str) == wanted


def test_what_one_operator_is_made_of(spark: SparkSession, feed: Feed) -> None:
    """Statements, views, views of views, frames; projections and filters of clauses, and unions of these."""
    feed.put([(1, "x", 0, "A", 1)])
    create(spark, ["sliding", "not", "span"], feed.stream())
    spark.sql("CREATE TEMP VIEW second AS SELECT a + 1 AS a, window_end FROM v_not WHERE a > 1")
    spark.sql("SELECT a, window_end FROM v_sliding").createOrReplaceTempView("third")
    four = "SELECT a, window_end FROM v_sliding UNION ALL SELECT * FROM second UNION ALL (SELECT 1, window_end FROM "
    four += "(SELECT a, window_end FROM v_not UNION ALL SELECT a, window_end FROM third) WHERE a < 9)"
    rows = spark.sql(four)
    assert operators(rows) == 1
    assert rows.columns == ["a", "window_end"]
    assert rows.schema == spark.sql("SELECT a, window_end FROM v_sliding UNION ALL SELECT * FROM second").schema
    assert operators(spark.sql(f"SELECT window_end, sum(a) FROM ({four}) GROUP BY window_end")) == 1
    assert operators(spark.sql(f"SELECT DISTINCT * FROM ({four})")) == 1
    assert operators(spark.sql(four.replace("UNION ALL", "UNION", 1))) == 2  # what is distinct has a state of its own
    spark.sql(f"CREATE TEMP VIEW every AS {four}")
    assert operators(spark.table("every")) == 1
    assert spark.table("every").schema == rows.schema
    assert operators(spark.sql("SELECT * FROM every WHERE a > 3")) == 1
    assert operators(spark.table("every").where("a > 3")) == 1
    clause = f"SELECT a FROM ev MATCH_TREND ({CLAUSES['next']})"
    assert operators(spark.sql(f"{clause} UNION ALL {clause.replace('A B+ C', 'A C')}")) == 1
    assert operators(spark.sql(f"WITH c AS ({clause}) SELECT a FROM c UNION ALL SELECT a FROM v_not")) == 1
    within = "SELECT a FROM (WITH c AS (SELECT a FROM v_not WHERE a > 1) SELECT a FROM c)"
    for branches in (within, within, "SELECT a FROM v_sliding"), ("SELECT a FROM v_sliding", within, within):
        assert operators(spark.sql(" UNION ALL ".join(branches))) == 1
    subquery = within.replace("FROM c)", "FROM c WHERE a > (SELECT max(t) FROM VALUES (0) AS x(t)))")
    assert operators(spark.sql(f"{subquery} UNION ALL SELECT a FROM v_sliding")) == 2
    alerts = f"SELECT ways FROM ev MATCH_TREND ({CLAUSES['span']})"
    assert operators(spark.sql(f"{alerts} UNION ALL {alerts.replace('(A, B, C)', '(A, C)')}")) == 1
    assert operators(spark.sql(f"{alerts} UNION ALL {alerts.replace('40 SEC', '41 SEC')}")) == 2
    spark.sql("DROP VIEW every")
    assert operators(spark.table("v_not")) == 1


def test_names_of_metrics(spark: SparkSession, feed: Feed) -> None:
    """They are those of views, or made of what is computed, and no two operators that differ have one."""
    spark.sql("REFRESH SHARING")  # the session knows clauses of other tests
    feed.put([(1, "x", 0, "A", 1)])
    create(spark, ["sliding", "not", "no keys", "span"], feed.stream())
    pool = "SELECT a FROM v_not UNION ALL SELECT a FROM v_sliding"
    assert names(spark.table("v_sliding")) == ["sparkext_v_sliding"]
    for _ in range(2):
        assert names(spark.sql(pool)) == ["sparkext_pool_of_v_not"]
        assert names(spark.sql("SELECT a FROM v_not")) == ["sparkext_v_not"]
        spark.sql("SELECT * FROM v_not").createOrReplaceTempView("other")
        assert names(spark.table("other")) == ["sparkext_v_not"]
    assert names(spark.sql("SELECT a.a FROM v_sliding AS a JOIN v_sliding AS b ON a.window_end = b.window_end")) == [
        "sparkext_v_sliding",
        "sparkext_v_sliding",
    ]
    first, second = spark.table("v_sliding"), spark.table("v_sliding")
    assert first.join(second, first.window_end == second.window_end).isStreaming
    assert len(names(first.unionAll(second).select("a").unionAll(spark.table("v_not").select("a")))) == 3
    spark.sql(f"CREATE OR REPLACE TEMP VIEW v_twin AS SELECT * FROM ev MATCH_TREND ({CLAUSES['sliding']})")
    both = spark.sql("SELECT a FROM v_sliding UNION ALL SELECT a FROM v_twin")  # one operator, of which others are read
    assert names(both.unionAll(spark.sql("SELECT a FROM v_sliding"))) == [
        "sparkext_pool_of_v_sliding",
        "sparkext_v_sliding",
    ]
    assert names(spark.table("v_twin")) == ["sparkext_v_twin"]
    own = CLAUSES["next"].replace("60 SECONDS", "59 SECONDS")  # no other test has it
    clause = f"SELECT a FROM ev MATCH_TREND ({own})"
    [name] = names(spark.sql(clause))
    assert re.fullmatch("sparkext_[0-9a-f]{8}", name)
    assert name == DIGEST
    assert names(spark.sql(f"SELECT 1 FROM ev MATCH_TREND ({own})")) == [name]
    create(spark, ["not"], feed.stream())
    feed.stream("9 seconds").createOrReplaceTempView("ev")
    assert names(spark.sql(clause)) != [name]
    spark.sql(f"CREATE OR REPLACE TEMP VIEW v_not AS {clause}")
    assert names(spark.table("v_not")) == ["sparkext_v_not"]
    spark.sql(f"CREATE OR REPLACE GLOBAL TEMP VIEW v_not AS {clause}")
    assert names(spark.table("global_temp.v_not")) == ["sparkext_global_temp.v_not"]
    spark.sql("DROP VIEW global_temp.v_not")
    frame = sparkext.match_trend(
        feed.stream(), pattern="A B", order_by="ts", type_by="ty", measures="COUNT(*) AS n", within="60 seconds"
    )
    assert re.fullmatch("sparkext_[0-9a-f]{8}", names(frame)[0])


def test_what_stays_apart_and_why(spark: SparkSession, feed: Feed) -> None:
    feed.put([(1, "x", 0, "A", 1)])
    create(spark, ["sliding", "not", "span", "no keys", "next", "earlier"], feed.stream())
    feed.stream("9 seconds").createOrReplaceTempView("later")
    spark.sql(f"CREATE TEMP VIEW v_later AS SELECT * FROM later MATCH_TREND ({CLAUSES['sliding']})")
    branches = (
        "SELECT a FROM v_sliding",
        "SELECT a FROM v_not",
        "SELECT ways FROM v_span",
        "SELECT a FROM `v_no keys`",
        "SELECT a FROM v_next WHERE rand() < 2",
        "SELECT count(a) FROM v_earlier GROUP BY window_end",
        "SELECT a FROM v_later",
    )
    explained = spark.sql(f"EXPLAIN SHARING {' UNION ALL '.join(branches)}").collect()[0][0]
    assert explained.count("over a stream (one operator, with one state)") == 5
    for name, reason in (
        ("span", "completions go together that have the same WITHIN, SPAN and FOR, and no others"),
        ("no keys", "no other branch has its stream, with its watermark, its keys and its ORDER BY"),
        ("next", "its branch of the UNION ALL gives other values each time"),
        ("later", "no other branch has its stream, with its watermark, its keys and its ORDER BY"),
    ):
        said = explained[explained.index(f"v_{name}:") :]
        assert f"not in one operator with others of the UNION ALL: {reason}" in said.split("Events in a group")[0]
    assert "(1) v_sliding" in explained
    assert "(2) v_not" in explained
    assert operators(spark.sql(" UNION ALL ".join(branches))) == 6
    structs = "SELECT struct(a AS {0}) AS s FROM v_not"
    rows = spark.sql(f"{structs.format('a')} UNION ALL {structs.format('b')} UNION ALL {structs.format('A')}")
    assert operators(rows) == 3
    with pytest.raises(ParseException, match="TREND_COMMAND_SYNTAX"):
        spark.sql("EXPLAIN SHARING SELECT 1 UNION ALL SELECT 2")


@pytest.mark.long
def test_completions_equal_a_batch(spark: SparkSession, feed: Feed) -> None:
    """Those that are final together, with what they show, over restarts."""
    clauses = CLAUSES["span"], CLAUSES["span"].replace("FUNNEL(A, B, C)", "C NOT A (A | B)")
    rows = [f"SELECT {n} AS n, to_json(struct(*)) AS row FROM ev MATCH_TREND ({one})" for n, one in enumerate(clauses)]
    found = []
    for part in disordered(Random(6), 3, 60):
        feed.put(part)
        feed.stream().createOrReplaceTempView("ev")
        united = spark.sql(" UNION ALL ".join(rows))
        assert operators(united) == 1
        found += feed.all_now(united)
    feed.batch().where("ts < '2026-01-12'").createOrReplaceTempView("ev")
    wanted = rows_of(spark.sql(" UNION ALL ".join(rows)))
    assert {row[0] for row in wanted} == {0, 1}
    assert sorted((row for row in found if "2026-01-12" not in row[1]), key=str) == wanted


@pytest.mark.long
def test_checkpoints_of_another_pool(spark: SparkSession, feed: Feed) -> None:
    feed.put([(1, "x", 0, "A", 1), (1, "x", 1, "B", 1)])
    create(spark, ["sliding", "not", "next"], feed.stream())
    assert feed.all_now(spark.sql(union(["sliding", "not"]))) == []
    feed.put([(1, "x", 1e3, "A", 1)])
    writer = spark.sql(union(["sliding", "next"])).writeStream.format("noop")
    query = writer.option("checkpointLocation", feed.checkpoint()).trigger(availableNow=True).start()
    gone = r"it is that of other queries: A NOT C B WITHIN .* is not there any more; A B\+ C, SKIP TILL NEXT .* is new"
    with pytest.raises(StreamingQueryException, match=gone):
        query.awaitTermination()


@pytest.mark.long
def test_complete_mode_is_refused_by_spark(spark: SparkSession, feed: Feed) -> None:
    feed.put([(1, "x", 0, "A", 1)])
    create(spark, ["sliding", "not"], feed.stream())
    writer = spark.sql(union(["sliding", "not"])).writeStream.outputMode("complete").format("memory")
    with pytest.raises(AnalysisException, match=r"[Cc]omplete"):
        writer.queryName("all_of_it").start()
