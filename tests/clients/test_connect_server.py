"""``sparkext connect-server`` with clients that have nothing of sparkext."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.live import PROVIDER, ROCKSDB
from tests.support.spark_programs import IN_MEMORY, command, eventually, free_port, variables

pytestmark = pytest.mark.spark

TOKEN = "sesame"

CLIENT = """
import sys
sys.modules["sparkext"] = None
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote(sys.argv[1]).create()
EVENTS = (
    "CREATE OR REPLACE TEMP VIEW events AS SELECT * FROM VALUES (1, 'A', 1), (2, 'B', 2), (3, 'A', 1), (4, 'B', 4) "
    "AS e(t, kind, v)"
)

def trends(pattern, measures="COUNT(*) AS n", more=""):
    clause = f"ORDER BY t TYPE BY kind MEASURES {measures} PATTERN ({pattern}) {more}"
    return f"SELECT n FROM events MATCH_TREND ({clause})"

def counts(frame):
    return sorted(int(row.n) for row in frame.collect())
"""


class Server:
    """A running server.

    Attributes:
        port: That it listens on.
        log: What it has written.
    """

    def __init__(self, where: Path) -> None:
        self.port = free_port()
        self.log = where / "server.log"
        confs = {
            "spark.ui.enabled": "false",
            "spark.connect.grpc.binding.port": self.port,
            "spark.connect.authenticate.token": TOKEN,
        }
        options = [part for name, value in confs.items() for part in ("--conf", f"{name}={value}")]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command("connect-server", *IN_MEMORY, "--verbose", *options),
                cwd=where,
                env=variables(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        eventually(lambda: "listening on" in self.log.read_text() or self.process.poll() is not None)
        assert self.process.poll() is None, self.log.read_text()

    def run(self, program: str, token: str = TOKEN) -> subprocess.CompletedProcess[str]:
        """Run what a client does after `CLIENT`, in a process of its own."""
        where = f"sc://localhost:{self.port}/;token={token}"
        variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return subprocess.run(
            [sys.executable, "-c", CLIENT + program, where], env=variables, capture_output=True, text=True, timeout=100
        )

    def says(self, program: str) -> list[str]:
        """The lines that a client prints that ends well."""
        ran = self.run(program)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.splitlines()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    started = Server(tmp_path_factory.mktemp("server"))
    yield started
    started.process.terminate()
    started.process.wait(60)


def test_it_listens_to_this_machine_alone(server: Server) -> None:
    assert f"sparkext connect-server: listening on 127.0.0.1:{server.port}" in server.log.read_text()


def test_clients_need_the_token(server: Server) -> None:
    ran = server.run("print(spark.sql('SELECT 1').collect())", token="another")
    assert ran.returncode == 1
    assert "UNAUTHENTICATED" in ran.stderr


def test_functions_of_clients_run_in_the_python_of_the_server(server: Server) -> None:
    program = """
from pyspark.sql.functions import udf
print(spark.range(1).select(udf(lambda _: __import__("sys").executable)("id")).first()[0])
"""
    assert server.says(program) == [sys.executable]


def test_queries_views_and_commands(server: Server) -> None:
    """Plans of Connect's are analysed when they are asked for, and again for each use."""
    output = server.says("""
spark.sql(EVENTS)
print(counts(spark.sql(trends("A B"))))
print(counts(spark.sql(trends("A B").replace("(ORDER", "( ORDER") + " WHERE n > :least", args={"least": 2})))
spark.sql("CREATE TEMP VIEW pairs AS " + trends("A B"))
spark.sql("CREATE TEMP VIEW runs AS " + trends("A+ B"))
print(counts(spark.sql("SELECT * FROM pairs UNION ALL SELECT * FROM runs")))
print(counts(spark.table("pairs").union(spark.sql(trends("A B")))))
print(counts(spark.sql(trends("A B")).union(spark.sql(trends("A+ B")))))
frame = spark.sql(trends("A B+"))
frame.createTempView("made")
print(counts(spark.table("made").unionAll(frame.cache())))
print([row.name for row in spark.sql("SHOW TREND QUERIES").collect()])
print(spark.sql("EXPLAIN SHARING").collect()[0][0].split(chr(10))[2])
later = spark.table("pairs")
spark.sql(EVENTS.replace("(4, 'B', 4)", "(4, 'B', 4), (5, 'B', 5)"))
print(counts(later), counts(spark.sql(trends("A B+"))))
print(counts(spark.sql(f"BEGIN DECLARE least INT DEFAULT 5; {trends('A B')} WHERE n >= least; END")))
""")
    assert output == [
        "[3]",
        "[3]",
        "[3, 4]",
        "[3, 3]",
        "[3, 4]",
        "[4, 4]",
        "['pairs', 'runs']",
        "Pool 1: 2 queries, 1 pass over the source",
        "[5] [10]",
        "[5]",
    ]


def test_many_views_over_a_stream(server: Server, tmp_path: Path) -> None:
    """One operator, by SQL and by functions of Python's, which need no JVM."""
    start = datetime(2026, 1, 1, tzinfo=timezone.utc)
    (tmp_path / "in").mkdir()
    for number, seconds in enumerate((0, 1000)):
        times = [start + timedelta(seconds=seconds + at) for at in range(3)]
        table = pa.table({"k": [1, 1, 1], "ts": pa.array(times, pa.timestamp("us", tz="UTC")), "kind": ["A", "A", "B"]})
        pq.write_table(table, tmp_path / "in" / f"{number}.parquet")
    found = server.says(f"""
del sys.modules["sparkext"]
import sparkext
spark.conf.set("{PROVIDER}", "{ROCKSDB}")
spark.conf.set("spark.sql.shuffle.partitions", 1)
spark.conf.set("spark.sparkext.stream.buckets", 2)
read = spark.readStream.schema("k BIGINT, ts TIMESTAMP, kind STRING").option("maxFilesPerTrigger", 1)
read.parquet("{tmp_path}/in").withWatermark("ts", "1 second").createOrReplaceTempView("live")
for name, pattern in (("few", "A B"), ("many", "A+ B")):
    clause = f"PARTITION BY k ORDER BY ts TYPE BY kind MEASURES COUNT(*) AS n PATTERN ({{pattern}}) "
    clause += "WITHIN INTERVAL 1 MINUTE"
    spark.sql(f"CREATE TEMP VIEW {{name}} AS SELECT * FROM live MATCH_TREND ({{clause}})")
united = spark.sql("SELECT n FROM few UNION ALL SELECT n FROM many")
print(united._explain_string(extended=True).split("== Optimized")[0].count("TransformWithState") // 2)
rows = sparkext.stream(["few", "many"], spark=spark)
writer = rows.writeStream.partitionBy("query").option("checkpointLocation", "{tmp_path}/ck")
query = writer.option("path", "{tmp_path}/out").toTable("of_many", queryName="all")
query.processAllAvailable()
print([(row.query, row.operator, row.views, row.kept) for row in spark.sql("SHOW TREND STREAMS").collect()])
query.stop()
print(sparkext.views_of("of_many", spark=spark))
print(counts(spark.table("few_rows")), counts(spark.table("many_rows")))
spark.sql("DROP TABLE of_many")
""")
    shown = "[('all', 'sparkext_pool_of_few', 'few, many', 3)]"
    assert found == ["1", shown, "['few_rows', 'many_rows']", "[2] [3]"]


def test_errors_have_condition_and_place(server: Server) -> None:
    output = server.says("""
spark.sql(EVENTS)
for statement in (trends("A B", "SUM(A.zz) AS n"), trends("A (B")):
    try:
        spark.sql(statement).collect()
    except Exception as error:
        print(error.getCondition(), error.getSqlState(), "== SQL (line 1, position" in str(error))
""")
    assert output == ["TREND_UNKNOWN_COLUMN 42703 True", "TREND_CLAUSE_SYNTAX 42601 True"]


def test_clients_do_not_see_each_other_and_leave_nothing(server: Server) -> None:
    created = 'spark.sql(EVENTS); spark.sql("CREATE TEMP VIEW mine AS " + trends("A B"))\n'
    shown = 'print([row.name for row in spark.sql("SHOW TREND QUERIES").collect()], flush=True)\n'
    before = server.log.read_text().count("a session was closed")
    # The session of a client that is gone without a word stays open for an hour, as Spark has it.
    assert server.says(created + shown + "import os; os._exit(0)") == ["['mine']"]
    assert server.says(shown) == ["[]"]
    assert server.says(created + shown + "spark.stop()") == ["['mine']"]
    eventually(lambda: server.log.read_text().count("a session was closed") > before, 30)


def test_data_frames_read_what_there_is_when_they_are_used(server: Server) -> None:
    """The server remembers the plan of a frame."""
    client = """
spark.sql("CREATE TABLE stored USING parquet AS SELECT * FROM VALUES (1, 'A'), (2, 'B') AS e(t, kind)")
for name, pattern in {"few": "A B", "many": "A+ B"}.items():
    clause = f"ORDER BY t TYPE BY kind MEASURES COUNT(*) AS n PATTERN ({pattern})"
    spark.sql(f"CREATE OR REPLACE TEMP VIEW {name} AS SELECT n FROM stored MATCH_TREND ({clause})")
assert [counts(spark.table(name)) for name in ("few", "many")] == [[1], [1]]
frames = [spark.sql("SELECT n FROM few"), spark.sql("SELECT few.n FROM few, many"), spark.table("few")]
assert [frame.schema.names for frame in frames] == [["n"]] * 3
assert [counts(frame) for frame in frames] == [[1]] * 3
spark.sql("INSERT INTO stored VALUES (3, 'B')")
assert [counts(frame) for frame in frames] == [[2]] * 3
spark.sql("DROP TABLE stored")
"""
    assert server.says(client) == []


def test_stand_ins_of_other_clients_are_refused(server: Server) -> None:
    """Also where a client builds the plan itself, and no text is parsed."""
    output = server.says("""
from pyspark.sql.connect.functions import lit
spark.sql(EVENTS)
spark.sql("CREATE TEMP VIEW mine AS " + trends("A B"))
assert counts(spark.table("mine")) == [3]
other = SparkSession.builder.remote(sys.argv[1]).create()
other.sql("SELECT n FROM VALUES (1, 'A'), (2, 'B') AS e(t, kind) MATCH_TREND "
          "(ORDER BY t TYPE BY kind MEASURES COUNT(*) AS n PATTERN (A B))").collect()
for number in range(1, 12):
    named = f"SELECT * FROM IDENTIFIER('sparkext' || '_trend')({number})"
    for way in (
        lambda: other.sql(f"SELECT * FROM sparkext_trend({number})"),
        lambda: other.sql(named),
        lambda: other.tvf._fn("sparkext_trend", lit(number)),
    ):
        try:
            print(counts(way()))
        except Exception as error:
            print(error.getCondition())
other.stop()
spark.stop()
""")
    assert len(output) == 33
    assert set(output) <= {"TREND_STAND_IN", "TREND_NOT_PLANNED", "[1]"}  # its own rows, not those of the first client
    assert set(output[::3]) == {"TREND_STAND_IN"}


def test_a_port_in_use_and_options_that_are_unknown(server: Server, tmp_path: Path) -> None:
    port = ["--conf", f"spark.connect.grpc.binding.port={server.port}", "--conf", "spark.port.maxRetries=0"]
    for options, said in ((port, f"cannot listen on port {server.port}: "), (["--hiveconf", "a=b"], "unknown option")):
        ran = subprocess.run(
            command("connect-server", *IN_MEMORY, "--conf", "spark.ui.enabled=false", *options),
            cwd=tmp_path,
            env=variables(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 1
        assert f"sparkext connect-server: {said}" in ran.stderr.strip().splitlines()[-1], ran.stderr
