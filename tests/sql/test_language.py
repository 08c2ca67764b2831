"""What queries mean: patterns, result columns, keys, measures, conditions."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.support.sql_cases import relation, results, stream, trends, values

ABAB = {"x": "a1 b2 a3 b4"}

BY_HAND: list[tuple[dict[str, str], dict[str, int | None]]] = [
    (ABAB, {"A B": 3, "A+ B": 4, "(A B)+": 4, "A+ | A B": 6, "A+": 3, "A*": 3, "A A": 1, "A+ A+": 1, "A | A": 2}),
    (ABAB, {"A? B": 5, "A B?": 5, "A* B*": 11, "B A": 1, "C": None, "A C? B": 3, "(A | B)+": 15, "SEQ(A, B)": 3}),
    (ABAB, {"OR(A, B)": 4, "SEQ(A, OR(A, B))": 4, "((A))": 2, "A | B | A B": 7, "(A+ B)+": 5, "(A? B?)+": 15}),
    ({"x": "c0 a1 b2 a3 b4 d5"}, {"C (A B)+ D": 4, "C (A B)+": 4, "C D": 1}),
    ({"x": "a1 a2 c3 b4 b5 b6 b7"}, {"A B+": 30, "C B+": 15, "A+ B": 12, "A+ C B+": 45}),
    ({"x": "a1 a2 a3"}, {"A+ A+": 4, "A A": 3, "A A A": 1, "A A?": 6, "(A A)+": 3, "A+": 7}),
    ({"x": "a1 a1 b1 a2"}, {"A+": 5, "A B": None, "A A": 2, "B A": 1, "(A | B)+": 7}),
]


@pytest.mark.parametrize(("events", "counts"), BY_HAND)
def test_counts_by_hand(spark: SparkSession, events: dict[str, str], counts: dict[str, int | None]) -> None:
    stream(spark, events)
    answers = results(spark, [trends(pattern) for pattern in counts])
    assert dict(zip(counts, answers, strict=True)) == {p: [] if n is None else [n] for p, n in counts.items()}


def test_variables_ignore_case_but_types_do_not(spark: SparkSession) -> None:
    stream(spark, ABAB)
    statement = "select * from e match_trend (partition by k order by t type by ty "
    spelled = [
        "measures count(a) as n pattern (A B) define b as b.v > 0)",
        "measures count(*) as n pattern (a b))",
        "measures Count(`A`) as n pattern (`A` B))",
    ]
    assert results(spark, [statement + rest for rest in spelled]) == [[3], [], [3]]


def test_clauses_come_in_any_order(spark: SparkSession) -> None:
    stream(spark, ABAB)
    turned = """SELECT * FROM e MATCH_TREND (
        SLIDE 1 DEFINE A AS v > 0 PATTERN (A B) MEASURES COUNT(*) AS n WITHIN 4 TYPE BY ty ORDER BY t PARTITION BY k)"""
    usual = trends("A B", more="DEFINE A AS v > 0 WITHIN 4 SLIDE 1")
    first, second = results(spark, [turned, usual], ("window_start", "n"))
    assert first == second == [(-1, 1), (0, 1), (1, 3), (2, 1), (3, 1)]


def test_columns_come_in_order_and_have_their_types(spark: SparkSession) -> None:
    relation(
        spark,
        "typed",
        "k, g, t, ty, i, d, f, day, at, ntz",
        [
            "1, 'x', 5, 'A', 7, 1.25BD, 2.5F, DATE'2024-01-02', "
            "TIMESTAMP'2024-01-02 03:04:05', TIMESTAMP_NTZ'2024-01-02 01:00:00'"
        ],
    )
    frame = spark.sql(
        """SELECT * FROM typed MATCH_TREND (
            PARTITION BY k, upper(g) AS big ORDER BY t TYPE BY ty
            MEASURES COUNT(*) AS c, COUNT(A) AS ca, COUNT(A.i) AS ci, SUM(A.i) AS s, AVG(A.d) AS a, MIN(A.i) AS mi,
                     MAX(A.d) AS md, MIN(A.f) AS mf, MAX(A.day) AS mday, MIN(A.at) AS mat, MAX(A.ntz) AS mntz
            PATTERN (A) WITHIN 10)"""
    )
    assert frame.dtypes == [
        ("k", "int"),
        ("big", "string"),
        ("window_start", "int"),
        ("window_end", "int"),
        ("c", "decimal(38,0)"),
        ("ca", "decimal(38,0)"),
        ("ci", "decimal(38,0)"),
        ("s", "double"),
        ("a", "double"),
        ("mi", "int"),
        ("md", "decimal(3,2)"),
        ("mf", "float"),
        ("mday", "date"),
        ("mat", "timestamp"),
        ("mntz", "timestamp_ntz"),
    ]
    source = spark.table("typed").first()
    row = frame.first()
    assert source is not None
    assert row is not None
    assert list(row)[:9] == [1, "X", 0, 10, 1, 1, 1, 7.0, 1.25]
    assert list(row)[9:] == [source.i, source.d, source.f, source.day, source.at, source.ntz]


def test_unnamed_keys_are_named_as_spark_names_them(spark: SparkSession) -> None:
    stream(spark, ABAB)
    keys = "PARTITION BY upper(k), t % 2 ORDER BY t TYPE BY ty"
    assert spark.sql(trends("A", keys=keys)).columns == spark.sql("SELECT upper(k), t % 2, 1 AS n FROM e").columns


def test_partition_and_group_keys(spark: SparkSession) -> None:
    """Trends agree on both; results are per group, else per partition."""
    rows = ["1, 'u', 1, 'A'", "1, 'u', 2, 'B'", "1, 'v', 3, 'B'", "2, 'v', 2, 'A'", "2, 'u', 4, 'B'", "2, 'v', 5, 'B'"]
    relation(spark, "e", "p, g, t, ty", rows)
    by_keys = {
        keys: values(spark.sql(trends("A B", keys=f"{keys} ORDER BY t TYPE BY ty")))
        for keys in ("PARTITION BY p", "PARTITION BY p GROUP BY g", "GROUP BY g", "GROUP BY g, p", "")
    }
    assert by_keys == {
        "PARTITION BY p": [(1, 2), (2, 2)],
        "PARTITION BY p GROUP BY g": [("u", 1), ("v", 1)],
        "GROUP BY g": [("u", 2), ("v", 2)],
        "GROUP BY g, p": [("u", 1, 1), ("v", 2, 1)],
        "": [(7,)],
    }


def test_group_adds_up_over_partitions(spark: SparkSession) -> None:
    """All aggregates of a group range over the trends of its partitions, in every window."""
    relation(
        spark,
        "e",
        "p, g, t, ty, v",
        [
            *("1, 'u', 1, 'A', 1.5D", "1, 'u', 2, 'A', 2D", "2, 'u', 2, 'A', 4D", "3, 'u', 2, 'A', NULL"),
            *("1, 'u', 11, 'A', 8D", "4, 'w', 3, 'A', NULL"),
        ],
    )
    measures = (
        "COUNT(*) AS n, COUNT(A) AS a, COUNT(A.v) AS av, SUM(A.v) AS s, AVG(A.v) AS m, MIN(A.v) AS lo, MAX(A.v) AS hi"
    )
    rows = values(spark.sql(trends("A+", measures, "WITHIN 10", "PARTITION BY p GROUP BY g ORDER BY t TYPE BY ty")))
    assert rows == [
        ("u", 0, 10, 5, 6, 5, 11.0, 2.2, 1.5, 4.0),
        ("u", 10, 20, 1, 1, 1, 8.0, 8.0, 8.0, 8.0),
        ("w", 0, 10, 1, 1, 0, None, None, None, None),
    ]


def test_conditions(spark: SparkSession) -> None:
    """With a prefix or without, on any column, with any function of Spark's; NULL is not true."""
    stream(spark, ABAB)
    conditions = {
        "A AS A.v > 10": 1,
        "A AS v > 10, B AS B.v < 40": None,
        "A AS A.v > NULL": None,
        "A AS e.v < 15": 2,
        "B AS length(concat(B.k, b.ty)) = 2 AND NOT (B.t IN (2, 3))": 2,
        "A AS CASE WHEN A.t = 3 THEN true ELSE A.k = 'zz' END": 1,
        "A AS exists(array(A.t, 7), x -> x = 1)": 2,
    }
    answers = results(spark, [trends("A B", more=f"DEFINE {text}") for text in conditions])
    assert dict(zip(conditions, answers, strict=True)) == {c: [] if n is None else [n] for c, n in conditions.items()}


def test_variables_without_types(spark: SparkSession) -> None:
    """An event may match several variables, and is then in several labelled words."""
    stream(spark, ABAB)
    keys = "PARTITION BY k ORDER BY t"
    answers = results(
        spark,
        [
            trends("X Y", more="DEFINE X AS X.v < 30, Y AS Y.v > 10", keys=keys),
            trends("X | Y", more="DEFINE X AS v < 30, Y AS v > 10", keys=keys),
            trends("X", more="DEFINE X AS true", keys=keys),
        ],
    )
    assert answers == [[5], [5], [4]]


def test_quoted_names(spark: SparkSession) -> None:
    relation(spark, "`odd name`", "`the key`, `t.t`, `my type`, `count(*)`", ['1, 1, "it\'s A", 2', "1, 2, 'B', 3"])
    frame = spark.sql(
        """SELECT * FROM `odd name` MATCH_TREND (PARTITION BY `the key` AS `my key` ORDER BY `t.t` TYPE BY `my type`
        MEASURES SUM(`it's A`.`count(*)`) AS `a ``measure``` PATTERN (`it's A` B)
        DEFINE `it's A` AS `it's A`.`count(*)` = 2 AND `odd name`.`count(*)` = 2)"""
    )
    assert frame.columns == ["my key", "a `measure`"]
    assert values(frame) == [(1, 2.0)]


def test_types_are_compared_as_strings(spark: SparkSession) -> None:
    relation(spark, "e", "k, t, ty", ["1, 1, 7", "1, 2, 8"])
    assert values(spark.sql(trends("`7` `8`"))) == [(1, 1)]
    assert values(spark.sql(trends("ODD EVEN", keys="ORDER BY t TYPE BY IF(ty % 2 = 0, 'EVEN', 'ODD')"))) == [(1,)]


def test_columns_that_are_called_like_the_words_of_the_clause(spark: SparkSession) -> None:
    relation(spark, "e", "pattern, define, within, measures", ["1, 1, 'A', 2", "1, 2, 'B', 3"])
    frame = spark.sql(
        """SELECT * FROM e MATCH_TREND (PARTITION BY pattern ORDER BY `define` TYPE BY `within`
        MEASURES SUM(A.measures) AS slide, COUNT(*) AS within, COUNT(B.within) AS `order` PATTERN (A B)
        DEFINE A AS A.within = 'A' AND A.measures = 2 WITHIN 10)"""
    )
    assert frame.columns == ["pattern", "window_start", "window_end", "slide", "within", "order"]
    assert values(frame) == [(1, 0, 10, 2.0, 1, 1)]


def test_shifted_moments(spark: SparkSession) -> None:
    """What is computed of one of two adjacent events may be anything, a time and an interval among them."""
    stream(spark, ABAB)
    conditions = [
        "timestamp_seconds(B.t) > PREV(timestamp_seconds(t)) + INTERVAL 1 SECOND",
        "timestamp_seconds(B.t) - INTERVAL 1 SECOND > PREV(timestamp_seconds(t))",
        "hour(timestamp_seconds(B.t) - INTERVAL 3 HOURS) = PREV(hour(timestamp_seconds(t) - INTERVAL 3 HOURS)) "
        "AND B.t > PREV(t) + 1",
    ]
    assert results(spark, [trends("A B", more=f"DEFINE B AS {text}") for text in conditions]) == [[1], [1], [1]]
