"""``sparkext thriftserver`` with the ``beeline`` of PySpark."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol
from urllib.request import urlopen

import pytest
from pyspark.find_spark_home import _find_spark_home

from tests.support.spark_programs import CLAUSE, ENDLESS, EVENTS, IN_MEMORY, command, eventually, free_port, variables
from tests.support.sql_clients_page import block, shell
from tests.support.terminal import Terminal

pytestmark = pytest.mark.spark

PROMPT = r"jdbc:hive2://[^>]*> "


class Server:
    """A running server.

    Attributes:
        port: That it listens on.
        ui: Address of its Spark UI.
        log: What it has written.
    """

    def __init__(self, where: Path, *options: str) -> None:
        self.port, ui = free_port(), free_port()
        self.ui = f"http://127.0.0.1:{ui}/api/v1/applications"
        self.log = where / "server.log"
        _, *said = shlex.split(block("JDBC and ODBC clients", 0).replace("10000", str(self.port)))
        all_options = [*said, *IN_MEMORY, "--conf", f"spark.ui.port={ui}", *options]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command(*all_options),
                cwd=where,
                env=variables(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        eventually(lambda: "listening on" in self.log.read_text() or self.process.poll() is not None)
        assert self.process.poll() is None, self.log.read_text()

    def ask(self, what: str) -> Any:
        """What Spark's own interface says about the application."""
        with urlopen(self.ui) as answer:
            application = json.load(answer)[0]["id"]
        with urlopen(f"{self.ui}/{application}/{what}") as answer:
            return json.load(answer)

    def kept(self) -> list[str]:
        """Names of what is stored."""
        return [stored["name"] for stored in self.ask("storage/rdd")]

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(60)


class Listening(Protocol):
    """A server of any kind.

    Attributes:
        port: That it listens on.
    """

    port: int


class Client(Terminal):
    """``beeline``, connected to a server."""

    def __init__(self, server: Listening, where: Path, more: str = "") -> None:
        home = _find_spark_home()
        url = f"jdbc:hive2://127.0.0.1:{server.port}/default{more}"
        options = ["-u", url, "-n", "me", "--outputformat=tsv2", "--showHeader=false"]
        super().__init__([f"{home}/bin/beeline", *options], where, {**variables(), "SPARK_HOME": home, "TERM": "dumb"})
        self.expect(PROMPT)

    def run(self, statement: str) -> str:
        """What is shown for a statement."""
        self.type(statement)
        self.expect(r";\r\n")
        return self.expect(r"(rows? (selected|affected)|Error: )[^>]*" + PROMPT)

    def rows(self, statement: str) -> list[str]:
        """The lines of a result."""
        return self.run(statement).split("\r\n")[:-2]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    started = Server(tmp_path_factory.mktemp("server"), "--verbose")
    yield started
    started.close()


@pytest.fixture(scope="module")
def client(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    connected = Client(server, tmp_path_factory.mktemp("client"))
    connected.run(EVENTS)
    connected.run(f"CREATE TEMP VIEW pairs AS SELECT * FROM events MATCH_TREND ({CLAUSE});\n")
    connected.run(f"CREATE TEMP VIEW runs AS SELECT * FROM events MATCH_TREND ({CLAUSE.replace('A B', 'A+ B')});\n")
    yield connected
    connected.close()


@pytest.fixture(scope="module")
def other(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    connected = Client(server, tmp_path_factory.mktemp("other"))
    yield connected
    connected.close()


def test_it_listens_to_this_machine_alone(server: Server) -> None:
    assert f"sparkext thriftserver: listening on 127.0.0.1:{server.port}" in server.log.read_text()


def test_a_port_in_use(server: Server, tmp_path: Path) -> None:
    """The last line says which, and what is wrong with it."""
    said = ["--hiveconf", f"hive.server2.thrift.port={server.port}", "--conf", "spark.ui.enabled=false"]
    ran = subprocess.run(
        command("thriftserver", *IN_MEMORY, *said),
        cwd=tmp_path,
        env=variables(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 1
    last = ran.stderr.strip().splitlines()[-1]
    assert last.startswith(f"sparkext thriftserver: cannot listen on port {server.port}: "), ran.stderr
    assert "127.0.0.1" in last or "in use" in last


def test_permanent_views_are_read_by_other_clients(client: Client, other: Client) -> None:
    """They are listed by those that have read them."""
    client.run("CREATE TABLE stored USING parquet AS SELECT * FROM events;\n")
    client.run(f"CREATE VIEW for_all AS SELECT * FROM stored MATCH_TREND ({CLAUSE});\n")
    try:
        assert other.rows("SELECT n FROM for_all;\n") == client.rows("SELECT n FROM for_all;\n") == ["3"]
        assert [row.split("\t")[0] for row in other.rows("SHOW TREND QUERIES;\n")] == ["for_all"]
        assert f"FROM stored MATCH_TREND ({CLAUSE})" in other.run("SHOW CREATE TABLE for_all;\n")
        other.run(f"ALTER VIEW for_all AS SELECT * FROM stored MATCH_TREND ({CLAUSE.replace('A B', 'A+ B')});\n")
        assert client.rows("SELECT n FROM for_all;\n") == ["4"]
    finally:
        client.run("DROP VIEW for_all;\n")
        client.run("DROP TABLE stored;\n")


def test_views_are_queried_and_kept_under_a_name(server: Server, client: Client) -> None:
    assert client.rows("SELECT n FROM pairs;\n") == ["3"]
    assert client.rows("SELECT n FROM runs;\n") == ["4"]
    assert server.kept() == ["In-memory table sparkext: pool 1, 2 queries"]


def test_jobs_say_what_they_are_for(server: Server, client: Client) -> None:
    """Those that sparkext starts have its description; those of a statement have the statement, as ever."""
    client.run("SELECT n FROM pairs;\n")
    client.run("SELECT count(*) FROM range(9);\n")
    descriptions = {job.get("description") for job in server.ask("jobs")}
    assert descriptions >= {"sparkext: pool 1, 2 queries", "SELECT count(*) FROM range(9)"}
    assert "sparkext.workload.workload: planned sparkext: pool 1, 2 queries\n" in server.log.read_text()


def test_the_plan_is_explained(client: Client) -> None:
    shown = client.run("EXPLAIN SHARING;\n")
    assert "Pool 1: 2 queries, 1 pass over the source" in shown
    assert '"pools"' in client.run("EXPLAIN SHARING JSON;\n")


def test_errors_are_those_of_the_statement(client: Client) -> None:
    shown = client.run("SELECT * FROM events MATCH_TREND (TYPE BY kind MEASURES COUNT(*) AS n PATTERN (A B));\n")
    assert "[TREND_CLAUSE_MISSING] MATCH_TREND has no ORDER BY clause." in shown
    assert "== SQL (line 1, position 22) ==" in shown
    assert "state=42601" in shown
    assert not re.search(r"py4j|\$Proxy|Traceback", shown)
    plain = client.run("SELEC 1;\n")
    assert "[PARSE_SYNTAX_ERROR]" in plain
    assert not re.search(r"py4j|\$Proxy|Traceback", plain)


def test_the_client_of_the_page(server: Server, tmp_path: Path) -> None:
    script = block("JDBC and ODBC clients", 1).replace("10000", str(server.port))
    ran = subprocess.run(["sh", "-c", script], cwd=tmp_path, env=shell(tmp_path), capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == block("JDBC and ODBC clients", 2)


def test_clients_do_not_see_each_other(client: Client, other: Client) -> None:
    assert "[TABLE_OR_VIEW_NOT_FOUND]" in other.run("SELECT * FROM pairs;\n")
    assert "No rows selected" in other.run("SHOW TREND QUERIES;\n")
    other.run("CREATE TEMP VIEW events AS SELECT * FROM VALUES (1, 'A'), (2, 'B') AS e(t, kind);\n")
    other.run(f"CREATE TEMP VIEW pairs AS SELECT * FROM events MATCH_TREND ({CLAUSE});\n")
    other.run(f"CREATE TEMP VIEW more AS SELECT * FROM events MATCH_TREND ({CLAUSE.replace('A B', 'A B?')});\n")
    assert other.rows("SELECT n FROM pairs;\n") == ["1"]
    assert client.rows("SELECT n FROM pairs;\n") == ["3"]
    for number in range(1, 8):  # those of both clients are among them
        assert "[TREND_STAND_IN]" in other.run(f"SELECT n FROM sparkext_trend({number});\n")
        shown = other.run(f"SELECT n FROM IDENTIFIER('sparkext' || '_trend')({number});\n")
        # Its own rows, which are not those of the first client; or an error, also of views that others have created.
        assert shown.split("\r\n")[0] in ("1", "2") or shown.startswith("Error: ")
        assert not re.search(r"py4j|\$Proxy|Traceback", shown)


def killed_while_it_runs(server: Server, client: Client, described: str) -> None:
    """Kill a client in the middle of an endless statement, once a job has a description that starts so."""
    client.type(ENDLESS)

    def running() -> list[str]:
        return [job["description"] for job in server.ask("jobs?status=running")]

    eventually(lambda: any(statement_run.startswith(described) for statement_run in running()))
    os.killpg(client.pid, signal.SIGKILL)
    eventually(lambda: not running())


def test_a_client_that_is_killed_leaves_nothing_behind(server: Server, client: Client, other: Client) -> None:
    other.run("SET spark.sparkext.chunks=off;\n")
    assert len(server.kept()) == 2
    killed_while_it_runs(server, other, ENDLESS[:60])
    eventually(lambda: len(server.kept()) == 1)
    assert client.rows("SELECT n FROM pairs;\n") == ["3"]
    eventually(lambda: "a session was closed" in server.log.read_text())


def test_a_client_may_be_killed_while_its_statement_is_planned(server: Server, client: Client, tmp_path: Path) -> None:
    killed_while_it_runs(server, Client(server, tmp_path), "sparkext: pool 1, 1 query")
    assert client.rows("SELECT n FROM pairs;\n") == ["3"]


def test_a_client_that_leaves_releases_its_pools(server: Server, client: Client) -> None:
    client.type("!quit\n")
    assert client.status() == 0
    eventually(lambda: server.kept() == [])
    assert "Traceback" not in server.log.read_text()


def test_one_session_for_all_and_how_it_ends(tmp_path: Path) -> None:
    """Spark's settings count: of sessions and of authentication. Without Python there is no server."""
    single = ("--conf", "spark.sql.hive.thriftServer.singleSession=true")
    server = Server(tmp_path, *single, "--hiveconf", "hive.server2.authentication=NOSASL")
    first = Client(server, tmp_path, ";auth=noSasl")
    second = Client(server, tmp_path, ";auth=noSasl")
    try:
        first.run(EVENTS)
        first.run(f"CREATE TEMP VIEW pairs AS SELECT * FROM events MATCH_TREND ({CLAUSE});\n")
        assert "\tpool 1\t" in second.run("SHOW TREND QUERIES;\n")
        children = subprocess.run(
            ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(server.process.pid)], capture_output=True
        )
        python = next(line for line in children.stdout.decode().splitlines() if "under_spark" in line)
        os.kill(int(python.split()[0]), signal.SIGKILL)
        assert server.process.wait(60) == 128 + signal.SIGKILL
    finally:
        first.close()
        second.close()
        server.close()


def test_each_read_is_a_new_connection(tmp_path: Path) -> None:
    """As those of a BI tool: the first one computes the views of the schema for all, and what it has computed stays.

    Some time after the last one, nothing is kept any more.
    """
    server = Server(tmp_path, "--conf", "spark.sparkext.cache.sharedFor=20")
    try:
        passes: list[str] = []
        for number, pattern in enumerate(("A B", "A+ B", "A B+")):
            first = Client(server, tmp_path)
            if number == 0:
                first.run(
                    "CREATE TABLE stored USING parquet AS SELECT * FROM VALUES (1, 'A'), (2, 'B') AS e(t, kind);\n"
                )
            made = CLAUSE.replace("A B", pattern)
            first.run(f"CREATE VIEW v{number} AS SELECT * FROM stored MATCH_TREND ({made});\n")
            first.close()
        for number in range(3):
            client = Client(server, tmp_path)
            assert client.rows(f"SELECT n FROM v{number};\n") == ["1"]
            passes += {row.split("\t")[6] for row in client.rows("SHOW TREND QUERIES;\n")}
            client.type("!quit\n")
            assert client.status() == 0
        assert passes == ["computed", "computed in another session", "computed in another session"]
        assert len(server.kept()) == 1
        eventually(lambda: server.kept() == [])
    finally:
        server.close()
