"""A UNION ALL of many views reads the results of their pass once, and has the rows that its branches have alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession

from tests.support.sql_cases import stream, trends
from tests.support.tiers import first

EVENTS = {f"k{key}": "a1 b2 a3 b4 c5 b6 a7 c8 b9"[: 3 * (1 + key % 9)].strip() for key in range(40)}
VIEWS = {
    "q0": trends("A B"),
    "q1": trends("A+ B"),
    "q2": trends("(A B)+"),
    "q3": trends("A B C"),
    "q4": trends("A | C", "MAX(A.t) AS n"),
    "q5": trends("B+", "SUM(B.v) AS n"),
    "q6": trends("A B", more="DEFINE A AS A.v > 15"),
    "q7": trends("A B", "FIRST(A.t) AS n", keys="PARTITION BY k ORDER BY t TYPE BY ty ONE ROW PER COMPLETION"),
}


@pytest.fixture(autouse=True)
def views(spark: SparkSession) -> Iterator[None]:
    """Views of two pools, each pass of which has several tasks."""
    stream(spark, EVENTS)
    spark.conf.set("spark.sparkext.partitions", "3")
    for name, statement in VIEWS.items():
        spark.sql(f"CREATE OR REPLACE TEMP VIEW {name} AS {statement}")
    yield
    spark.conf.unset("spark.sparkext.partitions")


def rows(frame: DataFrame) -> Counter[Row]:
    return Counter(frame.collect())


def plan(frame: DataFrame) -> str:
    return str(frame._jdf.queryExecution().optimizedPlan())


def times_read(frame: DataFrame) -> int:
    """How often a statement reads results that are kept."""
    return plan(frame).count("InMemoryRelation")


def together(branches: Sequence[str]) -> str:
    return " UNION ALL ".join(branches)


def check(spark: SparkSession, branches: Sequence[str], most_reads: int) -> None:
    """The rows are those of each branch by itself, and results are read so often, before they have been computed."""
    spark.sql("REFRESH SHARING")
    frame = spark.sql(together(branches))
    assert times_read(frame) <= most_reads
    found = rows(frame)
    expected: Counter[Row] = Counter()
    for branch in branches:
        expected += rows(spark.sql(branch))
    assert {tuple(row): many for row, many in found.items()} == {tuple(row): many for row, many in expected.items()}


def test_results_are_read_once(spark: SparkSession) -> None:
    branches = [f"SELECT {number} AS q, k, n FROM q{number % 3}" for number in range(12)]
    check(spark, branches, 1)
    assert spark.sql(together(branches)).columns == ["q", "k", "n"]


def test_few_branches_are_left_alone(spark: SparkSession) -> None:
    spark.sql("REFRESH SHARING")
    branches = [f"SELECT k, n FROM q{number}" for number in range(3)]
    assert times_read(spark.sql(together(branches))) == 3


def test_small_results_are_left_alone(spark: SparkSession) -> None:
    """Those of one task come in the order of the branches, as people expect of a few rows."""
    spark.conf.set("spark.sparkext.partitions", "1")
    spark.sql("REFRESH SHARING")
    frame = spark.sql(together([f"SELECT {number} AS q FROM q0" for number in range(10)]))
    found = [row.q for row in frame.collect()]
    assert found == sorted(found)


def test_a_filter_guards_what_is_selected(spark: SparkSession) -> None:
    """What a branch leaves out is not evaluated, where it would fail."""
    guarded = "SELECT assert_true(n > 3) IS NULL AS n FROM q1 WHERE n > 3"
    check(spark, [guarded, *(f"SELECT n > {number} FROM q{number % 3}" for number in range(9))], 1)


def check_apart(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, statement: str) -> None:
    """A statement whose results are not on the driver has the rows that it has where each branch reads by itself."""
    spark.sql("REFRESH SHARING")
    frame = spark.sql(statement)
    assert times_read(frame) == 1
    found = rows(frame)
    with monkeypatch.context() as patch:
        patch.setattr("sparkext.workload.result_unions.LEAST", 99)
        spark.sql("REFRESH SHARING")
        frame = spark.sql(statement)
        assert times_read(frame) > 1
        assert rows(frame) == found
    assert sum(found.values()) > 0


@pytest.mark.parametrize(
    "statement",
    ["SELECT q, k FROM ({})", "SELECT count(*) AS n FROM ({})", "SELECT q, k, n, x FROM ({}) WHERE n > 8"],
)
def test_what_nobody_reads_does_not_fail(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, statement: str) -> None:
    """A column that is not read, or of a row that a filter above leaves out, is not evaluated."""
    union = together([f"SELECT {number} AS q, k, n, 1 / (n - {number}) AS x FROM q{number % 4}" for number in range(9)])
    check_apart(spark, monkeypatch, statement.format(union))


def test_a_count_that_is_too_large_fails_who_reads_it(spark: SparkSession) -> None:
    long = "SELECT 'x' AS k, id AS t, 'A' AS ty FROM range(400)"
    spark.sql(f"CREATE OR REPLACE TEMP VIEW many AS {long} UNION ALL SELECT k, t, ty FROM e")
    for number, pattern in enumerate(("A+", "A+ B", "A B")):
        spark.sql(f"CREATE OR REPLACE TEMP VIEW m{number} AS {trends(pattern, source='many')}")
    union = together([f"SELECT {number} AS q, k, n FROM m{number % 3}" for number in range(9)])
    for shown, where, counted in (("q, k", "true", 3), ("q, k, n", "k <> 'x'", 0)):
        spark.sql("REFRESH SHARING")
        found = rows(spark.sql(f"SELECT {shown} FROM ({union}) WHERE {where}"))
        assert sum(many for row, many in found.items() if row.k == "x") == counted
    spark.sql("REFRESH SHARING")
    with pytest.raises(PySparkException, match="TREND_COUNT_OVERFLOW"):
        spark.sql(union).collect()


@pytest.mark.parametrize(
    ("branch", "above"),
    [
        ("SELECT {number} AS q, k, n FROM q0 WHERE n <> 3", "1 / (n - 3) > 0"),
        ("SELECT {number} AS q, k, n FROM q0 WHERE k = 'k7'", "assert_true(k = 'k7') IS NULL"),
        ("SELECT {number} AS q, k, n FROM q6", "assert_true(n > 0) IS NULL"),
    ],
)
def test_a_filter_above_is_of_the_rows_of_branches(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, branch: str, above: str
) -> None:
    """It is not evaluated for rows that no branch takes, also where all branches have one value."""
    union = together([branch.format(number=number) for number in range(9)])
    check_apart(spark, monkeypatch, f"SELECT q, k, n FROM ({union}) WHERE {above}")


def test_branches_that_do_more_are_read_by_themselves(spark: SparkSession) -> None:
    spark.sql("REFRESH SHARING")
    plain = [f"SELECT k, n FROM q{number % 3}" for number in range(9)]
    more = [
        "SELECT k, count(*) FROM q0 GROUP BY k",
        "SELECT k, n FROM q1 WHERE n = (SELECT max(n) FROM q1)",
        "SELECT l.k, r.n FROM q0 AS l JOIN q1 AS r ON l.k = r.k",
        "SELECT k, t FROM e",
    ]
    check(spark, [*more[:2], *plain, *more[2:]], 1 + 5)


def test_common_table_expressions_within_branches(spark: SparkSession) -> None:
    selected = "SELECT k, n FROM (WITH w AS (SELECT k, n FROM q{0}) SELECT * FROM w WHERE n > {0})"
    check(spark, [selected.format(number % 3) for number in range(9)], 1)
    twice = "SELECT l.k, r.n FROM (WITH w AS (SELECT k, n FROM q0) SELECT * FROM w) AS l JOIN q1 AS r ON l.k = r.k"
    listed = selected.replace("n > {0}", "n IN (SELECT n + {0} FROM w)")
    check(spark, [twice, *(selected.format(number % 3) for number in range(9)), listed.format(2)], 1 + 2 + 2)


def test_other_values_each_time(spark: SparkSession) -> None:
    spark.sql("REFRESH SHARING")
    frame = spark.sql(together([f"SELECT rand() < 2 AS n FROM q{number % 3}" for number in range(10)]))
    assert times_read(frame) == 10
    assert {row.n for row in frame.collect()} == {True}


def test_names_types_and_nullability_are_those_of_the_union(spark: SparkSession) -> None:
    branches = [
        "SELECT 1 AS x, k AS `a b`, n FROM q0",
        *(f"SELECT 2L, upper(k), n * 0.5D FROM q{n % 3}" for n in range(9)),
    ]
    spark.sql("REFRESH SHARING")
    before = spark.sql(together(branches))
    expected = spark.sql(together(branches[:2]))
    assert before.schema == expected.schema
    check(spark, branches, 1)


def test_nullability_within_a_column_is_that_of_the_union(spark: SparkSession) -> None:
    branches = [
        "SELECT named_struct('a', k, 'b', array(1)) AS s FROM q0",
        *(f"SELECT named_struct('a', '!', 'b', array(nullif({n}, 4))) FROM q{n % 3}" for n in range(9)),
    ]
    spark.sql("REFRESH SHARING")
    frame = spark.sql(together(branches))
    assert times_read(frame) == 1
    assert {row.s.b[0] for row in frame.collect()} == {1, None, *range(9)} - {4}
    apart = spark.sql(f"SELECT * FROM ({together([branches[0], branches[5]])})")
    assert frame.schema == apart.schema


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT q, sum(n) AS s FROM ({}) GROUP BY q",
        "SELECT q, n FROM ({}) WHERE n > 1 ORDER BY q, n",
        "WITH w AS ({}) SELECT l.q, l.n FROM w AS l JOIN w AS r ON l.q = r.q AND l.n < r.n",
        "SELECT DISTINCT n FROM ({})",
        "SELECT n FROM q0 WHERE n IN (SELECT n FROM ({}))",
        "({}) EXCEPT SELECT 3 AS q, n FROM q1",
    ],
)
def test_above_a_union(spark: SparkSession, statement: str) -> None:
    union = together([f"SELECT {number} AS q, n FROM q{number % 4}" for number in range(10)])
    spark.sql("REFRESH SHARING")
    found = rows(spark.sql(statement.format(union)))
    assert found == rows(spark.sql(statement.format(union)))  # of what is computed and on the driver
    assert sum(found.values()) > 0


def test_a_view_of_a_union(spark: SparkSession) -> None:
    union = together([f"SELECT {number} AS q, n FROM q{number % 4}" for number in range(10)])
    spark.sql(f"CREATE OR REPLACE TEMP VIEW every AS {union}")
    spark.sql("REFRESH SHARING")
    found = rows(spark.table("every"))
    assert found == rows(spark.sql(union))
    assert rows(spark.sql("SELECT * FROM every")) == found


def test_what_the_user_keeps_is_found_again(spark: SparkSession) -> None:
    union = together([f"SELECT {number} AS q, n FROM q{number % 4}" for number in range(10)])
    spark.sql("REFRESH SHARING")
    frame = spark.sql(union).persist()
    try:
        found = rows(frame)
        again = spark.sql(union)
        assert plan(again).startswith("InMemoryRelation")
        assert rows(again) == found
    finally:
        frame.unpersist()


@pytest.mark.parametrize("seed", first(3, range(12)))
def test_random_unions(spark: SparkSession, seed: int) -> None:
    chance = Random(seed)

    def branch(depth: int = 0) -> str:
        view = f"q{chance.randrange(len(VIEWS))}"
        kind = chance.randrange(9 if depth < 2 else 6)
        name = f"{chance.randrange(99)} AS q"
        text, number = "CAST(NULL AS STRING) AS k", "n + 1 AS n"
        match kind:
            case 0 | 1:
                return f"SELECT {name}, k, n FROM {view}"
            case 2:
                return f"SELECT {name}, concat(k, '!') AS k, n * 2 AS n FROM {view} WHERE n > {chance.randrange(4)}"
            case 3:
                return f"SELECT {name}, {text}, {number} FROM (SELECT n FROM {view} WHERE k <> 'k3') WHERE n < 9"
            case 4:
                return f"SELECT {name}, k, CASE WHEN n > 2 THEN n END AS n FROM {view} AS v WHERE v.k LIKE 'k1%'"
            case 5:
                return f"SELECT DISTINCT {name}, k, n FROM {view}"
            case 6:
                return f"SELECT q + 1 AS q, k, n FROM ({union(depth + 1, 3)})"
            case 7:
                return f"SELECT q, k, n FROM ({union(depth + 1, 9)}) WHERE n > 1"
            case _:
                return f"SELECT {name}, k, n FROM (WITH w AS (SELECT k, n FROM {view}) SELECT * FROM w)"

    def union(depth: int, branches: int) -> str:
        return together([branch(depth) for _ in range(branches)])

    check(spark, [branch() for _ in range(chance.randrange(8, 15))], 99)
