"""All benchmarks, in the order in which they are run and shown."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from benchmarks import (
    by_hand,
    by_hand_funnels,
    cold,
    completions,
    condition_curves,
    earlier,
    falling_runs,
    first_query,
    flights,
    growth,
    kernel_costs,
    kernel_fallback,
    kernel_plans,
    large,
    many_views,
    memory,
    one_key,
    optimizer,
    pattern_curves,
    pools,
    sliding,
    small,
    spark_alone,
    strategies,
    stream_phi,
    stream_pools,
    streams,
)
from benchmarks.bench import Bench, Benchmark
from benchmarks.page import Recorded
from benchmarks.record import circumstances

BENCHMARKS: tuple[Benchmark, ...] = (
    spark_alone.BENCHMARK,
    pools.AGAINST_ONE,
    pools.AGAINST_EACH,
    pools.OF_MIXED_WINDOWS,
    many_views.BENCHMARK,
    small.BENCHMARK,
    growth.BENCHMARK,
    large.BENCHMARK,
    sliding.BENCHMARK,
    falling_runs.BENCHMARK,
    condition_curves.BENCHMARK,
    earlier.BENCHMARK,
    pattern_curves.BENCHMARK,
    completions.BENCHMARK,
    by_hand.ONE,
    by_hand.TWENTY,
    by_hand.SEQUENCE,
    by_hand_funnels.FUNNELS,
    by_hand_funnels.KLEENE,
    flights.BENCHMARK,
    memory.BENCHMARK,
    one_key.BENCHMARK,
    first_query.BENCHMARK,
    cold.BENCHMARK,
    kernel_costs.COSTS,
    kernel_costs.SLIDES,
    kernel_plans.THOUSAND,
    kernel_plans.SUITE,
    kernel_fallback.BENCHMARK,
    optimizer.BENCHMARK,
    strategies.BENCHMARK,
    streams.BENCHMARK,
    stream_pools.BENCHMARK,
    stream_phi.BENCHMARK,
)


def measure(bench: Bench, wanted: Sequence[Benchmark]) -> Iterator[Recorded]:
    """Run benchmarks one after the other."""
    for benchmark in wanted:
        at = circumstances()
        begin = time.perf_counter()
        result = benchmark.run(bench)
        yield Recorded(benchmark.name, benchmark.about, bench.size, time.perf_counter() - begin, at, result)
