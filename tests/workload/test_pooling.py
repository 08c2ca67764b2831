"""Queries of one pool are computed together, once, and never show what the source no longer holds."""

from __future__ import annotations

import logging
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from random import Random
from statistics import median

import pytest
from pyspark.sql import SparkSession

from sparkext.binding.bound_query import BoundQuery
from sparkext.session import parsers_of
from sparkext.workload.run import Run
from tests.support.jvm_calls import jvm_calls
from tests.support.spark_programs import eventually
from tests.support.sql_cases import stream, trends, values
from tests.support.tiers import first

EVENTS = {"x": "a1 b2 a3 b4 c5", "y": "a1 b2 c3 c4", "z": "c1 b2 a3"}
ROWS = 12
MOST_ASKED = 50
"""How often the JVM is asked to create a view over a relation and with expressions that are known."""

POOL = {
    "q0": trends("A B"),
    "q1": trends("A+ B", "COUNT(*) AS n, SUM(A.v) AS s"),
    "q2": trends("(A B)+", "COUNT(A) AS n"),
    "q3": trends("A+ B", more="WITHIN 4 SLIDE 2"),
    "q4": trends("A B C"),
    "q5": trends("A B", more="DEFINE A AS A.v > 15"),
    "q6": trends("A | C", "MAX(A.t) AS n"),
    "q7": trends("A B"),
    "q8": trends("C+", "AVG(C.v) AS n", "WITHIN 100"),
    "q9": trends("A? B* C", more="WITHIN 3"),
}
"""Ten queries on the same source and keys; q7 is q0 under another name."""


@pytest.fixture(autouse=True)
def table(spark: SparkSession, tmp_path: Path) -> Iterator[None]:
    """A table of one parquet file that the relation e reads."""
    stream(spark, EVENTS, "made")
    spark.sql(
        f"CREATE TABLE pooled USING parquet LOCATION '{tmp_path}/pooled' AS SELECT /*+ COALESCE(1) */ * FROM made"
    )
    spark.sql("CREATE TEMP VIEW e AS SELECT * FROM pooled")
    yield
    spark.sql("DROP TABLE pooled")


def rows_read(spark: SparkSession) -> int:
    """How many rows have been read so far by stages that sort rows out by key: not those that read kept results."""
    context = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    doubles = spark.sparkContext._gateway.new_array(spark.sparkContext._jvm.double, 0)  # type: ignore[union-attr]
    stages = context.statusStore().stageList(None, False, False, doubles, None)
    read = [stages.apply(index) for index in range(stages.size())]
    return sum(stage.inputRecords() for stage in read if stage.shuffleWriteRecords())


def stored_sets(spark: SparkSession) -> int:
    """How many sets of rows Spark stores."""
    return int(spark.sparkContext._jsc.getPersistentRDDs().size())


def create(spark: SparkSession, names: list[str] | None = None) -> None:
    for name, statement in POOL.items():
        if names is None or name in names:
            spark.sql(f"CREATE OR REPLACE TEMP VIEW {name} AS {statement}")


def alone(spark: SparkSession) -> dict[str, list[tuple[object, ...]]]:
    """The results of the queries, each computed for itself."""
    return {name: values(spark.sql(statement)) for name, statement in POOL.items()}


def column(spark: SparkSession, name: str) -> list[str]:
    return [row[name] for row in spark.sql("SHOW TREND QUERIES").collect()]


@pytest.mark.parametrize("seed", first(1, range(3)))
def test_ten_views_read_the_source_once(spark: SparkSession, seed: int) -> None:
    """In whatever order they are created and read, and however often."""
    expected = alone(spark)
    random = Random(seed)
    names = random.sample(list(POOL), len(POOL))
    for name in names:
        create(spark, [name])
    before = rows_read(spark)
    for name in random.choices(names, k=4) + random.sample(names, len(names)):
        assert values(spark.table(name)) == expected[name], name
    assert rows_read(spark) - before == ROWS
    assert set(column(spark, "pool")) == {"pool 1"}
    assert set(column(spark, "state")) == {"computed"}
    for name in names:
        spark.sql(f"DROP VIEW {name}")
    assert column(spark, "name") == []


def test_the_plan_of_every_view_reads_the_same_results(spark: SparkSession) -> None:
    """One scan of the file, one exchange, no sort and one kernel, whose kept results all views read."""
    create(spark)
    kernels = set()
    for name in POOL:
        text = str(spark.table(name)._jdf.queryExecution().executedPlan().toString())
        text = text.split("== Initial Plan ==")[0]
        assert len(re.findall(r"Scan In-memory table sparkext: pool 1, 10 queries ", text)) == 1, text
        for operator in ("MapInArrow", "FileScan parquet", r"Exchange hashpartitioning\("):
            assert len(re.findall(rf"[- +]{operator}", text)) == 1, (operator, text)
        assert "Sort" not in text
        kernels.update(re.findall(r"MapInArrow .*", text))
    assert len(kernels) == 1


def test_one_statement_over_many_views_reads_the_source_once(spark: SparkSession) -> None:
    create(spark, ["q0", "q1", "q2"])
    before = rows_read(spark)
    united = spark.sql("SELECT k, n FROM q0 UNION ALL SELECT k, n FROM q1 UNION ALL SELECT k, n FROM q2")
    assert len(united.collect()) == 6
    assert rows_read(spark) - before == ROWS


def test_later_views_do_not_recompute_earlier_ones(spark: SparkSession) -> None:
    create(spark, ["q0", "q1"])
    before = rows_read(spark)
    first = values(spark.table("q0"))
    create(spark, ["q2", "q3"])
    assert column(spark, "state") == ["computed", "computed", "planned", "planned"]
    assert values(spark.table("q1"))
    assert rows_read(spark) - before == ROWS
    assert values(spark.table("q2"))
    assert rows_read(spark) - before == 2 * ROWS
    for name in ("q0", "q1", "q2", "q3"):
        values(spark.table(name))
    assert values(spark.table("q0")) == first
    assert rows_read(spark) - before == 2 * ROWS
    assert column(spark, "state") == ["computed"] * 4


def test_a_query_that_is_known_under_another_name_costs_nothing(spark: SparkSession) -> None:
    create(spark, ["q0", "q1"])
    values(spark.table("q0"))
    before = rows_read(spark)
    spark.sql("CREATE TEMP VIEW again AS " + POOL["q1"].replace("A+ B", " A+  /* and */ B").replace("A.v", "A . v"))
    assert values(spark.table("again")) == values(spark.table("q1"))
    assert values(spark.sql(POOL["q0"])) == values(spark.table("q0"))
    assert rows_read(spark) == before
    assert column(spark, "state") == ["computed"] * 3


def test_identical_queries_share_everything(spark: SparkSession) -> None:
    create(spark, ["q0", "q7"])
    text = spark.sql("EXPLAIN SHARING").collect()[0].plan
    assert "Pool 1: 2 queries, 1 pass" in text
    assert "(1) q0, q7: A B" in text
    assert "(2)" not in text


def test_what_makes_pools(spark: SparkSession) -> None:
    """Keys, time and relation do; patterns, filters, windows, measures and how keys are written do not."""
    stream(spark, EVENTS, "other")
    spark.sql("CREATE TEMP VIEW same AS SELECT * FROM e")
    queries = {
        "base": trends("A B"),
        "spelled": trends("A+", keys="PARTITION BY e.k AS key ORDER BY `t` TYPE BY upper(ty)"),
        "grouped": trends("A B", keys="GROUP BY k ORDER BY t TYPE BY ty"),
        "by_other": trends("A B", keys="PARTITION BY v ORDER BY t TYPE BY ty"),
        "both": trends("A B", keys="PARTITION BY k GROUP BY v ORDER BY t TYPE BY ty"),
        "both_turned": trends("A", keys="GROUP BY v PARTITION BY k ORDER BY t TYPE BY ty"),
        "turned": trends("A B", keys="PARTITION BY v, k ORDER BY t TYPE BY ty"),
        "turned_back": trends("A B", keys="PARTITION BY k, v ORDER BY t TYPE BY ty"),
        "timed": trends("A B", keys="PARTITION BY k ORDER BY t + 1 TYPE BY ty"),
        "elsewhere": trends("A B", source="other"),
        "filtered": trends("A B", source="(SELECT * FROM e WHERE t > 1)"),
        "through_a_view": trends("A B", source="same"),
    }
    for name, statement in queries.items():
        spark.sql(f"CREATE TEMP VIEW {name} AS {statement}")
    rows = {row.name: row.pool for row in spark.sql("SHOW TREND QUERIES").collect()}
    assert rows.keys() == queries.keys()
    together = [
        ["base", "spelled", "grouped", "filtered", "through_a_view"],
        ["both", "both_turned"],
        ["turned", "turned_back"],
    ]
    for names in together:
        assert len({rows[name] for name in names}) == 1, names
    assert len(set(rows.values())) == len(queries) - sum(len(names) - 1 for names in together)
    assert values(spark.table("turned")) == sorted((v, k, n) for k, v, n in values(spark.table("turned_back")))


def test_dropped_and_replaced_views_leave_the_workload(spark: SparkSession) -> None:
    create(spark, ["q0", "q1", "q2"])
    spark.sql("DROP VIEW q1")
    spark.catalog.dropTempView("q2")
    assert column(spark, "name") == ["q0"]
    assert "q1" not in spark.sql("EXPLAIN SHARING").collect()[0].plan
    spark.sql(f"CREATE OR REPLACE TEMP VIEW q0 AS {POOL['q4']}")
    assert column(spark, "pattern") == ["A B C"]
    spark.sql("CREATE OR REPLACE TEMP VIEW q0 AS SELECT 1 AS one")
    assert column(spark, "name") == []
    assert "No views of this session hold trend queries" in spark.sql("EXPLAIN SHARING").collect()[0].plan


def test_what_is_dropped_is_not_computed(spark: SparkSession, caplog: pytest.LogCaptureFixture) -> None:
    """Also if a statement after it has a column that is called what the view was called."""
    create(spark, ["q0"])
    spark.sql(f"CREATE TEMP VIEW v AS {POOL['q1']}")
    spark.sql("DROP VIEW q0")
    spark.catalog.dropTempView("v")
    with caplog.at_level(logging.INFO, "sparkext"):
        spark.sql(trends("A B", "SUM(B.v) AS s")).collect()
    planned = [message.splitlines()[0] for message in caplog.messages if message.startswith("planned sparkext: ")]
    assert planned == ["planned sparkext: pool 1, 1 query"]


def test_a_pass_leaves_out_what_was_replaced_just_before(spark: SparkSession) -> None:
    """Also where a statement names the view beside another."""
    create(spark, ["q0", "q1"])
    spark.sql(f"CREATE OR REPLACE TEMP VIEW q1 AS {POOL['q4']}")
    assert spark.sql("SELECT q0.n FROM q0 JOIN q1 USING (k)").count() == 2
    plan = spark.sql("EXPLAIN SHARING").collect()[0].plan
    assert re.findall(r"^    \(\d+\) (.*?): (.*?) \|", plan, re.MULTILINE) == [("q0", "A B"), ("q1", "A B C")]


def test_views_over_views_keep_a_query_alive(spark: SparkSession) -> None:
    """A view that was made from a trend view reads that view, not its old text."""
    create(spark, ["q0"])
    spark.sql("CREATE TEMP VIEW over AS SELECT k, n FROM q0")
    assert values(spark.table("over")) == [("x", 3), ("y", 1)]
    spark.sql(f"CREATE OR REPLACE TEMP VIEW q0 AS {POOL['q4']}")
    assert values(spark.table("over")) == [("x", 3), ("y", 2)]


def test_a_view_may_be_replaced_by_one_over_what_it_read(spark: SparkSession) -> None:
    """Only a view that would read itself is refused, whatever else has its name."""
    create(spark, ["q0", "q1"])
    spark.sql("CREATE OR REPLACE TEMP VIEW q0 AS " + trends("A C", source="e AS q0"))
    assert values(spark.table("q0")) == [("x", 2), ("y", 2)]
    spark.sql("CREATE TEMP VIEW pooled AS " + trends("A C", source="spark_catalog.default.pooled"))
    assert values(spark.table("pooled")) == [("x", 2), ("y", 2)]
    spark.sql("DROP VIEW pooled")


def test_a_data_frame_outlives_its_view(spark: SparkSession) -> None:
    create(spark, ["q0", "q1"])
    frame = spark.table("q0")
    spark.sql("DROP VIEW q0")
    spark.sql("DROP VIEW q1")
    assert column(spark, "name") == []
    assert values(frame) == [("x", 3), ("y", 1)]


@pytest.mark.long
def test_a_view_costs_as_much_as_the_first(spark: SparkSession) -> None:
    """However many there are, the JVM is asked as often for one more, and for one that is replaced or dropped."""

    def cost(statement: str) -> int:
        return jvm_calls(lambda: (spark.sql(statement), spark.sql("SELECT 1")))

    spark.sql("REFRESH SHARING")  # forgets recent queries, whose sources would be looked at
    numbers = range(30)
    texts = [f"CREATE OR REPLACE TEMP VIEW many_{number:02} AS {POOL['q0']}" for number in numbers]
    created, replaced = [cost(text) for text in texts], [cost(text) for text in texts]
    dropped = [cost(f"DROP VIEW many_{number:02}") for number in numbers]
    for costs in (created, replaced, dropped):
        assert median(costs[20:]) <= 1.1 * median(costs[:10])
    assert median(created) <= MOST_ASKED


def test_nothing_is_kept_for_views_that_are_gone(spark: SparkSession) -> None:
    spark.sql("SHOW TREND QUERIES")
    before = stored_sets(spark)
    create(spark)
    values(spark.table("q0"))
    assert stored_sets(spark) == before + 1
    for name in POOL:
        spark.sql(f"DROP VIEW {name}")
    assert column(spark, "name") == []
    assert stored_sets(spark) == before


STATEMENTS_THAT_DROP: dict[str, Callable[[SparkSession, str], object]] = {
    "DROP VIEW": lambda spark, name: spark.sql(f"DROP VIEW {name}"),
    "catalog": lambda spark, name: spark.catalog.dropTempView(name),
    "REPLACE": lambda spark, name: spark.sql(f"CREATE OR REPLACE TEMP VIEW {name} AS SELECT 1 AS one"),
}


@pytest.mark.parametrize("how", first(1, STATEMENTS_THAT_DROP))
def test_memory_is_released_by_itself(spark: SparkSession, how: str) -> None:
    """When the last view of a pool is gone, though no statement follows. What the user keeps stays."""
    before = stored_sets(spark)
    spark.sql("CACHE TABLE made")
    stored = stored_sets(spark)
    assert stored == before + 1
    create(spark, ["q0", "q1"])
    values(spark.table("q0"))
    assert stored_sets(spark) == stored + 1
    for name in ("q0", "q1"):
        STATEMENTS_THAT_DROP[how](spark, name)
    eventually(lambda: stored_sets(spark) == stored, 20)
    assert spark.catalog.isCached("made")
    spark.sql("UNCACHE TABLE made")


def test_results_follow_a_replaced_view(spark: SparkSession) -> None:
    stream(spark, {"x": "a1 b2"})
    create(spark, ["q0", "q1"])
    assert values(spark.table("q0")) == [("x", 1)]
    stream(spark, {"x": "a1 b2 b3", "w": "a1 b2"})
    assert values(spark.table("q0")) == [("w", 1), ("x", 2)]
    assert values(spark.table("q1")) == [("w", 1, 10.0), ("x", 2, 20.0)]
    assert set(column(spark, "pool")) == {"pool 1"}


@pytest.mark.long
def test_views_are_created_while_what_they_read_is_replaced(spark: SparkSession) -> None:
    """What is known of a relation, and of expressions over it, is not taken for that of another of the same name."""
    sums: dict[str, list[tuple[object, ...]]] = {
        "k, t, ty, v": [("x", 50.0), ("y", 10.0)],
        "k, t, ty, -v AS v": [("x", -50.0), ("y", -10.0)],
        "k, -t AS t, ty, v": [("x", 30.0), ("z", 30.0)],
        "ty AS k, t, 'A' AS ty, v": [],
    }
    for number, (columns, right) in enumerate(sums.items()):
        spark.sql(f"CREATE OR REPLACE TEMP VIEW e AS SELECT {columns} FROM made")
        for name in ("one", "two"):
            spark.sql(f"CREATE TEMP VIEW {name}_{number} AS {trends('A B', 'SUM(A.v) AS s')}")
        assert values(spark.table(f"one_{number}")) == values(spark.table(f"two_{number}")) == right


CHANGES = {
    "insert": "INSERT INTO pooled VALUES ('x', 9, 'B', 90D)",
    "overwrite": "INSERT OVERWRITE pooled SELECT k, t + 1, ty, v FROM made WHERE k <> 'y'",
    "empty": "INSERT OVERWRITE pooled SELECT * FROM made WHERE false",
}


@pytest.mark.parametrize("change", first(0, CHANGES))
@pytest.mark.parametrize("cache", first(1, ["auto", "off"]))
def test_results_follow_a_table(spark: SparkSession, change: str, cache: str) -> None:
    """Whether views were read before the change, or only planned, or neither."""
    spark.conf.set("spark.sparkext.cache", cache)
    create(spark, ["q0", "q1", "q2"])
    before = {name: values(spark.table(name)) for name in ("q0", "q1")}
    create(spark, ["q3", "q4"])
    column(spark, "state")
    spark.sql(CHANGES[change])
    create(spark, ["q5"])
    names = ("q5", "q3", "q0", "q4", "q1", "q2")
    after = {name: values(spark.table(name)) for name in names}
    assert after["q0"] != before["q0"]
    spark.sql("DROP VIEW e")
    spark.sql("CREATE TEMP VIEW e AS SELECT * FROM pooled WHERE true OR t > 0")
    for name in names:
        assert after[name] == values(spark.sql(POOL[name])), name


def test_results_follow_a_written_table(spark: SparkSession) -> None:
    """Also when a data frame writes it, and when it is dropped and made anew."""
    create(spark, ["q0", "q1"])
    assert values(spark.table("q0")) == [("x", 3), ("y", 1)]
    spark.sql("SELECT 'x' AS k, 9 AS t, 'B' AS ty, 1D AS v").write.insertInto("pooled")
    assert values(spark.table("q0")) == [("x", 5), ("y", 1)]
    spark.sql("DROP TABLE pooled")
    rows = "SELECT 'n' AS k, 1 AS t, 'A' AS ty, 1D AS v UNION ALL SELECT 'n', 2, 'B', 1D"
    spark.sql(f"CREATE TABLE pooled USING parquet AS {rows}")
    assert values(spark.table("q0")) == [("n", 1)]
    assert values(spark.table("q1")) == [("n", 1, 1.0)]


@pytest.mark.long
def test_a_script_that_makes_a_view_follows_files(spark: SparkSession, tmp_path: Path) -> None:
    """The view need not know what files there are before it is read, and what is read beside it must."""
    folder = tmp_path / "pooled"
    first, second = (POOL[name].replace("FROM e ", f"FROM parquet.`{folder}` ") for name in ("q0", "q4"))
    for name, text in {"one": first, "two": second}.items():
        spark.sql(f"CREATE TEMP VIEW {name} AS {text}")
    assert values(spark.table("one")) == [("x", 3), ("y", 1)]
    [file] = folder.glob("*.parquet")
    shutil.copy(file, folder / f"again-{file.name}")
    script = f"BEGIN CREATE TEMP VIEW later AS {second}; SELECT * FROM ({first}) AS r; END"
    assert values(spark.sql(script)) == [("x", 12), ("y", 4)]


@pytest.mark.long
def test_refresh_sharing(spark: SparkSession) -> None:
    create(spark, ["q0", "q1"])
    first = values(spark.table("q0"))
    assert set(column(spark, "state")) == {"computed"}
    before = rows_read(spark)
    spark.sql("REFRESH SHARING")
    assert set(column(spark, "state")) == {"planned"}
    assert values(spark.table("q0")) == first
    values(spark.table("q1"))
    assert rows_read(spark) - before == ROWS


def test_cache_off(spark: SparkSession) -> None:
    """Every read computes its query, and nothing is kept."""
    spark.sql("SHOW TREND QUERIES")
    cached = stored_sets(spark)
    spark.sql("SET spark.sparkext.cache=off")
    create(spark, ["q0", "q1"])
    before = rows_read(spark)
    assert values(spark.table("q0")) == [("x", 3), ("y", 1)]
    assert values(spark.table("q0")) == [("x", 3), ("y", 1)]
    assert values(spark.table("q1")) == [("x", 4, 90.0), ("y", 1, 10.0)]
    assert rows_read(spark) - before == 3 * ROWS
    assert stored_sets(spark) == cached
    assert set(column(spark, "state")) == {"planned"}
    spark.sql("SET spark.sparkext.cache=AUTO")
    values(spark.table("q0"))
    values(spark.table("q1"))
    assert rows_read(spark) - before == 4 * ROWS
    assert set(column(spark, "state")) == {"computed"}


def test_a_query_alone_is_not_kept(spark: SparkSession) -> None:
    spark.sql("SHOW TREND QUERIES")
    cached = stored_sets(spark)
    values(spark.sql(POOL["q0"]))
    create(spark, ["q1"])
    values(spark.table("q1"))
    assert stored_sets(spark) == cached


@pytest.mark.long
def test_clearing_the_cache_is_harmless(spark: SparkSession) -> None:
    create(spark, ["q0", "q1"])
    first = values(spark.table("q0"))
    spark.catalog.clearCache()
    assert set(column(spark, "state")) == {"planned"}
    assert values(spark.table("q0")) == first
    frame = spark.table("q1")
    spark.catalog.clearCache()
    assert values(frame) == [("x", 4, 90.0), ("y", 1, 10.0)]
    before = rows_read(spark)
    values(spark.table("q0"))
    values(spark.table("q1"))
    assert rows_read(spark) - before <= ROWS


def test_a_query_is_served_as_it_was_bound(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread may bind it anew while a statement that reads it is analysed, as when its relation is replaced."""
    wanted: dict[str, list[Decimal]] = {}
    for name in ("q0", "q1", "q2"):
        spark.sql(f"CREATE TEMP VIEW {name} AS {POOL[name]}")
        wanted[name] = sorted(row.n for row in spark.table(name).collect())
    spark.sql("REFRESH SHARING")
    [parser] = parsers_of(spark)
    queries = {query.written.name: query for query in parser.workload.queries()}
    before, find = queries["q1"].bound, Run.index_of
    bound_anew: list[BoundQuery] = []

    def bind_anew(run: Run, bound: BoundQuery) -> int | None:
        index = find(run, bound)
        if bound.query.name == "q1" and not bound_anew:
            bound_anew.append(bound)
            queries["q1"].bound = queries["q2"].bound
        return index

    monkeypatch.setattr(Run, "index_of", bind_anew)
    rows = spark.sql("SELECT 0 AS which, n FROM q0 UNION ALL SELECT 1, n FROM q1").collect()
    monkeypatch.undo()
    queries["q1"].bound = before
    assert bound_anew
    for which, name in enumerate(("q0", "q1")):
        assert sorted(row.n for row in rows if row.which == which) == wanted[name]


def test_results_follow_what_spark_keeps_of_the_source(spark: SparkSession, tmp_path: Path) -> None:
    """Rows that are kept are those of before files came from elsewhere, until they are kept no more."""
    where = str(tmp_path / "pooled")
    spark.sql(f"CREATE OR REPLACE TEMP VIEW e AS SELECT * FROM parquet.`{where}`")
    for name, pattern in {"one": "A", "two": "A+"}.items():
        spark.sql(f"CREATE TEMP VIEW {name} AS {trends(pattern, keys='ORDER BY t TYPE BY ty')}")
    spark.sql("CACHE TABLE e")
    [file] = Path(where).glob("*.parquet")
    assert values(spark.table("one")) == [(4,)]
    shutil.copy(file, file.with_name("more.parquet"))
    assert values(spark.table("one")) == [(4,)] == values(spark.sql("SELECT count(*) FROM e WHERE ty = 'A'"))
    spark.sql("UNCACHE TABLE e")
    spark.sql("CACHE TABLE e")
    assert values(spark.table("one")) == [(8,)]
    shutil.copy(file, file.with_name("most.parquet"))
    assert values(spark.table("one")) == [(8,)]
    spark.sql("UNCACHE TABLE e")
    assert values(spark.sql("SELECT count(*) FROM e WHERE ty = 'A'")) == values(spark.table("one")) == [(12,)]


def test_a_statement_is_served_from_the_state_that_it_has_seen(spark: SparkSession) -> None:
    """Whatever state another thread has seen since."""
    create(spark, ["q0", "q1"])
    assert values(spark.table("q0"))
    query = next(query for query in parsers_of(spark)[0].workload.queries() if query.written.name == "q0")
    pool, bound = query.pool, query.bound
    [run] = pool.runs
    seen_by_others = replace(run.version, files=())
    pool.follow(pool.source.frame, seen_by_others)
    assert pool.runs.computed(bound, {}, run.version) is run
    assert pool.runs.computed(bound, {}, seen_by_others) is None
    assert values(spark.table("q0"))
    assert list(pool.runs) == [run]


def test_a_clause_that_is_computed_as_a_view_beside_it_makes_no_pass_of_its_own(spark: SparkSession) -> None:
    create(spark, ["q0", "q1"])
    before = rows_read(spark)
    clause = trends("A B").removeprefix("SELECT * FROM ")
    rows = spark.sql(f"SELECT q0.n AS one, c.n AS own FROM q0 JOIN q1 USING (k) JOIN {clause} c USING (k)").collect()
    assert len(rows) == 2
    assert all(row.one == row.own for row in rows)
    assert rows_read(spark) - before == ROWS


@pytest.mark.long
def test_views_are_dropped_while_others_are_read(spark: SparkSession) -> None:
    """Spark asks what a view holds while it has its catalog locked, which planning needs: nobody waits for ever."""
    create(spark, ["q0", "q1"])
    end = time.monotonic() + 15

    def drop(number: int) -> None:
        while time.monotonic() < end:
            scope = "GLOBAL TEMP" if number == 2 else "TEMP"
            spark.sql(f"CREATE OR REPLACE {scope} VIEW own_{number} AS {POOL['q0']}")
            if number == 0:
                spark.catalog.dropTempView("own_0")
            else:
                spark.sql(f"DROP VIEW {'global_temp.' if number == 2 else ''}own_{number}")

    def read(_: int) -> None:
        while time.monotonic() < end:
            spark.table("q0")
            spark.sql("SHOW TREND QUERIES").collect()

    work = [*((drop, number) for number in range(3)), (read, 0)]
    threads = [threading.Thread(target=what, args=(number,), daemon=True) for what, number in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads), "threads wait for each other"


@pytest.mark.long
def test_threads(spark: SparkSession) -> None:
    """Statements that register, read, drop and explain, from several threads at once."""
    expected = alone(spark)
    create(spark)
    wrong: list[object] = []

    def work(seed: int) -> None:
        random = Random(seed)
        try:
            for step, name in enumerate(random.sample(list(POOL), 3)):
                if values(spark.table(name)) != expected[name]:
                    wrong.append(name)
                spark.sql(f"CREATE OR REPLACE TEMP VIEW own_{seed} AS {POOL[name]}")
                if (
                    values(spark.table(f"own_{seed}")) != expected[name]
                    or values(spark.sql(POOL[name])) != expected[name]
                ):
                    wrong.append((seed, step, name))
                spark.sql("SHOW TREND QUERIES").collect()
            spark.sql(f"DROP VIEW own_{seed}")
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads), "threads wait for each other"
    assert wrong == []
    assert sorted(column(spark, "name")) == sorted(POOL)
