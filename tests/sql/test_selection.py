"""Which events a trend may leave out, in SQL: the clause, its place, which rows there are, what is pooled and shown."""

from __future__ import annotations

import json

import pytest
from pyspark.errors import PySparkValueError
from pyspark.sql import SparkSession

import sparkext
from tests.support.sql_cases import fails, relation, results, settings, stream, trends, values

SELECTIONS = ("SKIP TILL ANY MATCH", "SKIP TILL NEXT MATCH", "CONTIGUOUS")

BY_HAND = [
    ("(A+ B)+", "a1 b2 a3 a4 c5 b6 a7 b8", [43, 8, 2]),
    ("A B", "a1 a2 b3 b4", [4, 2, 1]),
    ("A+", "a1 x2 a3", [3, 3, 2]),
    ("A (NOT N B | C)", "a1 n2 a3 b4 c5", [3, 2, 1]),
]


@pytest.mark.parametrize(("pattern", "events", "counts"), BY_HAND)
def test_counts_by_hand(spark: SparkSession, pattern: str, events: str, counts: list[int]) -> None:
    stream(spark, {"x": events})
    answers = results(spark, [trends(pattern, more=selection) for selection in SELECTIONS])
    assert answers == [[count] for count in counts]
    assert results(spark, [trends(pattern)]) == [[counts[0]]]


def test_the_clause_stands_anywhere(spark: SparkSession) -> None:
    stream(spark, {"x": "a1 x2 b3 a4 b5"})
    base = ["PARTITION BY k", "ORDER BY t", "TYPE BY ty", "MEASURES COUNT(*) AS n", "PATTERN (A B)", "WITHIN 4 SLIDE 1"]
    statements = [
        f"SELECT * FROM e MATCH_TREND ({' '.join([*base[:index], 'contiguous', *base[index:]])})"
        for index in range(len(base) + 1)
    ]
    answers = results(spark, statements, ("window_start", "n"))
    assert answers == [[(2, 1), (3, 1), (4, 1)]] * len(answers)


def test_columns_and_names_of_the_words(spark: SparkSession) -> None:
    relation(spark, "w", "contiguous, skip, till", ["1, 'A', 'x'", "2, 'B', 'x'", "3, 'B', 'x'"])
    statement = """SELECT * FROM w MATCH_TREND (
        PARTITION BY till, contiguous > 0 AS skip ORDER BY contiguous TYPE BY skip
        MEASURES COUNT(*) AS contiguous CONTIGUOUS PATTERN (A B) DEFINE A AS 0 < contiguous, B AS w.contiguous < 9)"""
    assert spark.sql(statement).columns == ["till", "skip", "contiguous"]
    assert [row.contiguous for row in spark.sql(statement).collect()] == [1]


def test_rows_that_match_nothing_are_in_between(spark: SparkSession) -> None:
    """Whatever their type, in the partition and group; not those of others, and not those that a WHERE takes away."""
    rows = ["'p', 'g', 1, 'A'", "'p', 'g', 2, NULL", "'p', 'g', 3, 'B'", "'q', 'g', 1, 'A'", "'q', 'h', 2, 'X'"]
    relation(spark, "r", "p, g, t, ty", [*rows, "'q', 'g', 3, 'B'", "'q', 'g', CAST(NULL AS INT), 'B'"])
    keys = "PARTITION BY p GROUP BY g ORDER BY t TYPE BY ty"
    answers = results(
        spark,
        [
            trends("A B", more="CONTIGUOUS", keys=keys, source="r"),
            trends("A B", more="CONTIGUOUS", keys=keys, source="(SELECT * FROM r WHERE ty IS NOT NULL)"),
            trends("A B", more="CONTIGUOUS DEFINE A AS t < 3, B AS t > 2", keys=keys, source="r"),
        ],
    )
    assert answers == [[1], [2], [1]]


def test_filters_of_one_pool(spark: SparkSession) -> None:
    """Each query sees the rows of its own relation in between, though they are read together."""
    stream(spark, {"x": "a1 c2 b3 d4 a5 d6 b7"})
    parts = {"all": "e", "no_c": "(SELECT * FROM e WHERE ty <> 'C')", "no_d": "(SELECT * FROM e WHERE ty <> 'D')"}
    for name, source in parts.items():
        spark.sql(f"CREATE TEMP VIEW {name} AS {trends('A B', more='CONTIGUOUS', source=source)}")
    spark.sql(f"CREATE TEMP VIEW next AS {trends('A B', more='SKIP TILL NEXT MATCH', source=parts['no_c'])}")
    assert {row.pool for row in spark.sql("SHOW TREND QUERIES").collect()} == {"pool 1"}
    counted = {name: [row.n for row in spark.table(name).collect()] for name in (*parts, "next")}
    assert counted == {"all": [], "no_c": [1], "no_d": [1], "next": [2]}


@pytest.mark.long
@pytest.mark.parametrize("chunks", ["on", "off"])
def test_a_key_with_all_events(spark: SparkSession, chunks: str) -> None:
    """Without keys, events are cut into chunks of time where there are windows, and never into stretches."""
    spark.sql("SELECT id AS t, substr('ABXAB', int(id % 5) + 1, 1) AS ty FROM range(1000)").createOrReplaceTempView("l")
    with settings(spark, spark_sparkext_chunks=chunks):
        for within, most in ((1000, 80200), (10, 1000)):
            texts = [
                trends("A B", more=f"{more} {s}", keys="ORDER BY t TYPE BY ty", source="l")
                for s in SELECTIONS
                for more in (f"WITHIN {within}", "" if within == 1000 else "WITHIN 10 SLIDE 10")
            ]
            answers = results(spark, [f"SELECT sum(n) AS n FROM ({text})" for text in texts])
            assert answers == [[most]] * 2 + [[400]] * 4


def test_falling_prices(spark: SparkSession) -> None:
    relation(spark, "p", "t, price", ["1, 5", "2, 6", "3, 4", "4, 3"])
    define = "DEFINE Strt AS true, Down AS price < PREV(price)"
    texts = [trends("Strt Down", more=f"{define} {s}", keys="ORDER BY t", source="p") for s in SELECTIONS]
    assert results(spark, texts) == [[5], [3], [2]]


def test_equal_queries_of_other_selections_are_others(spark: SparkSession) -> None:
    stream(spark, {"x": "a1 a2 b3 b4"})
    for name, selection in zip("anc", SELECTIONS, strict=True):
        spark.sql(f"CREATE TEMP VIEW {name} AS {trends('A B', more=selection)}")
    assert [[row.n for row in spark.table(name).collect()] for name in "anc"] == [[4], [2], [1]]
    spark.sql(f"CREATE OR REPLACE TEMP VIEW a AS {trends('A B', more='CONTIGUOUS')}")
    assert [row.n for row in spark.table("a").collect()] == [1]


def test_what_is_shown(spark: SparkSession) -> None:
    stream(spark, {"x": "a1 a2 b3 b4"})
    for name, selection in zip("anc", SELECTIONS, strict=True):
        spark.sql(f"CREATE TEMP VIEW {name} AS {trends('A+ B', more=selection)}")
    ((text,),) = spark.sql("EXPLAIN SHARING").collect()
    assert "(1) a: A+ B | COUNT(*) | unbounded" in text
    assert "(2) n: A+ B, SKIP TILL NEXT MATCH | COUNT(*) | unbounded" in text
    assert "(3) c: A+ B, CONTIGUOUS | COUNT(*) | unbounded" in text
    assert "A -> B: (1), (2), (3)" in text
    ((document,),) = spark.sql("EXPLAIN SHARING JSON").collect()
    assert [query["selection"] for query in json.loads(document)["pools"][0]["queries"]] == list(SELECTIONS)
    patterns = [row.pattern for row in spark.sql("SHOW TREND QUERIES").collect()]
    assert patterns == ["A+ B", "A+ B, SKIP TILL NEXT MATCH", "A+ B, CONTIGUOUS"]
    assert "A+ B, CONTIGUOUS" in sparkext.explain_sharing(spark).html


def test_data_frames(spark: SparkSession) -> None:
    stream(spark, {"x": "a1 a2 b3 b4"})
    rows = [
        values(
            sparkext.match_trend(
                spark.table("e"),
                pattern="A B",
                order_by="t",
                type_by="ty",
                measures="COUNT(*) AS n",
                selection=selection,
            )
        )
        for selection in (None, "skip till any match", "SKIP  TILL NEXT MATCH", "Contiguous")
    ]
    assert rows == [[(4,)], [(4,)], [(2,)], [(1,)]]
    with pytest.raises(PySparkValueError, match="selection is 'NEXT', and can be SKIP TILL ANY MATCH, SKIP TILL NEXT"):
        sparkext.match_trend(
            spark.table("e"), pattern="A B", order_by="t", type_by="ty", measures="COUNT(*) AS n", selection="NEXT"
        )


def test_hints(spark: SparkSession) -> None:
    """Words that are almost the clause's are told from the clauses that they stand beside."""
    stream(spark, {"x": "a1 b2"})
    for written, meant in {
        "SKIP TILL NEXT": "did you mean SKIP TILL NEXT MATCH?",
        "SKIP UNTIL ANY MATCH": "did you mean SKIP TILL ANY MATCH?",
        "SKIP TO NEXT ROW": "did you mean SKIP TILL NEXT MATCH?",
        "CONTIGOUS": "did you mean CONTIGUOUS?",
        "CONTIGUOUS MATCH": "'MATCH' follows CONTIGUOUS, which stands by itself",
        "CONTIGUOUS SKIP TILL ANY MATCH": "SKIP TILL ANY MATCH stands beside CONTIGUOUS, and a query has one of them",
    }.items():
        assert meant in str(fails(spark, trends("A B", more=written), "TREND_CLAUSE_SYNTAX"))
