"""The most memory that a Python worker has had, as Linux tells it, after few and after many events."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks import queries
from benchmarks.bench import Bench, Benchmark
from benchmarks.report import Result, Row, Target
from benchmarks.rides import Rides

_DAEMON = re.compile(rb"\bpyspark\.daemon\b")
"""In the command of a process that starts workers: Spark's, or ours."""


def run(bench: Bench) -> Result:
    """Each size has workers of its own."""
    from benchmarks.spark import discard

    most = bench.pick(10_000_000, 200_000, 5_000)
    number = bench.pick(100, 25, 5)
    asked = {f"pool of {number}": list(queries.pool("rides", number))}
    if bench.size != "quick":
        asked = {"one query": [queries.one("rides")], **asked}
    peaks: dict[str, list[float]] = {what: [] for what in asked}
    for what, texts in asked.items():
        for events in (most // 10, most):
            spark = bench.fresh()
            bench.rides(Rides(events, max(1, events // 100)))
            for number, text in enumerate(texts):
                spark.sql(f"CREATE OR REPLACE TEMP VIEW memory_{number} AS {text}")
            discard(spark.table("memory_0"))
            peaks[what].append(max(worker_peaks()))
            for number in range(len(texts)):
                spark.catalog.dropTempView(f"memory_{number}")
    rows = []
    for what, (few, many) in peaks.items():
        rows.append(Row(f"{what}, {most:,} events", many, "MB", target=Target(500)))
        rows.append(Row(f"{what}, {most:,} events", many, "MB", f"{most // 10:,} events", few, Target(1.1)))
    return Result(rows, "ride-sharing events, 100 a key", "greatest resident size (VmHWM) of any Python worker")


def worker_peaks() -> Iterator[float]:
    """Megabytes that each living Python worker below this process has had at most.

    Raises:
        RuntimeError: There is none, or no ``/proc``.
    """
    mine = below(os.getpid())
    daemons = {pid for pid in mine if _DAEMON.search(_read(pid, "cmdline"))}
    workers = [pid for pid, parent in mine.items() if parent in daemons]
    if not workers:
        raise RuntimeError("no Python worker of Spark in /proc; memory is measured on Linux only")
    for pid in workers:
        yield from megabytes(pid, "VmHWM")


def below(pid: int) -> dict[int, int]:
    """A process and all that it has started, as far as they live, each with the one that has started it."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        fields = _read(int(entry.name), "stat").rpartition(b")")[2].split()
        if fields:
            parents[int(entry.name)] = int(fields[1])
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return {child: parent for child, parent in parents.items() if child in found}


def megabytes(pid: int, what: str) -> list[float]:
    """What Linux says of the memory of a process, such as ``VmRSS``; nothing of one that has ended."""
    lines = _read(pid, "status").decode().splitlines()
    return [int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith(what)]


def _read(pid: int, what: str) -> bytes:
    """A file about a process; nothing if that has ended."""
    try:
        return Path("/proc", str(pid), what).read_bytes()
    except OSError:
        return b""


BENCHMARK = Benchmark("memory", "Memory of a Python worker", run)
