"""What the prompts say of a pass that takes long, at a terminal and elsewhere."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from sparkext.cli.progress import Progress
from sparkext.jvm.application import RunningJob
from tests.clients.test_extension import environment, program
from tests.support.spark_programs import CLAUSE, EVENTS, IN_MEMORY, command, variables
from tests.support.terminal import Terminal

QUIET = ("--conf", "spark.ui.enabled=false")
SLOW = (
    "CREATE TEMP VIEW slow AS SELECT t, kind FROM (SELECT id AS t, IF(id % 2 = 0, 'A', 'B') AS kind, "
    "reflect('java.lang.Thread', 'sleep', CAST(7000 AS BIGINT)) AS late FROM range(0, 2, 1, 1)) "
    "WHERE late IS NULL OR late = 'null';\n"
)
"""A relation whose two rows take fourteen seconds."""


def job(tag: str, began: float, done: int, tasks: int, description: str = "") -> RunningJob:
    return RunningJob(tag, description, began, done, tasks)


def test_lines() -> None:
    """The first after five seconds, later ones after twice as long; jobs of a pass are one, also one after another."""
    progress = Progress()
    name = "sparkext: pool 1, 2 queries"

    def said(now: float, *jobs: RunningJob) -> list[str]:
        return list(progress.lines(jobs, now))

    assert said(104.0, job("p1", 100.0, 0, 8, name)) == []
    assert said(105.2, job("p1", 100.0, 1, 8, name), job("p2", 104.0, 0, 1)) == [f"{name}: 5 s, 1 of 8 tasks done"]
    assert said(106.0, job("p1", 100.0, 2, 8, name)) == []
    assert said(111.0, job("p1", 106.5, 0, 1, name), job("p1", 107.0, 0, 1, name)) == [
        f"{name}: 11 s, 0 of 2 tasks done"
    ]
    assert said(130.0, job("p1", 106.5, 1, 2, name)) == [f"{name}: 30 s, 1 of 2 tasks done"]
    assert said(139.0, job("p1", 106.5, 1, 2, name)) == []
    assert said(140.0) == []
    assert said(146.0, job("p3", 141.0, 0, 1, "SELECT 1")) == ["sparkext: a query by itself: 5 s, 0 of 1 task done"]


JAR = ("--conf", "spark.sql.extensions=sparkext.Extension")


@pytest.mark.spark
@pytest.mark.parametrize("prompt", ["of sparkext", "of Spark, with the jar"])
def test_at_a_terminal(tmp_path: Path, prompt: str) -> None:
    is_ours = prompt == "of sparkext"
    started = command("spark-sql", *IN_MEMORY, *QUIET) if is_ours else program("spark-sql", *JAR, *QUIET)
    terminal = Terminal(started, tmp_path, variables() if is_ours else environment())
    try:
        terminal.expect(r"spark-sql \(default\)> ")
        terminal.type(SLOW)
        terminal.expect(r"Time taken")
        terminal.type(f"SELECT n FROM slow MATCH_TREND ({CLAUSE});\n")
        terminal.expect(r"\nsparkext: a query by itself: [5-9] s, \d of \d tasks? done\r\n")
        terminal.expect(r"\n1\r\n")
    finally:
        terminal.close()


@pytest.mark.spark
def test_elsewhere(tmp_path: Path) -> None:
    """Nothing is said where the standard error is a file."""
    script = tmp_path / "slow.sql"
    script.write_text(f"{EVENTS}{SLOW}SELECT n FROM slow MATCH_TREND ({CLAUSE});\n")
    ran = subprocess.run(
        command("spark-sql", *IN_MEMORY, *QUIET, "-f", str(script)),
        cwd=tmp_path,
        env=variables(),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, "1\n"), ran.stderr
    assert not re.search(r"^sparkext: ", ran.stderr, re.MULTILINE)
