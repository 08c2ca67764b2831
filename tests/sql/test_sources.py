"""What a relation may hold: missing values, ties, keys of all types, nothing at all."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from decimal import Decimal

import pytest
from pyspark.errors import ParseException
from pyspark.sql import SparkSession

from tests.support.sql_cases import fails, position, relation, results, stream, trends, values
from tests.support.tiers import every, first


def test_rows_that_no_trend_can_hold(spark: SparkSession) -> None:
    """Rows without a time or type, and of types that the pattern does not name, are skipped."""
    rows = [
        "1, 1, 'A'",
        "1, NULL, 'A'",
        "1, 2, NULL",
        "1, 2, 'Z'",
        "1, 2, 'a'",
        "1, 2, 'A '",
        "1, 3, 'B'",
        "1, NULL, NULL",
    ]
    relation(spark, "e", "k, t, ty", rows)
    assert results(spark, [trends("A B"), trends("A+ B"), trends("(A | B)+")]) == [[1], [1], [3]]


def test_equal_times_are_never_in_one_trend(spark: SparkSession) -> None:
    relation(spark, "e", "k, t, ty", ["1, 1, 'A'", "1, 1, 'A'", "1, 1, 'B'", "1, 2, 'B'", "1, 2, 'B'", "1, 2, 'A'"])
    patterns = {"A B": 4, "A+ B": 4, "A+": 5, "B+": 5, "A B+": 4, "(A | B)+": 15, "A A": 2, "A B B": None}
    answers = results(spark, [trends(pattern) for pattern in patterns])
    assert dict(zip(patterns, answers, strict=True)) == {p: [] if n is None else [n] for p, n in patterns.items()}


NOTHING = {
    "no rows": "SELECT * FROM e WHERE k = 'nobody'",
    "no match": "SELECT * FROM e WHERE ty = 'A'",
    "no type": "SELECT k, t, upper(NULL) AS ty, v FROM e",
    "no time": "SELECT k, CAST(NULL AS INT) AS t, ty, v FROM e",
    "false at once": "SELECT * FROM e WHERE false",
}


@pytest.mark.parametrize("name", every(3, NOTHING))
def test_no_trend_no_row(spark: SparkSession, name: str) -> None:
    stream(spark, {"x": "a1 b2"})
    spark.sql(f"CREATE TEMP VIEW nothing AS {NOTHING[name]}")
    for keys in ("PARTITION BY k", "PARTITION BY k GROUP BY v", ""):
        statement = trends("A B", more="WITHIN 10 SLIDE 5", keys=f"{keys} ORDER BY t TYPE BY ty", source="nothing")
        assert values(spark.sql(statement)) == []


@pytest.mark.parametrize("partitions", first(1, ["7", "1"]))
def test_many_tasks(spark: SparkSession, partitions: str) -> None:
    """Keys are spread over tasks, some of which have none, and stay whole."""
    spark.conf.set("spark.sparkext.partitions", partitions)
    spark.sql(
        """CREATE TEMP VIEW many AS SELECT id % 23 AS k, id % 3 AS g, id AS t, IF(id % 2 = 0, 'A', 'B') AS ty
        FROM range(0, 230, 1, 5)"""
    )
    rows = values(spark.sql(trends("A+", source="many")))
    assert rows == [(key, 2**5 - 1) for key in range(23)]
    grouped = values(spark.sql(trends("A+", keys="PARTITION BY k GROUP BY g ORDER BY t TYPE BY ty", source="many")))
    expected: dict[int, int] = {}
    for key in range(23):
        for group in range(3):
            events = sum(1 for i in range(0, 230, 2) if i % 23 == key and i % 3 == group)
            expected[group] = expected.get(group, 0) + 2**events - 1
    assert rows
    assert grouped == sorted(expected.items())


def test_a_key_with_more_events_than_a_batch(spark: SparkSession) -> None:
    """The kernel carries a key's state from one batch to the next."""
    spark.sql("CREATE TEMP VIEW long AS SELECT id % 2 AS k, id AS t, IF(id < 20002, 'A', 'B') AS ty FROM range(40004)")
    rows = values(spark.sql(trends("A B", "COUNT(*) AS n, MAX(A.t) AS last, AVG(B.t) AS mean", source="long")))
    assert rows == [(0, 10001 * 10001, 20000, 30002.0), (1, 10001 * 10001, 20001, 30003.0)]


KEYS: dict[str, tuple[list[str], list[object]]] = {
    "string": (["'a'", "'b''c'", "''"], ["", "a", "b'c"]),
    "int": (["1", "-2147483648", "0"], [-2147483648, 0, 1]),
    "tinyint": (["1Y", "-128Y", "0Y"], [-128, 0, 1]),
    "bigint": (["1L", "9223372036854775807L", "-1L"], [-1, 1, 9223372036854775807]),
    "decimal(20,3)": (
        ["CAST(1.5 AS DECIMAL(20,3))", "CAST(-0.001 AS DECIMAL(20,3))"],
        [Decimal("-0.001"), Decimal("1.500")],
    ),
    "boolean": (["true", "false"], [False, True]),
    "date": (["DATE'2024-02-29'", "DATE'1969-12-31'"], [datetime.date(1969, 12, 31), datetime.date(2024, 2, 29)]),
    "timestamp": (["TIMESTAMP'2024-02-29 00:00:00.000001'"], [datetime.datetime(2024, 2, 29, 0, 0, 0, 1)]),
    "timestamp_ntz": (["TIMESTAMP_NTZ'1900-01-01 01:02:03'"], [datetime.datetime(1900, 1, 1, 1, 2, 3)]),
    "binary": (["X'00FF'", "X''"], [b"", b"\x00\xff"]),
    "double": (["1.5D", "-1D"], [-1.0, 1.5]),
    "float": (["1.5F", "-1F"], [-1.0, 1.5]),
    "interval day to second": (["INTERVAL '1 02:00:00' DAY TO SECOND"], [datetime.timedelta(days=1, hours=2)]),
}


@pytest.mark.parametrize("type_", every(8, KEYS))
def test_types_of_keys(spark: SparkSession, type_: str) -> None:
    """As PARTITION BY keys, as GROUP BY keys, and both; NULL is a key like any other."""
    written, expected = KEYS[type_]
    rows = [f"{key}, {t}, '{ty}'" for key in [*written, f"CAST(NULL AS {type_})"] for t, ty in ((1, "A"), (2, "B"))]
    relation(spark, "e", "k, t, ty", rows)
    assert spark.table("e").dtypes[0] == ("k", type_)
    frame = spark.sql(trends("A B")).union(
        spark.sql(trends("A B", keys="PARTITION BY t * 0 AS z GROUP BY k ORDER BY t TYPE BY ty"))
    )
    assert frame.dtypes[0] == ("k", type_)
    assert values(frame) == [(key, 1) for key in [None, *expected] for _ in range(2)]
    grouped = spark.sql(trends("A B", keys="PARTITION BY k GROUP BY t * 0 AS z ORDER BY t TYPE BY ty"))
    assert values(grouped) == [(0, len(written) + 1)]


def test_null_keys_agree_with_each_other(spark: SparkSession) -> None:
    relation(
        spark,
        "e",
        "p, g, t, ty",
        [
            "NULL, 'x', 1, 'A'",
            "NULL, 'x', 2, 'B'",
            "1, 'x', 3, 'B'",
            "NULL, NULL, 4, 'A'",
            "NULL, NULL, 5, 'B'",
            "1, NULL, 6, 'B'",
        ],
    )
    keys = "ORDER BY t TYPE BY ty"
    assert values(spark.sql(trends("A B", keys=f"PARTITION BY p, g {keys}"))) == [(None, None, 1), (None, "x", 1)]
    assert values(spark.sql(trends("A B", keys=f"PARTITION BY p GROUP BY g {keys}"))) == [(None, 1), ("x", 1)]
    assert values(spark.sql(trends("A B", keys=f"GROUP BY g {keys}"))) == [(None, 2), ("x", 2)]


@pytest.mark.parametrize("type_", ["DOUBLE", "FLOAT"])
def test_nan_and_zeros_as_keys(spark: SparkSession, type_: str) -> None:
    """NaN agrees with NaN, and 0.0 with -0.0, as in Spark's own GROUP BY."""
    cast = [f"CAST('{text}' AS {type_})" for text in ("NaN", "NaN", "0.0", "-0.0", "Infinity", "Infinity")]
    relation(spark, "e", "k, t, ty", [f"{key}, {t}, '{'AB'[t % 2]}'" for t, key in enumerate(cast)])
    for keys in ("PARTITION BY k", "PARTITION BY t * 0 AS z GROUP BY k"):
        rows = spark.sql(trends("A B", keys=f"{keys} ORDER BY t TYPE BY ty")).collect()
        assert sorted(map(str, (row.k for row in rows))) == ["0.0", "inf", "nan"]
        assert [row.n for row in rows] == [1, 1, 1]
        assert math.copysign(1, next(row.k for row in rows if row.k == 0)) == 1


@pytest.mark.long
def test_expressions_as_keys(spark: SparkSession) -> None:
    stream(spark, {"x": "a1 b2", "X": "a3 b4"})
    frame = spark.sql(
        trends("A B", keys="PARTITION BY lower(k) AS k, 'all' AS a, CAST(NULL AS INT) AS z ORDER BY t TYPE BY ty")
    )
    assert values(frame) == [("x", "all", None, 3)]


@pytest.mark.parametrize("key", ["struct(k)", "array(k)", "map(k, t)", "INTERVAL 1 MONTH", "parse_json('1')", "NULL"])
@pytest.mark.parametrize("section", ["PARTITION BY", "GROUP BY"])
def test_keys_that_cannot_be_grouped_by(spark: SparkSession, section: str, key: str) -> None:
    stream(spark, {"x": "a1 b2"})
    keys = f"{section} k,\n{key} AS z ORDER BY t TYPE BY ty"
    error = fails(spark, trends("A", keys=keys), "TREND_KEY_TYPE")
    assert position(error) == (2, 1)
    assert section in str(error)


def test_variables_that_read_nested_columns(spark: SparkSession) -> None:
    relation(spark, "e", "k, s, m, a", ["1, named_struct('t', 1, 'ty', 'A', 'v', 2.5D), map('w', 7), array(1, 2)"])
    measures = "SUM(A.s.v) AS v, MAX(A.m['w']) AS w, MIN(A.a[1]) AS a, SUM(A.`s`.`v` + A.s.t) AS both"
    frame = spark.sql(
        trends(
            "A",
            measures,
            "DEFINE A AS A.s.v > 1 AND s.t = 1 AND e.s.t = 1",
            "PARTITION BY e.k ORDER BY s.t TYPE BY s.ty",
        )
    )
    assert values(frame) == [(1, 2.5, 7, 2, 3.5)]


def test_parts_of_variants(spark: SparkSession) -> None:
    """Also where a name on the way is that of a variable. The colon begins no parameter."""
    rows = ('{"ty": "A", "v": {"x": 1}}', '{"ty": "B", "v": {"x": 2}, "a": {"b": [7, 8]}}')
    relation(spark, "texts", "t, j", (f"{at}, '{row}'" for at, row in enumerate(rows)))
    spark.sql("CREATE OR REPLACE TEMP VIEW e AS SELECT t, parse_json(j) AS j FROM texts")
    try:
        spark.sql("SELECT j:v.x::INT FROM e")
    except ParseException:  # by a Spark that has no colons
        is_known = False
    else:
        is_known = True
    statement = trends(
        "A B",
        "SUM(A.j:v.x::INT) AS v, MAX(B.j:a.b[1]::INT) AS b",
        "DEFINE B AS j:v.x::INT > 1 AND j:v.x::INT > PREV(j:v.x::INT)",
        "ORDER BY t TYPE BY j:ty::STRING",
        "(SELECT * FROM e WHERE j:v.x::INT > 0)",
    )
    if is_known:
        assert values(spark.sql(statement)) == [(1.0, 8)]
    else:
        with pytest.raises(ParseException, match="':'"):
            spark.sql(statement)


def test_columns_with_the_name_of_a_variable(spark: SparkSession) -> None:
    """A column that is called like a variable: the variable's prefix wins, as an alias does in SQL."""
    relation(spark, "e", "k, t, ty, A", ["1, 1, 'A', 5", "1, 2, 'B', 6"])
    assert values(spark.sql(trends("A B", "SUM(A.A) AS s, COUNT(A) AS n", "DEFINE B AS B.A = 6 AND A > 5"))) == [
        (1, 5.0, 1)
    ]


@pytest.mark.long
def test_python_sources(spark: SparkSession) -> None:
    """A relation that Python computes: an RDD, a mapped data frame, a Python function in a condition."""
    frame = spark.createDataFrame([("x", 1, "A"), ("x", 2, "B")], "k STRING, t INT, ty STRING")
    frame.mapInPandas(lambda parts: parts, frame.schema).createOrReplaceTempView("e")
    spark.udf.register("is_even", lambda number: number % 2 == 0, "boolean")
    assert values(spark.sql(trends("A B", more="DEFINE B AS is_even(B.t)"))) == [("x", 1)]
    assert values(spark.sql(trends("A B", more="DEFINE A AS is_even(A.t)"))) == []


def test_views_of_data_frames_and_others_of_their_name(spark: SparkSession) -> None:
    """A clause reads what has the name now: another data frame, a view of SQL text, a table, and the first again."""
    columns = "k STRING, t INT, ty STRING"
    few = spark.createDataFrame([("x", 1, "A"), ("x", 2, "B")], columns)
    more = spark.createDataFrame([("x", 1, "A"), ("x", 2, "B"), ("x", 3, "B")], columns)
    spark.sql("CREATE TABLE shown USING parquet AS SELECT 'x' AS k, 1 AS t, 'A' AS ty")
    few.createOrReplaceTempView("shown")
    spark.sql(f"CREATE TEMP VIEW kept AS {trends('A B', source='shown')}")
    try:
        changes: dict[str, tuple[Callable[[], object], list[tuple[object, ...]]]] = {
            "few": (lambda: few.createOrReplaceTempView("shown"), [("x", 1)]),
            "more": (lambda: more.createOrReplaceTempView("shown"), [("x", 2)]),
            "filtered": (lambda: more.where("t > 1").createOrReplaceTempView("shown"), []),
            "text": (lambda: spark.sql("CREATE OR REPLACE TEMP VIEW shown AS SELECT * FROM other"), [("x", 2)]),
            "other": (lambda: few.createOrReplaceTempView("other"), [("x", 1)]),
            "table": (lambda: spark.catalog.dropTempView("shown"), []),
        }
        more.createOrReplaceTempView("other")
        for name in ("few", "more", "few", "filtered", "more", "text", "other", "table", "few", "table", "more"):
            change, expected = changes[name]
            change()
            for _ in range(3):
                assert values(spark.sql(trends("A B", source="shown"))) == expected, name
            assert values(spark.table("kept")) == expected, name
    finally:
        spark.catalog.dropTempView("shown")
        spark.sql("DROP TABLE default.shown")
