"""The tables of ``docs/performance.md``: what trend queries take, and what is used in their place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.page import Recorded, with_blocks
from benchmarks.record import ROOT
from benchmarks.report import TIMES, Row, amount, markdown, significant

PAGE = ROOT / "docs" / "performance.md"
FUNNELS, KLEENE, INSTEAD, COSTS = "funnels", "repeated", "instead", "costs"
"""Names of the blocks."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a table.

    Attributes:
        question: What is asked, in words of users.
        benchmark: Which one measures it.
        what: Which of its rows; all of them that compare with sparkext if it is empty.
        against: What the row compares with, where it has several of one name.
    """

    question: str
    benchmark: str
    what: str = ""
    against: str = ""

    def rows(self, runs: Sequence[Recorded]) -> list[Row]:
        """The rows that were measured.

        Raises:
            LookupError: If the benchmark has none of them.
        """
        measured = [row for run in runs if run.name == self.benchmark for row in run.result.rows]
        wanted = (self.what or "", self.against)
        rows = [
            row
            for row in measured
            if (row.against == "sparkext" if not self.what else (row.what, row.against) == wanted)
        ]
        if not rows:
            raise LookupError(f"{self.benchmark} has no row {wanted}")
        return rows


BY_OTHERS = (
    Line("one query with a repeated part, a million events", "by-hand-one"),
    Line("twenty of them", "by-hand-twenty"),
    Line("one query without a repeated part", "by-hand-sequence"),
    Line("a hundred trend views", "pool-against-each", "100 queries one by one", "pool, until all results are there"),
)
"""Rows whose first time is that of others, and whose second is that of sparkext."""

TABLES = {FUNNELS: "by-hand-funnels", KLEENE: "by-hand-kleene"}
"""Blocks that show all tables of a benchmark."""

OF_SPARKEXT = (
    Line("one query over 10,000,000 events", "spark-alone", "one query", "shuffle + sort + count"),
    Line(
        "a hundred queries over 10,000,000 events",
        "pool-against-one",
        "pool of 100, until all results are there",
        "one query",
    ),
    Line("a query over a thousand rows", "small", "a trend query", "`GROUP BY` over the same rows"),
    Line("reading a view whose results are kept", "small", "reading a kept view", "a cached table"),
    Line("creating a view", "small", "creating a view"),
    Line("the first query of a session", "first-query", "first query of a session", "first query of Spark's own"),
    Line(
        "4,000,000 events of a stream, in 8 micro-batches",
        "streams",
        "500,000 events a trigger",
        "batch pass over as many of the events",
    ),
    Line("memory of a Python worker, 10,000,000 events", "memory", "one query, 10,000,000 events"),
)


def write_user_page(runs: Sequence[Recorded], page: Path = PAGE) -> None:
    """Write the figures of the page anew."""
    page.write_text(with_blocks(page.read_text(), blocks_for_users(runs)))


def blocks_for_users(runs: Sequence[Recorded]) -> dict[str, str]:
    """What stands in the blocks of the page, by their names."""
    instead = [("what is asked", "in place of sparkext", "takes", "sparkext", "times as long")]
    instead += [
        (line.question, row.what, amount(row.value, row.unit), amount(row.base or 0.0, row.unit), _times(row))
        for line in BY_OTHERS
        for row in line.rows(runs)
    ]
    costs = [("what", "takes", "beside it", "times as long")]
    for line in OF_SPARKEXT:
        for row in line.rows(runs):
            beside = "" if row.base is None else f"{row.against}: {amount(row.base, row.unit)}"
            costs.append((line.question, amount(row.value, row.unit), beside, _times(row)))
    whole = {name: "\n".join(_tables(run) for run in runs if run.name == wanted) for name, wanted in TABLES.items()}
    return {**whole, INSTEAD: markdown(instead) + "\n", COSTS: markdown(costs) + "\n"}


def _tables(run: Recorded) -> str:
    """With what was measured on."""
    tables = (f"{table.title}:\n\n{markdown(table.cells())}" for table in run.result.tables)
    return "\n\n".join([f"{run.result.sizes}.", *tables]) + "\n"


def _times(row: Row) -> str:
    return "" if row.base is None else f"{significant(row.reached)} {TIMES}"
