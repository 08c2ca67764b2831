"""Counts near and beyond 38 digits, exact and in doubles, and sums and averages over very many trends."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.support.enumerator import as_float
from tests.support.sql_cases import clause, relation, settings, trends, values

LIMIT = 10**38
"""The least count that DECIMAL(38,0) cannot hold."""


def runs(spark: SparkSession, lengths: list[int]) -> None:
    """A view in which the key (n, i) has n events of type A."""
    relation(spark, "lengths", "i, n", (f"{i}, {length}" for i, length in enumerate(lengths)))
    spark.sql(
        """CREATE OR REPLACE TEMP VIEW e AS
        SELECT n AS k, i, n % 2 AS g, explode(sequence(1, n)) AS t, 'A' AS ty FROM lengths"""
    )


def as_powers(total: int) -> list[int]:
    """Numbers of events n, each of whose 2^n - 1 trends add up to ``total``."""
    powers: list[int] = []
    while total:
        powers.append((total + 1).bit_length() - 1)
        total -= 2 ** powers[-1] - 1
    return powers


def test_counts_are_exact_to_38_digits(spark: SparkSession) -> None:
    """A+ over n events has 2^n - 1 trends, and n 2^(n-1) events in them."""
    lengths = [1, 62, 63, 64, 65, 119, 120, 126]
    runs(spark, lengths)
    rows = values(spark.sql(trends("A+", "COUNT(*) AS n, MAX(A.t) AS last", more="WITHIN 1000")))
    assert [row[3] for row in rows] == [Decimal(2**n - 1) for n in lengths]
    runs(spark, [60, 119])
    rows = values(spark.sql(trends("A+", "COUNT(A) AS a, COUNT(A.ty) AS ty")))
    assert rows == [(n, n * 2 ** (n - 1), n * 2 ** (n - 1)) for n in (60, 119)]


def test_overflow_is_null_without_ansi(spark: SparkSession) -> None:
    """Whatever the size: just above 38 digits, above 128 bits, or far above."""
    runs(spark, [126, 127, 128, 129, 200, 1100])
    statement = trends("A+", "COUNT(*) AS n, COUNT(A) AS a, COUNT(*) IS NULL AS over, MAX(A.t) AS last")
    with settings(spark, spark_sql_ansi_enabled="false"):
        rows = values(spark.sql(statement))
    assert rows[0] == (126, 2**126 - 1, None, False, 126)
    assert rows[1:] == [(n, None, None, True, n) for n in (127, 128, 129, 200, 1100)]


def test_overflow_fails_with_ansi(spark: SparkSession) -> None:
    """The error names the query, the measure and the window."""
    runs(spark, [127])
    spark.sql(f"CREATE TEMP VIEW too_many AS SELECT * FROM e {clause('A+', 'COUNT(*) AS trips', 'WITHIN 500')}")
    with pytest.raises(PySparkException) as caught:
        spark.sql("SELECT * FROM too_many").collect()
    message = str(caught.value)
    for part in ("TREND_COUNT_OVERFLOW", "too_many", "trips", "from 0 to 500", "LOG10_COUNT", "ansi"):
        assert part in message, part
    assert "Traceback" not in message


def test_what_the_overflow_suggests_works(spark: SparkSession) -> None:
    """Counts in doubles are infinite beyond 1.8e308, their logarithms never are."""
    lengths = [1, 127, 1022, 1023, 1024, 6000]
    runs(spark, lengths)
    measures = """APPROX_COUNT(*) AS n, APPROX_COUNT(A) AS a, APPROX_COUNT(A.t) AS at,
        LOG10_COUNT(*) AS l, LOG10_COUNT(A) AS la, LOG10_COUNT(A.t) AS lt"""
    rows = values(spark.sql(trends("A+", measures, "WITHIN 10000")))
    for n, (k, _, _, *counts) in zip(lengths, rows, strict=True):
        trends_of, events = 2**n - 1, n * 2 ** (n - 1)
        doubles = [as_float(Fraction(count)) for count in (trends_of, events, events)]
        logarithms = [math.log10(count) for count in (trends_of, events, events)]
        assert (k, *counts) == (n, *(pytest.approx(value, rel=1e-12) for value in doubles + logarithms))
    assert [row[3] == math.inf for row in rows] == [False] * 4 + [True] * 2
    assert [row[4] == math.inf for row in rows] == [False] * 2 + [True] * 4


def test_counts_in_doubles_of_partitions_of_very_different_size(spark: SparkSession) -> None:
    runs(spark, [5000, 3, 4999, 70, 5000])
    keys = "PARTITION BY i GROUP BY ty ORDER BY t TYPE BY ty"
    rows = values(spark.sql(trends("A+", "LOG10_COUNT(*) AS l, APPROX_COUNT(A) AS a", keys=keys)))
    assert rows == [("A", pytest.approx(math.log10(2**5001 + 2**4999), rel=1e-12), math.inf)]


def test_overflow_names_the_measures_that_hold_the_count(spark: SparkSession) -> None:
    runs(spark, [130])
    with pytest.raises(PySparkException) as caught:
        spark.sql(trends("A+", "MAX(A.t) AS last, COUNT(A) + 1 AS more")).collect()
    assert "COUNT(A) of measure more" in str(caught.value)
    assert "unbounded window" in str(caught.value)
    assert values(spark.sql(f"SELECT last FROM ({trends('A+', 'MAX(A.t) AS last, COUNT(*) AS more')})")) == [(130,)]


def test_large_counts_of_results_that_are_kept(spark: SparkSession) -> None:
    """One view can be read, the other one cannot but for its other measures."""
    runs(spark, [100, 130])
    spark.sql(f"CREATE TEMP VIEW small AS {trends('A+', source='(SELECT * FROM e WHERE k = 100)')}")
    spark.sql(f"CREATE TEMP VIEW large AS {trends('A+', 'COUNT(*) AS n, MAX(A.t) AS last')}")
    spark.sql(f"CREATE TEMP VIEW some AS {trends('A', 'COUNT(*) AS n')}")
    for _ in range(3):
        assert values(spark.table("small")) == [(100, 2**100 - 1)]
        assert values(spark.table("some")) == [(100, 100), (130, 130)]
        assert values(spark.sql("SELECT k, last FROM large")) == [(100, 100), (130, 130)]
        with pytest.raises(PySparkException, match="TREND_COUNT_OVERFLOW"):
            spark.table("large").collect()


@pytest.mark.long
def test_views_keep_the_ansi_setting_that_they_were_created_with(spark: SparkSession) -> None:
    """As all of Spark's views do."""
    runs(spark, [130])
    for name, ansi in (("strict", "true"), ("lax", "false")):
        with settings(spark, spark_sql_ansi_enabled=ansi):
            spark.sql(f"CREATE TEMP VIEW {name} AS {trends('A+')}")
    for ansi in ("false", "true"):
        with settings(spark, spark_sql_ansi_enabled=ansi):
            assert values(spark.table("lax")) == [(130, None)]
            with pytest.raises(PySparkException, match="TREND_COUNT_OVERFLOW"):
                spark.table("strict").collect()


@pytest.mark.parametrize("over", [0, 1])
def test_counts_added_up_over_partitions(spark: SparkSession, over: int) -> None:
    """No partition overflows, but their sum may."""
    lengths = as_powers(LIMIT - 1 + over)
    assert max(lengths) <= 126
    runs(spark, lengths)
    keys = "PARTITION BY k, i GROUP BY ty ORDER BY t TYPE BY ty"
    with settings(spark, spark_sql_ansi_enabled="false"):
        assert values(spark.sql(trends("A+", keys=keys))) == [("A", None if over else LIMIT - 1)]


def test_partitions_that_overflow_make_the_group_overflow(spark: SparkSession) -> None:
    runs(spark, [5000, 5000, 5000, 3])
    keys = "PARTITION BY i GROUP BY g ORDER BY t TYPE BY ty"
    with settings(spark, spark_sql_ansi_enabled="false"):
        assert values(spark.sql(trends("A+", "COUNT(*) AS n, COUNT(A) AS a", keys=keys))) == [
            (0, None, None),
            (1, 7, 12),
        ]


def test_averages_do_not_overflow(spark: SparkSession) -> None:
    """In the 2^5003 - 1 trends over 5003 events each event is as often."""
    runs(spark, [5003, 3])
    measures = "AVG(A.t) AS mean, SUM(A.t) AS total, SUM(-A.t) AS below, MIN(A.t) AS first, MAX(A.t) AS last"
    small, large = values(spark.sql(trends("A+", measures)))
    assert small == (3, 2.0, 24.0, -24.0, 1, 3)
    assert large[1] == pytest.approx(2502, rel=1e-9)
    assert large[2:] == (math.inf, -math.inf, 1, 5003)


def test_averages_over_partitions_of_very_different_size(spark: SparkSession) -> None:
    """The partition with 2^5000 trends outweighs all others; those of equal size count alike."""
    runs(spark, [5000, 3, 4999, 5000])
    keys = "PARTITION BY i GROUP BY ty ORDER BY t TYPE BY ty"
    ((_, mean, total),) = values(spark.sql(trends("A+", "AVG(A.t + A.i * 100) AS mean, SUM(A.t) AS total", keys=keys)))
    # 2^5000 · 2500 events of each long run, 2^4998 · 4999 of the shorter one.
    weights = [(4 * 2500, 2500.5 + 0), (4999, 2500 + 200), (4 * 2500, 2500.5 + 300)]
    assert mean == pytest.approx(sum(w * m for w, m in weights) / sum(w for w, _ in weights), rel=1e-9)
    assert total == math.inf


def test_huge_sums_of_partitions_that_cancel(spark: SparkSession) -> None:
    """Whichever tasks they are in, the sum is zero, and an average that is too small for a double as well."""
    runs(spark, [3000] * 8)
    signs = ("A.i < 4", "A.i % 2 = 0", "A.i DIV 2 % 2 = 0")
    measures = ", ".join(f"{f}(IF({sign}, 1, -1)) AS {f}{i}" for i, sign in enumerate(signs) for f in ("SUM", "AVG"))
    keys = "PARTITION BY i GROUP BY ty ORDER BY t TYPE BY ty"
    assert values(spark.sql(trends("A+", measures, keys=keys))) == [("A", *[0.0] * 6)]


def test_sums_are_finite_up_to_the_range_of_doubles(spark: SparkSession) -> None:
    runs(spark, [1000])
    ((_, total, mean),) = values(spark.sql(trends("A+", "SUM(A.t) AS total, AVG(A.t) AS mean")))
    assert total == pytest.approx(float(2**999 * (1000 * 1001 // 2)), rel=1e-9)
    assert mean == pytest.approx(500.5, rel=1e-9)
