"""The first query of a machine: with an empty directory of kernels, and then with what has been compiled for it."""

from __future__ import annotations

import fcntl
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.bench import Bench, Benchmark
from benchmarks.report import Result, Row, Target
from benchmarks.rides import Rides
from sparkext.udfs.jit.compiled import MACHINE, SOURCES

KINDS = {"trend": "a query", "not": "one with NOT", "prev": "one with PREV"}
"""Queries of `benchmarks.first_query`, which need different variants of the kernel."""


KERNELS = f"kernels-{SOURCES}-{MACHINE}"
"""The directory of what is compiled, in the one that is named for it."""


def run(bench: Bench) -> Result:
    """In turn, a new process where nothing is compiled, and one where it is."""
    rides = Rides(1_000, 10)
    kinds = bench.pick(list(KINDS), list(KINDS), ["trend"])
    cold: dict[str, list[float]] = {name: [] for name in kinds}
    warm: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(bench.rounds):
        for name in kinds:
            with tempfile.TemporaryDirectory() as directory:
                (Path(directory) / KERNELS).mkdir()  # else those beside the sources are copied
                cold[name].append(_first(bench, name, rides, directory))
                _wait_for_compilers(Path(directory))
                warm[name].append(_first(bench, name, rides, directory))
    rows = []
    for name in kinds:
        empty, full = statistics.median(cold[name]), statistics.median(warm[name])
        what = f"{KINDS[name]}, with no kernel compiled"
        rows.append(Row(what, empty, "s", "with it compiled", full))
        rows.append(Row(f"{what}: what it takes more", empty - full, "s", target=Target(3)))
    method = f"wall time in a new process, with its session; median of {bench.rounds} in turn"
    return Result(rows, f"{rides}; each query the first of its session", method)


def _first(bench: Bench, name: str, rides: Rides, directory: str) -> float:
    """Seconds that a query takes as the first of its session, with kernels in a directory."""
    program = [sys.executable, "-m", "benchmarks.first_query", name, str(bench.directory)]
    done = subprocess.run(
        [*program, str(rides.events), str(rides.drivers)],
        env={**os.environ, "NUMBA_CACHE_DIR": directory},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return float(done.stdout.split()[-1])


def _wait_for_compilers(directory: Path) -> None:
    """Return when no process compiles for a directory."""
    for file in directory.glob("*/*.variant"):
        with file.open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)


BENCHMARK = Benchmark("cold", "The first query of a machine against the first of a session", run)
