"""``SET spark.sparkext.optimizer = mcep``: matches are built in Spark, beside queries that it does not plan."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.support.sql_cases import relation, settings, stream, trends, values

MEASURES = "COUNT(*) AS n, COUNT(B) AS b, SUM(B.v) AS s, AVG(B.v) AS a, MIN(B.v) AS low, MAX(A.v) AS high"

VIEWS = {
    "sequence": trends("A B C", MEASURES),
    "in_windows": trends("A B", MEASURES, "WITHIN 4 SLIDE 2"),
    "in_two_orders": trends("A & B", MEASURES, "WITHIN 5"),
    "sometimes": trends("A B? C", MEASURES, "DEFINE B AS v > 25"),
    "repeated": trends("A B+ C", MEASURES),
    "forbidden": trends("A NOT C B", "COUNT(*) AS n"),
    "over_keys": trends("A B", MEASURES, keys="PARTITION BY k GROUP BY g ORDER BY t TYPE BY ty"),
}
"""Of which the matches of all but two are built."""


def test_results_are_the_same(spark: SparkSession) -> None:
    stream(spark, {"x": "a1 a2 b2 b3 a3 c5 b6 c6 a7 b9", "y": "b1 a2 c3 b4 c4 c9", "z": "a0 b1 a1 b2"}, "r")
    spark.sql("CREATE TEMP VIEW e AS SELECT *, k = 'y' AS g FROM r")
    with settings(spark, spark_sparkext_cache="off"):
        expected = {name: values(spark.sql(statement)) for name, statement in VIEWS.items()}
    assert all(expected.values())
    with settings(spark, spark_sparkext_optimizer="mcep"):
        for name, statement in VIEWS.items():
            spark.sql(f"CREATE TEMP VIEW {name} AS {statement}")
        text = spark.sql("EXPLAIN SHARING").collect()[0].plan
        assert text.count("not planned by mcep") == 2
        assert "matches are built by" in text
        assert {name: values(spark.table(name)) for name in VIEWS} == expected


def test_too_many_matches(spark: SparkSession) -> None:
    """The error names the query, the number and the window; other queries of the pool have their results."""
    relation(spark, "e", "k, t, ty", [f"'x', {t}, '{'AB'[t > 40]}'" for t in range(80)])
    with settings(spark, spark_sparkext_optimizer="mcep", spark_sparkext_maxMatches="1000"):
        spark.sql(f"CREATE TEMP VIEW all_pairs AS {trends('A B', more='WITHIN 500')}")
        spark.sql(f"CREATE TEMP VIEW near_pairs AS {trends('A B', more='WITHIN 10')}")
        spark.conf.set("spark.sparkext.statistics", '{"A": 1, "B": 1}')
        assert sum(row[3] for row in values(spark.table("near_pairs"))) == 9
        with pytest.raises(PySparkException) as caught:
            spark.table("all_pairs").collect()
        message = str(caught.value)
        for part in (
            "TREND_TOO_MANY_MATCHES",
            "query all_pairs has more than 1,000",
            "from 0 to 500",
            "then REFRESH SHARING",
        ):
            assert part in message, part
        assert "Traceback" not in message
        spark.sql("REFRESH SHARING")
        spark.conf.set("spark.sparkext.statistics", '{"A": 50, "B": 50}')
        assert "it has too many matches to build them" in spark.sql("EXPLAIN SHARING").collect()[0].plan
    assert values(spark.table("all_pairs")) == [("x", 0, 500, 41 * 39)]
