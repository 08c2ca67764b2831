"""Holds the kernel against the enumerator on many random pools::

python -m tests.support.soak --pools 20000
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from random import Random

from sparkext.planner.totals.pane_rows import PANES_FROM
from tests.support.enumerator import enumerate_results
from tests.support.kernel_harness import PLANNERS, difference, pool_results
from tests.support.prev_conditions import MEANINGS
from tests.support.workloads import Workload, workload

PROGRESS = 1000
"""After so many pools each, how far it has come is said."""


def mismatches(seed: int) -> list[str]:
    """What differs for the workload of ``seed``, per planner and query."""
    return [f"seed {seed}, {problem}" for problem in problems(workload(Random(seed)), seed)]


def problems(drawn: Workload, seed: int) -> list[str]:
    """What differs between the enumerator and the kernel, whose batches are cut as ``seed`` says."""
    events = drawn.events()
    expected = [enumerate_results(query, events, MEANINGS) for query in drawn.queries]
    faults: list[str] = []
    for name, planner in PLANNERS.items():
        # Equal prefixes and random forms are shared in every pool, and in one of three all is done otherwise.
        often = name in ("shared", "random")
        if not often and (seed % 3 != list(PLANNERS).index(name) % 3 or len(drawn.queries) == 1):
            continue
        random = Random(seed)
        # In every other pool, all windows that may be are computed by panes, however few are open.
        results = pool_results(drawn.queries, events, planner(random), random, 0 if seed % 2 else PANES_FROM)
        for query, wanted, actual in zip(drawn.queries, expected, results, strict=True):
            if (problem := difference(wanted, actual)) is not None:
                faults.append(f"{name}, {query.name} {query.pattern}: {problem}")
    return faults


def smallest(drawn: Workload, seed: int) -> Workload:
    """A part of a workload with problems that has problems still, but no row or query too many."""
    for field in ("queries", "rows"):
        position = 0
        while position < len(getattr(drawn, field)):
            items = getattr(drawn, field)
            less = replace(drawn, **{field: items[:position] + items[position + 1 :]})
            if problems(less, seed):
                drawn = less
            else:
                position += 1
    return drawn


def report(seed: int) -> None:
    """Print the problems of a seed, and the least part of its workload that shows some."""
    print(*mismatches(seed), sep="\n")
    drawn = smallest(workload(Random(seed)), seed)
    print(f"  the least of it: {problems(drawn, seed)}")
    for row in drawn.rows:
        print(f"    {row}")
    for query in drawn.queries:
        print("    " + drawn.sql(query, query.name).replace("\n", " "), flush=True)


def main() -> int:
    """Run the pools and report; 1 when something differs."""
    parser = argparse.ArgumentParser(description="Random pools: shared = unshared = enumerated.")
    parser.add_argument("--pools", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=0, help="number of the first pool")
    arguments = parser.parse_args()
    begin = time.perf_counter()
    bad = 0
    for seed in range(arguments.seed, arguments.seed + arguments.pools):
        if mismatches(seed):
            bad += 1
            report(seed)
        done = seed + 1 - arguments.seed
        if done % PROGRESS == 0:
            print(f"{done} pools in {time.perf_counter() - begin:.0f} s, {bad} mismatches", flush=True)
    seconds = time.perf_counter() - begin
    print(f"{arguments.pools} pools in {seconds:.1f} s, {arguments.pools / seconds:.1f} per second, {bad} mismatches")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
