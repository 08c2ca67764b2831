"""Passes that fail: which of their queries are computed without the others from then on.

An expression that fails on a row fails the pass that evaluates it, and with it all that the pass computes. Whoever has
read that gets Spark's error. What is read next is planned without the queries that have the expression.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sparkext.binding.bound_query import BoundQuery

_OF_OTHERS = ("[TREND_COUNT_OVERFLOW]", "[TREND_INTERVAL_OVERFLOW]", "cancelled")
"""Words of errors that no query's expressions are the reason of."""

_OF_THE_MACHINE = re.compile(
    r"Python worker (?:exited|failed|did not|crashed)|PYTHON_WORKER|WORKER_EXITED|ExecutorLost|executor (?:was )?lost"
    r"|Executor heartbeat timed out|FetchFailed|FETCH_FAILED|OutOfMemory|UNABLE_TO_ACQUIRE_MEMORY|\bMemoryError\b"
    r"|No space left on device|Disk quota exceeded|java\.io\.EOFException|Connection reset|Broken pipe"
    r"|FAILED_READ_FILE|FileNotFoundException|PATH_NOT_FOUND",
    re.IGNORECASE,
)
"""Words of errors of a machine, a process, the network or files of a source: it may go well the next time, and with any
query."""

_SHOWN = re.compile(r"^== SQL[^\n]*==\n(.*?)\n[ ^]*\^", re.MULTILINE | re.DOTALL)


def divided(queries: Sequence[BoundQuery], reasons: Iterable[str]) -> list[list[BoundQuery]]:
    """What the queries of a pass are divided into; one part if nothing says that some of them may succeed.

    Args:
        queries: Of the pass.
        reasons: Errors that it has failed of, as Spark reports them.

    Returns:
        First the queries that stay together. Then each query by itself that has an expression of which an error shows
        the text; if no error shows any text, as those of functions in Python, the other half of the queries.
    """
    reasons = [reason for reason in reasons if not any(name in reason for name in _OF_OTHERS)]
    reasons = [reason for reason in reasons if not _OF_THE_MACHINE.search(reason.split("\n== SQL", 1)[0])]
    if not reasons:
        return [list(queries)]
    shown = [_lines(text) for reason in reasons for text in _SHOWN.findall(reason)]
    failing = [query for query in queries if any(_has(query, lines) for lines in shown)]
    if failing:
        others = [query for query in queries if query not in failing]
        return [others, *([query] for query in failing)] if others else [list(queries)]
    half = len(queries) if shown else (len(queries) + 1) // 2  # what is shown is then of the source, which all read
    return [part for part in (list(queries[:half]), list(queries[half:])) if part]


def _lines(text: str) -> list[str]:
    """Lines of an expression, without the dots where Spark has shortened them."""
    stripped = (line.strip().removeprefix("...").removesuffix("...") for line in text.split("\n"))
    return [line for line in stripped if line]


def _has(query: BoundQuery, lines: Sequence[str]) -> bool:
    return any(all(line in text for line in lines) for text in query.texts)
