"""Bad statements: the condition, the place in the user's text, a hint, and nothing left behind."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession

from sparkext import rewriter
from sparkext.jvm_errors import CONDITIONS
from tests.sql_cases import clause, fails, place, stream, trends, values

BARE = "SELECT * FROM e MATCH_TREND (ORDER BY t TYPE BY ty MEASURES COUNT(*) AS n PATTERN (A B)"

CASES: dict[str, list[str]] = {
    "TREND_CLAUSE_MISSING": [
        "SELECT * FROM e §MATCH_TREND ()",
        "SELECT * FROM e §MATCH_TREND (MEASURES COUNT(*) AS n PATTERN (A))",
        "SELECT * FROM e\n  §MATCH_TREND (ORDER BY t\nPATTERN (A))",
        "SELECT * FROM e §match_trend (ORDER BY t MEASURES COUNT(*) AS n)",
    ],
    "TREND_CLAUSE_REPEATED": [
        f"{BARE} §ORDER BY t)",
        f"{BARE}\n\t§PATTERN (B))",
        f"{BARE} WITHIN 3 §WITHIN 3)",
        f"{BARE} §measures COUNT(A) AS a)",
    ],
    "TREND_CLAUSE_SYNTAX": [
        "SELECT * FROM e MATCH_TREND (§COUNT(*) AS n PATTERN (A))",
        "SELECT * FROM e MATCH_TREND (§RETURN 1 ORDER BY t)",
        "SELECT * FROM e §MATCH_TREND (ORDER BY t MEASURES COUNT(*) AS n PATTERN (A)",
        "SELECT * FROM §MATCH_TREND (ORDER BY t MEASURES COUNT(*) AS n PATTERN (A))",
        trends("A", "§COUNT(*)"),
        trends("A", "COUNT(*) AS n, §SUM(A.v) total"),
        trends("A", "COUNT(*) AS §7"),
        trends("A", "COUNT(*) AS §'n'"),
        trends("A", more="§SLIDE 3"),
        trends("A", more="§WITHIN"),
        trends("A", more="DEFINE §a B"),
        trends("A", more="DEFINE §A"),
        trends("A", more="DEFINE §A > 3"),
        trends("A", keys="§PARTITION BY ORDER BY t"),
        trends("A", keys="§PARTITION BY k, ORDER BY t TYPE BY ty"),
        trends("A", keys="§ORDER BY t, v TYPE BY ty"),
        trends("A", keys="ORDER BY t §NULLS FIRST TYPE BY ty"),
        trends("A", keys="ORDER BY t §TYPE BY ty, k"),
        "SELECT * FROM e MATCH_TREND (ORDER BY t TYPE BY ty MEASURES COUNT(*) AS n §PATTERN A B)",
        "SELECT * FROM e MATCH_TREND (ORDER BY t TYPE BY ty MEASURES COUNT(*) AS n PATTERN §(A) + B)",
        trends("(A ").replace("MATCH", "§MATCH"),
        "VALUES (1) §MATCH_TREND (ORDER BY t MEASURES COUNT(*) AS n PATTERN (A))",
    ],
    "TREND_MATCH_RECOGNIZE_CLAUSE": [
        trends("A", more="§AFTER MATCH SKIP PAST LAST ROW"),
        trends("A", more="§ONE ROW PER MATCH"),
        trends("A", more="§ALL ROWS PER MATCH"),
        trends("A B", more="§SUBSET U = (A, B)"),
    ],
    "TREND_PATTERN_SYNTAX": [
        trends("").replace("PATTERN", "§PATTERN"),
        trends("A |§"),
        trends("§| A"),
        trends("(§)"),
        trends("§+"),
        trends("A+§?"),
        trends("A?§? B"),
        trends("A §, B"),
        trends("SEQ(A, §)"),
        trends("SEQ(A B)§)".replace("SEQ(A B)§)", "SEQ(A (B§;))")),
        trends("A §. B"),
        trends("A §'B'"),
        trends("§^ A"),
        trends("A §$"),
        trends("A §- B"),
        trends("§7"),
        trends("Up §UP"),
        trends("A §1 B"),
    ],
    "TREND_PATTERN_TOO_DEEP": [trends("(" * 101 + "§A" + ")" * 101)],
    "TREND_PATTERN_TOO_LARGE": [trends("(A | B)* A" + " (A | B)" * 14).replace("PATTERN (", "§PATTERN (")],
    "TREND_NOT_SUPPORTED_YET": [
        trends("A §NOT B C"),
        trends("§NOT B A"),
        trends("A §& B"),
        trends("§AND(A, B)"),
        trends("§PERMUTE(A, B)"),
        trends("A§{3}"),
        trends("A§{1,3} B"),
        trends("A§{2,}"),
        trends("A§{,2}"),
        trends("A B", more="DEFINE B AS B.v > §PREV(v)"),
        trends("A B", more="DEFINE B AS §prev(B.v) IS NULL"),
        "EXPLAIN SHARING §JSON",
        "EXPLAIN SHARING §DOT",
        "explain sharing §mermaid;",
        "EXPLAIN\nSHARING §FOR v",
    ],
    "TREND_UNKNOWN_VARIABLE": [
        trends("A", "COUNT(§B) AS n"),
        trends("A", "SUM(§B.v) AS n"),
        trends("A", "COUNT(*) AS n", "DEFINE §B AS B.v > 1"),
        trends("A", "COUNT(*) AS n", "DEFINE A AS A.v > 1,\n§`b b` AS v > 1"),
        trends("A", "1 + AVG(§e.v) AS n"),
    ],
    "TREND_VARIABLE_REPEATED": [trends("A B", more="DEFINE A AS v > 1, B AS v > 1, §a AS v > 2")],
    "TREND_VARIABLE_UNDEFINED": [
        "SELECT * FROM e MATCH_TREND (ORDER BY t MEASURES COUNT(*) AS n §PATTERN (A B) DEFINE A AS v > 1)",
        "SELECT * FROM e MATCH_TREND (ORDER BY t MEASURES COUNT(*) AS n §PATTERN (A))",
    ],
    "TREND_UNKNOWN_COLUMN": [
        trends("A", "SUM(A.§vv) AS n"),
        trends("A", "SUM(A.v + abs(A.§vv)) AS n"),
        trends("A", more="DEFINE A AS A.v > 1\n  AND §w = 2"),
        trends("A", keys="ORDER BY §tt TYPE BY ty"),
        trends("A", keys="ORDER BY t TYPE BY §kind"),
        trends("A", keys="PARTITION BY k, lower(§kk) AS g ORDER BY t TYPE BY ty"),
        trends("A", keys="GROUP BY §`no such` ORDER BY t TYPE BY ty"),
        trends("A", keys="GROUP BY §other.k ORDER BY t TYPE BY ty"),
        trends("A", "COUNT(*) + §v AS n"),
        trends("A", "COUNT(*) + §window_start AS n"),
        trends("A", "COUNT(*) AS n, COUNT(A) / §n AS more"),
        trends("A", "§n + 1 AS more, COUNT(*) AS n"),
    ],
    "TREND_CONDITION_NOT_BOOLEAN": [
        trends("A", more="DEFINE A AS §v"),
        trends("A B", more="DEFINE A AS true, B AS §'x'"),
    ],
    "TREND_ATTRIBUTE_TYPE": [
        trends("A", "SUM(A.§ty) AS n").replace("A.§", "§A."),
        trends("A", "AVG(§A.k) AS n"),
        trends("A", "MIN(§A.k) AS n"),
        trends("A", "MAX(§array(A.v)) AS n"),
        trends("A", "SUM(§A.v > 1) AS n"),
    ],
    "TREND_AGGREGATE_ARGUMENT": [
        trends("A", "§COUNT() AS n"),
        trends("A", "COUNT(§A, A) AS n"),
        trends("A", "COUNT(§DISTINCT A) AS n"),
        trends("A", "SUM(§*) AS n"),
        trends("A", "§APPROX_COUNT() AS n"),
        trends("A", "LOG10_COUNT(§1) AS n"),
        trends("A", "SUM(§A) AS n"),
        trends("A", "SUM(§1) AS n"),
        trends("A", "MAX(§k || 'x') AS n"),
    ],
    "TREND_NESTED_AGGREGATE": [
        trends("A", "SUM(A.v + §COUNT(*)) AS n"),
        trends("A", "COUNT(§max(A.v)) AS n"),
        trends("A", "MAX(§LOG10_COUNT(*)) AS n"),
    ],
    "TREND_UNSUPPORTED_EXPRESSION": [
        trends("A", "§stddev(3) AS n"),
        trends("A", "§row_number() OVER (ORDER BY 1) AS n"),
        trends("A", "§explode(array(1, 2)) AS n"),
        trends("A", more="DEFINE A AS §sum(v) > 1"),
        trends("A", more="DEFINE A AS EXISTS (§SELECT 1)"),
        trends("A", more="DEFINE A AS v IN (§SELECT v FROM e)"),
        trends("A", more="DEFINE A AS v > (§SELECT max(v) FROM e)"),
        trends("A", keys="PARTITION BY §explode(array(k)) ORDER BY t TYPE BY ty"),
        trends("A", keys="ORDER BY §max(t) TYPE BY ty"),
    ],
    "TREND_NON_DETERMINISTIC": [
        trends("A", "COUNT(*) AS c, §rand() AS n"),
        trends("A", "SUM(§A.v * rand()) AS n"),
        trends("A", more="DEFINE A AS §rand() < 0.5"),
        trends("A", keys="PARTITION BY §uuid() ORDER BY t TYPE BY ty"),
        trends("A", keys="ORDER BY §monotonically_increasing_id() TYPE BY ty"),
    ],
    "TREND_OTHER_VARIABLE": [
        trends("A B", more="DEFINE B AS B.t - §A.t < 5"),
        trends("A B", "SUM(A.v + §B.v) AS n"),
        trends("A B", keys="PARTITION BY §A.k ORDER BY t TYPE BY ty"),
    ],
    "TREND_INVALID_EXPRESSION": [
        trends("A", more="DEFINE A AS §v >"),
        trends("A", more="DEFINE A AS §no_such_function(v) > 1"),
        trends("A", "SUM(§A.v +) AS n"),
        trends("A", "COUNT(*) + §upper() AS n"),
        trends("A", more="DEFINE A AS §v > array(1)"),
        trends("A", keys="ORDER BY §t t TYPE BY ty"),
    ],
    "TREND_COLUMN_REPEATED": [
        trends("A", "COUNT(*) AS n, COUNT(A) AS §N"),
        trends("A", "COUNT(*) AS §k"),
        trends("A", "COUNT(*) AS §window_end", "WITHIN 3"),
        trends("A", keys="PARTITION BY k, §K ORDER BY t TYPE BY ty"),
        trends("A", keys="PARTITION BY k AS §window_start ORDER BY t TYPE BY ty", more="WITHIN 3"),
    ],
    "TREND_KEY_TYPE": [trends("A", keys="PARTITION BY §map(k, v) AS m ORDER BY t TYPE BY ty")],
    "TREND_ORDER_TYPE": [
        trends("A", keys="ORDER BY §k TYPE BY ty"),
        trends("A", keys="ORDER BY §v TYPE BY ty"),
        trends("A", keys="ORDER BY §NULL TYPE BY ty"),
        trends("A", keys="ORDER BY §CAST(t AS DECIMAL(9,0)) TYPE BY ty"),
    ],
    "TREND_ORDER_DESCENDING": [trends("A", keys="ORDER BY t §DESC TYPE BY ty")],
    "TREND_WINDOW_INVALID": [
        trends("A", more="WITHIN §0"),
        trends("A", more="WITHIN §-5"),
        trends("A", more="WITHIN §1.5"),
        trends("A", more="WITHIN §NULL"),
        trends("A", more="WITHIN §t"),
        trends("A", more="WITHIN §v + 1"),
        trends("A", more="WITHIN §INTERVAL 5 MINUTES"),
        trends("A", more="WITHIN §'5 minutes'"),
        trends("A", more="WITHIN 5 SLIDE §0"),
        trends("A", more="WITHIN 5 SLIDE §INTERVAL 1 SECOND"),
        trends("A", more="WITHIN §nonsense here"),
        trends("A", more="WITHIN §5", keys="ORDER BY timestamp_seconds(t) TYPE BY ty"),
        trends("A", more="WITHIN §INTERVAL 1 MONTH", keys="ORDER BY timestamp_seconds(t) TYPE BY ty"),
        trends("A", more="WITHIN §'1 month 2 days'", keys="ORDER BY timestamp_seconds(t) TYPE BY ty"),
        trends("A", more="WITHIN §INTERVAL 0 SECONDS", keys="ORDER BY timestamp_seconds(t) TYPE BY ty"),
        trends("A", more="WITHIN §INTERVAL -5 SECONDS", keys="ORDER BY timestamp_seconds(t) TYPE BY ty"),
        trends("A", more="WITHIN §'five minutes'", keys="ORDER BY timestamp_seconds(t) TYPE BY ty"),
        trends("A", more="WITHIN §INTERVAL 5 HOURS", keys="ORDER BY date_from_unix_date(t) TYPE BY ty"),
    ],
    "TREND_SOURCE": [
        trends("A", source="§nowhere"),
        trends("A", source="e,\n§no.such.table AS x"),
        trends("A", source="§(SELECT zz FROM e)"),
        "WITH c AS (SELECT zz FROM e) " + trends("A", source="§c"),
        trends("A", source="§later") + " WHERE k IN (WITH later AS (SELECT * FROM e) SELECT k FROM later)",
    ],
    "TREND_RECURSIVE_VIEW": [
        "CREATE OR REPLACE TEMP VIEW e AS " + trends("A", source="§e"),
        "CREATE OR REPLACE TEMP VIEW `E` AS " + trends("A", source="§(SELECT * FROM e AS x WHERE t > 1)"),
        "ALTER VIEW e AS " + trends("A", source="§e AS x"),
    ],
    "TREND_LATERAL": [trends("A", source="e AS x JOIN §LATERAL (SELECT x.k, x.t, x.ty)")],
    "TREND_PERMANENT_VIEW": ["§CREATE VIEW kept AS " + trends("A"), "§CREATE OR REPLACE VIEW kept AS " + trends("A")],
    "TREND_PARAMETER": [
        trends("A", more="DEFINE A AS v > §:low"),
        trends("A", more="DEFINE A AS v > §?"),
    ],
    "TREND_COMMAND_SYNTAX": [
        "SHOW TREND QUERIES §x",
        "REFRESH SHARING §ALL THINGS",
        "EXPLAIN SHARING §YAML",
        "EXPLAIN SHARING §SELECT 1",
    ],
}

UNRESOLVED = "UNRESOLVED_COLUMN.WITH_SUGGESTION"

ELSEWHERE = {
    "TREND_STREAMING_SOURCE": "test_streams_are_refused",
    "TREND_UNKNOWN_SETTING": "test_settings_with_unknown_values",
    "TREND_INTERNAL_ERROR": "test_faults_are_reported_as_such",
}
"""Conditions with a test of their own."""


@pytest.mark.parametrize(("condition", "marked"), [(c, text) for c, texts in CASES.items() for text in texts])
def test_bad_statements(spark: SparkSession, condition: str, marked: str) -> None:
    stream(spark, {"x": "a1 b2"})
    before, after = marked.split("§")
    error = fails(spark, before + after, condition)
    column = len(before) - (before.rfind("\n") + 1) + 1
    assert place(error) == (before.count("\n") + 1, column), str(error)
    message = str(error).split("\n== SQL")[0].strip()
    assert message.startswith(f"[{condition}] ")
    assert f"SQLSTATE: {error.getSqlState()}" in message
    assert len(error.getSqlState() or "") == 5
    assert condition in ("TREND_INVALID_EXPRESSION", "TREND_SOURCE") or len(message.splitlines()) > 1, (
        "there is no hint"
    )
    for word in ("Traceback", "Py4J", "sparkext_trend_", "__agg"):
        assert word not in message
    assert not re.search("<[a-z]+>", message)
    assert values(spark.sql("SHOW TREND QUERIES")) == []
    assert [(row.tableName, row.isTemporary) for row in spark.sql("SHOW TABLES").collect()] == [("e", True)]


def test_every_condition_is_covered() -> None:
    known = set(json.loads(CONDITIONS.read_text()))
    assert known == CASES.keys() | ELSEWHERE.keys()
    assert all(name in globals() for name in ELSEWHERE.values())


def test_statements_that_fail_after_the_clause_leave_nothing(spark: SparkSession) -> None:
    """Whatever Spark itself finds wrong: in the statement around the clause, or in the view to be made."""
    stream(spark, {"x": "a1 b2"})
    numbered = trends("A", source="range(3)", keys="ORDER BY id TYPE BY 1")
    wrong = {
        f"CREATE TEMP VIEW v AS SELECT nope FROM ({trends('A')})": UNRESOLVED,
        f"CREATE TEMP VIEW e AS {numbered}": "TEMP_TABLE_OR_VIEW_ALREADY_EXISTS",
        f"CREATE TEMP VIEW v (a) AS {trends('A')}": "CREATE_VIEW_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS",
        f"{trends('A')} WHERE )": "PARSE_SYNTAX_ERROR",
        f"{trends('A')} AS a JOIN {trends('B')} AS b": "PARSE_SYNTAX_ERROR",
        f"SELECT * FROM e {clause('A')} AS a JOIN e {clause('C+')} AS b ON a.zz = b.k": UNRESOLVED,
        f"SELECT * FROM e {clause('A')} AS a JOIN e {clause('C+', 'SUM(C.zz) AS n')} AS b": "TREND_UNKNOWN_COLUMN",
        f"INSERT INTO no_such_table {trends('A')}": "TABLE_OR_VIEW_NOT_FOUND",
    }
    for statement, condition in wrong.items():
        fails(spark, statement, condition)
        assert values(spark.sql("SHOW TREND QUERIES")) == [], statement
        assert [row.tableName for row in spark.sql("SHOW TABLES").collect()] == ["e"], statement


def test_a_failed_replacement_leaves_the_view_as_it_was(spark: SparkSession) -> None:
    stream(spark, {"x": "a1 b2"})
    spark.sql(f"CREATE TEMP VIEW v AS {trends('A B')}")
    fails(spark, f"CREATE OR REPLACE TEMP VIEW v AS {trends('A', 'SUM(A.zz) AS s')}", "TREND_UNKNOWN_COLUMN")
    fails(
        spark, f"CREATE OR REPLACE TEMP VIEW v AS SELECT zz FROM ({trends('A')})", "UNRESOLVED_COLUMN.WITH_SUGGESTION"
    )
    assert values(spark.table("v")) == [("x", 1)]
    assert [row.pattern for row in spark.sql("SHOW TREND QUERIES").collect()] == ["A B"]


def test_hints(spark: SparkSession) -> None:
    """Messages propose what would work."""
    stream(spark, {"x": "a1 b2"})
    proposed = {
        trends("A B", "COUNT(C) AS n"): "A, B",
        trends("A", "SUM(A.kk) AS n"): "`k`",
        trends("A B", more="DEFINE B AS B.t - A.t < 5"): "PREV",
        trends("A", "COUNT(*)"): "COUNT(*) AS trips",
        trends("A", more="WITHIN INTERVAL 5 MINUTES"): "WITHIN 10",
        trends("A", more="WITHIN 5", keys="ORDER BY timestamp_seconds(t) TYPE BY ty"): "INTERVAL 10 MINUTES",
        "SHOW TREND QUERIES x": "EXPLAIN SHARING, SHOW TREND QUERIES and REFRESH SHARING",
        "CREATE VIEW v AS " + trends("A"): "CREATE TEMP VIEW",
    }
    for statement, hint in proposed.items():
        with pytest.raises(AnalysisException) as caught:
            spark.sql(statement)
        assert hint in str(caught.value).split("== SQL")[0], str(caught.value)


def test_places_of_errors_with_parameters(spark: SparkSession) -> None:
    """Offsets are those of the text with its markers, not with their values."""
    stream(spark, {"x": "a1 b2"})
    statement = trends("A B", more="DEFINE A AS A.k = :key AND A.v > :key2, B AS B.zz > :key")
    with pytest.raises(AnalysisException) as caught:
        spark.sql(statement, args={"key": "a rather long text", "key2": 1})
    assert place(caught.value) == (1, statement.index("zz") + 1)
    fails(spark, statement, "TREND_PARAMETER")
    short = trends("A B", more="DEFINE A AS A.k = ? AND A.zz > ?")
    with pytest.raises(AnalysisException) as caught:
        spark.sql(short, args=["a rather long text", 1])
    assert place(caught.value) == (1, short.index("zz") + 1)
    with pytest.raises(AnalysisException) as caught:
        spark.sql(trends("A B", more="DEFINE A AS A.k = ? AND A.v > ?"), args=["x"])
    assert caught.value.getCondition() == "TREND_PARAMETER"


def test_places_in_texts_of_wide_characters(spark: SparkSession) -> None:
    stream(spark, {"x": "a1 b2"})
    statement = trends("A", "SUM(A.zz) AS n").replace("SELECT", "SELECT /* é😀😀 */\n'😀' AS smile,")
    error = fails(spark, statement, "TREND_UNKNOWN_COLUMN")
    line = statement.split("\n")[1]
    assert place(error) == (2, line.index("zz") + 1)
    (context,) = error.getQueryContext()
    assert context.fragment() == "zz"


@pytest.mark.parametrize(
    ("setting", "value", "known"),
    [("spark.sparkext.cache", "sometimes", "auto, off"), ("spark.sparkext.partitions", "0", "positive integer")],
)
def test_settings_with_unknown_values(spark: SparkSession, setting: str, value: str, known: str) -> None:
    stream(spark, {"x": "a1 b2"})
    spark.conf.set(setting, value)
    error = fails(spark, trends("A? B+"), "TREND_UNKNOWN_SETTING")
    assert setting in str(error)
    assert f"'{value}'" in str(error)
    assert known in str(error)
    assert error.getSqlState() == "22023"
    assert [row.tableName for row in spark.sql("SHOW TABLES").collect()] == ["e"]


def test_streams_are_refused(spark: SparkSession) -> None:
    """Wherever the stream is in the relation, with or without windows, and in a view whose source becomes one."""
    stream(spark, {"x": "a1 b2"})
    spark.sql(f"CREATE TEMP VIEW v AS {trends('A', keys='ORDER BY t TYPE BY ty')}")
    assert values(spark.table("v")) == [(1,)]
    rates = spark.readStream.format("rate").load().selectExpr("value AS t", "timestamp", "'A' AS ty")
    rates.createOrReplaceTempView("s")
    for source in ("s", "(SELECT s.* FROM s JOIN e ON s.t = e.t)"):
        for keys, within in (("t", ""), ("t", "WITHIN 3"), ("timestamp", "WITHIN INTERVAL 1 MINUTE")):
            statement = trends("A", more=within, keys=f"ORDER BY {keys} TYPE BY ty", source=source)
            error = fails(spark, statement, "TREND_STREAMING_SOURCE")
            assert place(error) == (1, statement.index(source) + 1)
            assert error.getSqlState() == "0A000"
    fails(spark, "WITH c AS (SELECT * FROM s) " + trends("A", source="c"), "TREND_STREAMING_SOURCE")
    rates.createOrReplaceTempView("e")
    fails(spark, "SELECT * FROM v", "TREND_STREAMING_SOURCE")


def test_faults_are_reported_as_such(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(*_: object) -> None:
        raise KeyError("a fault\nin two lines")

    broken: Callable[..., None] = fault
    monkeypatch.setattr(rewriter, "find_clauses", broken)
    error = fails(spark, trends("A B"), "TREND_INTERNAL_ERROR")
    assert "KeyError" in str(error)
    assert "Traceback" not in str(error)
    assert error.getSqlState() == "XX000"


def test_errors_while_running_are_those_of_spark(spark: SparkSession) -> None:
    """A condition or attribute that fails on some row."""
    stream(spark, {"x": "a1 b2"})
    for statement, condition in (
        (trends("A", more="DEFINE A AS CAST(A.k AS INT) > 1"), "CAST_INVALID_INPUT"),
        (trends("A", "SUM(A.v / (A.t - 1)) AS s"), "DIVIDE_BY_ZERO"),
        (trends("A", "1 / (COUNT(*) - 1) AS s"), "DIVIDE_BY_ZERO"),
    ):
        frame = spark.sql(statement)
        with pytest.raises(PySparkException) as caught:
            frame.collect()
        assert caught.value.getCondition() == condition
        assert "Traceback" not in str(caught.value)
