"""Results follow the files that a relation is made of; where Spark does not see a change, that is said."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.support.pages import blocks
from tests.support.spark_programs import ROOT
from tests.support.sql_cases import fails, position, trends, values

ROWS = "SELECT * FROM VALUES {} AS r(k, t, ty, v)"
FIRST = ROWS.format("('x', 1, 'A', 1D), ('x', 2, 'B', 2D)")
MORE = ROWS.format("('x', 3, 'B', 3D)")


@pytest.fixture
def events(tmp_path: Path) -> Path:
    return tmp_path / "events"


def write(spark: SparkSession, statement: str, where: Path, mode: str = "append") -> None:
    """As another program would: nothing tells sparkext of it."""
    frame = spark.newSession().sql(statement).toPandas()
    where.mkdir(exist_ok=True)
    if mode == "overwrite":
        for file in where.iterdir():
            file.unlink()
    frame.to_parquet(where / f"part-{len(list(where.iterdir()))}.parquet", index=False)


def create(spark: SparkSession) -> None:
    for name, pattern in {"one": "A B", "two": "A B+"}.items():
        spark.sql(f"CREATE OR REPLACE TEMP VIEW {name} AS {trends(pattern, source='e')}")


def read(spark: SparkSession) -> list[list[tuple[object, ...]]]:
    return [values(spark.table(name)) for name in ("one", "two")]


RELATIONS = {
    "a query of the directory": "CREATE TEMP VIEW e AS SELECT * FROM parquet.`{}`",
    "a view of a view": "CREATE TEMP VIEW inner AS SELECT * FROM parquet.`{}`; CREATE TEMP VIEW e AS TABLE inner",
}


@pytest.mark.long
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("cache", ["auto", "off"])
def test_new_and_overwritten_files_in_a_directory(
    spark: SparkSession, events: Path, relation: str, cache: str, caplog: pytest.LogCaptureFixture
) -> None:
    write(spark, FIRST, events)
    spark.conf.set("spark.sparkext.cache", cache)
    for statement in RELATIONS[relation].format(events).split(";"):
        spark.sql(statement)
    create(spark)
    assert read(spark) == [[("x", 1)], [("x", 1)]]
    write(spark, MORE, events)
    assert read(spark) == [[("x", 2)], [("x", 3)]]
    spark.sql(f"CREATE TEMP VIEW three AS {trends('B+', source='e')}")
    write(spark, MORE.replace("3,", "4,"), events)
    assert values(spark.table("three")) == [("x", 7)]
    assert read(spark) == [[("x", 3)], [("x", 7)]]
    write(spark, FIRST, events, "overwrite")
    assert read(spark) == [[("x", 1)], [("x", 1)]]
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_a_data_frame_is_told_of(spark: SparkSession, events: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Spark reads the files that it has seen when the frame was made: so do trends, and a warning says so."""
    write(spark, FIRST, events)
    spark.read.parquet(str(events)).createOrReplaceTempView("e")
    create(spark)
    assert read(spark) == [[("x", 1)], [("x", 1)]]
    write(spark, MORE, events)
    with caplog.at_level(logging.WARNING, "sparkext"):
        assert spark.table("e").count() == 2
        assert read(spark) == [[("x", 1)], [("x", 1)]]
    assert quoted(0).replace("/data/events", str(events)) in caplog.text
    assert "REFRESH TABLE" in caplog.text
    spark.sql("REFRESH TABLE e")
    assert read(spark) == [[("x", 2)], [("x", 3)]]


def test_a_table_whose_files_another_program_writes(
    spark: SparkSession, events: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(spark, FIRST, events)
    spark.sql(f"CREATE TABLE written (k STRING, t INT, ty STRING, v DOUBLE) USING parquet LOCATION '{events}'")
    try:
        spark.sql("CREATE TEMP VIEW e AS SELECT * FROM written")
        create(spark)
        assert read(spark) == [[("x", 1)], [("x", 1)]]
        write(spark, MORE, events)
        with caplog.at_level(logging.WARNING, "sparkext"):
            rows = read(spark)
        assert rows == [[("x", 2)], [("x", 3)]] or "have changed since Spark looked for them" in caplog.text
        spark.sql("REFRESH TABLE written")
        assert read(spark) == [[("x", 2)], [("x", 3)]]
    finally:
        spark.sql("DROP TABLE written")


@pytest.mark.long
def test_a_table_of_another_database(spark: SparkSession, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing tells of its changes, so results are kept only if the user says so, and warnings say that."""
    url, driver = "jdbc:derby:memory:other;create=true", "org.apache.derby.iapi.jdbc.AutoloadedDriver"
    properties = {"driver": driver, "createTableColumnTypes": "k VARCHAR(9), ty VARCHAR(9)"}
    spark.sql(FIRST).write.jdbc(url, "events", "overwrite", properties)
    spark.read.jdbc(url, "events", properties=properties).createOrReplaceTempView("e")
    with caplog.at_level(logging.WARNING, "sparkext"):
        spark.sql(f"CREATE TEMP VIEW one AS {trends('A B', source='e')}")
        assert values(spark.table("one")) == [("x", 1)]
        assert caplog.text == ""
        create(spark)
        assert read(spark) == [[("x", 1)], [("x", 1)]]
        assert caplog.text.count(quoted(1)) == 1
        assert quoted(2) not in caplog.text
        spark.sql(MORE).write.jdbc(url, "events", "append", properties)
        assert values(spark.sql(trends("A B", source="e"))) == [("x", 2)]
        assert read(spark) == [[("x", 2)], [("x", 3)]]
        spark.conf.set("spark.sparkext.cache", "on")
        assert read(spark) == [[("x", 2)], [("x", 3)]]
    assert quoted(2) in caplog.text
    spark.sql(MORE.replace("3,", "4,")).write.jdbc(url, "events", "append", properties)
    assert read(spark) == [[("x", 2)], [("x", 3)]]
    spark.sql("REFRESH SHARING")
    assert read(spark) == [[("x", 3)], [("x", 7)]]


def quoted(position: int) -> str:
    """A warning that the page shows."""
    quotes: list[tuple[str, str]] = blocks(ROOT / "docs" / "troubleshooting.md")["Results are not up to date"]
    return quotes[position][1].strip()


def test_a_directory_that_is_gone(spark: SparkSession, events: Path) -> None:
    write(spark, FIRST, events)
    spark.sql(f"CREATE TEMP VIEW e AS SELECT * FROM parquet.`{events}`")
    create(spark)
    assert read(spark) == [[("x", 1)], [("x", 1)]]
    for file in events.iterdir():
        file.unlink()
    events.rmdir()
    fails(spark, "SELECT * FROM one", "TREND_SOURCE")


ELSEWHERE = {
    "a subquery": "v >= (SELECT max(v) FROM least)",
    "a subquery of a subquery": "v >= (SELECT min(o) FROM VALUES 0, 3, 9 AS n(o) WHERE o >= (SELECT v FROM least))",
    "a list": "v IN (SELECT e.v FROM e JOIN least ON e.v >= least.v)",
    "a function of SQL": "is_large(v)",
}


@pytest.mark.parametrize("where", ELSEWHERE)
def test_a_table_that_is_read_in_an_expression(spark: SparkSession, where: str) -> None:
    spark.sql(
        "CREATE TEMP VIEW e AS SELECT * FROM VALUES ('x', 1, 'A', 1), ('x', 2, 'A', 5), ('x', 3, 'B', 0) "
        "AS e(k, t, ty, v)"
    )
    spark.sql("CREATE TABLE least USING parquet AS SELECT 3 AS v")
    try:
        spark.sql("CREATE TEMPORARY FUNCTION is_large(v INT) RETURNS BOOLEAN RETURN v >= (SELECT max(v) FROM least)")
        source = f"(SELECT * FROM e WHERE ty = 'B' OR {ELSEWHERE[where]})"
        for name, pattern in {"one": "A B", "two": "A B+"}.items():
            spark.sql(f"CREATE TEMP VIEW {name} AS {trends(pattern, source=source)}")
        assert read(spark) == [[("x", 1)], [("x", 1)]]
        spark.sql("INSERT OVERWRITE TABLE least VALUES (0)")
        assert read(spark) == [[("x", 2)], [("x", 2)]]
        spark.sql("INSERT OVERWRITE TABLE least VALUES (9)")
        assert read(spark) == [[], []]
    finally:
        spark.sql("DROP TEMPORARY FUNCTION IF EXISTS is_large")
        spark.sql("DROP TABLE least")


def test_functions_that_read_a_table(spark: SparkSession) -> None:
    """Over events, subqueries are refused, in functions as well; before the clause, they are followed."""
    spark.sql("CREATE TEMP VIEW e AS SELECT * FROM VALUES ('x', 1, 'A', 1), ('x', 3, 'B', 0) AS e(k, t, ty, v)")
    spark.sql("CREATE TEMPORARY FUNCTION is_large(v INT) RETURNS BOOLEAN RETURN v >= (SELECT max(v) FROM e)")
    try:
        for refused in (
            trends("A B", more="DEFINE A AS §is_large(A.v)"),
            trends("A B", more="DEFINE B AS §is_large(PREV(v)) AND v < PREV(v)"),
            trends("A B", "COUNT(*) AS n, COUNT(§is_large(A.v)) AS m"),
            trends("A B", "§is_large(CAST(COUNT(*) AS INT)) AS n"),
            trends("A B", keys="PARTITION BY §is_large(v) ORDER BY t TYPE BY ty"),
        ):
            error = fails(spark, refused.replace("§", ""), "TREND_UNSUPPORTED_EXPRESSION")
            assert "A function that has a subquery in it cannot be used" in str(error)
            assert position(error)[1] == refused.index("§") + 1
        source = "(SELECT *, is_large(v) AS large FROM e WHERE v IN (SELECT v FROM e))"
        assert values(spark.sql(trends("A B", more="DEFINE A AS large", source=source))) == [("x", 1)]
    finally:
        spark.sql("DROP TEMPORARY FUNCTION is_large")


def test_hidden_columns(spark: SparkSession, events: Path) -> None:
    write(spark, FIRST, events)
    spark.sql(f"CREATE TEMP VIEW e AS SELECT * FROM parquet.`{events}`")
    for hidden in (
        trends("A B", more="DEFINE A AS §_metadata.file_size > 0", source=f"parquet.`{events}`"),
        trends("A B", keys="PARTITION BY §_metadata.file_name ORDER BY t TYPE BY ty", source=f"parquet.`{events}`"),
    ):
        error = fails(spark, hidden.replace("§", ""), "TREND_UNSUPPORTED_EXPRESSION")
        assert "A hidden column of the relation cannot be used" in str(error)
        assert position(error)[1] == hidden.index("§") + 1
    source = f"(SELECT *, _metadata.file_size AS size FROM parquet.`{events}`)"
    assert values(spark.sql(trends("A B", more="DEFINE A AS size > 0", source=source))) == [("x", 1)]


def test_files_that_the_reader_leaves_out_have_not_changed(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "one.json").write_text('{"k": "x", "t": 1, "ty": "A"}\n{"k": "x", "t": 2, "ty": "B"}\n')
    (tmp_path / "notes.txt").write_text("nothing to be read")
    spark.read.option("pathGlobFilter", "*.json").json(str(tmp_path)).createOrReplaceTempView("e")
    for name, pattern in {"one": "A B", "two": "A+ B"}.items():
        spark.sql(f"CREATE TEMP VIEW {name} AS {trends(pattern)}")
    assert values(spark.table("one")) == [("x", 1)]
    assert "have changed" not in caplog.text
