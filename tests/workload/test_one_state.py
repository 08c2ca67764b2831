"""All clauses of a statement give rows of one state of their source, whatever is written to it meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from sparkext.workload.workload import Workload
from tests.support.sql_cases import KEYED, trends, values
from tests.support.tiers import first

OTHER_KEYS = "PARTITION BY ty ORDER BY t TYPE BY ty"
BOTH = "SELECT (SELECT sum(n) FROM one) AS a, (SELECT sum(n) FROM two) AS b"


class Writer:
    """Inserts an event right after the first clause of the next statement has been looked at."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._is_to_write = False
        self.events = 0

    def insert(self) -> None:
        """Insert an event, of one trend."""
        self._spark.sql(f"INSERT INTO written VALUES ('x', {self.events}, 'A', 1D)")
        self.events += 1

    def looked_at(self) -> None:
        """A clause has been looked at."""
        if self._is_to_write:
            self._is_to_write = False
            thread = threading.Thread(target=self.insert)
            thread.start()
            thread.join(60)
            assert not thread.is_alive()

    def read(self, statement: str) -> list[tuple[Any, ...]]:
        """The rows of a statement that is written beside."""
        self._is_to_write, before = True, self.events
        rows = values(self._spark.sql(statement))
        assert self.events == before + 1
        return rows


@pytest.fixture
def writer(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[Writer]:
    writer_of_rows, rows = Writer(spark), Workload.rows

    def and_then(self: Workload, number: int | None) -> Any:
        plan = rows(self, number)
        writer_of_rows.looked_at()
        return plan

    spark.sql("DROP TABLE IF EXISTS written")
    spark.sql("CREATE TABLE written (k STRING, t INT, ty STRING, v DOUBLE) USING parquet")
    writer_of_rows.insert()
    monkeypatch.setattr(Workload, "rows", and_then)
    yield writer_of_rows
    spark.sql("DROP TABLE written")


def view(spark: SparkSession, name: str, keys: str = KEYED, source: str = "written") -> None:
    spark.sql(f"CREATE OR REPLACE TEMP VIEW {name} AS {trends('A', keys=keys, source=source)}")


def is_of_one_state(writer: Writer, statement: str) -> None:
    """Read it while it is written beside, and then again."""
    [(some, other_rows)] = writer.read(statement)
    assert some == other_rows in (writer.events - 1, writer.events)
    assert values(writer._spark.sql(statement)) == [(writer.events, writer.events)]


CASES = [(KEYED, "written"), (OTHER_KEYS, "written"), (KEYED, "(SELECT * FROM written WHERE v > 0) AS some_of_it")]


@pytest.mark.parametrize("case", first(2, CASES))
def test_two_views(spark: SparkSession, writer: Writer, case: tuple[str, str]) -> None:
    """Of one pool, or of two: none computed, both kept, and one kept beside one that is new."""
    keys, source = case
    view(spark, "one")
    view(spark, "two", keys, source)
    view(spark, "three", keys)  # what is read beside nothing else is not kept
    for _ in range(2):
        is_of_one_state(writer, BOTH)
    view(spark, "two", keys, source)
    assert values(spark.table("one")) == [("x", writer.events)]
    is_of_one_state(writer, BOTH)


def test_a_view_twice(spark: SparkSession, writer: Writer) -> None:
    view(spark, "one")
    view(spark, "two")
    assert values(spark.table("one")) == [("x", writer.events)]
    is_of_one_state(writer, "SELECT a.n AS m, b.n FROM one AS a JOIN one AS b")


def test_a_clause_beside_a_view(spark: SparkSession, writer: Writer) -> None:
    view(spark, "one")
    view(spark, "two")
    assert values(spark.table("one")) == [("x", writer.events)]
    alone = trends("A", source="written", keys=OTHER_KEYS)
    is_of_one_state(writer, f"SELECT (SELECT sum(n) FROM one) AS a, (SELECT sum(n) FROM ({alone})) AS b")


def test_within_another_view(spark: SparkSession, writer: Writer) -> None:
    """Which Spark reads by a text that is no statement's."""
    view(spark, "one")
    view(spark, "two")
    spark.sql(f"CREATE OR REPLACE TEMP VIEW over AS {BOTH}")
    assert values(spark.table("one")) == [("x", writer.events)]
    view(spark, "two")
    [(some, other_rows)] = writer.read("SELECT * FROM over")
    assert some == other_rows
    [(some, other_rows)] = values(spark.table("over"))
    assert some == other_rows == writer.events


def test_large_results(spark: SparkSession, writer: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of which the driver has no copy."""
    monkeypatch.setattr("sparkext.workload.run.MOST_ON_DRIVER", 0)
    view(spark, "one")
    view(spark, "two", OTHER_KEYS)
    for _ in range(2):
        is_of_one_state(writer, BOTH)


def test_rows_of_the_driver_are_read_beside_each_other(spark: SparkSession, writer: Writer) -> None:
    """Where both are kept, and one may be called in a text without being read, no statement makes a pass."""
    view(spark, "one")
    view(spark, "two", OTHER_KEYS)
    view(spark, "three")
    view(spark, "four", OTHER_KEYS)
    values(spark.sql(BOTH))
    for statement in (BOTH, "SELECT n AS two FROM one"):
        plan = spark.sql(statement)._jdf.queryExecution().optimizedPlan().toString()
        assert "LocalRelation" in plan
        assert "MapInArrow" not in plan
    assert writer.events == 1
