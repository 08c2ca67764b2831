"""Holds the kernel against the enumerator on many random pools::

    python -m tests.soak --pools 20000
"""

from __future__ import annotations

import argparse
import sys
import time
from random import Random

from tests.enumerator import enumerate_results
from tests.harness import PLANNERS, difference, pool_results
from tests.workloads import workload


def mismatches(seed: int) -> list[str]:
    """What differs for the workload of ``seed``, per planner and query."""
    random = Random(seed)
    drawn = workload(random)
    events = drawn.events()
    expected = [enumerate_results(query, events) for query in drawn.queries]
    found: list[str] = []
    for name, planner in PLANNERS.items():
        if name == "split" and len(drawn.queries) == 1:
            continue
        results = pool_results(drawn.queries, events, planner(random), random)
        for query, one, other in zip(drawn.queries, expected, results, strict=True):
            if (problem := difference(one, other)) is not None:
                found.append(f"seed {seed}, {name}, {query.name} {query.pattern}: {problem}")
    return found


def main() -> int:
    """Run the pools and report; 1 when something differs."""
    parser = argparse.ArgumentParser(description="Random pools: shared = unshared = enumerated.")
    parser.add_argument("--pools", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=0, help="number of the first pool")
    arguments = parser.parse_args()
    begin = time.perf_counter()
    bad = 0
    for seed in range(arguments.seed, arguments.seed + arguments.pools):
        problems = mismatches(seed)
        bad += bool(problems)
        for problem in problems:
            print(problem, flush=True)
    seconds = time.perf_counter() - begin
    print(f"{arguments.pools} pools in {seconds:.1f} s, {arguments.pools / seconds:.1f} per second, {bad} mismatches")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
