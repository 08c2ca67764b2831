"""``EXPLAIN SHARING COMPARE``: what each optimizer makes of the workload."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sparkext.explain.report import PassReport, report
from sparkext.planner.amounts import amount, cost, count, part, unit
from sparkext.planner.compared_strategies import StrategyResult
from sparkext.planner.costs.statistics import ASSUMED
from sparkext.planner.optimizers import NOTHING
from sparkext.workload.trend_query import TrendQuery

_HEAD = ("optimizer", "cost", "of sharing nothing", "planned in", "leaves alone")


def compare_sharing(queries: Sequence[TrendQuery], only: str | None = None) -> str:
    """A row for each optimizer, of each pass over a source.

    Raises:
        PlanningError: ``TREND_UNKNOWN_QUERY`` when ``only`` is no query.
    """
    lines = ["== Sharing Plans Compared =="]
    for pool in report(queries, only):
        for number, one in enumerate(pool.passes, 1):
            size = count(len(one.run.queries), "query", "queries")
            model = unit(one.run.optimized.model.name)
            lines += ["", f"{pool.name.capitalize()}, pass {number}: {size}; costs in a group and window, in {model}"]
            lines.append(f"  events in a group and window: {_known_from(one)}")
            lines += _pass(one)
    if len(lines) == 1:
        lines.append("No views of this session hold trend queries; queries outside of views are not listed.")
    return "\n".join(lines)


def _known_from(one: PassReport) -> str:
    """How it is known how many events there are, which all costs rest on."""
    origins = dict.fromkeys(found.origin for found in one.run.known().values())
    assumed = f"assumed to be {amount(ASSUMED)} of each class, as nothing is known of the source before it is read"
    return "; ".join(assumed if origin == "assumed" else origin for origin in origins)


def _pass(one: PassReport) -> Iterator[str]:
    compared = one.run.compared()
    none = _none(compared)
    in_use = one.run.optimized.optimizer
    rows = [_HEAD, *(_row(row, one.run.optimized.model.name, none) for row in compared)]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    for cells in rows:
        marked = "*" if cells[0] == in_use else " "
        yield f"  {marked} {'  '.join(f'{cell:<{width}}' for cell, width in zip(cells, widths, strict=True))}".rstrip()
    yield f"  * {in_use} is in use"
    for row in compared:
        for apart in row.not_planned:
            if apart.query in one.shown:
                name = one.called(apart.query)
                yield f"    ({apart.query + 1}) {name}: left alone by {row.optimizer}, {apart.reason.value}"


def _row(row: StrategyResult, model: str, none: float) -> tuple[str, ...]:
    if row.cost is None or row.seconds is None:
        return row.optimizer, "too many plans to look at", "", "", ""
    took = f"{1000 * row.seconds:.1f} ms" + (", its budget" if row.is_cut_short else "")
    alone = count(len(row.not_planned), "query", "queries") if row.not_planned else ""
    return row.optimizer, cost(row.cost, model), part(row.cost, none).removesuffix(" of"), took, alone


def _none(compared: Sequence[StrategyResult]) -> float:
    """Cost of sharing nothing."""
    return next(row.cost for row in compared if row.optimizer == NOTHING and row.cost is not None)


def comparison_json(one: PassReport) -> list[dict[str, Any]]:
    """What `compare_sharing` says of a pass, for programs."""
    compared = one.run.compared()
    none = _none(compared)
    return [
        {
            "optimizer": row.optimizer,
            "cost": row.cost,
            "of_none": None if row.cost is None else row.cost / none if none else 1.0,
            "planning_ms": None if row.seconds is None else round(1000 * row.seconds, 3),
            "budget_used_up": row.is_cut_short,
            "not_planned": [
                {
                    "number": apart.query + 1,
                    "names": list(one.names[apart.query]),
                    "reason": apart.reason.name,
                    "why": apart.reason.value,
                }
                for apart in row.not_planned
                if apart.query in one.shown
            ],
        }
        for row in compared
    ]
