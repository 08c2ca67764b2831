"""The rows of ``EXPLAIN SHARING COMPARE``, from a report: what each optimizer makes of the workload."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sparkext.explain.report import NOTHING_REGISTERED, TOO_MANY_PLANS, ComparedStrategy, Pass, Plan, Report
from sparkext.explain.text import Row
from sparkext.planner.amounts import amount, unit
from sparkext.planner.costs.statistics import ASSUMED

COMPARED_COLUMNS = {
    "pool": "STRING",
    "optimizer": "STRING",
    "in_use": "BOOLEAN",
    "cost": "DOUBLE",
    "unit": "STRING",
    "share": "DOUBLE",
    "seconds": "DOUBLE",
    "statistics": "STRING",
    "note": "STRING",
    "left_alone": "STRING",
}
"""Of a row for each optimizer, with their types."""


def comparison_rows(report: Report) -> Iterator[Row]:
    """A row for each optimizer, of each pass over a source, as `COMPARED_COLUMNS` says."""
    for source_pass, plan in report.passes():
        for row in plan.costs.compared:
            yield _row(source_pass, plan, row)


def _row(source_pass: Pass, plan: Plan, row: ComparedStrategy) -> Row:
    none = plan.costs.compared_none
    share = None if row.cost is None else row.cost / none if none else 1.0
    alone = "; ".join(f"{apart.called}: {apart.why}" for apart in row.not_planned)
    note = TOO_MANY_PLANS if row.cost is None else "its budget was used up" if row.is_cut_short else None
    return (
        source_pass.name,
        row.optimizer,
        row.optimizer == plan.optimizer,
        row.cost,
        unit(plan.costs.model),
        share,
        None if row.milliseconds is None else row.milliseconds / 1000,
        "; ".join(map(_known_from, plan.counts_known_from)),
        note,
        alone or None,
    )


def _known_from(origin: str) -> str:
    if origin != "assumed":
        return origin
    return f"assumed to be {amount(ASSUMED)} of each class, as nothing is known of the source before it is read"


def table_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """The rows of a comparison in columns, for people; what it says when there is none."""
    cells = [columns, *([_cell(value) for value in row] for row in rows)]
    if len(cells) == 1:
        return NOTHING_REGISTERED
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)) for line in cells)
    return "\n".join(line.rstrip() for line in lines)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
