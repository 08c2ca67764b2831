"""What people are told: that many queries are planned, how kernels run, and that there are no events of some type."""

from __future__ import annotations

import logging
import sys
from collections.abc import Hashable, Iterable, Sequence

from pyspark.sql import SparkSession

from sparkext.jvm.application import shows_progress
from sparkext.planner.amounts import count
from sparkext.planner.kernel_plan.kernel_plan import KernelPlan
from sparkext.planner.patterns.query import EventClass, Window
from sparkext.sql.quoting import one_line
from sparkext.sql.spelling import closest
from sparkext.udfs.jit.compiled import cache_directory
from sparkext.udfs.streams.carrying import CARRIED_FROM
from sparkext.udfs.workers.machine import variant_name

log = logging.getLogger(__name__)

MOST_SHOWN = 10
"""Most types of a source that a message lists."""

MANY_TIMES = 16
"""So often an event of a stream may be computed before it is said."""

MANY = 50
"""Queries whose planning takes long enough to be mentioned on the console."""

_looked_for: set[str] = set()
_told: set[Hashable] = set()


def say_planning(spark: SparkSession, queries: int) -> None:
    """Say that so many queries are being planned."""
    _say(spark, f"planning {count(queries, 'query', 'queries')}", queries >= MANY)


def say_compiling(spark: SparkSession, plan: KernelPlan) -> None:
    """Say, once, that workers are about to compile the kernel of a plan, if they are those of this machine.

    Nothing is said if it has been compiled before.
    """
    kernel = variant_name(plan)
    if kernel in _looked_for:
        return
    _looked_for.add(kernel)
    is_here = (spark.sparkContext.master or "").startswith("local")
    if is_here and not _is_compiled(kernel):
        text = f"compiling the {kernel} kernel, once on this machine; until then queries that need it run more slowly"
        _say(spark, text, True)


def say_how_kernels_ran(interpreted: int, alone: bool) -> None:
    """Say, once, that a task has run kernels that were yet to be compiled, or had to compile them for itself.

    Args:
        interpreted: Events that it has processed interpreted.
        alone: Whether it had to compile for itself.
    """
    if interpreted and "interpreted" not in _told:
        _told.add("interpreted")
        log.info("kernels are not compiled yet where tasks run: events are interpreted until a process has done so")
    if alone and "alone" not in _told:
        _told.add("alone")
        log.warning(
            "kernels cannot be kept where tasks run, so that each Python worker compiles them for itself; "
            "see 'Where kernels are kept' in docs/cluster.md"
        )


def say_missing(name: str, events: Iterable[EventClass]) -> None:
    """Say, once for each type, that a pass has found no events of it, and that a query has no trends therefore.

    Args:
        name: Of the pass.
        events: Classes without a condition.
    """
    types = [str(event) for event in events if f"no {event}" not in _told]
    _told.update(f"no {kind}" for kind in types)
    if types:
        log.warning(
            "%s: no event of the source has the type %s, so a query that needs one has no trends; is it misspelt?",
            name,
            one_line(" or ".join(types)),
        )


def say_no_types(name: str, types: Iterable[str], source_types: Sequence[str]) -> None:
    """Say, once for each type, that a query has found no event at all, and which types the source has.

    Args:
        name: Of the pass.
        types: Of the query's variables.
        source_types: Some that the source has; none if that is not known.
    """
    types = [kind for kind in types if f"no {kind}" not in _told]
    _told.update(f"no {kind}" for kind in types)
    if not types:
        return
    by_case = {kind.upper(): kind for kind in source_types}
    meant = dict.fromkeys(by_case[near] for kind in types if (near := closest(kind, tuple(by_case))) is not None)
    shown = ", ".join(map(repr, source_types[:MOST_SHOWN])) + (", …" if len(source_types) > MOST_SHOWN else "")
    log.warning(
        "%s: no event of the source has the type %s, so that a query finds no events at all; %s",
        name,
        one_line(" or ".join(types)),
        f"did you mean {' and '.join(map(repr, meant))}? Types and variables are compared as they are spelt"
        if meant
        else (f"the source has {shown}" if source_types else "are they misspelt?"),
    )


def say_recomputed(window: Window, is_carried: bool) -> None:
    """Say how many times an event of a stream may be computed: as a warning, once for each kind of window, if many.

    Args:
        window: Whose bounds are in microseconds.
        is_carried: Whether totals are carried from micro-batch to micro-batch where many windows are open.
    """
    times = 2 if is_carried else (window.within + window.slide) / window.slide
    how = "as totals are carried on" if is_carried else "once for each micro-batch in which a window of it ends"
    text = (
        f"windows of {window.within / 1e6:g} s that slide by {window.slide / 1e6:g} s: each event of the stream is "
        f"computed up to {times:.0f} times, {how}. With a trigger longer than "
        f"{f'{window.within / CARRIED_FROM / 1e6:g} s' if is_carried else 'the slide'} it is "
        "(WITHIN + trigger) / trigger times; see 'How it is computed' in docs/streaming.md"
    )
    if times > MANY_TIMES:
        say_once(text, ("recomputed", window))
    else:
        log.info("%s", text)


def say_once(text: str, key: Hashable) -> None:
    """Log a warning, unless one with this key has been."""
    if key not in _told:
        _told.add(key)
        log.warning("%s", one_line(text))


def _is_compiled(kernel: str) -> bool:
    """Whether this machine keeps a kernel; the file of a variant is empty until it is compiled."""
    directory = cache_directory()
    file = None if directory is None else directory / f"{kernel}.variant"
    return file is not None and file.exists() and file.stat().st_size > 0


def _say(spark: SparkSession, text: str, on_console: bool) -> None:
    """Write ``text`` to the log, and to the console where Spark shows the progress of its jobs."""
    log.info(text)
    if on_console and shows_progress(spark.sparkContext):
        print(f"sparkext: {text}", file=sys.stderr, flush=True)
