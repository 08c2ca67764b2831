"""Bad statements: the condition, the place in the user's text, a hint, and nothing left behind."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable
from importlib import import_module

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
        "SELECT * FROM e MATCH_TREND (ORDER BY t TYPE BY ty MEASURES COUNT(*) AS n PATTERN (A) §+ B)",
        trends("(A ").replace("MATCH", "§MATCH"),
        trends("A{2").replace("MATCH", "§MATCH"),
        trends("A", more="§SEEK A"),
        trends("A", more="WITHIN 5, 6").replace("WITHIN", "§WITHIN"),
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
        trends("A &§"),
        trends("§& A"),
        trends("A &§& B"),
        trends("AND(§)"),
        trends("PERMUTE(A, §)"),
        trends("A NOT§"),
        trends("§{2}"),
        trends("A{2}§{3}"),
        trends("A+§{2}"),
        trends("A{2}§?"),
        trends("A{§x}"),
        trends("A{1,§x}"),
        trends("A{§-1}"),
        trends("A{1§.5}"),
        trends("§{- A -}"),
    ],
    "TREND_PATTERN_TOO_DEEP": [trends("(" * 101 + "§A" + ")" * 101)],
    "TREND_PATTERN_TOO_LARGE": [
        text.replace("PATTERN (", "§PATTERN (")
        for text in (
            trends("(A | B)* A" + " (A | B)" * 14),
            trends("A{1000} B"),
            trends("A{500,1000} B"),
            trends("A{40} & B{40}"),
            trends("A" + "".join(f" NOT N{i}" for i in range(9)) + " B"),
        )
    ],
    "TREND_NOT_SUPPORTED_YET": [
        "§CREATE TEMPORARY FUNCTION f() RETURNS TABLE (k STRING) RETURN " + trends("A"),
        "CREATE TEMP VIEW §IDENTIFIER('a' || 'b') AS " + trends("A"),
    ],
    "TREND_NOT_MISPLACED": [
        trends("§NOT A"),
        trends("§NOT A+"),
        trends("(§NOT A)"),
        trends("SEQ(§NOT A)"),
        trends("(§NOT A NOT B)"),
        trends("A | §NOT B"),
        trends("§NOT A | B"),
        trends("A (§NOT B | C)"),
        trends("OR(A, §NOT B)"),
        trends("(§NOT A)+ B"),
        trends("A (§NOT B)* C"),
        trends("A (§NOT B)? C"),
        trends("A (§NOT B NOT C){2}"),
        trends("A & §NOT B"),
        trends("A & (§NOT B C)"),
        trends("A & (B (C §NOT D E)+)"),
        trends("AND(A, §NOT B)"),
        trends("PERMUTE(A, §NOT B C)"),
        trends("A NOT §NOT B C"),
        trends("A NOT (§NOT B) C"),
        trends("A NOT (§NOT B C) D"),
        trends("A NOT (B §NOT C D) E"),
        trends("A NOT (B (C §NOT D)+) E"),
    ],
    "TREND_QUANTIFIER_BOUNDS": [
        trends("A§{}"),
        trends("A§{,}"),
        trends("A§{0}"),
        trends("A§{,0} B"),
        trends("A§{3,2}"),
        trends("(A B)§{1001}"),
        trends("A§{1,1001}"),
        trends("A§{1001,}"),
        trends("A§{99999999999999999999}"),
        trends("A NOT B§{0} C"),
    ],
    "TREND_PREV_ARGUMENT": [
        trends("A B", more="DEFINE B AS v > §PREV()"),
        trends("A B", more="DEFINE B AS v > §PREV(v, 2)"),
        trends("A B", more="DEFINE B AS v > §PREV(*)"),
        trends("A B", more="DEFINE B AS v > §PREV(e.*)"),
        trends("A B", more="DEFINE B AS v > PREV(§PREV(v))"),
        trends("A B", more="DEFINE B AS v >\n PREV(1 + §prev(v))"),
    ],
    "TREND_PREV_MISPLACED": [
        trends("A", "§PREV(A.v) AS n"),
        trends("A", "COUNT(*) + §PREV(k) AS n"),
        trends("A", "SUM(A.v - §PREV(A.v)) AS n"),
        trends("A", keys="PARTITION BY §PREV(k) ORDER BY t TYPE BY ty"),
        trends("A", keys="GROUP BY upper(§PREV(k)) ORDER BY t TYPE BY ty"),
        trends("A", keys="ORDER BY §PREV(t) TYPE BY ty"),
        trends("A", keys="ORDER BY t TYPE BY §PREV(ty)"),
        trends("A", more="WITHIN §PREV(t)"),
        trends("A", more="WITHIN 5 SLIDE §PREV(t)"),
    ],
    "TREND_PREV_UNDER_NOT": [
        trends("A NOT B C", more="DEFINE §B AS v > PREV(v)"),
        trends("A NOT B B", more="DEFINE A AS v > 1, §b AS v > PREV(v)"),
        trends("A NOT (N B+) C", more="DEFINE §B AS PREV(v) IS NULL"),
    ],
    "TREND_PREV_UNSUPPORTED": [
        trends("A B", more="DEFINE B AS §k < PREV(k)"),
        trends("A B", more="DEFINE B AS v > 1 AND B.§k >= PREV(B.k)"),
        trends("A B", more="DEFINE B AS k §BETWEEN PREV(k) AND 'x'"),
        trends("A B", more="DEFINE B AS §k || PREV(k) = 'xx'"),
        trends("A B", more="DEFINE B AS k §LIKE PREV(k)"),
        trends("A B", more="DEFINE B AS v > 1 OR\n k §LIKE PREV(k)"),
        trends("A B", more="DEFINE B AS §contains(k, PREV(k))"),
        trends("A B", more="DEFINE B AS §power(B.v, PREV(v)) > 1"),
        trends("A B", more="DEFINE B AS v > 1 AND (t > 2 OR §sqrt(B.v - PREV(v)) > 1)"),
        trends("A B", more="DEFINE B AS CASE WHEN v > PREV(v) THEN true ELSE §ln(PREV(v) + v) > 1 END"),
        trends("A B", more="DEFINE B AS §exists(array(1, 2), x -> x > PREV(t))"),
        trends("A B", more="DEFINE B AS §array(v) = PREV(array(v))"),
        trends("A B", more="DEFINE B AS §struct(v) = PREV(struct(v))"),
        trends("A B", more="DEFINE B AS §k COLLATE UTF8_LCASE = PREV(k)"),
        trends("A B", more="DEFINE B AS §CAST(v AS DECIMAL(30,2)) - PREV(CAST(v AS DECIMAL(30,2))) > 0"),
        trends("A B", more="DEFINE B AS §CAST(v AS DECIMAL(10,2)) / PREV(CAST(v AS DECIMAL(10,2))) > 1"),
    ],
    "TREND_NEGATED_VARIABLE": [
        trends("A NOT B C", "§COUNT(B) AS n"),
        trends("A NOT B C", "COUNT(*) AS n, 1 + §SUM(b.v) AS s"),
        trends("A NOT (B C) D", "§MAX(C.v - C.t) AS n"),
    ],
    "TREND_MATCH_RECOGNIZE_FUNCTION": [
        trends("A", "§FIRST(A.v) AS n"),
        trends("A", "COUNT(*) AS n, §last(A.v, 1) AS l"),
        trends("A", "§NEXT(A.v) AS n"),
        trends("A", "§CLASSIFIER() AS n"),
        trends("A", "§match_number() AS n"),
        trends("A", "§FINAL LAST(A.v) AS n"),
        trends("A", "1 + §RUNNING SUM(A.v) AS n"),
        trends("A", "SUM(§FIRST(A.v)) AS n"),
        trends("A", more="DEFINE A AS A.v > §FIRST(A.v)"),
        trends("A", more="DEFINE A AS A.v > §LAST(A.v, 1)"),
        trends("A", more="DEFINE A AS A.v > 1 AND\n §NEXT(A.v) > 1"),
        trends("A", more="DEFINE A AS §CLASSIFIER() = 'A'"),
        trends("A", more="DEFINE A AS §MATCH_NUMBER() = 1"),
        trends("A", more="DEFINE A AS A.v > §RUNNING avg(A.v)"),
        trends("A", keys="PARTITION BY §MATCH_NUMBER() ORDER BY t TYPE BY ty"),
    ],
    "TREND_UNKNOWN_AGGREGATE": [
        trends("A", "§MEDIAN(A.v) AS n"),
        trends("A", "COUNT(*) AS n, 1 + §stddev(A.v) AS s"),
        trends("A", "§stddev(3) AS n"),
        trends("A", "§count_if(A.v > 1) AS n"),
        trends("A", "§collect_list(v) AS n"),
        trends("A", "§percentile_cont(0.5) WITHIN GROUP (ORDER BY A.v) AS n"),
        trends("A", "§median(COUNT(*)) AS n"),
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
        trends("A", "COUNT(*) + §A.v AS n"),
        trends("A", "upper(§A.k) AS n"),
        trends("A", more="DEFINE A AS §o.x > 1"),
        trends("A B", more="DEFINE B AS v > PREV(§zz)"),
        trends("A B", more="DEFINE B AS v > PREV(1 + B.§zz)"),
        trends("A B", more="DEFINE B AS v > PREV(§x.v)"),
        trends("A B", more="DEFINE B AS v > PREV(v) AND\n B.§zz = 1"),
        "SELECT * FROM e AS o WHERE EXISTS (SELECT * FROM e AS i " + clause("A", more="DEFINE A AS v > §o.v") + ")",
        "SELECT (SELECT max(n) FROM e AS i " + clause("A B", more="DEFINE B AS v > PREV(§o.v)") + ") FROM e AS o",
    ],
    "TREND_CONDITION_NOT_BOOLEAN": [
        trends("A", more="DEFINE A AS §v"),
        trends("A B", more="DEFINE A AS true, B AS §'x'"),
        trends("A B", more="DEFINE B AS §PREV(v)"),
        trends("A B", more="DEFINE B AS §B.v - PREV(v)"),
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
        trends("A", "SUM(§ALL A.v) AS n"),
        trends("A", "SUM(A.v) §FILTER (WHERE A.v > 1) AS n"),
        trends("A", "1 + COUNT(*) §OVER () AS n"),
    ],
    "TREND_NESTED_AGGREGATE": [
        trends("A", "SUM(A.v + §COUNT(*)) AS n"),
        trends("A", "COUNT(§max(A.v)) AS n"),
        trends("A", "MAX(§LOG10_COUNT(*)) AS n"),
        trends("A", "SUM(A.v - §median(A.v)) AS n"),
        trends("A", "SUM(abs(§SUM(A.v))) AS n"),
    ],
    "TREND_UNSUPPORTED_EXPRESSION": [
        trends("A", "§row_number() OVER (ORDER BY 1) AS n"),
        trends("A", "§explode(array(1, 2)) AS n"),
        trends("A", more="DEFINE A AS §sum(v) > 1"),
        trends("A", more="WITHIN §count(*)"),
        trends("A", more="DEFINE A AS EXISTS (§SELECT 1)"),
        trends("A", more="DEFINE A AS v IN (§SELECT v FROM e)"),
        trends("A", more="DEFINE A AS v > (§SELECT max(v) FROM e)"),
        trends("A", keys="PARTITION BY §explode(array(k)) ORDER BY t TYPE BY ty"),
        trends("A", keys="ORDER BY §max(t) TYPE BY ty"),
        trends("A", keys="GROUP BY §sum(v) ORDER BY t TYPE BY ty"),
        trends("A", keys="ORDER BY t TYPE BY §max(ty)"),
        trends("A", more="DEFINE A AS A.v > §avg(A.v)"),
        trends("A", more="DEFINE A AS A.v > §avg(A.v) OVER ()"),
        trends("A", more="DEFINE A AS §lag(v) OVER (ORDER BY t) > 1"),
        trends("A B", more="DEFINE B AS v > PREV(§sum(v))"),
        trends("A B", more="DEFINE B AS v > PREV((§SELECT 1))"),
        trends("A B", more="DEFINE B AS v > PREV(v) AND EXISTS (§SELECT 1)"),
        trends("A", "COUNT(*) / (§SELECT max(v) FROM e) AS n"),
        trends("A", "§* AS n"),
        trends("A", keys="PARTITION BY §* ORDER BY t TYPE BY ty"),
        trends("A", keys="ORDER BY §e.* TYPE BY ty"),
        trends("A", keys="ORDER BY t TYPE BY §*"),
        trends("A", more="DEFINE A AS §*"),
        trends("A", more="DEFINE A AS §(e.*)"),
        trends("A", more="WITHIN §*"),
    ],
    "TREND_NON_DETERMINISTIC": [
        trends("A", "COUNT(*) AS c, §rand() AS n"),
        trends("A", "SUM(§A.v * rand()) AS n"),
        trends("A", more="DEFINE A AS §rand() < 0.5"),
        trends("A", keys="PARTITION BY §uuid() ORDER BY t TYPE BY ty"),
        trends("A", keys="ORDER BY §monotonically_increasing_id() TYPE BY ty"),
        trends("A B", more="DEFINE B AS §v + rand() > PREV(v)"),
        trends("A B", more="DEFINE B AS v > PREV(§v + rand())"),
    ],
    "TREND_OTHER_VARIABLE": [
        trends("A B", more="DEFINE B AS B.t - §A.t < 5"),
        trends("A B", "SUM(A.v + §B.v) AS n"),
        trends("A B", keys="PARTITION BY §A.k ORDER BY t TYPE BY ty"),
        trends("A B", keys="ORDER BY t TYPE BY §B.ty"),
        trends("A B", more="DEFINE B AS B.v > PREV(§A.v)"),
        trends("A B", more="DEFINE B AS B.v > §A.v + PREV(v)"),
    ],
    "TREND_INVALID_EXPRESSION": [
        trends("A", more="DEFINE A AS §v >"),
        trends("A", more="DEFINE A AS §no_such_function(v) > 1"),
        trends("A", "SUM(§A.v +) AS n"),
        trends("A", "COUNT(*) + §upper() AS n"),
        trends("A", more="DEFINE A AS §v > array(1)"),
        trends("A", keys="ORDER BY §t t TYPE BY ty"),
        trends("A B", more="DEFINE B AS v > PREV(§v +)"),
        trends("A B", more="DEFINE B AS §v > PREV v"),
        trends("A B", more="DEFINE B AS v > §no_such(PREV(v))"),
        trends("A B", more="DEFINE B AS §v > 1 AND PREV(v)"),
        trends("A B", more="DEFINE B AS §v > PREV(map(k, v))"),
        trends("A", "COUNT(*) + §my_own(A.v) AS n"),
    ],
    "TREND_COLUMN_REPEATED": [
        trends("A", "COUNT(*) AS n, COUNT(A) AS §N"),
        trends("A", "COUNT(*) AS §k"),
        trends("A", "COUNT(*) AS §window_end", "WITHIN 3"),
        trends("A", keys="PARTITION BY k, §K ORDER BY t TYPE BY ty"),
        trends("A", keys="PARTITION BY k AS §window_start ORDER BY t TYPE BY ty", more="WITHIN 3"),
    ],
    "TREND_KEY_COLLATION": [
        trends("A", keys="PARTITION BY §k COLLATE UTF8_LCASE AS l ORDER BY t TYPE BY ty"),
        trends("A", keys="PARTITION BY k GROUP BY §collate(k, 'UNICODE_CI') AS l ORDER BY t TYPE BY ty"),
    ],
    "TREND_KEY_TYPE": [
        trends("A", keys="PARTITION BY §map(k, v) AS m ORDER BY t TYPE BY ty"),
        trends("A", keys="GROUP BY k, §array(k) AS m ORDER BY t TYPE BY ty"),
        trends("A", keys="GROUP BY §INTERVAL 1 MONTH ORDER BY t TYPE BY ty"),
    ],
    "TREND_ORDER_TYPE": [
        trends("A", keys="ORDER BY §k TYPE BY ty"),
        trends("A", keys="ORDER BY §v TYPE BY ty"),
        trends("A", keys="ORDER BY §NULL TYPE BY ty"),
        trends("A", keys="ORDER BY §CAST(t AS DECIMAL(9,0)) TYPE BY ty"),
    ],
    "TREND_ORDER_DESCENDING": [
        trends("A", keys="ORDER BY t §DESC TYPE BY ty"),
        trends("A", keys="ORDER BY t + 1\n§desc TYPE BY ty"),
    ],
    "TREND_WINDOW_INVALID": [
        trends("A", more="WITHIN §0"),
        trends("A", more="WITHIN §rand()"),
        trends("A", more="WITHIN §A.v"),
        trends("A", more="WITHIN 5 SLIDE §-1"),
        trends("A", more="WITHIN 100000000 SLIDE §1"),
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
        "EXPLAIN SHARING JSON §DOT",
        "EXPLAIN SHARING §FOR",
        "EXPLAIN SHARING MERMAID §FOR 'v'",
        "EXPLAIN SHARING FOR v §w",
        "EXPLAIN SHARING FOR v §JSON",
    ],
    "TREND_UNKNOWN_QUERY": [
        "EXPLAIN SHARING FOR §w",
        "EXPLAIN\nSHARING JSON FOR §`a b`;",
        "explain sharing dot for §e",
    ],
}

UNRESOLVED = "UNRESOLVED_COLUMN.WITH_SUGGESTION"

ELSEWHERE = {
    "TREND_CANCELLED": "test_a_statement_can_be_cancelled_while_its_source_is_sampled",
    "TREND_RESULTS_DIFFER": "test_debug.test_a_fault_is_shown_with_a_small_script",
    "TREND_STREAMING_SOURCE": "test_streams_are_refused",
    "TREND_UNKNOWN_SETTING": "test_settings_with_unknown_values",
    "TREND_WORKLOAD_TOO_LARGE": "test_exhaustive_refuses_large_workloads",
    "TREND_INTERNAL_ERROR": "test_faults_are_reported_as_such",
}
"""Conditions with a test of their own, here or in another module."""


@pytest.mark.parametrize("condition", CASES)
def test_bad_statements(spark: SparkSession, condition: str) -> None:
    stream(spark, {"x": "a1 b2"})
    spark.sql(f"CREATE TEMP VIEW v AS {trends('A B')}")
    problems = [f"{text!r}: {problem}" for text in CASES[condition] if (problem := wrong(spark, condition, text))]
    assert not problems, "\n".join(problems)
    assert [row.name for row in spark.sql("SHOW TREND QUERIES").collect()] == ["v"]
    left = [row.tableName for row in spark.sql("SHOW TABLES").collect()]
    assert sorted(name for name in left if not name.startswith("sparkext_trend_")) == ["e", "v"]
    assert len(left) == 3


def wrong(spark: SparkSession, condition: str, marked: str) -> str | None:
    """What is wrong with the error of a statement in which ``§`` marks the place."""
    before, after = marked.split("§")
    try:
        spark.sql(before + after)
    except AnalysisException as caught:
        error = caught
    else:
        return "there is no error"
    if error.getCondition() != condition:
        return str(error)
    message = str(error).split("\n== SQL")[0].strip()
    column = len(before) - (before.rfind("\n") + 1) + 1
    if place(error) != (before.count("\n") + 1, column):
        return f"at {place(error)}"
    if not message.startswith(f"[{condition}] ") or len(message.splitlines()) < 2:
        return f"no class or no hint: {message}"
    if len(error.getSqlState() or "") != 5 or message.count("SQLSTATE: ") != 1:
        return f"not one SQLSTATE: {message}"
    if not message.endswith(f"SQLSTATE: {error.getSqlState()}"):
        return f"not its SQLSTATE: {message}"
    foreign = re.search("Traceback|Py4J|sparkext_trend_|__agg|__p[0-9]|<[a-z]+>", message)
    return None if foreign is None else f"{foreign[0]}: {message}"


def test_every_condition_is_covered() -> None:
    known = set(json.loads(CONDITIONS.read_text()))
    assert known == CASES.keys() | ELSEWHERE.keys()
    for name in ELSEWHERE.values():
        module, _, test = name.rpartition(".")
        assert hasattr(import_module(f"tests.{module}" if module else __name__), test), name


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
        trends("A", "MEDIAN(A.v) AS n"): "COUNT, SUM, AVG, MIN, MAX",
        trends("A", more="DEFINE A AS v > LAST(A.v, 1)"): "PREV(x)",
        trends("A", "CLASSIFIER() AS n"): "COUNT(X)",
        trends("A", "MATCH_NUMBER() AS n"): "COUNT(*)",
        trends("A B", "SUM(A.v) FILTER (WHERE A.v > 1) AS n"): "CASE WHEN",
        trends("A B", more="DEFINE B AS B.k < PREV(k)"): "k < PREV(k), of type BOOLEAN",
        trends("A B", more="DEFINE B AS v > 1 AND PREV(v)"): '"((v > 1) AND PREV(v))"',
        trends("A B", more="DEFINE B AS PREV(v) > zz"): "`k`, `t`, `v`, `ty`?",
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
    [
        ("spark.sparkext.cache", "sometimes", "auto, off"),
        ("spark.sparkext.partitions", "0", "positive integer"),
        ("spark.sparkext.optimizer", "best", "gloria, greedy, exhaustive, none, published"),
        ("spark.sparkext.costModel", "guess", "measured, paper"),
        ("spark.sparkext.statistics", "all", "sample, none, or a JSON object"),
        ("spark.sparkext.statistics", '{"A": "many"}', "sample, none, or a JSON object"),
        ("spark.sparkext.statistics", '{"A": -1}', "sample, none, or a JSON object"),
        ("spark.sparkext.statistics", "[1]", "sample, none, or a JSON object"),
        ("spark.sparkext.statistics.sampleRows", "some", "positive integer"),
    ],
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


def test_exhaustive_refuses_large_workloads(spark: SparkSession) -> None:
    stream(spark, {"x": "a1 b2"})
    spark.conf.set("spark.sparkext.optimizer", "exhaustive")
    for number in range(6):
        clause = trends("A+ B+ C+ D+", keys="ORDER BY t TYPE BY ty", more=f"WITHIN {number + 1}")
        spark.sql(f"CREATE TEMP VIEW v{number} AS {clause}")
    error = fails(spark, "SELECT * FROM v0", "TREND_WORKLOAD_TOO_LARGE")
    assert error.getSqlState() == "54000"
    fails(spark, "EXPLAIN SHARING", "TREND_WORKLOAD_TOO_LARGE")
    spark.conf.set("spark.sparkext.optimizer", "gloria")
    assert values(spark.table("v0")) == []


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


def test_a_statement_can_be_cancelled_while_its_source_is_sampled(spark: SparkSession) -> None:
    """It does not go on with the pass."""
    rows = "(SELECT 'x' AS k, id AS t, 'A' AS ty FROM range(0, 1000000000000, 1, 2) WHERE id % 7 = 8)"
    spark.sql(f"CREATE TEMP VIEW e AS SELECT * FROM {rows}")
    context = spark.sparkContext

    def cancel() -> None:
        while not context.statusTracker().getActiveJobsIds():
            time.sleep(0.1)
        context.cancelAllJobs()

    thread = threading.Thread(target=cancel)
    thread.start()
    fails(spark, trends("A+", more="WITHIN 64 SLIDE 1"), "TREND_CANCELLED")
    thread.join()
