"""Against what people write or use for funnels: for one funnel and for many, with a repeated step and without.

Each way is a program of its own, which has the whole machine, and answers once over few visits before its time counts.
Peers that sparkext does without are in an environment of their own, which ``make peers`` makes; of those that are not
there nothing is measured.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from benchmarks.bench import Bench, Benchmark
from benchmarks.memory import below, megabytes
from benchmarks.peers.funnels import KEYS
from benchmarks.plots import Bars, Lines
from benchmarks.record import ROOT
from benchmarks.report import Result, Row, Table, Target, significant
from benchmarks.same import check_same
from benchmarks.visits import Visits, write

PEERS = Path(f"{sys.prefix}-peers", "bin", "python")
"""Has chdb, DuckDB and Polars."""

SAMPLED = 0.1
"""Seconds from one look at the memory of a program to the next."""

MANY, HUNDRED = 20, 100


@dataclass(frozen=True, slots=True)
class Way:
    """A way to answer funnels.

    Attributes:
        name: Shown.
        program: What `benchmarks.peers.funnel_process` calls it.
        package: That has to be there; nothing for those of sparkext.
        most: Funnels that it can be asked over all visits in some minutes; more are asked over a fifth of them.
        limit: Funnels that it can be asked at all in that time.
    """

    name: str
    program: str
    package: str = ""
    most: int = HUNDRED
    limit: int = HUNDRED


@dataclass(frozen=True, slots=True)
class Measured:
    """What an answer took: seconds, and the greatest resident size of its program and all that it started, in MB."""

    seconds: float
    memory: float
    answer: pa.Table


OURS = Way("sparkext", "funnels_sparkext.counts")
CHDB = Way("chdb, `windowFunnel`", "funnels_chdb.window_funnel", "chdb", most=MANY)
POLARS = Way("Polars, a loop in numba", "funnels_polars.loop", "polars")
WAYS = (
    OURS,
    Way("sparkext, a row for each completion", "funnels_sparkext.rows"),
    CHDB,
    POLARS,
    Way("DuckDB, window functions", "funnels_duckdb.windows", "duckdb", most=MANY),
    Way("Spark, `applyInPandas` with a loop in numba", "funnels_spark.loop"),
    Way("Spark, window functions", "funnels_spark.windows", most=1, limit=5),
)
OUR_TRENDS = Way("sparkext", "funnels_sparkext.trends+")
KLEENE_WAYS = (
    OUR_TRENDS,
    Way("Polars, a loop in numba", "funnels_polars.loop+", "polars"),
    Way("DuckDB, a join and `list_reduce`", "funnels_duckdb.folds+", "duckdb", most=MANY),
    Way("Spark, `applyInPandas` with a loop in numba", "funnels_spark.loop+"),
)


def funnels(bench: Bench) -> Result:
    """Users, and completions, of each funnel and country."""
    measured = _measured(bench, WAYS, bench.pick((1, 5, MANY, HUNDRED), (1, MANY), (2,)))
    rows = list(_rows(measured, OURS, {(CHDB.name, MANY): 3, (CHDB.name, HUNDRED): 10, (POLARS.name, MANY): 0.5}))
    ours, whole = measured.taken[OURS.name], measured.visits.events
    one = min(measured.numbers)
    for number in (MANY, HUNDRED):
        if one < number in measured.numbers:
            more, fewer = ours[number, whole].seconds, ours[one, whole].seconds
            rows.append(Row(f"{_asked(number)} over {whole:,} visits", more, "s", _asked(one), fewer, Target(2)))
    for (number, events), theirs in measured.taken.get(CHDB.name, {}).items():
        target = Target(0.333) if number == HUNDRED else None
        what = f"memory of sparkext, {_asked(number)} over {events:,} visits"
        rows.append(Row(what, ours[number, events].memory, "MB", CHDB.name, theirs.memory, target))
    what = "users with three to six pages in a row within an hour by country, and how often"
    return measured.result(rows, what, "by-hand-funnels")


def kleene(bench: Bench) -> Result:
    """Trends of each funnel and country, the second step of which is repeated."""
    measured = _measured(bench, KLEENE_WAYS, bench.pick((1, MANY), (1, MANY), (2,)))
    goals = {(way.name, MANY): 3.0 for way in KLEENE_WAYS}
    what = "trends of three to six pages within an hour by country, of which the second is visited once or more"
    return measured.result(list(_rows(measured, OUR_TRENDS, goals)), what, "by-hand-kleene")


@dataclass(frozen=True, slots=True)
class _Measurements:
    """All that was measured.

    Attributes:
        visits: All.
        numbers: Of funnels.
        taken: By name of the way, then by funnels and visits.
        versions: Of the peers' packages that are there.
        missing: Those that are not.
    """

    visits: Visits
    numbers: Sequence[int]
    taken: dict[str, dict[tuple[int, int], Measured]]
    versions: dict[str, str]
    missing: Sequence[str]

    def result(self, rows: Sequence[Row], what: str, plot: str) -> Result:
        """With a table each of seconds and memory, and seconds as a plot."""
        tables = (
            Table("Seconds", list(self._table(lambda one: one.seconds))),
            Table("Memory in MB", list(self._table(lambda one: one.memory))),
        )
        whole = self.visits.events
        lines = {}
        for name, taken in self.taken.items():
            if points := [(number, one.seconds) for (number, events), one in taken.items() if events == whole]:
                lines[name.replace("`", "")] = points
        plots: dict[str, Bars | Lines] = {plot: Lines("Seconds", "funnels", lines)}
        method = (
            "wall time of a program of its own, once, after it has answered over a twentieth of the visits, from "
            "creating views to all numbers in Python; memory is the greatest sum of the resident sizes of its processes"
        )
        peers = [f"{package} {version}" for package, version in self.versions.items()]
        peers += [f"without {package}, which was not there" for package in self.missing]
        return Result(rows, f"{self.visits}; {what}; {', '.join(peers)}", method, tables, plots)

    def _table(self, of: Callable[[Measured], float]) -> Iterator[dict[str, str]]:
        for name, taken in self.taken.items():
            cells = {
                number: significant(of(one)) + ("" if events == self.visits.events else f" ({events:,} visits)")
                for (number, events), one in sorted(taken.items(), key=lambda item: item[0][1])
            }
            yield {"": name, **{_asked(number): cells.get(number, "-") for number in self.numbers}}


def _measured(bench: Bench, ways: Sequence[Way], numbers: Sequence[int]) -> _Measurements:
    """All ways by turns for a number of funnels, after each has been held against the first."""
    visits = Visits(*bench.pick((10_000_000, 100_000), (200_000, 2_000), (2_000, 20)))
    fewer, few = (Visits(visits.events // part, visits.users // part) for part in (5, 20))
    ours, *others = ways
    packages = sorted({way.package for way in others if way.package})
    versions = _versions(packages)
    missing = [package for package in packages if package not in versions]
    taken: dict[str, dict[tuple[int, int], Measured]] = {way.name: {} for way in ways if way.package not in missing}
    bench.close()
    for number in numbers:
        for way in ways:
            asked = visits if number <= way.most else fewer
            if way.package in missing or number > way.limit:
                continue
            for one in (ours, way) if (number, asked.events) not in taken[ours.name] else (way,):
                if (number, asked.events) not in taken[one.name]:
                    folders = (write(few, bench.directory), write(asked, bench.directory))
                    taken[one.name][number, asked.events] = _run(one, number, *folders)
            expected = taken[ours.name][number, asked.events].answer
            found = taken[way.name][number, asked.events].answer
            check_same(way.name, expected.select(found.column_names), found, KEYS)
    return _Measurements(visits, numbers, taken, versions, missing)


def _rows(measured: _Measurements, ours: Way, goals: dict[tuple[str, int], float]) -> Iterator[Row]:
    base = measured.taken[ours.name]
    for name, taken in measured.taken.items():
        for (number, events), one in taken.items():
            if name != ours.name:
                goal = goals.get((name, number))
                target = None if goal is None else Target(goal, at_least=True)
                what = f"{name}, {_asked(number)}"
                if events != measured.visits.events:
                    what += f" over {events:,} visits"
                yield Row(what, one.seconds, "s", ours.name, base[number, events].seconds, target)


def _asked(number: int) -> str:
    return f"{number} funnel{'s' if number > 1 else ''}"


def _python() -> str:
    """Of the peers."""
    return str(PEERS if PEERS.exists() else sys.executable)


def _versions(packages: Sequence[str]) -> dict[str, str]:
    """Of those that the peers' environment has."""
    program = """if True:
        import sys
        from importlib.metadata import distributions
        print(*(f"{one.name}={one.version}" for one in distributions() if one.name in sys.argv[1:]))"""
    done = subprocess.run([_python(), "-c", program, *packages], check=True, stdout=subprocess.PIPE, text=True)
    return dict(sorted(pair.split("=") for pair in done.stdout.split()))


def _run(way: Way, number: int, few: Path, visits: Path) -> Measured:
    """Run the program.

    Raises:
        CalledProcessError: It failed.
    """
    with TemporaryDirectory() as directory:
        answer = Path(directory, "answer.arrow")
        python = _python() if way.package else sys.executable
        arguments = [way.program, str(number), *(str(path.resolve()) for path in (few, visits, answer))]
        command = [python, "-m", "benchmarks.peers.funnel_process", *arguments]
        most = 0.0
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            while process.poll() is None:
                most = max(most, sum(size for pid in below(process.pid) for size in megabytes(pid, "VmRSS")))
                time.sleep(SAMPLED)
            printed = process.stdout.read() if process.stdout else ""
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
        with pa.OSFile(str(answer)) as file:
            return Measured(float(printed.split()[-1]), most, pa.ipc.open_file(file).read_all())


FUNNELS = Benchmark("by-hand-funnels", "Funnels against what people use and write by hand", funnels)
KLEENE = Benchmark("by-hand-kleene", "Funnels with a repeated step against what people write by hand", kleene)
