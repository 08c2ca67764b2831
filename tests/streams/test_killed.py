"""A stream of which driver, JVM and workers are killed, and whose queries change as it goes on from its checkpoint.

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

import sparkext
from tests.streams.test_changed_streams import SOON, create
from tests.streams.test_streams import disordered
from tests.support.killed_stream import FOLDER, POINTS, SINK, VIEWS
from tests.support.live import Feed

KILLS = 10

FILES = 8
"""That come before each start, a micro-batch each: more than it gets through."""

POOLS = "trips vain", "trips direct large"
"""Views that take turns from one start to the next; the first of them is always there."""


@pytest.mark.cluster
@pytest.mark.parametrize("sink", sorted(POINTS))
def test_each_row_is_written_once_however_often_it_is_killed(spark: SparkSession, tmp_path: Path, sink: str) -> None:
    feed, random = Feed(spark, tmp_path), Random(sink)
    parts = disordered(random, FILES * (KILLS + 1), 60)
    for start in range(KILLS + 1):
        point = random.choice(POINTS[sink]) if start < KILLS else None
        for part in parts[FILES * start : None if point is None else FILES * (start + 1)]:
            feed.put(part)
        assert run(tmp_path, sink, start, point, random) == (point is None)
    create(spark, feed.batch())
    written = spark.read.option("mergeSchema", "true").parquet(str(tmp_path / "out"))
    if sink == "files":
        sparkext.views_of(written)
    for view in dict.fromkeys(" ".join(POOLS).split()):
        if sink == "files":
            rows = spark.table(f"{view}_rows")
        else:
            rows = spark.read.parquet(str(tmp_path / "out" / f"query={view}")).drop("batch")
        found, wanted = (sorted(map(str, one.where(SOON).collect())) for one in (rows, spark.table(view)))
        assert len(found) == len(set(found)) > 0
        assert set(found) <= set(wanted)
        if view == POOLS[0].split()[0]:
            assert found == wanted


def run(folder: Path, sink: str, start: int, point: str | None, random: Random) -> bool:
    """Run the program; let it die at a point some time after its next micro-batch. Whether it has come to its end."""
    environment = {FOLDER: str(folder), VIEWS: POOLS[start % len(POOLS)], SINK: sink}
    command = [sys.executable, "-m", "tests.support.killed_stream"]
    before = None
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True, env=os.environ | environment
    ) as program:
        assert program.stdout is not None
        for line in program.stdout:
            if line.startswith("done"):
                return True
            if not line.startswith("batch") or line.startswith("batch None"):
                continue
            if before is None:
                before = line
            elif point is not None and line != before:
                time.sleep(random.uniform(0, 1))
                if point == "any":
                    os.killpg(program.pid, signal.SIGKILL)
                    return False
                (folder / "die").write_text(point)
                point = None
    assert point is None
    assert not (folder / "die").exists()  # else it has failed by itself
    return False
