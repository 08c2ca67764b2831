"""Measures: the value and type of each aggregate, of which events, and expressions over aggregates."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.support.sql_cases import relation, results, settings, stream, trends, values

ABAB = {"x": "a1 b2 a3 b4"}

EXTREMES: dict[str, list[str]] = {
    "TINYINT": ["-128Y", "127Y", "0Y"],
    "SMALLINT": ["-32768S", "32767S", "-1S"],
    "INT": ["-2147483648", "2147483647", "7"],
    "BIGINT": ["-9223372036854775808L", "9223372036854775807L", "7L"],
    "FLOAT": ["-1.5F", "CAST('Infinity' AS FLOAT)", "0F"],
    "DOUBLE": ["-1.7976931348623157E308D", "4.9E-324D", "-0.5D"],
    "DECIMAL(5,2)": ["-999.99BD", "12.50BD", "0.01BD"],
    "DECIMAL(38,0)": [f"-{'9' * 38}BD", f"{'9' * 38}BD", "1BD"],
    "DECIMAL(38,38)": [f"-0.{'9' * 38}BD", f"0.{'0' * 37}1BD", "0BD"],
    "DATE": ["DATE'0001-01-01'", "DATE'9999-12-31'", "DATE'1970-01-01'"],
    "TIMESTAMP": [
        "TIMESTAMP'0001-01-01 00:00:00'",
        "TIMESTAMP'9999-12-31 23:59:59.999999'",
        "TIMESTAMP'1969-12-31 23:59:59.999999'",
    ],
    "TIMESTAMP_NTZ": [
        "TIMESTAMP_NTZ'0001-01-01 00:00:00.000001'",
        "TIMESTAMP_NTZ'9999-12-31 23:59:59.999999'",
        "TIMESTAMP_NTZ'1970-01-01 00:00:00'",
    ],
}
"""Per type that MIN and MAX take: the least value, the greatest, and one in between."""


def test_aggregates_by_hand(spark: SparkSession) -> None:
    """A+ B over a1 b2 a3 b4: trends 12, 14, 34, 134."""
    stream(spark, ABAB)
    measures = """COUNT(*) AS n, COUNT(A) AS a, COUNT(B) AS b, SUM(A.v) AS sa, SUM(B.v) AS sb, AVG(A.v) AS ma,
        MIN(A.t) AS lo, MAX(B.t) AS hi, SUM(A.v / 10 + 1) AS plus, COUNT(A.k) AS ks"""
    rows = values(spark.sql(trends("A+ B", measures)))
    assert rows == [("x", 4, 5, 4, 90.0, 140.0, 18.0, 1, 4, 14.0, 5)]


def test_counts_in_doubles_by_hand(spark: SparkSession) -> None:
    """They count what COUNT counts, in all of its forms. The logarithm of no events is NULL."""
    stream(spark, ABAB | {"y": "a5 c6"})
    forms = ("*", "A", "A.v", "NULLIF(A.t, 1)", "C", "c.ty")
    functions = ("COUNT", "APPROX_COUNT", "log10_count")
    measures = [f"{name}({inner}) AS {name}{i}" for name in functions for i, inner in enumerate(forms)]
    frame = spark.sql(trends("A+ B | C", ", ".join(measures)))
    assert [kind for _, kind in frame.dtypes[1:]] == ["decimal(38,0)"] * 6 + ["double"] * 12
    counts = {"x": [4, 5, 5, 2, 0, 0], "y": [1, 0, 0, 0, 1, 1]}
    for key, *values_of_key in values(frame):
        logarithms = [pytest.approx(math.log10(count), abs=1e-12) if count else None for count in counts[key]]
        assert values_of_key == [*counts[key], *counts[key], *logarithms]


def test_extremes_are_of_events_in_trends(spark: SparkSession) -> None:
    """Of X in a complete trend of the window, whatever else the pool keeps totals of."""
    stream(spark, {"x": "b0 a1 a2 b3 a9", "y": "a5"})
    extremes = "MIN(A.t) AS lo, MAX(A.t) AS hi, MIN(B.t) AS b"
    assert values(spark.sql(trends("A B", extremes))) == [("x", 1, 2, 3)]
    spark.sql(f"CREATE TEMP VIEW pairs AS {trends('A B', extremes)}")
    spark.sql(f"CREATE TEMP VIEW singles AS {trends('A B?', extremes)}")
    spark.sql(f"CREATE TEMP VIEW near AS {trends('A B', extremes, 'WITHIN 4 SLIDE 2')}")
    assert values(spark.table("pairs")) == [("x", 1, 2, 3)]
    assert values(spark.table("singles")) == [("x", 1, 9, 3), ("y", 5, 5, None)]
    assert values(spark.table("near")) == [("x", 0, 4, 1, 2, 3), ("x", 2, 6, 2, 2, 3)]


def test_extremes_have_the_type_of_their_attribute(spark: SparkSession) -> None:
    """From the least value of each type to its greatest."""
    names = [f"c{index}" for index in range(len(EXTREMES))]
    rows = [
        f"1, {index + 1}, 'A', " + ", ".join(f"CAST({texts[index]} AS {kind})" for kind, texts in EXTREMES.items())
        for index in (2, 0, 1)
    ]
    relation(spark, "e", f"k, t, ty, {', '.join(names)}", rows)
    measures = ", ".join(f"MIN(A.{name}) AS lo_{name}, MAX(A.{name}) AS hi_{name}" for name in names)
    frame = spark.sql(trends("A+", measures))
    assert frame.dtypes[1:] == [
        (f"{end}_{name}", kind.lower()) for name, kind in zip(names, EXTREMES, strict=True) for end in ("lo", "hi")
    ]
    shown = frame.selectExpr(*(f"CAST({name} AS STRING)" for name in frame.columns[1:]))
    wanted = spark.sql(
        "SELECT "
        + ", ".join(f"CAST(CAST({text} AS {kind}) AS STRING)" for kind, t in EXTREMES.items() for text in t[:2])
    )
    assert values(shown) == values(wanted)


def test_null_attributes_are_skipped(spark: SparkSession) -> None:
    relation(spark, "e", "k, t, ty, v", ["1, 1, 'A', NULL", "1, 2, 'A', 5", "2, 1, 'A', NULL"])
    measures = """COUNT(*) AS n, COUNT(A) AS a, COUNT(A.v) AS av, APPROX_COUNT(A.v) AS ap, LOG10_COUNT(A.v) AS lg,
        SUM(A.v) AS s, AVG(A.v) AS m, MIN(A.v) AS lo, MAX(A.v) AS hi"""
    assert values(spark.sql(trends("A+", measures))) == [
        (1, 3, 4, 2, 2.0, pytest.approx(math.log10(2)), 10.0, 5.0, 5, 5),
        (2, 1, 1, 0, 0.0, None, None, None, None, None),
    ]


def test_numbers_that_are_not_finite(spark: SparkSession) -> None:
    """NaN is greatest, and makes sums NaN, as infinities of both signs do; only events in trends matter."""
    nan, infinite = "CAST('NaN' AS DOUBLE)", "CAST('Infinity' AS DOUBLE)"
    streams = [
        *([nan, "5D"], ["5D"], [nan], [infinite, "5D"], [f"-{infinite}", infinite]),
        *([f"-{infinite}", nan], ["NULL", nan], ["5D", "NULL"]),
    ]
    rows = [f"{k}, {t}, 'A', {v}" for k, written in enumerate(streams) for t, v in enumerate(written)]
    ends = [f"{k}, {t}, '{ty}', {nan}" for k in range(len(streams)) for t, ty in ((8, "B"), (9, "A"))]
    relation(spark, "e", "k, t, ty, v", rows + ends)
    measures = """SUM(A.v) AS s, AVG(A.v) AS m, MIN(A.v) AS lo, MAX(A.v) AS hi, COUNT(A.v) AS c,
        MAX(CAST(A.v AS FLOAT)) AS f"""
    inf = math.inf
    assert str([row[1:] for row in values(spark.sql(trends("A+ B", measures)))]) == str(
        [
            (math.nan, math.nan, 5.0, math.nan, Decimal(4), math.nan),
            (5.0, 5.0, 5.0, 5.0, Decimal(1), 5.0),
            (math.nan, math.nan, math.nan, math.nan, Decimal(1), math.nan),
            (inf, inf, 5.0, inf, Decimal(4), inf),
            (math.nan, math.nan, -inf, inf, Decimal(4), inf),
            (math.nan, math.nan, -inf, math.nan, Decimal(4), math.nan),
            (math.nan, math.nan, math.nan, math.nan, Decimal(2), math.nan),
            (10.0, 5.0, 5.0, 5.0, Decimal(2), 5.0),
        ]
    )


def test_numbers_that_are_not_finite_in_some_partitions_of_a_group(spark: SparkSession) -> None:
    nan, infinite = "CAST('NaN' AS DOUBLE)", "CAST('Infinity' AS DOUBLE)"
    groups = {"both": [infinite, f"-{infinite}", "1D"], "inf": [infinite, "-1e308D", "-1e308D"], "nan": [nan, "5D"]}
    rows = [f"{k}, '{g}', 1, 'A', {v}" for g, written in groups.items() for k, v in enumerate([*written, "0D"] * 3)]
    relation(spark, "e", "k, g, t, ty, v", rows)
    keys = "PARTITION BY k GROUP BY g ORDER BY t TYPE BY ty"
    of_group = values(spark.sql(trends("A", "SUM(A.v) AS s, AVG(A.v) AS m, COUNT(A.v) AS c", keys=keys)))
    nans = (math.nan, math.nan)
    wanted = [("both", *nans, Decimal(12)), ("inf", math.inf, math.inf, Decimal(12)), ("nan", *nans, Decimal(9))]
    assert str(of_group) == str(wanted)


def test_sums_beyond_a_double(spark: SparkSession) -> None:
    """They are infinite, on either side; their average is not."""
    relation(spark, "e", "k, t, ty, v", ["1, 1, 'A', 1.5e308D", "1, 2, 'A', 1.2e308D"])
    measures = "SUM(A.v) AS s, SUM(-A.v) AS below, AVG(A.v) AS m, AVG(-A.v) AS n"
    assert values(spark.sql(trends("A A", measures))) == [
        (1, math.inf, -math.inf, pytest.approx(1.35e308), pytest.approx(-1.35e308))
    ]


def test_attributes_are_expressions(spark: SparkSession) -> None:
    """A+ B over a1 b2 a3 b4 has a1 in three trends and a3 in two."""
    stream(spark, ABAB)
    by_hand: dict[str, object] = {
        "SUM(A.v / A.t)": 50.0,
        "SUM(((A.v) + (A.t * (A.v - 1))))": 3 * (10 + 9) + 2 * (30 + 3 * 29.0),
        "SUM(CASE WHEN A.t = 1 THEN A.v ELSE -A.v END)": 30.0 - 60.0,
        "SUM(CASE A.k WHEN 'x' THEN 1 END)": 5.0,
        "AVG(CAST(A.v AS DECIMAL(10, 2)))": 18.0,
        "SUM(greatest(A.t, 2))": 3 * 2 + 2 * 3.0,
        "SUM(a.t) + SUM(`A`.`t`) + SUM( A . t )": 27.0,
        "SUM(length(concat(A.k, A.ty, /* of B? */ 'B.t')))": 25.0,
        "SUM(aggregate(array(A.t, 1), 0, (x, y) -> x + y))": 14.0,
        "SUM(element_at(map('t', A.t), 't'))": 9.0,
        "SUM(A.v + t)": 99.0,
        "COUNT(CASE WHEN A.t > 1 THEN 'late' END)": 2,
        "COUNT(A.t > 5)": 5,
        "MAX(-A.t)": -1,
        "MIN(IF(A.t = 1, NULL, A.t))": 3,
        "datediff(MAX(date_add(DATE'2024-01-01', A.t)), DATE'2024-01-01')": 3,
        "APPROX_COUNT(nullif(A.t, 3))": 3.0,
        "AVG(A.v * NULL)": None,
        "MAX(CAST(NULL AS INT) + A.t)": None,
    }
    measures = ", ".join(f"{text} AS m{index}" for index, text in enumerate(by_hand))
    ((_, *rows),) = values(spark.sql(trends("A+ B", measures)))
    assert dict(zip(by_hand, rows, strict=True)) == by_hand


def test_attributes_are_evaluated_for_events_of_their_variable_only(spark: SparkSession) -> None:
    """What fails on other events does not matter, whether the type or the condition tells them apart."""
    stream(spark, ABAB)
    text = "CAST(IF({0}.ty = '{0}', '2', 'none') AS INT)"
    a, b = text.format("A"), text.format("B")
    measures = f"SUM({a}) AS sa, MIN({a}) AS la, COUNT({a}) AS ca, AVG({b}) AS mb, MAX(10 / (B.t - 3)) AS odd"
    assert values(spark.sql(trends("A+ B", measures))) == [("x", 10.0, 2, 5, 2.0, 10.0)]
    untyped = trends(
        "X Y", "SUM(1 / (X.t - 2)) AS s, SUM(1 / (Y.t - 1)) AS n", "DEFINE X AS t <> 2, Y AS t > 1", "ORDER BY t"
    )
    assert values(spark.sql(untyped)) == [(-2.0, pytest.approx(1 + 1 / 2 + 2 / 3))]
    with pytest.raises(PySparkException) as caught:
        spark.sql(trends("A B", "SUM(1 / (A.t - 3)) AS s")).collect()
    assert caught.value.getCondition() == "DIVIDE_BY_ZERO"


def test_measures_are_expressions(spark: SparkSession) -> None:
    """Over aggregates, output columns and literals; the same aggregate may stand several times."""
    stream(spark, ABAB)
    measures = """COUNT(B) / COUNT(*) AS ratio, CASE WHEN SUM(A.v) > 50 THEN upper(k) ELSE 'none' END AS word,
        window_end - window_start AS span, CAST(COUNT(*) AS INT) + COUNT ( * ) AS twice, 'COUNT(*)' AS text,
        coalesce(SUM(B.v), 0) - /* not COUNT(A) */ SUM(A.v) AS gap, 7 AS seven, k IS NOT NULL AS has_key,
        power(10, LOG10_COUNT(*)) - approx_count ( * ) AS none, MAX(A.t) BETWEEN window_start AND MIN(A.t) + 2 AS near,
        concat_ws('-', k, window_start, CAST(AVG(A.t) AS INT)) AS label"""
    frame = spark.sql(trends("A+ B", measures, "WITHIN 10"))
    names = "ratio word span twice text gap seven has_key none near label"
    assert frame.columns == ["k", "window_start", "window_end", *names.split()]
    ((*rows,),) = values(frame)
    none = pytest.approx(0, abs=1e-9)
    wanted = ["x", 0, 10, Decimal(1), "X", 10, Decimal(8), "COUNT(*)", 50.0, 7, True, none, True, "x-0-1"]
    assert rows == wanted


def test_measures_over_windows_of_time(spark: SparkSession) -> None:
    """Group columns and bounds of windows are those of the row."""
    stream(spark, {"x": "a1 a2", "y": "a90"})
    measures = (
        "date_format(window_start, 'HH:mm') || ' ' || who AS label, window_end - MAX(A.at) AS left, COUNT(*) AS n"
    )
    source = "(SELECT *, timestamp_ntz'2024-01-01 08:00:00' + make_dt_interval(0, 0, t) AS at FROM e)"
    keys = "PARTITION BY upper(k) AS who ORDER BY at TYPE BY ty"
    frame = spark.sql(trends("A+", measures, "WITHIN INTERVAL 1 HOUR", keys, source))
    assert values(frame.selectExpr("who", "label", "CAST(left AS STRING)", "n")) == [
        ("X", "08:00 X", "INTERVAL '0 00:58:00' DAY TO SECOND", 3),
        ("Y", "09:00 Y", "INTERVAL '0 00:30:00' DAY TO SECOND", 1),
    ]


def test_counts_and_expressions_over_them_are_exact(spark: SparkSession) -> None:
    """Beyond 64 bits and beyond 53, also as an operand; without ANSI, what depends on an overflow is NULL."""
    stream(spark, {"x": " ".join(f"a{t}" for t in range(1, 121)), "y": " ".join(f"a{t}" for t in range(1, 141))})
    measures = "COUNT(*) AS n, COUNT(*) % 1000 AS least, CAST(COUNT(A) AS STRING) AS a, COUNT(*) > 5 AS many"
    with settings(spark, spark_sql_ansi_enabled="false"):
        rows = values(spark.sql(trends("A+", measures)))
    count = 2**120 - 1
    assert rows == [("x", count, count % 1000, str(120 * 2**119), True), ("y", None, None, None, None)]


def test_measures_without_aggregates(spark: SparkSession) -> None:
    """There is a row wherever there is a trend."""
    stream(spark, {"x": "a1 b2", "y": "b1 a2"})
    answers = results(spark, [trends("A B", "1 AS n"), trends("A | B", "length(k) + 1 AS n")])
    assert answers == [[1], [2, 2]]
