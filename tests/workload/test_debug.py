"""Debug mode: every query is also computed by itself."""

from __future__ import annotations

import re

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from sparkext.execution.source_pass import run_pool
from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.workload import making
from sparkext.workload.self_check import Reproduction
from tests.support.shrinking import smallest
from tests.support.sql_cases import fails, settings, stream, trends, values

EVENTS = {"x": "a1 b2 a3 b4 c5 b6", "y": "a1 b1 c2 b3", r"o\'z": "a1 a2 a3 b9"}
WINDOW = "WITHIN 4 SLIDE 2"


@pytest.fixture
def views(spark: SparkSession) -> None:
    stream(spark, EVENTS)
    for number, statement in enumerate(
        [
            trends("A B+", "COUNT(*) AS n, AVG(A.v) AS mean", "GROUP BY k AS `the key` " + WINDOW),
            trends("A+ B"),
            trends("A+ (B | C)", "MAX(A.v) - MIN(A.v) AS spread, COUNT(A) AS a"),
            trends("A B", keys="ORDER BY t TYPE BY ty"),
        ]
    ):
        spark.sql(f"CREATE TEMP VIEW q{number} AS {statement}")


@pytest.mark.long
@pytest.mark.usefixtures("views")
def test_right_results_pass(spark: SparkSession) -> None:
    expected = [values(spark.table(f"q{number}")) for number in range(4)]
    with settings(spark, spark_sparkext_debug="true"):
        spark.sql("REFRESH SHARING")
        assert [values(spark.table(f"q{number}")) for number in range(4)] == expected
        assert values(spark.sql(trends("A B NOT C"))) != []


def test_rows_of_completions_are_held_against_each_other(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several may show the same, and what they show may be of a type that has no order."""
    stream(spark, {"x": "a1 b2 b3 a4 b5", "y": "a1 b9"})
    shown = {
        "rows": "FIRST(t) AS t, EVENTS(map(ty, t)) AS e, COUNT(*) AS n, AVG(B.v) AS m",
        "same": "CLASSIFIER() AS c, COUNT(*) AS n",
    }
    for name, measures in shown.items():
        spark.sql(f"CREATE TEMP VIEW {name} AS {trends('A B', measures, 'ONE ROW PER COMPLETION')}")
    spark.sql("CREATE TEMP VIEW counts AS " + trends("A B", "COUNT(DISTINCT LAST(*)) AS c, COUNT(*) AS n"))

    def read() -> dict[str, list[str]]:
        return {name: sorted(map(repr, spark.table(name).collect())) for name in ("rows", "same", "counts")}

    expected = read()

    def faulty(spark: SparkSession, queries: list[object], *rest: object) -> DataFrame:
        results = run_pool(spark, queries, *rest)  # type: ignore[arg-type]
        return AnalysedFrame.of(results.where(F.col("group_0") != "x")) if len(queries) > 1 else results

    with settings(spark, spark_sparkext_debug="true"):
        spark.sql("REFRESH SHARING")
        assert read() == expected
        monkeypatch.setattr(making, "run_pool", faulty)
        for name in expected:
            spark.sql("REFRESH SHARING")
            error = fails(spark, f"SELECT * FROM {name}", "TREND_RESULTS_DIFFER")
            assert "for k = x, the pool has no row, the query by itself has " in str(error)


@pytest.mark.long
@pytest.mark.usefixtures("views")
def test_a_fault_is_shown_with_a_small_script(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here pools of several queries lose a row of the key x; the script has its events, and can be made smaller."""

    def faulty(spark: SparkSession, queries: list[object], *rest: object) -> DataFrame:
        results = run_pool(spark, queries, *rest)  # type: ignore[arg-type]
        return AnalysedFrame.of(results.where(F.col("group_0") != "x")) if len(queries) > 1 else results

    seen: list[tuple[Reproduction, list[str]]] = []

    def script_of(shown: Reproduction, lines: list[str]) -> str:
        seen.append((shown, lines))
        return script(shown, lines)

    script = Reproduction.script
    monkeypatch.setattr(making, "run_pool", faulty)
    monkeypatch.setattr(Reproduction, "script", script_of)
    with settings(spark, spark_sparkext_debug="true"):
        spark.sql("REFRESH SHARING")
        error = fails(spark, "SELECT * FROM q1", "TREND_RESULTS_DIFFER")
        text = str(error)
        assert "The pool of trend query q1 gives another result" in text
        assert "for k = x, the pool has no row, the query by itself has COUNT(*) = " in text
        written = text[text.index("CREATE OR REPLACE TEMP VIEW events") : text.index("SELECT * FROM q1;")]
        assert written.count("MATCH_TREND") == 3
        assert len(re.findall(r'"ty"', written)) == 6
        statements = [statement for statement in written.split(";\n") if statement.strip()]
        for statement in statements:
            spark.sql(statement)
        fails(spark, "SELECT * FROM q1", "TREND_RESULTS_DIFFER")
        smaller, lines = smallest(*seen[-1])
        assert len(smaller.others) == 1
        assert len(lines) <= 2


def test_unknown_values_are_refused(spark: SparkSession) -> None:
    stream(spark, EVENTS)
    with settings(spark, spark_sparkext_debug="maybe"):
        fails(spark, trends("A"), "TREND_UNKNOWN_SETTING")
