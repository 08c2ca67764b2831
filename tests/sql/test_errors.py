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

from sparkext.binding import streams
from sparkext.jvm.spark_errors import CONDITIONS
from sparkext.parser import rewrite
from sparkext.session import parsers_of
from tests.support.sql_cases import clause, fails, position, settings, stream, trends, values
from tests.support.tiers import first, groups

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
        f"{BARE} CONTIGUOUS WITHIN 3 §CONTIGUOUS)",
        f"{BARE} SPAN 3 WITHIN 3 §SPAN 3)",
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
        trends("A", more="§SPAN"),
        trends("A", more="WITHIN 7 §OFFSET 4"),
        trends("A", more="WITHIN 7 SLIDE 2 §OFFSET 1"),
        trends("A", more="WITHIN 5 §SPAN 5, 6"),
        trends("A", more="DEFINE §a B"),
        trends("A", more="DEFINE §A"),
        trends("A", more="DEFINE §A > 3"),
        trends("A", keys="§PARTITION BY ORDER BY t"),
        trends("A", keys="§PARTITION BY k, ORDER BY t TYPE BY ty"),
        trends("A", keys="§ORDER BY t, TYPE BY ty"),
        trends("A", more="ONE ROW PER COMPLETION §BY k"),
        trends("A", more="ALL MATCHES §3"),
        trends("A", keys="ORDER BY t §NULLS FIRST TYPE BY ty"),
        trends("A", keys="ORDER BY t §TYPE BY ty, k"),
        "SELECT * FROM e MATCH_TREND (ORDER BY t TYPE BY ty MEASURES COUNT(*) AS n §PATTERN A B)",
        "SELECT * FROM e MATCH_TREND (ORDER BY t TYPE BY ty MEASURES COUNT(*) AS n PATTERN (A) §+ B)",
        trends("(A ").replace("MATCH", "§MATCH"),
        trends("A{2").replace("MATCH", "§MATCH"),
        trends("A", more="§SEEK A"),
        trends("A", more="WITHIN 5, 6").replace("WITHIN", "§WITHIN"),
        "VALUES (1) §MATCH_TREND (ORDER BY t MEASURES COUNT(*) AS n PATTERN (A))",
        trends("A").replace("MATCH_TREND", "§MATCH_TRENDS"),
        trends("A").replace("MATCH_TREND", "§MATCHTREND"),
        trends("A").replace("MATCH_TREND", "§match_trnd"),
        trends("A").replace("MATCH_TREND", "§MATCH TREND"),
        "SELECT * FROM e §MATCH_TREND ORDER BY t TYPE BY ty MEASURES COUNT(*) AS n PATTERN (A B)",
        trends("A").replace("PATTERN", "§PATERN"),
        trends("A").replace("MEASURES", "§MEASURE"),
        trends("A", more="§DEFIN A AS v > 1"),
        trends("A", keys="ORDER BY t §TYP BY ty"),
        trends("A", keys="ORDER BY t §GROP BY k TYPE BY ty"),
        trends("A", more="WITHIN 5 §SLID 2"),
        trends("A", more="§SKIP TIL NEXT MATCH"),
        trends("A", more="WITHIN 5 §CONTIGOUS"),
        trends("A", more="DEFINE A AS v > 1 §skip till next"),
        trends("A", more="CONTIGUOUS §5"),
        trends("A", more="CONTIGUOUS §SKIP TILL ANY MATCH"),
        trends("A", keys="§CONTIGUOS ORDER BY t TYPE BY ty"),
    ],
    "TREND_UNCLOSED": [
        trends("A", source="(SELECT * FROM e WHERE k = §'p)"),
        trends("A", source='(SELECT * FROM e WHERE k = §"p)'),
        trends("A", source="(SELECT * FROM e WHERE §`k = 'p')"),
        trends("A", source="e §/* the events"),
        trends("A", more="DEFINE A AS k = §'it\\'s)"),
    ],
    "TREND_MATCH_RECOGNIZE_CLAUSE": [
        trends("A", more="§AFTER MATCH SKIP PAST LAST ROW"),
        trends("A", more="§AFTER MATCH SKIP TO NEXT ROW"),
        trends("A", more="SKIP TILL NEXT MATCH §AFTER MATCH SKIP TO NEXT ROW"),
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
        trends("§{- A -}"),
        trends("A §{- B -} C"),
    ],
    "TREND_PATTERN_TOO_DEEP": [trends("(" * 101 + "§A" + ")" * 101)],
    "TREND_PATTERN_TOO_LARGE": [
        text.replace("PATTERN (", "§PATTERN (")
        for text in (
            trends("(A | B)* A" + " (A | B)" * 14),
            trends("A{1000} B"),
            trends("A{500,1000} B"),
            trends("A{40} & B{40}"),
            trends("(" + " | ".join(f"A{i}" for i in range(400)) + ")+"),
            trends("A" + "".join(f" NOT N{i}" for i in range(9)) + " B"),
        )
    ],
    "TREND_NOT_SUPPORTED_YET": [
        "§CREATE TEMPORARY FUNCTION f() RETURNS TABLE (k STRING) RETURN " + trends("A"),
        "CREATE TEMP VIEW §IDENTIFIER('a' || 'b') AS " + trends("A"),
        "CREATE OR REPLACE TEMP VIEW v (k COMMENT 'of', n) §DEFAULT COLLATION UNICODE_CI AS " + trends("A"),
        "CREATE VIEW v COMMENT 'as' §default collation utf8_lcase AS " + trends("A"),
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
        trends("A{§x}"),
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
        trends("A B", more="DEFINE B AS v > A.v AND B.§k < A.k"),
        trends("A B", more="DEFINE B AS v > 1 AND B.§k >= PREV(B.k)"),
        trends("A B", more="DEFINE B AS k §BETWEEN PREV(k) AND 'x'"),
        trends("A B", more="DEFINE B AS §k || PREV(k) = 'xx'"),
        trends("A B", more="DEFINE B AS k §LIKE PREV(k)"),
        trends("A B", more="DEFINE B AS v > 1 OR\n k §LIKE PREV(k)"),
        trends("A B", more="DEFINE B AS §contains(k, PREV(k))"),
        trends("A B", more="DEFINE B AS §power(B.v, PREV(v)) > 1"),
        trends("A B", more="DEFINE B AS v > 1 AND (t > 2 OR §sqrt(B.v - PREV(v)) > 1)"),
        trends("A B", more="DEFINE B AS CASE WHEN v > PREV(v) THEN true ELSE §ln(PREV(v) + v) > 1 END"),
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
        trends("A NOT (B C) D", "§AVG(LAST(t) - FIRST(C.t)) AS n"),
    ],
    "TREND_END_ARGUMENT": [
        trends("A", "SUM(§LAST()) AS n"),
        trends("A", "SUM(FIRST(§A)) AS n"),
        trends("A", "COUNT(LAST(§A.v, 1)) AS n"),
        trends("A", "COUNT(*) AS n, AVG(LAST(t) - first(§*)) AS d"),
        trends("A", "MAX(LAST(§FIRST(A.v))) AS n"),
        trends("A", "LAST(§v, 1) AS n", "ONE ROW PER COMPLETION"),
        trends("A", "§EVENTS() AS n", "ONE ROW PER COMPLETION"),
        trends("A", "EVENTS(§k, v) AS n", "ONE ROW PER COMPLETION"),
        trends("A", "EVENTS(§*) AS n", "ONE ROW PER COMPLETION"),
        trends("A", "CLASSIFIER(§v) AS n", "ONE ROW PER COMPLETION"),
        trends("A", "FIRST(§SUM(A.v)) AS n", "ONE ROW PER COMPLETION"),
        trends("A", "1 + FIRST(§EVENTS(v)) AS n", "ONE ROW PER COMPLETION"),
    ],
    "TREND_END_EXPRESSION": [
        trends("A", "SUM(§FIRST(A.v) * 2) AS n"),
        trends("A", "AVG(§LAST(v) + FIRST(v)) AS n"),
        trends("A", "AVG(§LAST(v) - FIRST(v) - LAST(A.v)) AS n"),
        trends("A", "AVG(§-LAST(v)) AS n"),
        trends("A", "AVG(§LAST(v) - A.v) AS n"),
        trends("A", "COUNT(*) AS n,\n MAX(§LAST(t) - 2 * FIRST(t)) AS d"),
        trends("A", "MIN((§LAST(v) - FIRST(A.v) + 1)) AS d"),
    ],
    "TREND_END_COMBINED": [
        trends("A B+", "§SUM(LAST(v) - FIRST(v)) AS d", "DEFINE B AS B.v > PREV(v) SKIP TILL NEXT MATCH"),
        trends(
            "A B+",
            "AVG(LAST(t) - FIRST(t)) AS d, §COUNT(LAST(v) - FIRST(t)) AS c",
            "DEFINE B AS B.v > PREV(v) SKIP TILL NEXT MATCH",
        ),
    ],
    "TREND_MATCH_RECOGNIZE_FUNCTION": [
        trends("A", "§FIRST(A.v) AS n"),
        trends("A", "COUNT(*) AS n, §last(A.v, 1) AS l"),
        trends("A", "§NEXT(A.v) AS n"),
        trends("A", "§CLASSIFIER() AS n"),
        trends("A", "§EVENTS(v) AS n"),
        trends("A", "§match_number() AS n"),
        trends("A", "§FINAL LAST(A.v) AS n"),
        trends("A", "1 + §RUNNING SUM(A.v) AS n"),
        trends("A", "SUM(A.v) - §LAST(A.v) AS n"),
        trends("A", more="DEFINE A AS A.v > §FIRST(A.v)"),
        trends("A", keys="PARTITION BY §LAST(k) ORDER BY t TYPE BY ty"),
        trends("A", more="DEFINE A AS A.v > §LAST(A.v, 2)"),
        trends("A", more="DEFINE A AS A.v > 1 AND\n §NEXT(A.v) > 1"),
        trends("A", more="DEFINE A AS §CLASSIFIER() = 'A'"),
        trends("A", more="DEFINE A AS §MATCH_NUMBER() = 1"),
        trends("A", more="DEFINE A AS A.v > §RUNNING avg(A.v)"),
        trends("A", keys="PARTITION BY §MATCH_NUMBER() ORDER BY t TYPE BY ty"),
    ],
    "TREND_UNKNOWN_AGGREGATE": [
        trends("A", "§COUTN(*) AS n"),
        trends("A", "COUNT(*) AS n, 1 + §summ(A.v) AS s"),
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
        trends("A", "SUM(FIRST(§B.v)) AS n"),
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
        trends("A", "SUM(LAST(A.v) - FIRST(§vv)) AS n"),
        trends("A B", more="DEFINE B AS v > A.t + A.§vv"),
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
        trends("A", "AVG(FIRST(§k)) AS n"),
        trends("A", "AVG(LAST(§k) - FIRST(t)) AS n"),
        trends("A", "AVG(LAST(t) - FIRST(§date(k))) AS n"),
        trends("A", "MIN(§A.k) AS n"),
        trends("A", "MAX(§array(A.v)) AS n"),
        trends("A", "SUM(§A.v > 1) AS n"),
    ],
    "TREND_AGGREGATE_ARGUMENT": [
        trends("A", "§COUNT() AS n"),
        trends("A", "COUNT(§A, A) AS n"),
        trends("A", "COUNT(§DISTINCT A) AS n"),
        trends("A", "COUNT(*) AS n, COUNT(§DISTINCT k, v) AS d"),
        trends("A", "COUNT(§DISTINCT t) AS d", keys="ORDER BY t TYPE BY ty"),
        trends("A", "SUM(§DISTINCT A.v) AS d"),
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
        trends("A", "SUM(FIRST(§SUM(A.v))) AS n"),
        trends("A", "SUM(§median(FIRST(A.v))) AS n"),
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
        trends("A B", "SUM(A.v + §B.v) AS n"),
        trends("A B", "SUM(LAST(A.v + §B.v)) AS n"),
        trends("A B", keys="PARTITION BY §A.k ORDER BY t TYPE BY ty"),
        trends("A B", keys="ORDER BY t TYPE BY §B.ty"),
        trends("A B", more="DEFINE B AS B.v > PREV(§A.v)"),
        trends("A B", more="DEFINE B AS B.v > §A.v + PREV(v)"),
    ],
    "TREND_CONDITION_TOO_WIDE": [
        trends("A B C", more="DEFINE C AS C.v > A.v AND C.v > §B.v"),
        trends("A B C D", more="DEFINE C AS v > A.v, D AS v > §B.v"),
        trends("(A | B | C)+ D", more="DEFINE C AS c.v > b.t + b.v, D AS D.v > §a.v"),
    ],
    "TREND_EARLIER_NEVER": [
        trends("A B", more="DEFINE A AS A.v > §B.v"),
        trends("A (B | C)", more="DEFINE C AS t > 1 AND\n §b.v < v"),
    ],
    "TREND_EARLIER_UNDER_NOT": [
        trends("A NOT B C", more="DEFINE B AS B.v > §A.v"),
        trends("A NOT B C", more="DEFINE C AS §B.v > v"),
    ],
    "TREND_EARLIER_COMBINED": [
        trends("A B C", more="DEFINE B AS v > PREV(v), C AS v > §A.v"),
        trends("A B C", more="DEFINE C AS v > §A.v, B AS v > PREV(v)"),
        trends("A NOT B C", more="DEFINE C AS v > §A.v"),
        trends("A C", more="DEFINE C AS v > §A.v CONTIGUOUS"),
        trends("A C", more="DEFINE C AS v > §A.v SKIP TILL NEXT MATCH"),
    ],
    "TREND_FOR_MISPLACED": [
        trends("(A NOT B §FOR 5) C", "LAST(v) AS n", "ONE ROW PER COMPLETION"),
        trends("A B FOR §5", "LAST(v) AS n", "ONE ROW PER COMPLETION"),
        trends("A NOT B FOR §5"),
        trends("A NOT B NOT C FOR §5", "LAST(v) AS n", "ONE ROW PER COMPLETION"),
        trends("A NOT B FOR §5", "COUNT(DISTINCT LAST(*)) AS d", "").replace("COUNT(DISTINCT LAST(*))", "COUNT(*)"),
    ],
    "TREND_GROUP_SPLITS": [
        trends("A", "LAST(v) AS n", "ONE ROW PER COMPLETION", "PARTITION BY k GROUP BY §v ORDER BY t TYPE BY ty"),
        trends("A", "LAST(v) AS n", "ONE ROW PER COMPLETION", "GROUP BY §upper(k) AS u ORDER BY t TYPE BY ty"),
    ],
    "TREND_ORDER_COMBINED": [
        trends("A", keys="ORDER BY t, §v TYPE BY ty"),
        trends("A", "COUNT(*) AS n, COUNT(DISTINCT LAST(*)) AS d", keys="ORDER BY t, §v, k TYPE BY ty"),
    ],
    "TREND_COMPLETION_COMBINED": [
        trends("A NOT B FOR 5", "COUNT(DISTINCT LAST(*)) AS d, §COUNT(*) AS c"),
    ],
    "TREND_SPAN_NOT_AT_END": [
        trends("A NOT B", "LAST(v) AS n", "ONE ROW PER COMPLETION SPAN §5"),
        trends("NOT C A B", more="SPAN §5"),
        trends("A B NOT C", more="WITHIN 4\n SPAN §5"),
        trends("(A NOT C)+", more="SPAN §5"),
        trends("A? NOT C B", more="SPAN §5"),
    ],
    "TREND_SPAN_COMBINED": [
        trends("A NOT C B", more="SPAN §5"),
        trends("A B", "COUNT(*) AS n,\n §MAX(LAST(t) - FIRST(t)) AS d", "SPAN 5"),
        trends("A B", more="SPAN §5 DEFINE B AS v > PREV(v)"),
        trends("A B", more="DEFINE B AS v > A.v\n  SPAN §5"),
        trends("A B", more="SPAN §5 CONTIGUOUS"),
        trends("A B", more="SKIP TILL NEXT MATCH SPAN §5"),
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
        trends("A", "LAST(t) AS l", "ONE ROW PER COMPLETION", "ORDER BY t, §map(k, v) TYPE BY ty"),
        trends("A", "LAST(t) AS l", "ONE ROW PER COMPLETION", "ORDER BY t, v, §parse_json('1') TYPE BY ty"),
        trends("A", "LAST(t) AS l", "ONE ROW PER COMPLETION", "ORDER BY t, §struct(v, array(map(k, v))) TYPE BY ty"),
        trends("A", "LAST(t) AS l", "ONE ROW PER COMPLETION", "ORDER BY t, §make_interval(1, 2) TYPE BY ty"),
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
        trends("A", more="WITHIN §'10'"),
        trends("A", more="WITHIN §5 MINUTES"),
        trends("A", more="WITHIN §5 MINUTES", keys="ORDER BY timestamp_seconds(t) TYPE BY ty"),
        trends("A", more="WITHIN §INTERVAL 5", keys="ORDER BY timestamp_seconds(t) TYPE BY ty"),
        trends("A", more="WITHIN 5 SLIDE §0"),
        trends("A", more="WITHIN 5 SLIDE §INTERVAL 1 SECOND"),
        trends("A", more="WITHIN §nonsense here"),
        trends("A", more="SPAN §0"),
        trends("A", more="WITHIN 3 SPAN §-5"),
        trends("A", more="SPAN §1.5 WITHIN 3"),
        trends("A", more="SPAN §v + 1"),
        trends("A", more="SPAN §INTERVAL 5 MINUTES"),
        trends("A", more="SPAN §5 MINUTES"),
        trends("A", more="SPAN §5 MINUTES", keys="ORDER BY timestamp_seconds(t) TYPE BY ty"),
        trends("A", more="SPAN §5", keys="ORDER BY timestamp_seconds(t) TYPE BY ty"),
        trends("A", more="SPAN §INTERVAL 1 MONTH", keys="ORDER BY timestamp_seconds(t) TYPE BY ty"),
        trends("A", more="SPAN §INTERVAL 5 HOURS", keys="ORDER BY date_from_unix_date(t) TYPE BY ty"),
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
    "TREND_PERMANENT_VIEW": [f"BEGIN §CREATE {how}VIEW kept AS {trends('A')}; END" for how in ("", "OR REPLACE ")],
    "TREND_PARAMETER": [
        trends("A", more="DEFINE A AS v > §:low"),
        trends("A", more="DEFINE A AS v > §?"),
    ],
    "TREND_COMMAND_SYNTAX": [
        "SHOW TREND QUERIES §x",
        "REFRESH SHARING §ALL THINGS",
        "EXPLAIN SHARING §YAML",
        "EXPLAIN §SHARNG",
        "EXPLAIN §SHARNG JSON",
        "SHOW TREND §QUERYS;",
        "SHOW TREND §STREAM;",
        "SHOW TREND STREAMS §LIKE 't'",
        "SHOW TREND QUERIES §LIKE t",
        "EXPLAIN SHARING §SELECT 1",
        "EXPLAIN SHARING JSON §DOT",
        "EXPLAIN SHARING §FOR",
        "EXPLAIN SHARING MERMAID §FOR 'v'",
        "EXPLAIN SHARING FOR v §w",
        "EXPLAIN SHARING FOR v §JSON",
        "EXPLAIN SHARING COMPARE §DOT",
        "EXPLAIN SHARING JSON §COMPARE",
    ],
    "TREND_UNKNOWN_QUERY": [
        "EXPLAIN SHARING FOR §w",
        "EXPLAIN SHARING COMPARE JSON FOR §w",
        "EXPLAIN\nSHARING JSON FOR §`a b`;",
        "explain sharing dot for §e",
    ],
}

UNRESOLVED = "UNRESOLVED_COLUMN.WITH_SUGGESTION"

ELSEWHERE = {
    "TREND_NOT_PLANNED": "test_a_view_whose_clause_is_gone",
    "TREND_STAND_IN": "workload.test_isolation.test_stand_ins_cannot_be_typed",
    "TREND_ORDER_CONSTANT": "sql.test_names_that_coincide.test_a_time_that_is_constant",
    "TREND_CANCELLED": "test_a_statement_can_be_cancelled_while_its_source_is_sampled",
    "TREND_RESULTS_DIFFER": "workload.test_debug.test_a_fault_is_shown_with_a_small_script",
    "TREND_STREAM_REQUIREMENT": "test_streams_need_a_state_store_and_protobuf",
    "TREND_STREAM_TIME": "test_streams_that_never_end_a_window",
    "TREND_STREAM_WATERMARK": "test_streams_that_never_end_a_window",
    "TREND_STREAM_WINDOW": "test_streams_that_never_end_a_window",
    "TREND_UNKNOWN_SETTING": "test_settings_with_unknown_values",
    "TREND_WORKLOAD_TOO_LARGE": "test_exhaustive_refuses_large_workloads",
    "TREND_INTERNAL_ERROR": "test_faults_are_reported_as_such",
}
"""Conditions with a test of their own, here or in another module."""


@pytest.mark.parametrize("conditions", groups(8, list(CASES)))
@pytest.mark.parametrize("part", first(1, [slice(1), slice(1, None)]), ids=["first", "others"])
def test_bad_statements(spark: SparkSession, part: slice, conditions: tuple[str, ...]) -> None:
    """The first statement of each condition, and the others."""
    stream(spark, {"x": "a1 b2"})
    spark.sql(f"CREATE TEMP VIEW v AS {trends('A B')}")
    cases = [(condition, text) for condition in conditions for text in list(CASES[condition])[part]]
    outcomes = [(text, wrong(spark, condition, text)) for condition, text in cases]
    assert not any(problem for _, problem in outcomes), "\n".join(f"{text!r}: {problem}" for text, problem in outcomes)
    assert [row.name for row in spark.sql("SHOW TREND QUERIES").collect()] == ["v"]
    assert sorted(row.tableName for row in spark.sql("SHOW TABLES").collect()) == ["e", "v"]


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
    if position(error) != (before.count("\n") + 1, column):
        return f"at {position(error)}"
    if not message.startswith(f"[{condition}] ") or len(message.splitlines()) < 2:
        return f"no class or no hint: {message}"
    if len(error.getSqlState() or "") != 5 or message.count("SQLSTATE: ") != 1:
        return f"not one SQLSTATE: {message}"
    if not message.endswith(f"SQLSTATE: {error.getSqlState()}"):
        return f"not its SQLSTATE: {message}"
    foreign = re.search("Traceback|Py4J|sparkext_trend_|__agg|__p[0-9]|<[a-z]+>", message)
    return None if foreign is None else f"{foreign[0]}: {message}"


def test_every_condition_is_covered() -> None:
    conditions = set(json.loads(CONDITIONS.read_text()))
    assert conditions == CASES.keys() | ELSEWHERE.keys()
    for name in ELSEWHERE.values():
        module, _, test = name.rpartition(".")
        assert hasattr(import_module(f"tests.{module}" if module else __name__), test), name


def test_a_view_whose_clause_is_gone(spark: SparkSession) -> None:
    """Its session has forgotten it, as when it has ended; the catalog has not."""
    stream(spark, {"x": "a1 b2"})
    spark.sql(f"CREATE OR REPLACE TEMP VIEW v AS {trends('A B')}")
    [parser] = parsers_of(spark)
    parser.workload.release()
    fails(spark, "SELECT * FROM v", "TREND_NOT_PLANNED")


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


@pytest.mark.long
def test_hints(spark: SparkSession) -> None:
    """Messages propose what would work."""
    stream(spark, {"x": "a1 b2"})
    proposed = {
        trends("A", "MEDIAN(A.v) AS n"): "COUNT, SUM, AVG, MIN, MAX",
        trends("A", "LAST(A.v) AS n"): "AVG(LAST(price))",
        trends("A", "SUM(FIRST(A.v) * 2) AS n"): "SUM(FIRST(A.v * 2))",
        trends("A", "SUM(LAST(A.v) + FIRST(v)) AS n"): "SUM(LAST(x)) + SUM(FIRST(x))",
        trends("A", "SUM(FIRST(A)) AS n"): "A.price",
        trends("A", "CLASSIFIER() AS n"): "COUNT(X)",
        trends("A", "MATCH_NUMBER() AS n"): "COUNT(*)",
        trends("A B", "SUM(A.v) FILTER (WHERE A.v > 1) AS n"): "CASE WHEN",
        trends("A B", more="DEFINE B AS B.k < PREV(k)"): "k < PREV(k), of type BOOLEAN",
        trends("A B", more="DEFINE B AS v > 1 AND PREV(v)"): '"((v > 1) AND PREV(v))"',
        trends("A B", more="DEFINE B AS PREV(v) > zz"): "`k`, `t`, `v`, `ty`?",
        trends("A B", "COUNT(C) AS n"): "A, B",
        trends("A", "SUM(A.kk) AS n"): "`k`",
        trends("A B", "SUM(B.t - A.t) AS n"): "can be named in DEFINE",
        trends("A B", more="DEFINE A AS B.t - A.t < 5"): "define B by what it has to do with A",
        trends("A", "COUNT(*)"): "COUNT(*) AS trips",
        trends("A", more="WITHIN INTERVAL 5 MINUTES"): "WITHIN 10",
        trends("A", more="WITHIN 5 MINUTES"): "Write WITHIN 5, without a unit",
        trends("A", more="WITHIN INTERVAL 5"): "Write WITHIN 5, without a unit",
        trends("A", more="SPAN 5 MINUTES"): "Write SPAN 5, without a unit",
        trends("A", more="SPAN 5 MINUTES", keys="ORDER BY timestamp_seconds(t) TYPE BY ty"): "SPAN INTERVAL 5 MINUTES",
        trends("A", more="WITHIN 5", keys="ORDER BY timestamp_seconds(t) TYPE BY ty"): "INTERVAL 10 MINUTES",
        "SHOW TREND QUERIES x": "SHOW TREND QUERIES [LIKE 'pattern'], SHOW TREND STREAMS and REFRESH SHARING",
        f"BEGIN CREATE VIEW v AS {trends('A')}; END": "CREATE TEMP VIEW",
        trends("A").replace("MATCH_TREND", "MATCH_TRENDS"): "found 'MATCH_TRENDS'; did you mean MATCH_TREND?",
        trends("A").replace("MATCH_TREND", "MATCH_TRND"): "found 'MATCH_TRND'; did you mean MATCH_TREND?",
        trends("A").replace("MEASURES", "MEASURE"): "found 'MEASURE'; did you mean MEASURES?",
        trends("A").replace("PATTERN", "PATERN"): "found 'PATERN'; did you mean PATTERN?",
        trends("A", more="DEFIN A AS v > 1"): "did you mean DEFINE?",
        trends("A", keys="ORDER BY t TYP BY ty"): "found 'TYP'; did you mean TYPE BY?",
        trends("A", more="WITHIN 5 SLID 2"): "found 'SLID'; did you mean SLIDE?",
        trends("A", more="WITHIN 5 MINUTES", keys="ORDER BY timestamp_seconds(t) TYPE BY ty"): "INTERVAL 5 MINUTES",
        trends("A", more="WITHIN '10'"): "Write WITHIN 10, without quotes",
        trends("A", "SUM(v) AS n"): "v is a column; say of which variable's events, as in SUM(A.v)",
        trends("A", "COUNT(1) AS n"): "COUNT(*) is the number of trends",
        trends("A", "COUTN(*) AS n"): "Did you mean COUNT?",
        trends("A", "SUMM(A.v) AS n"): "Did you mean SUM?",
        trends("A", more=f"DEFINE A AS {'(' * 3000}v{')' * 3000} > 1"): "nested too deeply for Spark's parser",
        trends("A", "v AS n", keys="ORDER BY t TYPE BY ty"): "It has no columns",
        trends("A", "COUNT(A.zz) AS n"): "`k`, `t`, `v`, `ty`?",
        trends("A{-1}"): "bounds are whole numbers from 0 to 1000, found '-1'",
        trends("A{x}"): "found 'x'",
        trends("A {- B -}"): "no events are returned",
        trends("^ A"): "a trend may begin and end anywhere",
        trends("A B", "SUM(B.v + ty.x) AS n", source="e").replace("A B", "ty B"): "write e.ty",
        trends("A", "SUM(A.c) AS n", source="(SELECT *, struct(v AS Vv) AS c FROM e)"): "of type STRUCT<Vv: DOUBLE>",
        trends("A", keys="ORDER t TYPE BY ty"): "found 'ORDER'; did you mean ORDER BY?",
        trends("A", keys="PARTITION k ORDER BY t TYPE BY ty"): "did you mean PARTITION BY?",
        trends("A", "COUNT(*) AS n COUNT(A) AS m"): "a comma is missing between the measure n and what follows it",
        trends("A", "COUNT(*) COUNT(A) AS m"): "error at or near '…'",
        trends("A", "COUNT(*) AS 'n'"): "stands in backquotes: `n`",
        trends("A B", more="DEFINE A AS v > 1 B AS v > 2"): "a comma is missing after the definition of A",
        trends("A", more="WHERE v > 1"): "WHERE is no part of the clause; filter the rows of the relation before it",
        trends("A", keys="WHERE v > 1 ORDER BY t TYPE BY ty"): "WHERE is no part of the clause",
        trends("A", more="HAVING n > 1"): "by the WHERE of the SELECT",
        trends("A", more="LIMIT 3"): "it goes after the clause",
        trends("A", keys="PARTITION BY A.k ORDER BY t TYPE BY ty"): "write the column without a variable",
        trends("A", "EVENTS(A.v) AS n", more="ONE ROW PER COMPLETION"): "write the column without a variable",
        trends("A, B"): "found ','; a sequence is written A B",
        trends("A -> B"): "found '-'; a sequence is written A B",
        trends("FUNEL(A, B)"): "and steps that some do not reach FUNNEL(A, B)",
        trends("A", more="ONE ROW PER COMPLETIONS"): "did you mean ONE ROW PER COMPLETION?",
        trends("A", "v AS n", more="ONE ROW PER COMPLETION"): "stand inside of FIRST, LAST or EVENTS",
        trends("A", "EVENTS(v) AS n"): "EVENTS does not apply here: a measure is about all trends",
        trends("A NOT B FOR 5"): "it goes with ONE ROW PER COMPLETION.\n",
        "EXPLAIN SHARING XML": "JSON, DOT or MERMAID, and a statement, or FOR",
        "EXPLAIN SHARNG": "did you mean EXPLAIN SHARING?",
        "EXPLAIN SHRING": "did you mean EXPLAIN SHARING?",
        "/* mine */ -- too\nSET spark.sparkext.cache = sometimes": "spark.sparkext.cache",
        "SET spark.sparkext.optimizer.budget = soon": "seconds of processor time",
    }
    for statement, hint in proposed.items():
        with pytest.raises(AnalysisException) as caught:
            spark.sql(statement)
        assert hint in str(caught.value).split("== SQL")[0], str(caught.value)


def test_places_of_errors_with_parameters(spark: SparkSession) -> None:
    """Offsets are those of the text with its markers, not with their values. Spark 4.0 has no values to give."""
    stream(spark, {"x": "a1 b2"})
    statement = trends("A B", more="DEFINE A AS A.k = :key AND A.v > :key2, B AS B.zz > :key")
    with pytest.raises(AnalysisException) as caught:
        spark.sql(statement, args={"key": "a rather long text", "key2": 1})
    if spark.version.startswith("4.0."):
        assert position(caught.value) == (1, statement.index(":key") + 1)
        assert caught.value.getCondition() == "TREND_PARAMETER"
        return
    assert position(caught.value) == (1, statement.index("zz") + 1)
    fails(spark, statement, "TREND_PARAMETER")
    short = trends("A B", more="DEFINE A AS A.k = ? AND A.zz > ?")
    with pytest.raises(AnalysisException) as caught:
        spark.sql(short, args=["a rather long text", 1])
    assert position(caught.value) == (1, short.index("zz") + 1)
    with pytest.raises(AnalysisException) as caught:
        spark.sql(trends("A B", more="DEFINE A AS A.k = ? AND A.v > ?"), args=["x"])
    assert caught.value.getCondition() == "TREND_PARAMETER"


def test_places_in_texts_of_wide_characters(spark: SparkSession) -> None:
    stream(spark, {"x": "a1 b2"})
    statement = trends("A", "SUM(A.zz) AS n").replace("SELECT", "SELECT /* é😀😀 */\n'😀' AS smile,")
    error = fails(spark, statement, "TREND_UNKNOWN_COLUMN")
    line = statement.split("\n")[1]
    assert position(error) == (2, line.index("zz") + 1)
    (context,) = error.getQueryContext()
    assert context.fragment() == "zz"
    for outside in (f"{trends('A')} WHERE zz > 1", trends("A").replace("*", "n, zz", 1)):
        statement = outside.replace("SELECT", "SELECT /* é😀😀 */\n'😀' AS smile,")
        error = fails(spark, statement, "UNRESOLVED_COLUMN.WITH_SUGGESTION")
        assert position(error) == (2, statement.split("\n")[1].index("zz") + 1)
        (context,) = error.getQueryContext()
        assert context.fragment() == "zz"


@pytest.mark.parametrize(
    ("setting", "value", "known"),
    [
        ("spark.sparkext.cache", "sometimes", "auto, on, off"),
        ("spark.sparkext.partitions", "0", "positive integer"),
        ("spark.sparkext.optimizer", "best", "gloria, greedy, exhaustive, none, published, sharon, hamlet, mcep"),
        ("spark.sparkext.maxMatches", "0", "a positive integer"),
        ("spark.sparkext.maxNodes", "0", "a positive integer"),
        ("spark.sparkext.costModel", "guess", "measured, paper"),
        ("spark.sparkext.statistics", "all", "sample, none, or a JSON object"),
        ("spark.sparkext.statistics", '{"A": "many"}', "sample, none, or a JSON object"),
        ("spark.sparkext.statistics", '{"A": -1}', "sample, none, or a JSON object"),
        ("spark.sparkext.statistics", "[1]", "sample, none, or a JSON object"),
        ("spark.sparkext.statistics.sampleRows", "some", "positive integer"),
        ("spark.sparkext.optimizer.budget", "long", "seconds of processor time"),
        ("spark.sparkext.optimizer.budget", "-1", "seconds of processor time"),
    ],
)
def test_settings_with_unknown_values(spark: SparkSession, setting: str, value: str, known: str) -> None:
    stream(spark, {"x": "a1 b2"})
    spark.conf.set(setting, value)
    error = fails(spark, trends("A? B+"), "TREND_UNKNOWN_SETTING")
    assert f"The setting {setting} cannot be '{value}'." in str(error)
    assert "== SQL" not in str(error)
    assert known in str(error)
    assert error.getSqlState() == "22023"
    assert [row.tableName for row in spark.sql("SHOW TABLES").collect()] == ["e"]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (
            "SET spark.sparkext.§cahce = off",
            "Did you mean spark.sparkext.cache? The settings are spark.sparkext.optimizer.budget, ",
        ),
        ("SET §spark.sparkext.costs=1;", "There is no setting spark.sparkext.costs."),
        ("SET spark.sparkext.cache = §sometimes", "Known values: auto, on, off."),
        ("set spark.sparkext.partitions=§0;", "auto, or a positive integer"),
        ("SET spark.sparkext.statistics.sampleRows = §many", "a positive integer"),
        ('SET spark.sparkext.statistics = §{"A": -1}', "a JSON object"),
    ],
)
def test_settings_are_looked_at_when_they_are_set(spark: SparkSession, statement: str, said: str) -> None:
    error = fails(spark, statement.replace("§", ""), "TREND_UNKNOWN_SETTING")
    assert said in str(error)
    start = statement.index("§") if "cahce" not in statement else statement.index("spark.")
    assert position(error) == (1, start + 1)


def test_settings_that_there_are_can_be_set_and_shown(spark: SparkSession) -> None:
    for name, value in (("cache", "OFF"), ("partitions", "auto"), ("statistics", '{"A": 1}')):
        assert values(spark.sql(f"SET spark.sparkext.{name} = {value}")) == [(f"spark.sparkext.{name}", value)]
        assert spark.conf.get(f"spark.sparkext.{name}") == value
    assert values(spark.sql("SET spark.sparkext.cache")) == [("spark.sparkext.cache", "OFF")]
    assert ("spark.sparkext.partitions", "auto") in values(spark.sql("SET"))
    assert values(spark.sql("RESET spark.sparkext.cache")) == []
    assert spark.conf.get("spark.sparkext.cache", None) is None
    assert ("spark.sparkext.cache", "OFF") not in values(spark.sql("SET"))


def test_unknown_settings_of_a_program(spark: SparkSession) -> None:
    stream(spark, {"x": "a1 b2"})
    spark.conf.set("spark.sparkext.cahce", "off")
    error = fails(spark, trends("A B? C?"), "TREND_UNKNOWN_SETTING")
    assert "There is no setting spark.sparkext.cahce.\nDid you mean spark.sparkext.cache?" in str(error)
    assert "== SQL" not in str(error)


@pytest.mark.long
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


@pytest.mark.long
def test_streams_that_never_end_a_window(spark: SparkSession) -> None:
    """Wherever the stream is in the relation, and in a view whose source becomes one."""
    stream(spark, {"x": "a1 b2"})
    spark.sql(f"CREATE TEMP VIEW v AS {trends('A', keys='ORDER BY t TYPE BY ty')}")
    assert values(spark.table("v")) == [(1,)]
    rates = spark.readStream.format("rate").load().selectExpr("value AS t", "timestamp", "'A' AS ty")
    rates.createOrReplaceTempView("s")
    rates.withWatermark("timestamp", "1 second").createOrReplaceTempView("w")
    minute = "WITHIN INTERVAL 1 MINUTE"
    for source in ("s", "(SELECT s.* FROM s JOIN e ON s.t = e.t)", "w"):
        statement = trends("A", keys="ORDER BY timestamp TYPE BY ty", source=source)
        error = fails(spark, statement, "TREND_STREAM_WINDOW")
        assert position(error) == (1, statement.index("PATTERN") + 1)
        assert error.getSqlState() == "42000"
    for source in ("s", "(SELECT s.* FROM s JOIN e ON s.t = e.t)"):
        statement = trends("A", more=minute, keys="ORDER BY timestamp TYPE BY ty", source=source)
        error = fails(spark, statement, "TREND_STREAM_WATERMARK")
        assert position(error) == (1, statement.index(source) + 1)
        assert "withWatermark('ts', '10 seconds')" in str(error)
    rows, collated = "ONE ROW PER COMPLETION", "array(ty COLLATE UNICODE)"
    statement = trends(
        "A", "CLASSIFIER() AS c", f"{rows} {minute}", f"ORDER BY timestamp, t, {collated} TYPE BY ty", "w"
    )
    error = fails(spark, statement, "TREND_COMPLETION_COMBINED")
    assert "an order by ARRAY<STRING COLLATE UNICODE>, over a stream" in str(error)
    assert position(error) == (1, statement.index(collated) + 1)
    statement = trends("A", "CLASSIFIER() AS c", rows, "ORDER BY timestamp TYPE BY ty", "w")
    assert "needs WITHIN or SPAN" in str(fails(spark, statement, "TREND_STREAM_WINDOW"))
    counted = trends("A", "COUNT(DISTINCT LAST(*)) AS n", "SPAN INTERVAL 1 HOUR", "ORDER BY timestamp TYPE BY ty", "w")
    fails(spark, counted, "TREND_STREAM_WINDOW")
    statement = trends("A", more=f"{minute} SPAN INTERVAL 1 HOUR", keys="ORDER BY timestamp TYPE BY ty", source="w")
    error = fails(spark, statement, "TREND_SPAN_COMBINED")
    assert position(error) == (1, statement.index("INTERVAL 1 HOUR") + 1)
    day = "WITHIN INTERVAL 1 DAY"
    for by, within in (("t", "WITHIN 3"), ("timestamp + INTERVAL 1 DAY", minute), ("DATE(timestamp)", day)):
        statement = trends("A", more=within, keys=f"ORDER BY {by} TYPE BY ty", source="w")
        error = fails(spark, statement, "TREND_STREAM_TIME")
        assert position(error) == (1, statement.index(f"{by} TYPE") + 1)
        assert "The column is `timestamp`." in str(error)
    keys = "ORDER BY timestamp TYPE BY ty"
    fails(spark, "WITH c AS (SELECT * FROM s) " + trends("A", keys=keys, source="c"), "TREND_STREAM_WINDOW")
    rates.createOrReplaceTempView("e")
    fails(spark, "SELECT * FROM v", "TREND_STREAM_WINDOW")


def test_streams_need_a_state_store_and_protobuf(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    rates = spark.readStream.format("rate").load().selectExpr("timestamp AS t", "'A' AS ty")
    rates.withWatermark("t", "1 second").createOrReplaceTempView("w")
    statement = trends("A", more="WITHIN INTERVAL 1 MINUTE", keys="ORDER BY t TYPE BY ty", source="w")
    error = fails(spark, statement, "TREND_STREAM_REQUIREMENT")
    assert position(error) == (1, statement.index("w") + 1)
    if spark.version.startswith("4.0."):
        assert "needs PySpark 4.1 or later" in str(error)
        return
    command = re.search(r"SET (\S+) = (\S+RocksDBStateStoreProvider)", str(error))
    assert command is not None
    with settings(spark, **{command[1].replace(".", "_"): command[2]}):
        monkeypatch.setattr(streams, "_MESSAGES", "no_such_package.of_messages")
        error = fails(spark, statement, "TREND_STREAM_REQUIREMENT")
        assert "pip install 'sparkext[streaming]'" in str(error)


def test_faults_are_reported_as_such(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(*_: object) -> None:
        raise KeyError("a fault\nin two lines")

    broken: Callable[..., None] = fault
    monkeypatch.setattr(rewrite, "find_clauses", broken)
    error = fails(spark, trends("A B"), "TREND_INTERNAL_ERROR")
    assert "KeyError" in str(error)
    assert "Traceback" not in str(error)
    assert error.getSqlState() == "XX000"


def test_errors_while_running_are_those_of_spark(spark: SparkSession) -> None:
    """Of an expression that fails on some row, with what the user wrote and nothing around it."""
    stream(spark, {"x": "a1 b2"})
    for statement, condition, written in (
        (trends("A", more="DEFINE A AS CAST(A.k AS INT) > 1"), "CAST_INVALID_INPUT", "CAST(  k AS INT) > 1"),
        (trends("A", more="DEFINE A AS v > 0 AND\n  CAST(k AS INT) > 1"), "CAST_INVALID_INPUT", "CAST(k AS INT) > 1"),
        (
            trends("A", more="DEFINE A AS true", keys="GROUP BY CAST(k AS INT) AS g ORDER BY t"),
            "CAST_INVALID_INPUT",
            "CAST(k AS INT)",
        ),
        (trends("A", keys="ORDER BY CAST(k AS INT) TYPE BY ty"), "CAST_INVALID_INPUT", "CAST(k AS INT)"),
        (trends("A", "SUM(A.v / (A.t - 1)) AS s"), "DIVIDE_BY_ZERO", "v / (  t - 1)"),
        (trends("A", "1 / (COUNT(*) - 1) AS s"), "DIVIDE_BY_ZERO", "1 / (`COUNT(*)` - 1)"),
    ):
        with pytest.raises(PySparkException) as caught:
            spark.sql(statement).collect()
        assert caught.value.getCondition() == condition
        message = str(caught.value)
        assert "Traceback" not in message
        _, shown, carets, *_ = message[message.index("== SQL") :].split("\n")
        assert shown.strip() == written
        assert set(carets) <= {"^", " "}


@pytest.mark.parametrize("measure", [None, "SUM(A.§x) AS s"])
def test_a_field_of_a_column_that_is_called_like_a_variable(spark: SparkSession, measure: str | None) -> None:
    """The variable comes first; the hint says how to write the field."""
    stream(spark, {"x": "a1 b2 a3 b4"})
    source = "(SELECT k, t, ty, named_struct('x', v) AS A FROM e)"
    more = "" if measure else "DEFINE B AS A.§x > 25"
    before, after = trends("A B", measure or "COUNT(*) AS n", more, source=source).split("§")
    error = fails(spark, before + after, "TREND_UNKNOWN_COLUMN")
    assert position(error) == (1, len(before) + 1)
    assert "The column `A` has such a field: write a variable before both, as in B.`A`.`x`." in str(error)
    assert values(spark.sql(trends("A B", more="DEFINE B AS B.`A`.`x` > 25", source=source))) == [("x", 2)]


def test_plans_are_readable(spark: SparkSession) -> None:
    """No arithmetic of words, no name of sparkext's in front of the user, an aggregate by its own name."""
    stream(spark, {"x": "a1 b2"})
    frame = spark.sql(trends("A B", "COUNT(*) AS n, SUM(A.v) / COUNT(A) AS m", "WITHIN 10"))
    plan = frame._jdf.queryExecution().optimizedPlan().toString()
    assert "COUNT(*)" in plan or "AS n" in plan
    assert not re.search(r"__agg|18446744073709551616|5421010862427522170|unbase64", plan)
    assert max(map(len, plan.split("\n"))) < 2000


def test_constant_types_are_warned_of(spark: SparkSession, caplog: pytest.LogCaptureFixture) -> None:
    stream(spark, {"x": "a1 b2"})
    spark.sql(f"CREATE TEMP VIEW v AS {trends('A B', keys='ORDER BY t TYPE BY ' + repr('ty'))}")
    assert "TYPE BY 'ty' of v is a constant that no variable is called, so nothing matches" in caplog.text
    assert "did you mean the column ty?" in caplog.text
    caplog.clear()
    spark.sql(trends("A B"))
    spark.sql(trends("A", keys="ORDER BY t TYPE BY 'A'"))
    assert "constant" not in caplog.text


def test_keys_that_are_names_in_quotes_are_warned_of(spark: SparkSession, caplog: pytest.LogCaptureFixture) -> None:
    stream(spark, {"x": "a1 b2"})
    asked = trends("A B", keys="PARTITION BY 'k' ORDER BY t TYPE BY ty")
    spark.sql(f"CREATE TEMP VIEW v AS {asked}")
    assert "PARTITION BY 'k' of v is a constant, which all events have; did you mean the column k?" in caplog.text
    spark.sql(trends("A B", keys="PARTITION BY k GROUP BY 'TY' ORDER BY t TYPE BY ty"))
    assert "GROUP BY 'TY' of" in caplog.text
    caplog.clear()
    spark.sql(trends("A B", keys="PARTITION BY k, 'all' GROUP BY 'k' AS what, 1 ORDER BY t TYPE BY ty"))
    assert "constant" not in caplog.text


@pytest.mark.long
def test_messages_are_short(spark: SparkSession) -> None:
    """Whatever is written."""
    stream(spark, {"x": "a1 b2"})
    deep = "(" * 3000 + "v > 1" + ")" * 3000
    for statement, condition in (
        (trends(" | ".join(f"A{number}" for number in range(2000))), "TREND_PATTERN_TOO_LARGE"),
        (trends("A", more=f"DEFINE A AS {deep}"), "TREND_INVALID_EXPRESSION"),
        (trends("A", more=f"DEFINE A AS {'v + ' * 3000} zz > 1"), "TREND_INVALID_EXPRESSION"),
        (trends("A", more=f"DEFINE A AS {'v + ' * 300} {'z' * 5000} > 1"), "TREND_UNKNOWN_COLUMN"),
        (trends("A", f"COUNT({'B' * 3000}) AS n"), "TREND_UNKNOWN_VARIABLE"),
        (trends("A", more=f"SEEK{'K' * 3000}"), "TREND_CLAUSE_SYNTAX"),
    ):
        assert len(str(fails(spark, statement, condition))) <= 2000


def test_errors_around_a_clause_are_in_the_users_words(spark: SparkSession) -> None:
    """No plan, no stand-in, the places of the text that was written."""
    stream(spark, {"x": "a1 b2"})
    spark.sql(f"CREATE TEMP VIEW v AS {trends('A B')}")
    spark.sql("CREATE TEMP VIEW w AS SELECT n AS m FROM v")
    for marked, condition in (
        ("SELECT §nn FROM v", UNRESOLVED),
        ("SELECT n,\n  §nn FROM v WHERE k = 'x'", UNRESOLVED),
        ("CREATE TEMP VIEW z AS SELECT §nn FROM v", UNRESOLVED),
        (trends("A").replace("*", "§nn", 1), UNRESOLVED),
        (f"SELECT * FROM e {clause('A')} AS a JOIN v ON §a.zz = v.k", UNRESOLVED),
        (f"WITH c AS ({trends('A')})\nSELECT §c.zz FROM c", UNRESOLVED),
        (f"INSERT INTO §nowhere {trends('A')}", "TABLE_OR_VIEW_NOT_FOUND"),
        (f"{trends('A')} WHERE §)", "PARSE_SYNTAX_ERROR"),
        (f"{trends('A')}\n  AS a WHERE n > 1 §GROUPED BY n", "PARSE_SYNTAX_ERROR"),
    ):
        before, after = marked.split("§")
        error = fails(spark, before + after, condition)
        text = str(error)
        assert not re.search(r"sparkext_|__agg|Project|\+-", text), text
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n") - 1
        assert f"line {line}, pos" in text, text
        assert f"position {column + 1}" in text or f"pos {column}" in text, text


def test_errors_of_data_frames_of_trends_have_no_plan(spark: SparkSession) -> None:
    """Also of those that are derived from them; those of other frames are Spark's to the letter."""
    stream(spark, {"x": "a1 b2"})
    spark.sql(f"CREATE TEMP VIEW v AS {trends('A B')}")
    view, direct = spark.table("v"), spark.sql(trends("A B", "COUNT(*) AS n, SUM(A.v) AS s"))
    methods: list[Callable[[], object]] = [
        lambda: view.select("nn"),
        lambda: view.where("n > 1").groupBy("k").agg({"nn": "max"}),
        lambda: direct.orderBy("nn"),
        lambda: direct.join(view, "nn"),
    ]
    for method in methods:
        with pytest.raises(AnalysisException) as caught:
            method()
        assert (caught.value.getCondition() or "").startswith("UNRESOLVED_")
        message = str(caught.value)
        assert "`nn`" in message
        assert len(message) < 400, message
        assert "\n" not in message
    with pytest.raises(AnalysisException) as caught:
        spark.table("e").select("nn")
    assert "'Project ['nn]\n+- SubqueryAlias e" in str(caught.value)


def test_errors_of_a_view_that_is_read_name_it(spark: SparkSession) -> None:
    stream(spark, {"x": "a1 b2"})
    spark.sql(f"CREATE TEMP VIEW v AS {trends('A B')}")
    spark.sql("CREATE OR REPLACE TEMP VIEW e AS SELECT 'x' AS k, 1 AS t, 2 AS v")
    error = fails(spark, "SELECT * FROM v", "TREND_UNKNOWN_COLUMN")
    written = f"CREATE TEMP VIEW v AS {trends('A B')}"
    assert f"== SQL of VIEW v (line 1, position {written.index('ty MEASURES') + 1}) ==" in str(error)


def test_statements_without_trends_have_errors_of_spark(spark: SparkSession, plain: SparkSession) -> None:
    """To the letter, also where a word is almost one of ours."""
    for statement in (
        "SELEC 1",
        "SELECT 'a",
        "SELECT * FROM VALUES (1) AS t(a) WHERE )",
        "EXPLAIN SHARDING",
        "SELECT match_trends(1, 2",
        "SELECT zz FROM VALUES (1) AS t(a)",
        "SELECT * FROM nowhere",
    ):
        with pytest.raises(AnalysisException) as own_error:
            spark.sql(statement)
        with pytest.raises(AnalysisException) as spark_error:
            plain.sql(statement)
        strip = re.compile(r"#\d+")
        assert strip.sub("", str(own_error.value)) == strip.sub("", str(spark_error.value))


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
