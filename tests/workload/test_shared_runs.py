"""Results of permanent views that sessions of an application have in common: who is served by them, and who is not."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from sparkext.jvm import storage
from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.session_free import is_session_free
from sparkext.session import parsers_of
from sparkext.workload import collector, making
from sparkext.workload.run import Run
from sparkext.workload.shared_runs import SharedRuns, shared_runs
from sparkext.workload.source import PoolSource
from sparkext.workload.workload import Workload
from tests.support.spark_programs import eventually
from tests.support.sql_cases import fails, trends, values
from tests.support.tiers import every, first

ROWS = "SELECT * FROM VALUES ('x', 1, 'A'), ('x', 2, 'B'), ('x', 3, 'A'), ('x', 4, 'B') AS r(k, t, ty)"
PATTERNS = ("A B", "A+ B", "A B+")
RIGHT = [[("x", 3)], [("x", 4)], [("x", 4)]]
"""Of the views, one after another."""
IN_ANOTHER = {"computed in another session"}


class Sessions:
    """Sessions of one application, a new one for each read, as clients of a server have them.

    Attributes:
        first: By which the catalog is changed.
        made: Runs that have been made by all of them.
        shared: What they have in common.
    """

    def __init__(self, first: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
        self.first = first
        self.made: list[Run] = []
        self.shared: SharedRuns = shared_runs(first)
        self._opened: list[SparkSession] = []

        def make(*given: Any) -> Run:
            run = make_run(*given)
            self.made.append(run)
            return run

        make_run = making.make
        monkeypatch.setattr(making, "make", make)

    def open(self, **confs: str) -> SparkSession:
        """A new session, with confs as `settings` has them."""
        opened = self.first.newSession()
        for name, value in confs.items():
            opened.conf.set(name.replace("_", "."), value)
        self._opened.append(opened)
        return opened

    def close(self) -> None:
        """As the server does when the clients of all sessions have gone."""
        for opened in self._opened:
            workload(opened).release()
        self._opened = []

    def read(self, number: int = 0, **confs: str) -> list[tuple[Any, ...]]:
        """The rows of a view, in a new session."""
        return values(self.open(**confs).table(f"made.v{number}"))


def workload(spark: SparkSession) -> Workload:
    [parser] = parsers_of(spark)
    return parser.workload


def states(spark: SparkSession) -> set[str]:
    """Of the queries that a session has read."""
    return {row.state for row in spark.sql("SHOW TREND QUERIES").collect()}


@pytest.fixture
def sessions(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sessions]:
    """Sessions with a table and views of it, of which nothing has been computed."""
    spark.sql(f"CREATE DATABASE made LOCATION '{tmp_path}/made'")
    spark.sql(f"CREATE TABLE made.e USING parquet AS {ROWS}")
    for number, pattern in enumerate(PATTERNS):
        spark.sql(f"CREATE VIEW made.v{number} AS {trends(pattern, source='made.e')}")
    opened = Sessions(spark, monkeypatch)
    opened.shared.withdraw()
    yield opened
    opened.close()
    spark.sql("USE default")
    spark.sql("DROP DATABASE made CASCADE")


def test_a_session_makes_no_pass_that_another_has_made(sessions: Sessions) -> None:
    """And says so."""
    assert sessions.read(0) == RIGHT[0]
    for number in (0, 1, 2):
        reader = sessions.open()
        assert values(reader.table(f"made.v{number}")) == RIGHT[number]
        assert states(reader) == IN_ANOTHER
        text = reader.sql("EXPLAIN SHARING").collect()[0].plan
        assert "Pass 1 (computed in another session, results are kept)" in text
    assert len(sessions.made) == 1


def test_the_session_that_has_made_it_is_closed(sessions: Sessions) -> None:
    """What is kept stays, and nothing is read for the next session. What goes to the driver does so once for all."""
    assert sessions.read(0) == RIGHT[0]
    sessions.close()
    [run] = sessions.made
    assert run.is_computed()
    events = run.counted.events()
    reader = sessions.open()
    assert [values(reader.table(f"made.v{number}")) for number in range(3)] == RIGHT
    assert len(sessions.made) == 1
    assert run.counted.events() == events
    context = reader.sparkContext
    context.setJobGroup("read", "no jobs")
    try:
        for again in (reader, sessions.open()):
            assert values(again.table("made.v1")) == RIGHT[1]
        assert list(context.statusTracker().getJobIdsForGroup("read")) == []
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
        context.setLocalProperty("spark.job.description", None)  # type: ignore[arg-type]


def test_a_view_that_is_alone_is_computed_whenever_it_is_read(sessions: Sessions) -> None:
    """As a temporary one is: by the source and the text of then, in any session. Beside a second one it is kept."""
    for number in (1, 2):
        sessions.first.sql(f"DROP VIEW made.v{number}")
    sessions.made.clear()
    sessions.shared.withdraw()
    reader = sessions.open()
    for session in (reader, reader, sessions.open()):
        assert values(session.table("made.v0")) == RIGHT[0]
    # Each session has a run of its own, which it repeats.
    assert [run.persisted for run in sessions.made] == [False, False]
    assert len(sessions.shared) == 0
    sessions.first.sql("INSERT INTO made.e VALUES ('x', 5, 'B')")
    assert (values(reader.table("made.v0")), reader.table("made.e").count()) == (RIGHT[0], 4)  # as Spark itself has it
    reader.sql("REFRESH TABLE made.e")
    for session in (sessions.first, reader, sessions.open()):
        assert values(session.table("made.v0")) == [("x", 5)]
    sessions.first.sql(f"ALTER VIEW made.v0 AS {trends('A+ B', source='made.e')}")
    for session in (reader, sessions.open()):
        assert values(session.table("made.v0")) == [("x", 7)]
    sessions.first.sql(f"CREATE VIEW made.v1 AS {trends('A B', source='made.e')}")
    assert sessions.read(1) == [("x", 5)]
    made = len(sessions.made)
    assert sessions.read(0) == [("x", 7)]
    assert (len(sessions.made), len(sessions.shared)) == (made, 1)
    sessions.first.sql("DROP VIEW made.v0")
    fails(reader, "SELECT * FROM made.v0", "TABLE_OR_VIEW_NOT_FOUND")


def test_a_statement_that_reads_several_views(sessions: Sessions) -> None:
    sessions.read(0)
    reader = sessions.open()
    both = reader.sql("SELECT a.n + b.n AS n FROM made.v0 AS a JOIN made.v1 AS b USING (k)")
    assert values(both) == [(7,)]
    assert len(sessions.made) == 1


def test_sessions_that_read_at_the_same_time(sessions: Sessions) -> None:
    with ThreadPoolExecutor(4) as threads:
        rows = list(threads.map(sessions.read, (0, 1, 2, 0)))
    assert rows == [RIGHT[0], RIGHT[1], RIGHT[2], RIGHT[0]]
    assert len(sessions.made) == 1


OTHERS = {
    "time zone": {"spark_sql_session_timeZone": "Asia/Tokyo"},
    "ANSI": {"spark_sql_ansi_enabled": "false"},
    "how binary columns are shown": {"spark_sql_binaryOutputStyle": "HEX"},
    "how files are read": {"spark_sql_parquet_inferTimestampNTZ_enabled": "false"},
    "how files are reached": {"fs_made_key": "mine"},
    "shares nothing": {"spark_sparkext_cache_sharedFor": "0"},
    "keeps nothing": {"spark_sparkext_cache": "off"},
}


@pytest.mark.parametrize("confs", first(2, OTHERS.values()), ids=OTHERS)
def test_sessions_that_are_set_otherwise(sessions: Sessions, confs: dict[str, str]) -> None:
    """Each makes its own pass; those that are set alike have it in common, if they are to keep and share anything."""
    assert sessions.read(0) == RIGHT[0]
    for _ in range(2):
        assert sessions.read(1, **confs) == RIGHT[1]
    passes = 2 if any("sparkext" in name for name in confs) else 1
    assert len(sessions.made) == 1 + passes
    assert sessions.read(2) == RIGHT[2]
    assert len(sessions.made) == 1 + passes


def test_what_spark_sets_when_it_has_shown_rows(sessions: Sessions) -> None:
    """Its prompt and its Thrift server do so; views that are created then are in one pool with those before."""
    reader = sessions.open()
    assert values(reader.table("made.v0")) == RIGHT[0]
    reader.conf.set("spark.sql.binaryOutputStyle", "UTF-8")
    assert values(reader.table("made.v1")) == RIGHT[1]
    reader.sql(f"CREATE OR REPLACE VIEW made.v2 AS {trends('A', source='made.e')}")
    assert sessions.read(0) == RIGHT[0]
    assert sessions.read(2, spark_sql_binaryOutputStyle="UTF-8") == [("x", 2)]
    assert len(sessions.made) == 2
    assert reader.sql("EXPLAIN SHARING").collect()[0].plan.count("Pool ") == 1


def test_what_a_session_calls_its_own_does_not_matter(sessions: Sessions) -> None:
    """Its current schema, and temporary views of the names that a permanent one has in its text."""
    assert sessions.read(0) == RIGHT[0]
    reader = sessions.open()
    reader.sql("CREATE TEMP VIEW e AS SELECT 'y' AS k, 1 AS t, 'A' AS ty")
    reader.sql("USE made")
    reader.sql("CREATE TEMP VIEW v9 AS SELECT 1 AS n")
    assert values(reader.table("v1")) == RIGHT[1]
    assert len(sessions.made) == 1
    reader.sql(f"CREATE TEMP VIEW v1 AS {trends('A', source='e')}")
    assert values(reader.table("v1")) == [("y", 1)]
    assert values(reader.table("made.v1")) == RIGHT[1]


def test_what_temporary_views_have_asked_for_is_for_their_session(sessions: Sessions) -> None:
    owner = sessions.open()
    owner.sql(f"CREATE TEMP VIEW mine AS {trends('A', source='made.e')}")
    assert values(owner.table("made.v0")) == RIGHT[0]
    assert len(sessions.shared) == 0
    reader = sessions.open()
    reader.sql(f"CREATE TEMP VIEW mine AS {trends('A', source='made.e')}")
    assert values(reader.table("made.v0")) == RIGHT[0]
    assert len(sessions.made) == 2
    assert states(reader) == {"computed"}


def test_a_session_that_does_not_find_all_of_its_queries(sessions: Sessions) -> None:
    """As one that may not read some of the views, or is to look no further, makes passes of its own."""
    sessions.read(0)
    for looked_at in ("0", "1"):
        reader = sessions.open(spark_sparkext_catalogViews=looked_at)
        assert values(reader.table("made.v1")) == RIGHT[1]
        assert states(reader) <= {"computed", "planned"}
    assert len(sessions.made) == 3


def test_views_that_come_and_go(sessions: Sessions) -> None:
    """A new one has a pass of its own, beside which the others go on; one that is gone is computed for nobody."""
    sessions.read(0)
    sessions.first.sql(f"CREATE VIEW made.v3 AS {trends('B A', source='made.e')}")
    sessions.first.sql(f"CREATE VIEW made.v4 AS {trends('B+ A', source='made.e')}")
    assert sessions.read(1) == RIGHT[1]
    assert len(sessions.made) == 1
    assert sessions.read(3) == [("x", 1)]
    assert len(sessions.made) == 2
    assert [sessions.read(4), sessions.read(0)] == [[("x", 1)], RIGHT[0]]
    assert len(sessions.made) == 2
    sessions.first.sql("DROP VIEW made.v2")
    assert sessions.read(0) == RIGHT[0]
    assert len(sessions.made) == 3


@pytest.mark.parametrize("how", every(2, ["CREATE OR REPLACE VIEW made.v0 AS", "ALTER VIEW made.v0 AS"]))
def test_a_view_that_is_replaced(sessions: Sessions, how: str) -> None:
    sessions.read(0)
    sessions.first.sql(f"{how} {trends('A', source='made.e')}")
    assert sessions.read(0) == [("x", 2)]
    assert sessions.read(1) == RIGHT[1]
    assert len(sessions.made) == 2


def test_the_table_is_written(sessions: Sessions) -> None:
    """By a session that has read nothing. What was of the table as it was is given up once there is something newer."""
    sessions.read(0)
    sessions.close()
    sessions.open().sql("INSERT INTO made.e VALUES ('x', 5, 'B')")
    assert sessions.read(0) == [("x", 5)]
    assert sessions.read(1) == [("x", 7)]
    assert len(sessions.made) == 2
    old, _ = sessions.made
    assert not storage.is_kept(old.results)
    assert len(sessions.shared) == 1


def test_the_table_is_another_one(sessions: Sessions) -> None:
    sessions.read(0)
    sessions.first.sql("DROP TABLE made.e")
    fails(sessions.open(), "SELECT * FROM made.v0", "TREND_SOURCE")
    sessions.first.sql(f"CREATE TABLE made.e USING parquet AS {ROWS} WHERE t > 2")
    assert sessions.read(0) == [("x", 1)]
    assert len(sessions.made) == 2


def test_files_are_written_by_another_program(sessions: Sessions, tmp_path: Path) -> None:
    sessions.read(0)
    for path in (tmp_path / "made" / "e").glob("part-*"):
        path.rename(path.with_name(f"part-9{path.name.removeprefix('part-')}"))
    assert sessions.read(0) == RIGHT[0]
    assert len(sessions.made) == 2


def test_the_cache_is_cleared(sessions: Sessions) -> None:
    """By whoever: then it is computed anew."""
    sessions.read(0)
    sessions.open().catalog.clearCache()
    assert [sessions.read(1), sessions.read(2)] == RIGHT[1:]
    assert sessions.made[-1].is_computed()
    assert sum(run.counted.events() for run in sessions.made) == 8


def test_the_table_is_cached_and_uncached(sessions: Sessions) -> None:
    for statement in ("CACHE TABLE made.e", "UNCACHE TABLE made.e"):
        sessions.read(0)
        sessions.first.sql(statement)
        assert [sessions.read(number) for number in range(3)] == RIGHT


def test_refreshing_in_one_session(sessions: Sessions) -> None:
    """New sessions compute anew; one that has the results, and has not said so, goes on with them."""
    holder = sessions.open()
    values(holder.table("made.v0"))
    reader = sessions.open()
    values(reader.table("made.v1"))
    reader.sql("REFRESH SHARING")
    assert len(sessions.shared) == 0
    [run] = sessions.made
    assert run.is_computed()
    assert values(holder.table("made.v2")) == RIGHT[2]
    assert len(sessions.made) == 1
    assert values(reader.table("made.v1")) == RIGHT[1]
    assert len(sessions.made) == 2
    assert sessions.read(0) == RIGHT[0]
    assert len(sessions.made) == 2
    holder.sql("REFRESH SHARING")
    assert not storage.is_kept(run.results)


def test_what_nobody_asks_for_is_given_up(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    """A while after the last session that has it; what is not computed, at once."""
    monkeypatch.setattr(collector, "LATER", 0.2)
    sessions.shared._collector._is_due_later = False  # another test may have left it waiting for longer
    assert sessions.read(0, spark_sparkext_cache_sharedFor="1") == RIGHT[0]
    [run] = sessions.made
    with pytest.raises(AssertionError):
        eventually(lambda: len(sessions.shared) == 0, 3)
    sessions.close()
    assert run.is_computed()
    eventually(lambda: len(sessions.shared) == 0, 20)
    assert not storage.is_kept(run.results)
    sessions.open().table("made.v1")
    assert len(sessions.shared) == 1
    sessions.close()
    eventually(lambda: len(sessions.shared) == 0, 20)


def test_what_fails_fails_in_each_session(sessions: Sessions) -> None:
    for number in range(3, 5):
        part = "(SELECT k, t, ty, assert_true(t < 5) AS ok FROM made.e)"
        more = f"DEFINE A AS A.ok IS NULL AND A.t > {number - 4}"
        sessions.first.sql(f"CREATE VIEW made.v{number} AS {trends('A B', source=part, more=more)}")
    sessions.first.sql("INSERT INTO made.e VALUES ('x', 5, 'A')")
    for _ in range(2):
        with pytest.raises(Exception, match="is not true"):
            sessions.read(3)
    sessions.first.sql(f"INSERT OVERWRITE made.e {ROWS}")
    assert [sessions.read(3), sessions.read(4)] == [RIGHT[0]] * 2


def test_the_rules_of_a_session_look_at_what_it_reads(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    """Extensions that refuse to let somebody read a table may do so where Spark optimizes a plan."""
    looked: list[SparkSession] = []

    def size(source: PoolSource) -> int:
        looked.append(source.spark)
        return int(size_of(source))

    size_of = vars(PoolSource)["size"].fget
    monkeypatch.setattr(PoolSource, "size", property(size))
    sessions.read(0)
    looked.clear()
    sessions.read(1)
    assert len(sessions.made) == 1
    assert len(looked) == 1


NOT_SHARED = (
    "(SELECT k, t, ty, current_user() AS u FROM made.e)",
    "(SELECT k, t, ty, rand() AS u FROM made.e)",
    "(SELECT k, made.later(t) AS t, ty FROM made.e TABLESAMPLE (100 PERCENT))",
    "(SELECT k, t, ty, row_number() OVER (PARTITION BY k ORDER BY t) AS u FROM made.e)",
    "(SELECT * FROM made.e LIMIT 100)",
)


@pytest.mark.parametrize("source", first(2, NOT_SHARED))
def test_what_may_be_another_thing_in_another_session(sessions: Sessions, source: str) -> None:
    sessions.first.sql("CREATE FUNCTION made.later(x INT) RETURNS INT RETURN x + 1")
    for number, pattern in enumerate(PATTERNS, 3):
        sessions.first.sql(f"CREATE VIEW made.v{number} AS {trends(pattern, source=source)}")
    for number in (3, 4):
        reader = sessions.open()
        assert values(reader.table(f"made.v{number}")) == RIGHT[number - 3]
        assert not states(reader) & IN_ANOTHER
    assert len(sessions.shared) == 0


FREE = (
    "SELECT * FROM made.e",
    "SELECT k, abs(t) AS t, CASE WHEN ty = 'A' THEN t END AS u FROM made.e WHERE t > 1",
    "SELECT k, count(*) AS n, max(t) AS t FROM made.e GROUP BY k",
    "SELECT * FROM made.e JOIN made.e AS f USING (k, t) UNION ALL SELECT * FROM made.e JOIN made.e AS f USING (k, t)",
    "SELECT DISTINCT k FROM made.e WHERE t IN (SELECT max(t) FROM made.e)",
    "SELECT * FROM VALUES (1, 'a') AS r(a, b)",
    "SELECT transform(array(t), x -> x + 1) AS u FROM made.e",
)
BOUND = (
    "SELECT own(t) AS t FROM made.e",
    "SELECT * FROM made.e WHERE own(t) > 1",
    "SELECT max(own(t)) AS t FROM made.e GROUP BY k",
    "SELECT count(*) AS n FROM made.e GROUP BY own(t)",
    "SELECT * FROM made.e JOIN made.e AS f ON own(e.t) = f.t",
    "SELECT * FROM made.e WHERE t IN (SELECT own(t) FROM made.e)",
    "SELECT * FROM made.e UNION ALL SELECT k, own(t), ty FROM made.e",
    "SELECT * FROM made.e WHERE t > lim",
    "SELECT uuid() AS u FROM made.e",
    "SELECT reflect('java.lang.Math', 'abs', t) AS u FROM made.e",
    "SELECT * FROM made.e LIMIT 2",
    "SELECT * FROM made.e TABLESAMPLE (50 PERCENT)",
    "SELECT rank() OVER (ORDER BY t) AS r FROM made.e",
    "SELECT first(t) AS t FROM made.e",
    "SELECT * FROM made.e, LATERAL explode(array(t)) AS x(u)",
    "SELECT TRANSFORM (t) USING 'cat' AS u FROM made.e",
    "SELECT * FROM frame",
)


def test_rows_that_no_session_has_a_part_in(sessions: Sessions) -> None:
    spark = sessions.open()
    spark.udf.register("own", lambda value: value, "int")
    spark.sql("DECLARE OR REPLACE VARIABLE lim INT DEFAULT 1")
    spark.createDataFrame(spark.sparkContext.parallelize([(1,)]), "a INT").createTempView("frame")
    free = [text for text in (*FREE, *BOUND) if is_session_free(AnalysedFrame.of(spark.sql(text)))]
    assert free == [*FREE]


@pytest.mark.parametrize("seed", first(1, range(4, 10)))
def test_any_history_of_sessions(sessions: Sessions, seed: int) -> None:
    """Whatever sessions do, each reads what one that has nothing in common with others reads."""
    chance = random.Random(seed)
    spark, time = sessions.first, 4
    for step in range(14):
        match chance.choice(("insert", "replace", "close", "refresh", "read", "read", "read")):
            case "insert":
                time += 1
                sessions.open().sql(f"INSERT INTO made.e VALUES ('x', {time}, '{chance.choice('AB')}')")
            case "replace":
                pattern = chance.choice((*PATTERNS, "B A", "A"))
                spark.sql(f"CREATE OR REPLACE VIEW made.v{chance.randrange(3)} AS {trends(pattern, source='made.e')}")
            case "close":
                sessions.close()
            case "refresh":
                sessions.open().sql("REFRESH SHARING")
        number, zone = chance.randrange(3), chance.choice(("UTC", "Asia/Tokyo"))
        right = sessions.read(number, spark_sparkext_cache="off")
        assert sessions.read(number, spark_sql_session_timeZone=zone) == right, step
