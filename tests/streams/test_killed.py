"""A stream of which driver, JVM and workers are killed, and which goes on from its checkpoint.

It takes minutes, so it is run by hand: ``pytest -m cluster tests/streams/test_killed.py``.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from tests.streams.test_streams import disordered
from tests.support.killed_stream import CLAUSE
from tests.support.live import Feed

KILLS = 2


@pytest.mark.cluster
def test_each_row_is_written_once_however_often_it_is_killed(spark: SparkSession, tmp_path: Path) -> None:
    feed, random = Feed(spark, tmp_path), Random(5)
    for part in disordered(random, 12, 60):
        feed.put(part)
    kills = 0
    while not run(tmp_path, random.uniform(0, 2) if kills < KILLS else None):
        kills += 1
    assert kills == KILLS
    feed.batch().createOrReplaceTempView("ev")
    final = spark.read.parquet(str(tmp_path / "out")).where("window_end < '2026-01-12'")
    wanted = spark.sql(f"SELECT * FROM ev MATCH_TREND ({CLAUSE})").where("window_end < '2026-01-12'")
    assert sorted(map(str, final.collect())) == sorted(map(str, wanted.collect()))


def run(folder: Path, kill_after: float | None) -> bool:
    """Run the program; kill it so many seconds after its next micro-batch, if so. Whether it has come to its end."""
    command = [sys.executable, "-m", "tests.support.killed_stream", str(folder)]
    before = None
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as program:
        assert program.stdout is not None
        for line in program.stdout:
            if line.startswith("done"):
                return True
            if not line.startswith("batch") or line.startswith("batch None"):
                continue
            if before is None:
                before = line
            elif kill_after is not None and line != before:
                time.sleep(kill_after)
                os.killpg(program.pid, signal.SIGKILL)
                return False
    raise AssertionError("the program has failed")
