"""Filters of sources: queries over parts of one relation are one pool, and see their own part only."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.relation_filter import FilteredRelation, filtered, name_of
from tests.support.sql_cases import clause, relation, stream, trends, values

ALL = "SELECT * FROM e"


@pytest.fixture
def events(spark: SparkSession) -> SparkSession:
    stream(spark, {"x": "a1 b2 a3 b4 a5 b6", "y": "b1 a2 b3"})
    return spark


def part(spark: SparkSession, sql: str) -> FilteredRelation:
    of_whole = filtered(AnalysedFrame.of(spark.sql(sql)))
    assert of_whole is not None
    assert of_whole.whole.columns == spark.table("e").columns
    assert values(of_whole.whole.where(of_whole.condition)) == values(spark.sql(sql))
    return of_whole


def test_what_is_a_filter(events: SparkSession) -> None:
    assert part(events, f"{ALL} WHERE v > 2").condition == "(v > CAST(2 AS DOUBLE))"
    assert part(events, "SELECT * FROM (SELECT * FROM e AS r WHERE r.v > 2 OR ty = 'b') AS s").condition == (
        "((v > CAST(2 AS DOUBLE)) OR (ty = 'b'))"
    )
    nested = part(events, f"SELECT * FROM ({ALL} WHERE v > 2) WHERE t < 5")
    assert nested.condition == "(v > CAST(2 AS DOUBLE)) AND (t < 5)"
    assert name_of(nested.whole) == "e"


def test_columns_are_called_what_they_were(events: SparkSession) -> None:
    """A subquery's own alias says nothing outside of it, also where a column has its name."""
    relation(
        events, "d", "k, t, ty, r", [f"'x', {t}, '{ty}', named_struct('v', {t})" for t, ty in ((1, "A"), (2, "B"))]
    )
    source = "(SELECT * FROM d AS r WHERE r.t > 0)"
    assert part_columns(events, f"SELECT * FROM {source} AS s") == {"s"}
    frame = events.sql(trends("A B", "SUM(B.r.v) AS s", "DEFINE A AS r.v = 1", source=source))
    assert values(frame) == [("x", 2.0)]
    with pytest.raises(Exception, match="FIELD_NOT_FOUND"):
        events.sql(trends("A B", more="DEFINE A AS r.t = 1", source=source))


def part_columns(spark: SparkSession, sql: str) -> set[str]:
    """What the columns are qualified by."""
    of_whole = filtered(AnalysedFrame.of(spark.sql(sql)))
    assert of_whole is not None
    columns = of_whole.whole._jdf.queryExecution().analyzed().output()
    return {str(columns.apply(index).qualifier().mkString(".")) for index in range(columns.size())}


def test_views_are_looked_through(events: SparkSession) -> None:
    events.sql(f"CREATE TEMP VIEW fast AS {ALL} WHERE v > 2")
    assert part(events, "SELECT * FROM fast").condition == "(v > CAST(2 AS DOUBLE))"
    assert part(events, "SELECT * FROM fast AS f WHERE k = 'x'").condition == ("(v > CAST(2 AS DOUBLE)) AND (k = 'x')")


@pytest.mark.parametrize(
    "sql",
    [
        ALL,
        f"{ALL} WHERE rand() < 2",
        f"{ALL} WHERE v IN (SELECT v FROM e)",
        f"{ALL} WHERE EXISTS (SELECT 1 FROM e AS other WHERE other.v = e.v)",
        f"{ALL} WHERE v > 2 LIMIT 3",
        "SELECT k, t, v FROM e WHERE v > 2",
        "SELECT k, t, ty, v + 1 AS v FROM e WHERE v > 2",
        "SELECT k AS ty, t, ty AS k, v FROM e WHERE v > 2",
        f"SELECT * FROM ({ALL} WHERE v > 2) JOIN (SELECT 1 AS one)",
        f"{ALL} WHERE v > 2 UNION ALL {ALL}",
        "SELECT * FROM e AS a, e AS b WHERE a.v = b.v",
        f"{ALL} WHERE exists(array(v), one -> one > 2)",
    ],
)
def test_what_is_none(events: SparkSession, sql: str) -> None:
    assert filtered(AnalysedFrame.of(events.sql(sql))) is None


def test_kept_relations_are_read_as_they_are(events: SparkSession) -> None:
    """Whoever keeps a filtered relation wants it to be read."""
    fast = events.sql(f"{ALL} WHERE v > 2")
    fast.cache()
    try:
        assert filtered(AnalysedFrame.of(events.sql(f"SELECT * FROM ({ALL} WHERE v > 2)"))) is None
        assert filtered(AnalysedFrame.of(events.sql(f"{ALL} WHERE v > 3"))) is not None
    finally:
        fast.unpersist()
    assert filtered(AnalysedFrame.of(events.sql(f"SELECT * FROM ({ALL} WHERE v > 2)"))) is not None


PARTS = ("t > 2", "t < 6", "k = 'x'", "k = 'x' AND t <> 3", "t = 1 OR v / (t - 1) > 0", "v IS NULL")


def shapes(source: str) -> list[str]:
    return [
        trends("A+ B", source=source),
        trends("A NOT B A", source=source),
        trends("A+", "COUNT(*) AS n, SUM(A.v) AS s", "WITHIN 3 SLIDE 1", source=source),
        trends("(A | B)+", more="DEFINE A AS A.v > PREV(v) OR PREV(v) IS NULL, B AS B.v > 1", source=source),
    ]


@pytest.mark.long
def test_results_are_those_of_the_filtered_relation(events: SparkSession) -> None:
    """In one pool, whatever the filters are, and whether or not there is a query over all of the relation."""
    wanted: dict[str, list[tuple[object, ...]]] = {}
    queries = {f"q{index}_{number}": (c, q) for index, c in enumerate(PARTS) for number, q in enumerate(shapes("{}"))}
    for name, (condition, query) in queries.items():
        events.sql(f"{ALL} WHERE {condition}").localCheckpoint().createOrReplaceTempView("kept")
        wanted[name] = sorted(values(events.sql(query.format("kept"))))
    for name, (condition, query) in queries.items():
        events.sql(f"CREATE TEMP VIEW {name} AS {query.format(f'(SELECT * FROM e WHERE {condition}) AS e')}")
    assert {row.pool for row in events.sql("SHOW TREND QUERIES").collect()} == {"pool 1"}
    assert {name: sorted(values(events.table(name))) for name in queries} == wanted
    events.sql(f"CREATE TEMP VIEW whole AS {trends('A+ B')}")
    events.sql("REFRESH SHARING")
    assert {name: sorted(values(events.table(name))) for name in queries} == wanted
    text = events.sql("EXPLAIN SHARING").head()
    assert text is not None
    assert "  source: e\n" in text.plan


def test_conditions_are_not_asked_of_other_parts(events: SparkSession) -> None:
    """They may fail there, as may attributes."""
    events.conf.set("spark.sql.ansi.enabled", "true")
    relation(events, "d", "k, t, ty, v", ["'x', 1, 'A', 0", "'x', 2, 'A', 2", "'x', 3, 'B', 4"])
    own = trends("A+ B", "SUM(1 / A.v) AS s", "DEFINE A AS 8 / A.v > 1", source="(SELECT * FROM d WHERE v <> 0)")
    events.sql(f"CREATE TEMP VIEW own AS {own}")
    events.sql(f"CREATE TEMP VIEW others AS {trends('A+ B', source='d')}")
    assert values(events.table("own")) == [("x", 0.5)]
    assert values(events.table("others")) == [("x", 3)]
    assert len({row.pool for row in events.sql("SHOW TREND QUERIES").collect()}) == 1


def test_computed_keys_keep_their_filter(events: SparkSession) -> None:
    """A key may fail on rows that the filter leaves out."""
    relation(events, "d", "k, t, ty, v", ["'x', '1', 'A', 0", "'x', 'none', 'A', 2", "'x', '3', 'B', 4"])
    keys = "PARTITION BY k ORDER BY CAST(t AS INT) TYPE BY ty"
    source = "(SELECT * FROM d WHERE t <> 'none')"
    assert values(events.sql(trends("A B", keys=keys, source=source))) == [("x", 1)]


def test_filters_are_pushed_down(events: SparkSession, tmp_path: object) -> None:
    """Rows that no query reads are not read."""
    events.table("e").write.parquet(f"{tmp_path}/e")
    events.read.parquet(f"{tmp_path}/e").createOrReplaceTempView("stored")
    frame = events.sql(trends("A B", source="(SELECT * FROM stored WHERE v > 2)"))
    plan = str(frame._jdf.queryExecution().executedPlan())
    assert "GreaterThan(v,2.0)" in plan
    events.sql(f"CREATE TEMP VIEW one AS {trends('A B', source='(SELECT * FROM stored WHERE v > 2)')}")
    events.sql(f"CREATE TEMP VIEW two AS {trends('A B', source='(SELECT * FROM stored WHERE v < 1)')}")
    plan = str(events.table("two").select("n")._jdf.queryExecution().toString())
    assert "Or(GreaterThan(v,2.0),LessThan(v,1.0))" in plan


def test_results_follow_the_filter(events: SparkSession) -> None:
    """A view that says which events there are may be replaced."""
    events.sql(f"CREATE TEMP VIEW some AS {ALL} WHERE t < 3")
    events.sql(f"CREATE TEMP VIEW pairs AS SELECT * FROM some {clause('A B')}")
    assert sorted(values(events.table("pairs"))) == [("x", 1)]
    events.sql(f"CREATE OR REPLACE TEMP VIEW some AS {ALL} WHERE t < 5")
    assert sorted(values(events.table("pairs"))) == [("x", 3), ("y", 1)]
    events.sql(f"CREATE OR REPLACE TEMP VIEW some AS {ALL}")
    assert sorted(values(events.table("pairs"))) == [("x", 6), ("y", 1)]


def test_own_view_is_still_recursive(events: SparkSession) -> None:
    events.sql(f"CREATE TEMP VIEW some AS {ALL} WHERE t < 3")
    with pytest.raises(Exception, match="TREND_RECURSIVE_VIEW"):
        events.sql(f"CREATE OR REPLACE TEMP VIEW some AS SELECT * FROM some {clause('A B')}")
