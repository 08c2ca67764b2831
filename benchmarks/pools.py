"""A pool of 100 queries against one of them, and against the same 100 one by one; and of windows of four kinds."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from benchmarks import queries
from benchmarks.bench import Bench, Benchmark, seconds
from benchmarks.report import Result, Row, Target
from benchmarks.rides import Rides
from benchmarks.same import check_same

NUMBER = 100
KEYS = ("district", "window_start", "window_end")


def against_one(bench: Bench) -> Result:
    """Until all results of the pool are there."""
    from benchmarks.spark import discard

    rides = Rides(*bench.pick((10_000_000, 100_000), (200_000, 2_000), (5_000, 50)))
    bench.rides(rides)
    times = bench.times({"one": lambda: discard(bench.spark.sql(queries.one("rides")))})
    number = bench.pick(NUMBER, NUMBER, 10)
    with Views(bench, list(queries.pool("rides", number))) as views:
        times |= bench.times({"pool": views.compute})
        creating = seconds(views.create)
    rows = [
        Row(f"pool of {number}, until all results are there", times["pool"], "s", "one query", times["one"], Target(2)),
        Row(f"creating its {number} views", creating, "s", "one query", times["one"]),
    ]
    return Result(rows, f"{rides}; 25 patterns with four sets of measures each", bench.method)


def against_each(bench: Bench) -> Result:
    """One by one, each view of the pool would be a pass of its own."""
    from benchmarks.spark import discard

    rides = Rides(*bench.pick((1_000_000, 1_000), (100_000, 100), (2_000, 10)))
    bench.rides(rides)
    number = bench.pick(NUMBER, NUMBER, 10)
    texts = list(queries.pool("rides", number))
    asked = range(0, number, bench.pick(1, 20, 5))
    discard(bench.spark.sql(texts[0]))
    alone: dict[int, pa.Table] = {}

    def one_after_another() -> None:
        alone.update({index: bench.spark.sql(texts[index]).toArrow() for index in asked})

    each = seconds(one_after_another) * number / len(asked)
    with Views(bench, texts) as views:
        times = bench.times({"pool": views.compute})
        reading = seconds(lambda: views.read(asked)) * number / len(asked)
        for index in asked:
            found = bench.spark.table(views.names[index]).toArrow()
            check_same(texts[index], alone[index], found, KEYS)
    one_by_one = f"{number} queries one by one"
    if len(asked) < number:
        one_by_one += f" ({len(asked)} of them, times {number / len(asked):.3g})"
    rows = [
        Row(one_by_one, each, "s", "pool, until all results are there", times["pool"], Target(40, at_least=True)),
        Row(one_by_one, each, "s", "pool, and all its views read", times["pool"] + reading),
    ]
    return Result(rows, f"{rides}; 25 patterns with four sets of measures each", f"{bench.method}; one by one once")


def of_mixed_windows(bench: Bench) -> Result:
    """Until all results of a pool with four kinds of windows are there, and then reading all of its views."""
    from benchmarks.spark import discard

    rides = Rides(*bench.pick((2_000_000, 20_000), (200_000, 2_000), (5_000, 50)))
    bench.rides(rides)
    number = bench.pick(NUMBER, NUMBER, 10)
    times = bench.times({"one": lambda: discard(bench.spark.sql(queries.one("rides")))})
    with Views(bench, list(queries.mixed("rides", number))) as views:
        times |= bench.times({"pool": views.compute})
        collecting = {"read": lambda: views.collect(range(number)), "plain": lambda: views.collect_one(number)}
        rounds = bench.pick(7, 3, 1)  # Java compiles what reads a view for the first five hundred reads and more
        times |= bench.times(collecting, rounds=rounds)
    rows = [
        Row(
            f"pool of {number}, until all results are there", times["pool"], "s", "one query", times["one"], Target(2.5)
        ),
        Row(f"collecting the {number} views of kept results", times["read"], "s", target=Target(3)),
        Row(
            f"collecting the {number} views of kept results",
            times["read"],
            "s",
            f"`SELECT 1` {number} times",
            times["plain"],
            Target(2.5),
        ),
    ]
    method = f"{bench.method}; views are collected {rounds} times"
    return Result(rows, f"{rides}; 25 patterns with four sets of measures, each with its own windows", method)


class Views:
    """A view for each query, for as long as it is entered.

    Args:
        bench: Whose session they are in.
        texts: The queries.
    """

    def __init__(self, bench: Bench, texts: list[str]) -> None:
        self._spark = bench.spark
        self._texts = texts
        self.names = [f"pool_{number}" for number in range(len(texts))]

    def __enter__(self) -> Views:
        self.create()
        return self

    def create(self) -> None:
        """Create the views, again if there are some."""
        for index in range(len(self.names)):
            self.create_one(index)

    def create_one(self, index: int) -> None:
        """Create one of the views, again if it is there."""
        self._spark.sql(f"CREATE OR REPLACE TEMP VIEW {self.names[index]} AS {self._texts[index]}")

    def __exit__(self, *_: object) -> None:
        for name in self.names:
            self._spark.catalog.dropTempView(name)
        self._spark.sql("REFRESH SHARING")

    def compute(self) -> None:
        """Plan and compute all, from nothing; one view is read."""
        from benchmarks.spark import discard

        self._spark.sql("REFRESH SHARING")
        discard(self._spark.table(self.names[0]))

    def read(self, indexes: Iterable[int]) -> None:
        """Read the results of some views."""
        from benchmarks.spark import discard

        discard(*(self._spark.table(self.names[index]) for index in indexes))

    def collect(self, indexes: Iterable[int]) -> None:
        """Have the rows of some views, each by a statement, as people and dashboards ask for them."""
        for index in indexes:
            self._spark.sql(f"SELECT * FROM {self.names[index]}").collect()

    def collect_one(self, number: int) -> None:
        """Have a row of no relation, so many times: what any statement takes."""
        for _ in range(number):
            self._spark.sql("SELECT 1").collect()


AGAINST_ONE = Benchmark("pool-against-one", f"A pool of {NUMBER} queries against one query", against_one)
AGAINST_EACH = Benchmark("pool-against-each", f"A pool of {NUMBER} queries against the same one by one", against_each)
OF_MIXED_WINDOWS = Benchmark(
    "pool-of-mixed-windows", f"A pool of {NUMBER} queries with four kinds of windows", of_mixed_windows
)
