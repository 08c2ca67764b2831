"""The benchmarks: ``python -m benchmarks`` runs all in their quick form, or those that are named.

Every figure is a ratio of two times of the same run, and no time counts before the results are known to be
equal. Tables are printed, and everything is written to ``data/bench.json``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.bench import SIZES, Bench, Benchmark
from benchmarks.page import FIGURES, Recorded, merged, read_documents, write_documents, write_notes
from benchmarks.report import COLUMNS, aligned
from benchmarks.suite import BENCHMARKS, measure
from benchmarks.user_page import write_user_page


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; whether a target is met makes no difference to what is returned."""
    known = {benchmark.name: benchmark for benchmark in BENCHMARKS}
    options = parser(known)
    asked = options.parse_args(arguments)
    unknown = [name for name in asked.names if name not in known]
    if unknown:
        options.error(f"unknown: {', '.join(unknown)}; known are {', '.join(known)}")

    bench = Bench(asked.size, asked.directory)
    runs: list[Recorded] = []
    try:
        for run in measure(bench, [known[name] for name in asked.names or known]):
            runs.append(run)
            _print(run)
            write_documents(asked.json, runs)
            if asked.page:
                write_documents(FIGURES, merged(read_documents(FIGURES), runs, list(known)))
                kept = read_documents(FIGURES)
                write_notes(kept)
                write_user_page(kept)
    finally:
        bench.close()
    met = [row.met for run in runs for row in run.result.rows if row.met is not None]
    print(f"\n{sum(met)} of {len(met)} targets met; all of it took {sum(run.seconds for run in runs):.0f} s.")
    return 0


def parser(known: Mapping[str, Benchmark]) -> argparse.ArgumentParser:
    """What the command takes, for benchmarks by their names."""
    listed = "\n".join(f"  {name:<20} {benchmark.about}" for name, benchmark in known.items())
    options = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=f"{__doc__}\nbenchmarks:\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_argument("names", nargs="*", metavar="benchmark", help="all if none is named")
    size = options.add_mutually_exclusive_group()
    size.add_argument(
        "--full", dest="size", action="store_const", const="full", help="as many events as the targets say"
    )
    size.add_argument("--size", choices=SIZES, help="quick unless it is given")
    options.set_defaults(size="quick")
    options.add_argument("--json", type=Path, default=Path("data") / "bench.json", help="where figures are written")
    options.add_argument(
        "--page", action="store_true", help="write the figures of benchmarks/NOTES.md and docs/performance.md anew"
    )
    options.add_argument("--directory", type=Path, default=Path("data"), help="where events are kept")
    return options


def _print(run: Recorded) -> None:
    heading = f"{run.name}: {run.about}"
    print(f"\n{heading}\n{'=' * len(heading)}\n{run.result.sizes}.\n{run.result.method}. Took {run.seconds:.0f} s.\n")
    if run.result.rows:
        print(aligned([COLUMNS, *(row.cells() for row in run.result.rows)]))
    for table in run.result.tables:
        print(f"\n{table.title}\n{aligned(table.cells())}")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
