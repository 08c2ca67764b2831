"""The text of ``EXPLAIN SHARING COMPARE``, from a report: what each optimizer makes of the workload."""

from __future__ import annotations

from collections.abc import Iterator

from sparkext.explain.report import NOTHING_REGISTERED, TOO_MANY_PLANS, ComparedStrategy, Costs, Plan, Report
from sparkext.planner.amounts import amount, count, unit
from sparkext.planner.costs.statistics import ASSUMED

_HEAD = ("optimizer", "cost", "of sharing nothing", "planned in", "leaves alone")


def comparison_text(report: Report) -> str:
    """A row for each optimizer, of each pass over a source."""
    lines = ["== Sharing Plans Compared =="]
    for pool in report.pools:
        for number, (_, plan) in enumerate(pool.planned, 1):
            size = count(plan.figures.queries, "query", "queries")
            costs = f"costs in a group and window, in {unit(plan.costs.model)}"
            lines += ["", f"{pool.name.capitalize()}, pass {number}: {size}; {costs}", *_pass(plan)]
    if len(lines) == 1:
        lines.append(NOTHING_REGISTERED)
    return "\n".join(lines)


def _pass(plan: Plan) -> Iterator[str]:
    assumed = f"assumed to be {amount(ASSUMED)} of each class, as nothing is known of the source before it is read"
    known_from = (assumed if origin == "assumed" else origin for origin in plan.counts_known_from)
    yield f"  events in a group and window: {'; '.join(known_from)}"
    costs = plan.costs
    rows = [_HEAD, *(_row(row, costs) for row in costs.compared)]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    for cells in rows:
        marked = "*" if cells[0] == plan.optimizer else " "
        yield f"  {marked} {'  '.join(f'{cell:<{width}}' for cell, width in zip(cells, widths, strict=True))}".rstrip()
    yield f"  * {plan.optimizer} is in use"
    for row in costs.compared:
        for apart in row.not_planned:
            yield f"    ({apart.number}) {apart.called}: left alone by {row.optimizer}, {apart.why}"


def _row(row: ComparedStrategy, costs: Costs) -> tuple[str, ...]:
    if row.cost is None or row.milliseconds is None:
        return row.optimizer, TOO_MANY_PLANS, "", "", ""
    took = f"{row.milliseconds:.1f} ms" + (", its budget" if row.is_cut_short else "")
    alone = count(row.all_not_planned, "query", "queries") if row.all_not_planned else ""
    return row.optimizer, costs.shown(row.cost), costs.of_nothing(row), took, alone
