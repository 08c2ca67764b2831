"""Spark's own programs with the jar on their class path, which know nothing else of sparkext."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from pyspark.find_spark_home import _find_spark_home

from tests.clients.test_connect_server import CLIENT
from tests.clients.test_thrift_server import Client
from tests.support.extension_jar import jar
from tests.support.spark_programs import (
    CLAUSE,
    EVENTS,
    IN_MEMORY,
    eventually,
    free_port,
    put_modules_that_end_python,
    variables,
)

pytestmark = pytest.mark.spark

HOME = _find_spark_home()
QUERY = f"SELECT n FROM events MATCH_TREND ({CLAUSE})"
THRIFT_SERVER = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
CONNECT_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


def environment() -> dict[str, str]:
    """The environment for Spark's programs."""
    return {**variables(), "SPARK_HOME": HOME, "PYSPARK_PYTHON": sys.executable}


def said(ran: subprocess.CompletedProcess[str]) -> list[str]:
    """What a program has said with a mark before it, among lines of Spark's."""
    return [line[2:] for line in ran.stdout.splitlines() if line.startswith("> ")]


def program(name: str, *options: str) -> list[str]:
    """A program of Spark's with the jar."""
    return [f"{HOME}/bin/{name}", *IN_MEMORY, "--jars", str(jar()), *options]


def run(where: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=where, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200
    )


def test_spark_sql(tmp_path: Path) -> None:
    """By the setting that names it, and a file whose last statement is wrong.

    Files that lie there are no modules of ours.
    """
    put_modules_that_end_python(tmp_path)
    script = tmp_path / "events.sql"
    script.write_text(
        f"{EVENTS}CREATE TEMP VIEW pairs AS {QUERY};\nCREATE TEMP VIEW runs AS {QUERY.replace('A B', 'A+ B')};\n"
        "SELECT pairs.n, runs.n FROM pairs, runs;\nSHOW TREND QUERIES LIKE 'p*';\nEXPLAIN SHARING FOR nobody;\n"
    )
    named = ("--conf", "spark.sql.extensions=sparkext.Extension", "--conf", "spark.ui.enabled=false")
    ran = run(tmp_path, *program("spark-sql", *named, "-S", "-f", str(script)))
    assert ran.stdout.splitlines()[0] == "3\t4", ran.stderr
    assert ran.stdout.splitlines()[1].startswith("pairs\tpool 1\tevents\tA B")
    assert ran.returncode == 1
    assert "[TREND_UNKNOWN_QUERY]" in ran.stderr


PROGRAM = """
import sys
sys.modules["sparkext"] = None
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

spark = SparkSession.builder.getOrCreate()
spark.sql("{events}")
query = "{query}"
found = udf(lambda n: int(n) + 1, "int")
print(">", [row[0] for row in spark.sql(query).select(found("n")).collect()])
print(">", spark.sql(query + " WHERE n > :least", args={{"least": 3}}).count())
spark.newSession().sql("SELECT 1").collect()
try:
    spark.sql(query.replace("ORDER BY t ", ""))
except Exception as error:
    print(">", type(error).__name__, error.getCondition(), error.getSqlState())
"""


def test_a_program_that_never_mentions_it(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM.format(events=EVENTS.strip(" ;\n"), query=QUERY))
    ran = run(tmp_path, *program("spark-submit", "--conf", "spark.ui.enabled=false", str(script)))
    assert said(ran) == ["[4]", "0", "ParseException TREND_CLAUSE_MISSING 42601"], ran.stderr
    assert ran.returncode == 0


KILLED = """
import os, signal, subprocess, sys, time
import sparkext
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
query = "{query}"
spark.sql("{events}").collect()
spark.sql("CREATE TEMP VIEW v AS " + query)
children = "pgrep -f sparkext.cli.joined -P " + str(spark.sparkContext._gateway.proc.pid if
    spark.sparkContext._gateway.proc else os.getppid())
[child] = subprocess.run(children, shell=True, capture_output=True, text=True).stdout.split()
os.kill(int(child), signal.SIGKILL)
time.sleep(1)
print(">", spark.sql("SELECT 'fine'").head()[0])
for statement in (query, "SELECT * FROM v"):
    try:
        spark.sql(statement).collect()
    except Exception as error:
        print(">", *str(error).splitlines()[:9])
other = spark.newSession()
other.sql("{events}")
print(">", other.sql(query).collect()[0].n)
enabled = sparkext.enable(SparkSession.builder.getOrCreate().newSession())
enabled.sql("{events}")
print(">", enabled.sql(query).collect()[0].n)
print(">", len(subprocess.run(children, shell=True, capture_output=True, text=True).stdout.split()))
"""


def test_python_is_killed(tmp_path: Path) -> None:
    """Its session says so and does without; another has another, and one that the program enables has the program's."""
    script = tmp_path / "program.py"
    script.write_text(KILLED.format(events=EVENTS.strip(" ;\n"), query=QUERY))
    ran = run(tmp_path, *program("spark-submit", "--conf", "spark.ui.enabled=false", str(script)))
    fine, read, view, *counts = said(ran) or [ran.stderr, "", ""]
    assert fine == "fine", ran.stderr
    gone = "MATCH_TREND is not known to this session any more, since its Python process, "
    assert read.startswith(gone), ran.stderr
    assert "has ended with status 137" in read
    assert view.startswith(gone)
    assert counts == ["3", "3", "1"], ran.stderr


class Server:
    """One of Spark's servers, with what `Client` asks for.

    Attributes:
        port: That it listens on.
        log: What it has written.
    """

    def __init__(self, where: Path, main: str, port: str, *options: str) -> None:
        self.port, ui = free_port(), free_port()
        self.log = where / "server.log"
        self._ui = f"http://127.0.0.1:{ui}/api/v1/applications"
        confs = (f"{port}={self.port}", f"spark.ui.port={ui}", "spark.hadoop.hive.server2.thrift.bind.host=127.0.0.1")
        set_confs = [part for conf in confs for part in ("--conf", conf)]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                program("spark-submit", "--class", main, *set_confs, *options, "spark-internal"),
                cwd=where,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        eventually(lambda: is_listening(self.port) or self.process.poll() is not None)
        assert self.process.poll() is None, self.log.read_text()

    def kept(self) -> list[str]:
        """Names of what is stored."""
        return [stored["name"] for stored in self._asked("storage/rdd")]

    def _asked(self, what: str) -> Any:
        with urlopen(self._ui) as answer:
            application = json.load(answer)[0]["id"]
        with urlopen(f"{self._ui}/{application}/{what}") as answer:
            return json.load(answer)

    def close(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


def is_listening(port: int) -> bool:
    with socket.socket() as asked:
        return asked.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def thrift_server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path, THRIFT_SERVER, "spark.hadoop.hive.server2.thrift.port")
    yield made
    made.close()


def test_clients_of_the_thrift_server(thrift_server: Server, tmp_path: Path) -> None:
    client, other = Client(thrift_server, tmp_path), Client(thrift_server, tmp_path)
    client.run(EVENTS)
    client.run(f"CREATE TEMP VIEW pairs AS {QUERY};\n")
    client.run(f"CREATE TEMP VIEW runs AS {QUERY.replace('A B', 'A+ B')};\n")
    assert client.rows("SELECT n FROM pairs UNION ALL SELECT n FROM runs;\n") == ["3", "4"]
    assert other.rows("SHOW TREND QUERIES;\n") == []
    assert thrift_server.kept()
    client.close()
    eventually(lambda: not thrift_server.kept(), 30)
    assert other.rows("SELECT 1;\n") == ["1"]
    other.close()


@pytest.fixture
def connect_server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path, CONNECT_SERVER, "spark.connect.grpc.binding.port")
    yield made
    made.close()


def test_clients_of_connect(connect_server: Server) -> None:
    def says(what: str) -> list[str]:
        where = f"sc://localhost:{connect_server.port}"
        found = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command = [sys.executable, "-c", CLIENT + what, where]
        ran = subprocess.run(command, env=found, capture_output=True, text=True, timeout=200)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.splitlines()

    found = says("""
spark.sql(EVENTS)
spark.sql("CREATE TEMP VIEW pairs AS " + trends("A B"))
spark.sql("CREATE TEMP VIEW runs AS " + trends("A+ B"))
print(counts(spark.table("pairs").union(spark.table("runs"))))
try:
    spark.sql(trends("A (B")).collect()
except Exception as error:
    print(error.getCondition(), error.getSqlState())
other = SparkSession.builder.remote(sys.argv[1]).create()
print([row.name for row in other.sql("SHOW TREND QUERIES").collect()], other.sql("SELECT 1").head()[0])
other.stop()
spark.stop()
""")
    assert found == ["[3, 4]", "TREND_CLAUSE_SYNTAX 42601", "[] 1"]
    eventually(lambda: not connect_server.kept(), 30)
