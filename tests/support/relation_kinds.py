"""Relations of every kind that a user may have, with the same events: how to make one, and how to add an event.

A program by itself, too, for the kinds that need Hive: ``python -m tests.support.relation_kinds DIRECTORY``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

COLUMNS = "t INT, k STRING, v INT, d STRING"
EVENTS = [
    (1, "A", 10, "2026-01-01"),
    (2, "B", 20, "2026-01-01"),
    (3, "A", 30, "2026-01-02"),
    (4, "B", 40, "2026-01-02"),
]
ADDED = (5, "B", 50, "2026-01-03")
CLAUSE = "MATCH_TREND (ORDER BY t TYPE BY k MEASURES COUNT(*) AS n, SUM(A.v) AS s PATTERN ({}))"
BEFORE = {"A B": (3, 50.0), "A+ B": (4, 90.0)}
AFTER = {"A B": (5, 90.0), "A+ B": (7, 170.0)}
"""Count and sum by pattern, of the events, and of these with the one that is added."""


@dataclass(frozen=True)
class Kind:
    """A kind of relation.

    Attributes:
        make: Makes one called ``rel``, in a directory of its own, with what is in the view ``events``.
        source: How a statement reads it.
        add: Adds what is in the view ``added``.
        is_followed: Whether changes of it are noticed, so that results are kept.
    """

    make: Callable[[SparkSession, Path], object]
    source: str = "rel"
    add: Callable[[SparkSession, Path], object] = lambda spark, _: spark.sql("INSERT INTO rel TABLE added")
    is_followed: bool = True


def _table(format_: str, more: str = "") -> Kind:
    columns = "(t INT, k STRING, v INT, d STRING)"

    def make(spark: SparkSession, _: Path) -> None:
        spark.sql(f"CREATE TABLE rel {columns} USING {format_} {more}")
        spark.sql(f"INSERT INTO rel ({_ordered(more)}) SELECT {_ordered(more)} FROM events")

    def add(spark: SparkSession, _: Path) -> None:
        spark.sql(f"INSERT INTO rel ({_ordered(more)}) SELECT {_ordered(more)} FROM added")

    return Kind(make, add=add)


def _ordered(more: str) -> str:
    """The columns, as a table has them that is partitioned by one of them."""
    last = [name for name in ("t", "k", "v", "d") if f"PARTITIONED BY ({name}" in more]
    return ", ".join([*(name for name in ("t", "k", "v", "d") if name not in last), *last])


def _directory(*by: str) -> Kind:
    def write(spark: SparkSession, name: str, folder: Path) -> None:
        spark.table(name).write.mode("append").partitionBy(*by).parquet(f"{folder}/files")

    def make(spark: SparkSession, folder: Path) -> None:
        write(spark, "events", folder)

    def add(spark: SparkSession, folder: Path) -> None:
        write(spark, "added", folder)

    return Kind(make, "parquet.`{folder}/files`", add)


def _external(spark: SparkSession, folder: Path) -> None:
    """A table over partitioned directories that something else has written."""
    spark.table("events").write.partitionBy("d").parquet(f"{folder}/files")
    spark.sql(f"CREATE TABLE rel ({COLUMNS}) USING parquet PARTITIONED BY (d) LOCATION '{folder}/files'")
    spark.sql("MSCK REPAIR TABLE rel")


def _elsewhere(spark: SparkSession, folder: Path) -> None:
    """A partition that is not below the table."""
    spark.table("added").drop("d").write.parquet(f"{folder}/elsewhere")
    spark.sql(f"ALTER TABLE rel ADD PARTITION (d = '2026-01-03') LOCATION '{folder}/elsewhere'")


def _over_table(*statements: str, source: str) -> Kind:
    def make(spark: SparkSession, _: Path) -> None:
        spark.sql("CREATE TABLE rel USING parquet PARTITIONED BY (d) AS SELECT * FROM events")
        for statement in statements:
            spark.sql(statement)

    return Kind(make, source)


def _frame(spark: SparkSession, _: Path) -> None:
    spark.createDataFrame(EVENTS, COLUMNS).createOrReplaceTempView("rel")


def _larger_frame(spark: SparkSession, _: Path) -> None:
    spark.createDataFrame([*EVENTS, ADDED], COLUMNS).createOrReplaceTempView("rel")


def _jdbc(folder: Path) -> dict[str, str]:
    return {
        "url": f"jdbc:derby:{folder}/derby;create=true",
        "dbtable": "rel",
        "driver": "org.apache.derby.jdbc.EmbeddedDriver",
    }


def _write_jdbc(name: str) -> Callable[[SparkSession, Path], None]:
    def write(spark: SparkSession, folder: Path) -> None:
        # Derby compares no CLOBs, which Spark makes of strings by itself.
        types = {"createTableColumnTypes": "k VARCHAR(8), d VARCHAR(16)"}
        spark.table(name).write.format("jdbc").options(**_jdbc(folder), **types).mode("append").save()
        spark.read.format("jdbc").options(**_jdbc(folder)).load().createOrReplaceTempView("rel")

    return write


class EventsSource(DataSource):
    """Events of a file of JSON lines, as a data source in Python."""

    @classmethod
    def name(cls) -> str:
        """Its format."""
        return "trend_test_events"

    def schema(self) -> str:
        """Its columns."""
        return COLUMNS

    def reader(self, schema: object) -> DataSourceReader:  # noqa: ARG002 - Spark names it
        """What reads it."""
        return EventsReader(str(self.options["file"]))


class EventsReader(DataSourceReader):
    """Reads the file."""

    def __init__(self, file: str) -> None:
        self._file = file

    def read(self, _: InputPartition) -> Iterator[tuple[object, ...]]:
        """The rows."""
        with open(self._file) as lines:
            for line in lines:
                yield tuple(json.loads(line))


def _python_source(spark: SparkSession, folder: Path) -> None:
    spark.dataSource.register(EventsSource)
    (folder / "events.json").write_text("".join(json.dumps(event) + "\n" for event in EVENTS))
    frame = spark.read.format("trend_test_events").option("file", f"{folder}/events.json").load()
    frame.createOrReplaceTempView("rel")


def _write_python_source(_: SparkSession, folder: Path) -> None:
    with open(folder / "events.json", "a") as lines:
        lines.write(json.dumps(ADDED) + "\n")


KINDS: Mapping[str, Kind] = {
    **{f"{format_} table": _table(format_) for format_ in ("parquet", "orc", "json", "csv")},
    **{f"{format_} by date": _table(format_, "PARTITIONED BY (d)") for format_ in ("parquet", "orc", "json", "csv")},
    "by plain column": _table("parquet", "PARTITIONED BY (v)"),
    "by type": _table("parquet", "PARTITIONED BY (k)"),
    "by event time": _table("parquet", "PARTITIONED BY (t)"),
    "bucketed": _table("parquet", "CLUSTERED BY (v) INTO 3 BUCKETS"),
    "partitioned and bucketed": _table("parquet", "PARTITIONED BY (d) CLUSTERED BY (v) SORTED BY (t) INTO 2 BUCKETS"),
    "directory": _directory(),
    "partitioned directory": _directory("d"),
    "external partitioned": Kind(_external),
    "partition elsewhere": Kind(_external, add=_elsewhere),
    "cached": _over_table("CACHE TABLE rel", source="rel"),
    "temporary view": _over_table("CREATE TEMP VIEW seen AS SELECT * FROM rel WHERE d > '2025'", source="seen"),
    "global temporary view": _over_table(
        "CREATE GLOBAL TEMP VIEW seen_global AS SELECT * FROM rel", source="global_temp.seen_global"
    ),
    "permanent view": _over_table("CREATE VIEW seen_for_ever AS SELECT * FROM rel", source="seen_for_ever"),
    "views of views": _over_table(
        "CREATE VIEW seen_for_ever AS SELECT d, v, k, t FROM rel WHERE v > 0",
        "CREATE TEMP VIEW seen AS SELECT * FROM seen_for_ever WHERE d > '2025'",
        source="seen",
    ),
    "data frame": Kind(_frame, add=_larger_frame),
    "JDBC": Kind(_write_jdbc("events"), add=_write_jdbc("added"), is_followed=False),
    "Python data source": Kind(_python_source, add=_write_python_source, is_followed=False),
}

HIVE_KINDS: Mapping[str, Kind] = {
    "Hive text": Kind(lambda spark, _: spark.sql("CREATE TABLE rel STORED AS TEXTFILE AS SELECT * FROM events")),
    "Hive parquet": Kind(lambda spark, _: spark.sql("CREATE TABLE rel STORED AS PARQUET AS SELECT * FROM events")),
    **{
        f"Hive {format_}, partitioned": Kind(
            lambda spark, _, format_=format_: [  # type: ignore[misc]
                spark.sql(statement)
                for statement in (
                    "SET hive.exec.dynamic.partition.mode = nonstrict",
                    f"CREATE TABLE rel (t INT, k STRING, v INT) PARTITIONED BY (d STRING) STORED AS {format_}",
                    "INSERT INTO rel PARTITION (d) SELECT * FROM events",
                )
            ],
            add=lambda spark, _: spark.sql("INSERT INTO rel PARTITION (d) SELECT * FROM added"),
        )
        for format_ in ("TEXTFILE", "PARQUET", "ORC")
    },
}


def check(spark: SparkSession, kind: Kind, folder: Path) -> None:
    """A query, views, and the views read again after an event was added: each has the rows of the events.

    Raises:
        AssertionError: One has not.
    """
    spark.createDataFrame(EVENTS, COLUMNS).createOrReplaceTempView("events")
    spark.createDataFrame([ADDED], COLUMNS).createOrReplaceTempView("added")
    kind.make(spark, folder)
    source = kind.source.format(folder=folder)
    _compare(spark, {pattern: f"SELECT * FROM {source} {CLAUSE.format(pattern)}" for pattern in BEFORE}, BEFORE)
    reads = {pattern: f"SELECT * FROM view_{number}" for number, pattern in enumerate(BEFORE)}
    for number, pattern in enumerate(BEFORE):
        spark.sql(f"CREATE TEMP VIEW view_{number} AS SELECT * FROM {source} {CLAUSE.format(pattern)}")
    _compare(spark, reads, BEFORE)
    states = {row.state for row in spark.sql("SHOW TREND QUERIES").collect()}
    assert states == {"computed" if kind.is_followed else "planned"}, states
    kind.add(spark, folder)
    _compare(spark, reads, AFTER)
    _compare(spark, {pattern: f"SELECT * FROM {source} {CLAUSE.format(pattern)}" for pattern in AFTER}, AFTER)


def _compare(spark: SparkSession, statements: Mapping[str, str], right: Mapping[str, tuple[int, float]]) -> None:
    by_pattern = {pattern: [tuple(row) for row in spark.sql(text).collect()] for pattern, text in statements.items()}
    assert by_pattern == {pattern: [values] for pattern, values in right.items()}, by_pattern


def clean(spark: SparkSession) -> None:
    """Drop what `check` has left."""
    for statement in (
        *(f"DROP VIEW IF EXISTS {name}" for name in ("view_0", "view_1", "seen", "global_temp.seen_global")),
        "DROP VIEW IF EXISTS seen_for_ever",
        "DROP VIEW IF EXISTS events",
        "DROP VIEW IF EXISTS added",
    ):
        spark.sql(statement)
    if any(table.isTemporary and table.name == "rel" for table in spark.catalog.listTables()):
        spark.catalog.dropTempView("rel")
    spark.sql("DROP TABLE IF EXISTS rel")


def main(directory: str) -> None:
    """Check the kinds of relations that need Hive, and print the name of each that is right."""
    import sparkext

    builder = SparkSession.builder.master("local[2]").enableHiveSupport()
    confs = {
        "spark.sql.warehouse.dir": f"{directory}/warehouse",
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:{directory}/metastore;create=true",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
    }
    for name, value in confs.items():
        builder = builder.config(name, value)
    spark = sparkext.enable(builder.getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    for name, kind in {
        **HIVE_KINDS,
        **{f"{name}, in Hive's catalog": KINDS[name] for name in ("parquet by date", "by type")},
    }.items():
        check(spark, kind, Path(directory))
        clean(spark)
        print(f"right: {name}", flush=True)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
