"""``sparkext demo``, run as a user runs it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median

import pytest

from sparkext.cli.demo_command import FUNNELS, visits
from tests.support.spark_programs import command, variables

SECONDS = 60
"""That the command promises to take at most, on a machine that does nothing else."""


@pytest.mark.spark
def test_demo(tmp_path: Path) -> None:
    """It shows the SQL, the rows that a loop over the visits finds, and what is shared; and leaves nothing behind."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    ran = subprocess.run(
        command("demo"),
        cwd=tmp_path,
        env=variables() | {"TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        timeout=5 * SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "PATTERN (FUNNEL(View, Cart, Pay)));\n" in ran.stdout
    reached = steps(FUNNELS["bought"].split(", "))
    first = len(reached["View"])
    for step, took in reached.items():
        middle = timedelta(seconds=median(seconds_of(took)))
        assert re.search(rf"^{step} +{len(took)} +{100 * len(took) / first:.0f} % +{middle}$", ran.stdout, re.MULTILINE)
    assert re.search(r"^Pool 1: 2 queries, 1 pass over the source\n  Pass 1 \(computed, ", ran.stdout, re.MULTILINE)
    assert re.search(r"^  Made \S+ \S+ UTC, in \S+ s; 60,000 rows read ", ran.stdout, re.MULTILINE)
    assert [file.name for file in temporary.iterdir() if file.name.startswith("sparkext-demo-")] == []


def steps(pages: list[str]) -> dict[str, dict[int, list[float]]]:
    """By page of a funnel the users that come so far, with the seconds from the latest beginning, each time."""
    begun: dict[int, dict[str, datetime]] = defaultdict(dict)
    reached: dict[str, dict[int, list[float]]] = {page: defaultdict(list) for page in pages}
    for visit in visits().to_pylist():
        user, at, page = visit["user"], visit["at"], visit["page"]
        if page not in pages:
            continue
        place = pages.index(page)
        start = at if place == 0 else begun[user].get(pages[place - 1])
        if start is not None:
            begun[user][page] = start
            reached[page][user].append((at - start).total_seconds())
    return reached


def seconds_of(took: dict[int, list[float]]) -> list[float]:
    return [seconds for of_user in took.values() for seconds in of_user]


def test_without_java(tmp_path: Path) -> None:
    """It says what is missing."""
    environment = {name: value for name, value in variables().items() if name != "JAVA_HOME"}
    environment["PATH"] = f"{Path(sys.executable).parent}:{tmp_path}"
    environment["JAVA_HOME"] = str(tmp_path / "none")
    ran = subprocess.run(command("demo"), cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1].startswith("sparkext demo: Spark does not start; is there Java 17 or later?")
