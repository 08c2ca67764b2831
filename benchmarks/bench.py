"""What all benchmarks have: sizes, a clock, events, and a Spark session."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from benchmarks.report import Result
from benchmarks.rides import Rides, write

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Size: TypeAlias = Literal["toy", "quick", "full"]
SIZES: tuple[Size, ...] = ("toy", "quick", "full")
"""How much is measured: enough to see that a benchmark works, a first impression, what the targets ask for."""

AWAKE = 20.0
"""Seconds for which Python workers that have been woken need not be woken again before a run."""

_T = TypeVar("_T")
_K = TypeVar("_K")


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark of the suite.

    Attributes:
        name: On the command line and in the page.
        about: What is asked, in a line.
        run: Measures.
    """

    name: str
    about: str
    run: Callable[[Bench], Result]


class Bench:
    """Sizes, a clock, events and a session.

    Args:
        size: How much is measured.
        directory: Where events are kept.
        spark: A session to use, instead of one of its own.
    """

    def __init__(self, size: Size, directory: Path, spark: SparkSession | None = None) -> None:
        self.size = size
        self.directory = directory
        self._given = spark
        self._spark = spark
        self._cores: int | None = None
        self._woken = 0.0

    def pick(self, full: _T, quick: _T, toy: _T) -> _T:
        """One of three, by the size of the suite."""
        return {"full": full, "quick": quick, "toy": toy}[self.size]

    @property
    def rounds(self) -> int:
        """How often everything is timed, after one run that does not count; in the toy form nothing goes before."""
        return self.pick(3, 1, 1)

    @property
    def method(self) -> str:
        """How `times` takes times."""
        if self.size == "toy":
            return "wall time; one round, cold"
        many = f"median of {self.rounds} rounds in turn" if self.rounds > 1 else "one round"
        return f"wall time; {many}, after one that does not count, with Python workers ready"

    def times(
        self, runs: Mapping[_K, Callable[[], object]], warmed: bool = False, rounds: int | None = None
    ) -> dict[_K, float]:
        """Median seconds of each run; the rounds go by turns, so that what else the machine does hits all alike.

        Args:
            runs: By name.
            warmed: Whether each has been run before.
            rounds: How many, if not as many as ever.
        """
        if not warmed and self.size != "toy":
            for run in runs.values():
                run()
        taken: dict[_K, list[float]] = {name: [] for name in runs}
        for _ in range(self.rounds if rounds is None else rounds):
            for name, run in runs.items():
                self._wake()
                taken[name].append(seconds(run))
        return {name: statistics.median(times) for name, times in taken.items()}

    def _wake(self) -> None:
        """Have Python workers ready, if there is a session: Spark ends them when they have been idle for a minute."""
        from benchmarks.spark import wake

        if self._spark is not None and self.size != "toy" and time.monotonic() - self._woken > AWAKE:
            wake(self._spark)
            self._woken = time.monotonic()

    @property
    def spark(self) -> SparkSession:
        """An enabled session on all cores."""
        return self.session(None)

    def session(self, cores: int | None) -> SparkSession:
        """An enabled session on so many cores, all if None; it takes the place of the one before."""
        from benchmarks.spark import start, stop

        if self._spark is None or (self._cores != cores and self._given is None):
            if self._spark is not None:
                stop(self._spark)
            self._spark, self._cores, self._woken = start(cores), cores, 0.0
        return self._spark

    def fresh(self, cores: int | None = None) -> SparkSession:
        """A session with Python workers of its own, unless a session was given."""
        self.close()
        return self.session(cores)

    def close(self) -> None:
        """Stop the session, unless it was given."""
        from benchmarks.spark import stop

        if self._spark is not None and self._given is None:
            stop(self._spark)
            self._spark = None

    def rides(self, rides: Rides, cores: int | None = None) -> DataFrame:
        """The view ``rides`` over ride-sharing events, in the session on so many cores, and the frame that it shows."""
        frame = self.session(cores).read.parquet(str(write(rides, self.directory)))
        frame.createOrReplaceTempView("rides")
        return frame


def seconds(run: Callable[[], object]) -> float:
    """Seconds of one run."""
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin
