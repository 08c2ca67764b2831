"""What EXPLAIN SHARING says of conditions on the event before, as Spark has analysed them, and what they count."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.errors import PySparkException
from pyspark.ml.linalg import Vectors
from pyspark.sql import SparkSession

from tests.support.sql_cases import fails, values

FENWICK, SEGMENT, RANGE = "Fenwick tree", "segment tree", "range tree"
SCAN = "scan of all events before"

CASES = {
    "PREV(v) IS NULL OR v < PREV(v)": FENWICK,
    "v < PREV(v) OR PREV(v) IS NULL": FENWICK,
    "PREV(w) IS NULL OR w < PREV(w)": FENWICK,
    "w < PREV(w) OR PREV(w) IS NULL": FENWICK,
    "w > PREV(w) * 1.01D": FENWICK,
    "PREV(s) = s": "hash",
    "PREV(v) > 3 AND v > 2": "hash",
    "v <> PREV(v)": SEGMENT,
    "s <> PREV(s)": SEGMENT,
    "v - PREV(v) > 5": SEGMENT,
    "abs(w - PREV(w)) < 0.5D": SEGMENT,
    "ts - PREV(ts) < INTERVAL 5 MINUTES": SEGMENT,
    "NOT (v = PREV(v)) AND s = PREV(s)": SEGMENT,
    "v <=> PREV(v)": SEGMENT,
    "v < PREV(v) AND w > PREV(w)": RANGE,
    "w BETWEEN PREV(w) - 0.5D AND PREV(w) + 0.5D": RANGE,
    "v < PREV(v) OR w > PREV(w)": f"{FENWICK} + {RANGE}",
    "v < PREV(v) AND w > PREV(w) AND ts > PREV(ts + INTERVAL 1 MINUTE)": SCAN,
    "v % PREV(v) = 1": SCAN,
}


@pytest.fixture
def source(spark: SparkSession) -> Iterator[str]:
    """A relation with an attribute of each kind."""
    spark.sql(
        "SELECT id AS t, CAST(id * 7 % 5 AS INT) AS v, CAST(IF(id % 4 = 0, NULL, id * 3 % 7) AS DOUBLE) AS w,"
        " IF(id % 2 = 0, 'x', 'y') AS s, TIMESTAMP '2026-01-01' + id * INTERVAL 2 MINUTES AS ts FROM range(9)"
    ).createOrReplaceTempView("before")
    yield "before"
    spark.catalog.dropTempView("before")


@pytest.mark.parametrize("window", ["", "WITHIN 6 SLIDE 2"])
def test_what_finds_the_events_before(spark: SparkSession, source: str, window: str) -> None:
    for number, condition in enumerate(CASES):
        spark.sql(
            f"CREATE OR REPLACE TEMP VIEW q{number} AS SELECT * FROM {source} MATCH_TREND ("
            f"ORDER BY t MEASURES COUNT(*) AS n PATTERN (A B+) DEFINE A AS true, B AS {condition} {window})"
        )
    try:
        said = "\n".join(row[0] for row in spark.sql("EXPLAIN SHARING").collect())
    finally:
        for number in range(len(CASES)):
            spark.catalog.dropTempView(f"q{number}")
    shown = {"".join(line.split()) for line in said.splitlines()}
    for condition, structure in CASES.items():
        assert "".join(f"{condition}:{structure}".split()) in shown, (condition, said)


@pytest.mark.long
def test_all_ways_count_the_same(spark: SparkSession, source: str) -> None:
    """Each condition, and one that is scanned since it adds the same to both sides."""
    same = {
        "v < PREV(v)": "v + PREV(v) < PREV(v) + PREV(v)",
        "PREV(v) IS NULL OR v < PREV(v)": "PREV(v) IS NULL OR v + PREV(v) < PREV(v) + PREV(v)",
        "v - PREV(v) > 1": "v + PREV(v) > PREV(v) + PREV(v) + 1",
        "v <> PREV(v)": "v + PREV(v) <> PREV(v) + PREV(v)",
        "abs(v - PREV(v)) <= 2": "v + PREV(v) BETWEEN PREV(v + v) - 2 AND PREV(v + v) + 2",
        "v BETWEEN PREV(v) - 1 AND PREV(v) + 1": "v + PREV(v) BETWEEN PREV(v + v) - 1 AND PREV(v + v) + 1",
        "v < PREV(v) AND w > PREV(w)": "v + PREV(v) < PREV(v) + PREV(v) AND w > PREV(w)",
        "v < PREV(v) OR w > PREV(w)": "v + PREV(v) < PREV(v) + PREV(v) OR w > PREV(w)",
    }

    def counted(condition: str) -> list[tuple[object, ...]]:
        measures = "COUNT(*) AS n, SUM(B.w) AS s, AVG(B.v) AS a, MIN(B.w) AS low, MAX(B.v) AS high"
        text = f"ORDER BY t MEASURES {measures} PATTERN (A B+) DEFINE A AS true, B AS {condition}"
        return values(spark.sql(f"SELECT * FROM {source} MATCH_TREND ({text})"))

    for condition, scanned in same.items():
        assert counted(condition) == counted(scanned), condition


@pytest.mark.parametrize("condition", ["v < PREV(v)", "B.v < PREV(B.v)", "abs(w) < abs(PREV(w))"])
def test_what_is_compared_of_both_events_is_read_once(spark: SparkSession, source: str, condition: str) -> None:
    query = (
        f"SELECT * FROM {source} MATCH_TREND (ORDER BY t MEASURES COUNT(*) AS n PATTERN (A B+) DEFINE A AS true, "
        f"B AS {condition})"
    )
    plan = spark.sql(f"EXPLAIN EXTENDED {query}").collect()[0][0]
    assert "attribute_0" in plan
    assert "attribute_1" not in plan


FAILING = {
    "v <> 0 AND 10/v > PREV(10/v)": [("x", 1)],
    "v <> 0 AND PREV(int(10/v)) = 2": [("x", 1)],
    "v <> 0 AND a[1] = PREV(a[1])": [("x", 1)],
}
"""Conditions of B, with what is counted, that fail where v is 0, in texts without blanks."""


@pytest.mark.parametrize("condition", FAILING)
@pytest.mark.parametrize("more", ["", "ONE ROW PER COMPLETION"])
def test_attributes_are_evaluated_for_events_of_their_variables_only(
    spark: SparkSession, condition: str, more: str
) -> None:
    spark.sql(
        "CREATE TEMP VIEW failing AS SELECT *, slice(array(5, 5), 1, IF(v = 0, 1, 2)) AS a "
        "FROM VALUES ('x', 1, 'A', 0), ('x', 2, 'A', 5), ('x', 3, 'B', 0), ('x', 4, 'B', 2) AS e(k, t, ty, v)"
    )
    clause = (
        f"MATCH_TREND (PARTITION BY k ORDER BY t TYPE BY ty {more} MEASURES COUNT(*) AS n PATTERN (A B) "
        f"DEFINE A AS v <> 0, B AS {condition})"
    )
    assert values(spark.sql(f"SELECT * FROM failing {clause}")) == FAILING[condition]


def test_attributes_are_evaluated_whatever_an_or_says_before(spark: SparkSession) -> None:
    """As `docs/limits.md` says; what does not fail is what it is in Spark."""
    spark.sql(
        "CREATE TEMP VIEW divided AS SELECT * FROM VALUES ('x', 1, 'A', 5), ('x', 2, 'B', 0), ('x', 3, 'B', 2), "
        "('x', 4, 'B', 9) AS e(k, t, ty, v)"
    )
    clause = "MATCH_TREND (PARTITION BY k ORDER BY t TYPE BY ty MEASURES COUNT(*) AS n PATTERN (A B) DEFINE B AS {})"
    with pytest.raises(PySparkException, match="DIVIDE_BY_ZERO"):
        values(spark.sql(f"SELECT * FROM divided {clause.format('v = 0 OR 10 / v > PREV(10 / v)')}"))
    tried = clause.format("v = 0 OR try_divide(10, v) > PREV(try_divide(10, v))")
    assert values(spark.sql(f"SELECT * FROM divided {tried}")) == [("x", 2)]


def test_texts_that_are_no_unicode(spark: SparkSession) -> None:
    """A string of Spark's may be any bytes."""
    spark.sql(
        "CREATE TEMP VIEW texts AS SELECT t, CAST(unhex(s) AS STRING) AS s "
        "FROM VALUES (1, 'FF41'), (2, 'FF42'), (3, 'FF41'), (4, NULL), (5, '41') AS e(t, s)"
    )
    clause = "MATCH_TREND (ORDER BY t MEASURES COUNT(*) AS n PATTERN (A B) DEFINE A AS true, B AS s {} PREV(s))"
    counts = {operator: values(spark.sql(f"SELECT * FROM texts {clause.format(operator)}")) for operator in ("=", "<>")}
    assert counts == {"=": [(1,)], "<>": [(5,)]}


def test_a_type_that_spark_does_not_cast_to(spark: SparkSession) -> None:
    points = [(1, Vectors.dense([1.0])), (2, Vectors.dense([1.0]))]
    spark.createDataFrame(points, ["t", "v"]).createOrReplaceTempView("points")
    clause = "MATCH_TREND (ORDER BY t MEASURES COUNT(*) AS n PATTERN (A B) DEFINE A AS true, B AS {})"
    fails(spark, f"SELECT * FROM points {clause.format('v = PREV(v)')}", "TREND_PREV_UNSUPPORTED")
    assert values(spark.sql(f"SELECT * FROM points {clause.format('v IS NOT NULL AND PREV(v) IS NOT NULL')}")) == [(1,)]
