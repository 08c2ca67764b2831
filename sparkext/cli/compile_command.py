"""``sparkext compile``: the kernel, ahead of the first query."""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from sparkext.planner.compiler.compile import compile_completions
from sparkext.planner.kernel_plan.kernel_plan import KernelPlan
from sparkext.planner.patterns.pattern_grammar import lexemes, parse_pattern
from sparkext.planner.patterns.query import Aggregate, Completion, EventClass, Function, Query
from sparkext.planner.sharing.template import template_of
from sparkext.udfs.jit import compiled
from sparkext.udfs.workers.every_variant import every_variant
from sparkext.udfs.workers.variants import Variant


def add(commands: Any) -> None:
    """Add the command to those of ``sparkext``."""
    command = commands.add_parser(
        "compile",
        help="compile the kernel ahead of the first query, for an image or when a machine starts",
        description="Compile the variants of the kernel that queries may need, several at a time, and keep them where "
        "queries of this user look for them: plain, for queries that share no more than equal beginnings; forms, for "
        "those that share linear forms; full, for pools with NOT, PREV, SPAN or the like; completions, for ONE ROW PER "
        "COMPLETION; counts, for pools that only count completions. Each takes 3 to 30 seconds of a core. Those that "
        "are kept already are left as they are.",
    )
    command.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many at a time; all cores")
    command.add_argument(
        "variants",
        nargs="*",
        metavar="variant",
        help="plain, forms, spans, full, completions or counts; all if left out",
    )
    command.set_defaults(run=run)


def smallest_plan() -> KernelPlan:
    """The plan of a query for completions of one event; what is compiled does not depend on the plan."""
    pattern = parse_pattern(lexemes("A", 0), 0, 1)
    count, completion = (Aggregate(Function.COUNT),), Completion(has_rows=True)
    query = Query("", pattern, (("A", EventClass("type", "A", None)),), count, None, completion=completion)
    return compile_completions(template_of([query]))


def run(asked: argparse.Namespace) -> int:
    """Run the command; returns its exit status."""
    known = {arguments.name: arguments for arguments in every_variant(smallest_plan())}
    wanted: list[str] = asked.variants or list(known)
    if strange := [name for name in wanted if name not in known]:
        print(f"sparkext: no variant {strange[0]!r}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    if compiled.DIRECTORY is None:
        print("sparkext: there is no directory to keep kernels in; NUMBA_CACHE_DIR can name one", file=sys.stderr)
        return 1
    begin = time.perf_counter()
    for file in compiled.sources():
        _without_fractions(file)
    with ThreadPoolExecutor(max(1, asked.jobs)) as pool:
        variants = [Variant(known[name]) for name in wanted]
        tasks = {pool.submit(variant.keep): variant for variant in variants}
        for task in as_completed(tasks):
            done = "compiled" if task.result() else "not kept"
            print(f"{time.perf_counter() - begin:6.0f} s  {tasks[task].name}: {done}", flush=True)
    size = sum(file.stat().st_size for file in compiled.DIRECTORY.rglob("*") if file.is_file())
    print(f"{size / 1e6:.0f} MB in {compiled.DIRECTORY}")
    if missing := [variant.name for variant in variants if not variant.is_kept()]:
        print(
            f"sparkext: {', '.join(missing)} could not be kept; is there room in {compiled.DIRECTORY}, and may it be "
            "written to?",
            file=sys.stderr,
        )
        return 1
    return 0


def _without_fractions(file: Path) -> None:
    """Give a source a time of whole seconds, as images have them: numba compares it with that of what it kept."""
    status = file.stat()
    if status.st_mtime_ns % 10**9 and os.access(file, os.W_OK):
        os.utime(file, (int(status.st_atime), int(status.st_mtime)))
