"""The ten views of the demo over the flights that left New York in 2013: in their pools, and one by one."""

from __future__ import annotations

from functools import partial

import pyarrow as pa

from benchmarks.bench import Bench, Benchmark
from benchmarks.report import Result, Row
from benchmarks.same import check_same


def run(bench: Bench) -> Result:
    """All views are also computed by other means, as the demo does."""
    from examples.check_flights import check, enumerated, joined
    from examples.flights import define_views, load
    from sparkext import settings

    spark = bench.spark
    number = load(spark)
    made = define_views(spark)
    views = [statement.view for statement in made if statement.view is not None and statement.has_windows]
    views = views[: bench.pick(len(views), 4, 2)]
    found: dict[str, dict[str, pa.Table]] = {"off": {}, "auto": {}}

    def read(cache: str) -> None:
        spark.conf.set(settings.CACHE, cache)
        spark.sql("REFRESH SHARING")
        found[cache] = {view: spark.table(view).toArrow() for view in views}

    times = bench.times({cache: partial(read, cache) for cache in found})
    for view in views:
        columns = found["off"][view].schema
        keys = [field.name for field in columns if not _is_number(field.type)]
        check_same(view, found["off"][view], found["auto"][view], keys)
    if bench.size == "full":
        checks = (check(expected, spark.table(expected.view).collect()) for expected in (*enumerated(), joined(spark)))
        wrong = [difference for checked in checks for difference in checked.differences]
        assert not wrong, wrong
    spark.conf.unset(settings.CACHE)
    for statement in reversed(made):
        spark.catalog.dropTempView(str(statement.view))
    row = Row(f"{len(views)} views one by one", times["off"], "s", "in two pools, each view read", times["auto"])
    return Result([row], f"{number:,} flights; views of `examples/flights.sql`", bench.method)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_decimal(kind) or pa.types.is_integer(kind))


BENCHMARK = Benchmark("flights", "The ten views of the demo, pooled and one by one", run)
