"""Chunks of time: keys with many events are computed by several tasks, and nothing is lost or doubled."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType, DateType, IntegerType, LongType, TimestampType

from sparkext.execution.source_pass import Division, run_pool
from sparkext.execution.time_chunks import WINDOWS_PER_CHUNK, chunk_length, overlap
from sparkext.planner.kernel_plan.kernel_plan import Layout
from sparkext.planner.kernel_plan.result_columns import MATRIX
from sparkext.planner.patterns.query import Window
from tests.support.kernel_harness import combined, in_chunks, run, sorted_rows, source_batch
from tests.support.kernel_plans import random_plan, random_rows
from tests.support.kernel_twin import twin_results
from tests.support.sql_cases import settings, values
from tests.support.tiers import every, first
from tests.udfs.test_kernel import mismatch


@pytest.mark.parametrize(
    ("windows", "type_", "expected"),
    [
        ((Window(10, 10),), LongType(), 40),
        ((Window(10, 30),), LongType(), 60),
        ((Window(10, 4),), LongType(), 72),
        ((Window(10, 3), Window(12, 4)), TimestampType(), 96),
        ((Window(10, 3), None), TimestampType(), None),
        ((Window(10, 7), Window(9, 11), Window(10, 13)), TimestampType(), None),
        ((Window(10, 1),), LongType(), None),
        ((Window(10, 1),), TimestampType(), None),
        ((Window(10, 1),), IntegerType(), 108),
        ((Window(10, 1),), DateType(), 108),
        ((), DateType(), None),
    ],
)
def test_length(windows: tuple[Window | None, ...], type_: DataType, expected: int | None) -> None:
    """A chunk starts with a window of each kind, and is many windows long."""
    assert chunk_length(windows, type_) == expected
    for window in windows:
        if window is not None and expected is not None:
            assert expected % window.slide == 0
            assert expected >= WINDOWS_PER_CHUNK * window.within


def test_overlap() -> None:
    """Only windows that begin before others end reach into the next chunk."""
    assert overlap((Window(10, 10), None, Window(5, 9))) == 0
    assert overlap((Window(10, 4), Window(12, 9))) == 6


def test_cut_streams_give_the_same() -> None:
    """Random plans over streams that are cut, in chunks as short as they may be and longer."""
    cut = 0
    for seed in range(60):
        random = Random(seed)
        plan = random_plan(random, random.choice(((Window(4, 4),), (Window(7, 3),), (Window(10, 1), Window(3, 7)))))
        rows = sorted_rows(random_rows(random, plan, random.choice((4, 15, 40)), finite=True))
        if not rows:
            continue
        length = {4: 4, 7: 9, 10: 14}[max(w.within for w in plan.windows if w)] * random.choice((1, 2, 5))
        layout = Layout(len(rows[0].group), len(rows[0].other), length)
        chunk_rows = in_chunks(rows, length, overlap(plan.windows))
        by_key = combined(plan, layout, run(plan, layout, source_batch(plan, chunk_rows), random))
        assert mismatch(plan, twin_results(plan, rows), by_key) is None, seed
        cut += len(by_key) > 0 and len({row.other for row in chunk_rows}) > len({row.other for row in rows})
    assert cut > 20


TIMES = {
    "timestamp_micros(t * 60000000)": "WITHIN INTERVAL 50 MINUTES SLIDE INTERVAL 6 MINUTES",
    "timestamp_micros(t * 60000000)::TIMESTAMP_NTZ": "WITHIN INTERVAL 50 MINUTES SLIDE INTERVAL 6 MINUTES",
    "date_from_unix_date(t)": "WITHIN INTERVAL 40 DAYS SLIDE INTERVAL 1 DAY",
    "CAST(t AS INT)": "WITHIN 40 SLIDE 1",
    "t": "WITHIN 40 SLIDE 2",
}


@pytest.mark.parametrize("time", every(3, TIMES))
@pytest.mark.parametrize("keys", first(1, ["PARTITION BY k, g GROUP BY g", "", "PARTITION BY k"]))
def test_in_sql(spark: SparkSession, time: str, keys: str) -> None:
    """Keys that are cut have the results of whole ones, whatever the time is, also before 1970."""
    spark.sql(
        f"""CREATE TEMP VIEW e AS SELECT {time} AS at, t % 3 AS k, t % 2 AS g, t + 0.5D AS v,
            element_at(array('A', 'B', 'B', 'C'), 1 + CAST(pmod(hash(t), 4) AS INT)) AS kind
            FROM (SELECT id AS t FROM range(-500, 501))"""
    )
    clause = f"""{keys} ORDER BY at TYPE BY kind MEASURES COUNT(*) AS n, SUM(B.v) AS s, MAX(C.v) AS m
        PATTERN (A B+ NOT A C) {TIMES[time]}"""
    by_setting = {}
    for chunks in ("off", "on"):
        spark.conf.set("spark.sparkext.chunks", chunks)
        frame = spark.sql(f"SELECT * FROM e MATCH_TREND ({clause})")
        by_setting[chunks] = sorted(map(str, frame.collect()))
        assert ("explode(" in frame._jdf.queryExecution().toString()) == (chunks == "on")
    assert by_setting["on"] == by_setting["off"]
    assert len(by_setting["on"]) > 50


@pytest.mark.parametrize("keys", ["", "PARTITION BY k"])
def test_at_the_ends_of_time(spark: SparkSession, keys: str) -> None:
    """Chunks also near the least and greatest numbers of 64 bits, where no number beyond them orders events."""
    spark.sql(
        f"""CREATE TEMP VIEW e AS SELECT t, pmod(t, 2) AS k,
            element_at(array('A', 'B', 'B', 'C'), 1 + CAST(pmod(hash(t), 4) AS INT)) AS kind
            FROM (SELECT stack(3,
                id + CAST('{100 - (1 << 63)}' AS BIGINT), CAST('{(1 << 63) - 100}' AS BIGINT) - id, id) AS t
                FROM range(1000))"""
    )
    clause = f"{keys} ORDER BY t TYPE BY kind MEASURES COUNT(*) AS n PATTERN (A B+ C) WITHIN 30 SLIDE 10"
    by_setting = {}
    for chunks in ("off", "on"):
        spark.conf.set("spark.sparkext.chunks", chunks)
        frame = spark.sql(f"SELECT * FROM e MATCH_TREND ({clause})")
        by_setting[chunks] = sorted(map(str, frame.collect()))
        assert ("explode(" in frame._jdf.queryExecution().toString()) == (chunks == "on")
    assert by_setting["on"] == by_setting["off"]
    assert len(by_setting["on"]) > 50


@pytest.mark.parametrize("keys", every(4, ["PARTITION BY k, g GROUP BY g", "", "PARTITION BY k", "GROUP BY g"]))
def test_without_windows_in_sql(spark: SparkSession, keys: str) -> None:
    """Stretches of keys make what whole keys make: many and long ones, also NULL, and several events at a time."""
    spark.sql(
        """CREATE TEMP VIEW e AS SELECT DATE'2020-02-02' + CAST(t DIV 2 AS INT) AS at, t % 5 * 0.5D AS v,
            IF(t % 7 < 4, NULL, t % 7) AS k, IF(t % 3 = 0, 'x', CAST(t % 2 AS STRING)) AS g,
            element_at(array('A', 'B', 'B', 'C'), 1 + CAST(pmod(hash(t), 4) AS INT)) AS kind
            FROM (SELECT id AS t FROM range(-300, 300))"""
    )
    clause = f"""{keys} ORDER BY at TYPE BY kind MEASURES COUNT(*) AS n, APPROX_COUNT(B) AS b, SUM(B.v) AS s,
        LOG10_COUNT(*) AS l, MIN(C.v) AS low, MAX(B.v) AS high PATTERN (A (B | C A) C B?)"""
    by_setting = {}
    for chunks in ("off", "on"):
        spark.conf.set("spark.sparkext.chunks", chunks)
        spark.conf.set("spark.sparkext.partitions", 3)
        frame = spark.sql(f"SELECT * FROM e MATCH_TREND ({clause})")
        by_setting[chunks] = sorted(frame.collect(), key=lambda row: str(row[:1]))
        plan = frame._jdf.queryExecution().toString()
        assert (MATRIX in plan) == (chunks == "on")
        assert ("rangepartitioning(" in plan) == (chunks == "on" and keys != "")
    assert len(by_setting["on"]) == len(by_setting["off"]) > 0
    for cut_rows, whole_rows in zip(by_setting["on"], by_setting["off"], strict=True):
        for cut_value, whole in zip(cut_rows, whole_rows, strict=True):
            assert cut_value == (pytest.approx(whole, rel=1e-9) if isinstance(whole, float) else whole)
    assert by_setting["on"][0].n > 1000


@pytest.mark.long
def test_stretches_only_of_large_sources(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """By default, and not where queries of the pool have windows or look at other events."""
    spark.sql("CREATE TEMP VIEW e AS SELECT id AS t, 'A' AS kind FROM range(1000)")

    def is_cut(rest: str) -> bool:
        spark.sql("REFRESH SHARING")
        clause = f"ORDER BY t TYPE BY kind MEASURES LOG10_COUNT(*) AS n {rest}"
        frame = spark.sql(f"SELECT * FROM e MATCH_TREND ({clause})")
        frame.collect()
        return MATRIX in frame._jdf.queryExecution().toString()

    assert not is_cut("PATTERN (A+)")
    monkeypatch.setattr("sparkext.workload.making.STRETCHED_BYTES", 0)
    assert is_cut("PATTERN (A+)")
    assert not is_cut("PATTERN (A+) WITHIN 10")
    assert not is_cut("PATTERN (A NOT B A)")
    assert not is_cut("PATTERN (A+) DEFINE A AS t > PREV(t)")


def test_chosen_where_it_helps(spark: SparkSession) -> None:
    """By default keys are cut where there are none, or where one has more than a core's share in the sample."""
    spark.sql("CREATE TEMP VIEW e AS SELECT id AS t, id % 2 AS one, id % 100 AS many, 'A' AS kind FROM range(1000)")

    def is_cut(keys: str, within: str = "WITHIN 20 SLIDE 10") -> bool:
        clause = f"{keys} ORDER BY t TYPE BY kind MEASURES COUNT(*) AS n PATTERN (A A) {within}"
        frame = spark.sql(f"SELECT * FROM e MATCH_TREND ({clause})")
        frame.collect()
        return "explode(" in frame._jdf.queryExecution().toString()

    assert is_cut("")
    assert not is_cut("", "WITHIN 20 SLIDE 1"), "windows at the ends of the range of a BIGINT have no number"
    assert not is_cut("PARTITION BY many")
    assert not is_cut("PARTITION BY one")
    spark.conf.set("spark.sparkext.chunks", "on")
    assert is_cut("PARTITION BY many")
    spark.conf.set("spark.sparkext.chunks", "off")
    assert not is_cut("")


@pytest.mark.parametrize("tasks", [1, 2, 5])
def test_stretches_of_the_same_size(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tasks: int) -> None:
    """Also where events are not spread evenly over time."""
    spark.sql("CREATE TEMP VIEW e AS SELECT id * id * id - 1000 AS t, 'A' AS kind FROM range(1000)")
    divisions: list[Division] = []

    def seen(*arguments: Any) -> DataFrame:
        divisions.extend(argument for argument in arguments if isinstance(argument, Division))
        return run_pool(*arguments)

    monkeypatch.setattr("sparkext.workload.making.run_pool", seen)
    with settings(spark, spark_sparkext_chunks="on", spark_sparkext_partitions=str(tasks)):
        frame = spark.sql("SELECT * FROM e MATCH_TREND (ORDER BY t TYPE BY kind MEASURES COUNT(*) AS n PATTERN (A A))")
        assert values(frame) == [(1000 * 999 // 2,)]
    cuts = divisions[0].cuts
    assert cuts is not None
    parts = Counter(sum(cut <= number**3 - 1000 for cut in cuts) for number in range(1000))
    assert parts.keys() == set(range(tasks))
    assert max(parts.values()) - min(parts.values()) <= 2 * 1000 / tasks / 100 + 2


def test_stretches_of_events_that_have_no_time(spark: SparkSession) -> None:
    """Nothing says where to cut them."""
    spark.sql("CREATE TEMP VIEW e AS SELECT CAST(NULL AS INT) AS t, 'A' AS kind FROM range(10)")
    with settings(spark, spark_sparkext_chunks="on"):
        frame = spark.sql("SELECT * FROM e MATCH_TREND (ORDER BY t TYPE BY kind MEASURES COUNT(*) AS n PATTERN (A))")
        assert values(frame) == []
