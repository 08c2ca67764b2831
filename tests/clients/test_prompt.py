"""``sparkext spark-sql``: Spark's own prompt, at a terminal and in scripts."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.spark_programs import (
    CLAUSE,
    ENDLESS,
    EVENTS,
    IN_MEMORY,
    command,
    put_modules_that_end_python,
    variables,
)
from tests.support.sql_clients_page import block, shell
from tests.support.terminal import Terminal

pytestmark = pytest.mark.spark

PROMPT = r"spark-sql \(default\)> "
CONTINUED = r"\n {19}> "
QUIET = ("--conf", "spark.ui.enabled=false")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    (folder / "events.sql").write_text(EVENTS)
    return folder


@pytest.fixture(scope="module")
def terminal(home: Path) -> Iterator[Terminal]:
    options = [*IN_MEMORY, *QUIET, "--driver-java-options", f"-Duser.home={home}", "-i", "events.sql"]
    started = Terminal(command("spark-sql", *options), home, variables())
    started.expect(PROMPT)
    yield started
    started.close()


def test_a_statement_over_several_lines(terminal: Terminal) -> None:
    terminal.type("SELECT n\n")
    terminal.expect(CONTINUED)
    terminal.type(f"FROM events MATCH_TREND ({CLAUSE});\n")
    shown = terminal.expect(r"Fetched 1 row\(s\)")
    assert "\n3\r\n" in shown
    terminal.expect(PROMPT)


def test_an_error_says_where_and_leaves_the_prompt(terminal: Terminal) -> None:
    terminal.type("SELECT n FROM events\n")
    terminal.type("MATCH_TREND (ORDER BY t TYPE BY knd MEASURES COUNT(*) AS n PATTERN (A B));\n")
    shown = terminal.expect(r"\^\^\^\s+" + PROMPT)
    assert "[TREND_UNKNOWN_COLUMN] There is no column `knd` in the relation before MATCH_TREND." in shown
    assert "== SQL (line 2, position 33) ==" in shown
    assert "\tat " not in shown
    assert "py4j" not in shown


STEP = re.compile(r"^(?:spark-sql \(default\)| {19})> (.*)\n((?:(?!spark-sql| {19}>).*\n)*)", re.MULTILINE)
"""What is typed behind a prompt, and the lines that are shown for it."""


def test_the_session_of_the_page(terminal: Terminal) -> None:
    steps: list[tuple[str, str]] = STEP.findall(block("The prompt", 1))
    assert steps.pop() == ("quit;", "")
    for typed, shown in steps:
        terminal.type(f"{typed}\n")
        for line in shown.splitlines():
            terminal.expect(rf"(?m)^{re.escape(line)}\r$")
        terminal.expect(PROMPT if typed.endswith(";") else CONTINUED)


def test_the_commands_work(terminal: Terminal) -> None:
    terminal.type(f"CREATE TEMP VIEW two AS SELECT * FROM events MATCH_TREND ({CLAUSE});\n")
    terminal.expect(PROMPT)
    terminal.type("SET spark.app.name;\n")
    terminal.expect("\tSparkSQL::")
    terminal.expect(PROMPT)
    terminal.type("EXPLAIN SHARING;\n")
    shown = terminal.expect(r"Fetched 1 row\(s\)")
    assert "Pool 1: 1 query, 1 pass over the source" in shown
    terminal.expect(PROMPT)


@pytest.mark.parametrize("seconds", [0.5, 1, 4])
def test_ctrl_c_cancels_a_statement(terminal: Terminal, seconds: float) -> None:
    """While it is planned, when no job runs, and later."""
    terminal.type(ENDLESS)
    terminal.expect(r"PATTERN \(A B\)\);")
    time.sleep(seconds)
    terminal.type("\x03")
    terminal.expect("Interrupting")
    shown = terminal.expect(PROMPT)
    assert "[SPARK_JOB_CANCELLED]" in shown or "[TREND_CANCELLED]" in shown
    terminal.type("SELECT 41 + 1;\n")
    terminal.expect(r"\n42\r\n")
    terminal.expect(PROMPT)


def test_ctrl_c_cancels_planning(terminal: Terminal) -> None:
    """With much to choose from, together with a view, and no limit for how long."""
    terminal.type("SET spark.sparkext.optimizer.budget=none;\n")
    terminal.expect(r"Fetched 1 row\(s\)")
    queries = [
        f"SELECT * FROM events MATCH_TREND (ORDER BY t TYPE BY kind MEASURES COUNT(*) AS n PATTERN ({pattern}))"
        for pattern in ("A (A|B)* A (A|B){7}", "B (A|B)* A (A|B){7}")
    ]
    terminal.type(f"CREATE TEMP VIEW long AS {queries[0]};\n")
    terminal.expect(r"Time taken")
    terminal.expect(PROMPT)
    terminal.type(f"{queries[1]};\n")
    time.sleep(3)
    terminal.type("\x03")
    terminal.expect("Interrupting", seconds=20)
    assert "[TREND_CANCELLED]" in terminal.expect(PROMPT, seconds=20)
    terminal.type("SET spark.sparkext.optimizer.budget=2;\n")
    terminal.expect(r"Fetched 1 row\(s\)")
    terminal.expect(PROMPT)


def test_ctrl_c_at_the_prompt_does_not_end_it(terminal: Terminal) -> None:
    terminal.type("\x03")
    terminal.expect(r"Nothing is running\. Ctrl-D or quit; leaves\.")
    terminal.expect(PROMPT)
    terminal.type("SELECT n + 4 FROM two;\n")
    terminal.expect(r"\n7\r\n")
    terminal.expect(PROMPT)


def test_ctrl_c_gives_up_what_is_half_typed(terminal: Terminal) -> None:
    """Lines that have been entered, and the one that has not, also within a quote."""
    for half in ("SELECT nothing,\n", "SELECT 'open\n"):
        terminal.type(half)
        terminal.expect(CONTINUED)
        terminal.type("and more")
        terminal.expect("and more")
        terminal.type("\x03")
        terminal.expect(r"Nothing is running\. Ctrl-D or quit; leaves\.")
        terminal.expect(PROMPT)
        terminal.type("SELECT 40 + 3;\n")
        assert "rror" not in terminal.expect(r"\n43\r\n")
        terminal.expect(PROMPT)


def test_history_and_quit(terminal: Terminal, home: Path) -> None:
    terminal.type("SELECT 20 + 3;\n")
    terminal.expect(r"\n23\r\n")
    terminal.expect(PROMPT)
    terminal.type("\x1b[A\n")  # the key that goes up
    terminal.expect(r"\n23\r\n")
    terminal.expect(PROMPT)
    terminal.type("quit;\n")
    assert terminal.status() == 0
    assert (home / ".hivehistory").read_text().splitlines()[-2:] == ["SELECT 20 + 3;", "quit;"]


def test_progress_is_shown(home: Path) -> None:
    """By Spark's own bar, at a terminal, if it is asked for."""
    progress = ("--conf", "spark.ui.showConsoleProgress=true", "--conf", "spark.ui.consoleProgress.update.interval=50")
    program = command("spark-sql", *IN_MEMORY, *QUIET, *progress, "-e", ENDLESS)
    terminal = Terminal(program, home, variables())
    try:
        terminal.expect(r"\[Stage \d+:=*>? +\(\d+ \+ \d+\) / \d+\]")
    finally:
        terminal.close()


def run(where: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command("spark-sql", *options),
        cwd=where,
        env=variables(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def test_the_script_of_the_page(tmp_path: Path) -> None:
    """What is printed is the result alone; with --verbose the plan is told, where errors go.

    Files that lie there are no modules of ours.
    """
    put_modules_that_end_python(tmp_path)
    script = block("Scripts", 0).rstrip() + " " + " ".join([*IN_MEMORY[2:], *QUIET]) + "\n"
    ran = subprocess.run(
        ["sh", "-c", script],
        cwd=tmp_path,
        env=shell(tmp_path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == block("Scripts", 1)
    assert block("What is planned, and why", 0) in ran.stderr
    assert "  Cost: " in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize(
    ("last", "said"),
    [
        (
            "SELECT raise_error('no more') AS r",
            "twice.sql, line 3: ended at statement 2, SELECT raise_error('no more') AS r",
        ),
        ("SELECT missing", "twice.sql, line 3: ended at statement 2, SELECT missing"),
        ("SELECT 2", None),
    ],
)
def test_how_a_file_ends(tmp_path: Path, last: str, said: str | None) -> None:
    """Its last statement is as any other, and nothing is said of a file whose statements all were right."""
    (tmp_path / "twice.sql").write_text(f"SELECT 1;\n-- and then; or not\n{last}")
    ran = run(tmp_path, *IN_MEMORY, *QUIET, "-f", "twice.sql")
    assert ran.returncode == (0 if said is None else 1), ran.stderr
    assert ran.stdout.splitlines()[0] == "1"
    assert [line for line in ran.stderr.splitlines() if "ended at" in line] == ([] if said is None else [said])
    assert ran.stderr.count("Time taken") == (2 if said is None else 1)


def test_a_file_with_the_metastore(tmp_path: Path) -> None:
    """Tables of Hive's catalog; the first error ends the file, with the status that spark-sql has."""
    (tmp_path / "day.sql").write_text(f"""
        CREATE TABLE readings (t INT, kind STRING) USING parquet;
        INSERT INTO readings VALUES (1, 'A'), (2, 'B'), (3, 'A'), (4, 'B'); -- one day; no more
        CREATE TABLE counted AS SELECT n FROM readings MATCH_TREND ({CLAUSE});
        SELECT * FROM counted;
        SET spark.sql.catalogImplementation;
        SET spark.app.name;
        SELECT n FROM readings MATCH_TREND (TYPE BY kind MEASURES COUNT(*) AS n PATTERN (A B));
        SELECT 'not reached';
    """)
    metastore = "spark.hadoop.javax.jdo.option.ConnectionURL=jdbc:derby:memory:metastore;create=true"
    ran = run(
        tmp_path,
        "--master",
        "local[2]",
        *QUIET,
        "--conf",
        metastore,
        "--conf",
        "spark.app.name=mine",
        "-S",
        "-f",
        "day.sql",
    )
    assert ran.returncode == 1
    assert ran.stdout.splitlines() == ["3", "spark.sql.catalogImplementation\thive", "spark.app.name\tmine"]
    assert "[TREND_CLAUSE_MISSING] MATCH_TREND has no ORDER BY clause." in ran.stderr
    assert ran.stderr.index("[TREND_CLAUSE_MISSING]") < ran.stderr.index(block("Scripts", 2))
    assert "\tat " not in ran.stderr
    assert "planned" not in ran.stderr
    assert (tmp_path / "spark-warehouse" / "counted").is_dir()
