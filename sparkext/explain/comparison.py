"""The text of ``EXPLAIN SHARING COMPARE``, from a report: what each optimizer makes of the workload."""

from __future__ import annotations

from collections.abc import Iterator

from sparkext.explain.report import ComparedStrategy, Plan, Report
from sparkext.explain.text import NOTHING_REGISTERED
from sparkext.planner.amounts import amount, cost, count, part, unit
from sparkext.planner.costs.statistics import ASSUMED

_HEAD = ("optimizer", "cost", "of sharing nothing", "planned in", "leaves alone")


def comparison_text(report: Report) -> str:
    """A row for each optimizer, of each pass over a source."""
    lines = ["== Sharing Plans Compared =="]
    for pool in report.pools:
        for number, source_pass in enumerate(pool.passes, 1):
            if source_pass.plan is not None:
                size = count(source_pass.plan.figures.queries, "query", "queries")
                costs = f"costs in a group and window, in {unit(source_pass.plan.costs.model)}"
                lines += ["", f"{pool.name.capitalize()}, pass {number}: {size}; {costs}"]
                lines += _pass(source_pass.plan)
    if len(lines) == 1:
        lines.append(NOTHING_REGISTERED)
    return "\n".join(lines)


def _pass(plan: Plan) -> Iterator[str]:
    assumed = f"assumed to be {amount(ASSUMED)} of each class, as nothing is known of the source before it is read"
    known_from = (assumed if origin == "assumed" else origin for origin in plan.counts_known_from)
    yield f"  events in a group and window: {'; '.join(known_from)}"
    costs = plan.costs
    rows = [_HEAD, *(_row(row, costs.model, costs.compared_none) for row in costs.compared)]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    for cells in rows:
        marked = "*" if cells[0] == plan.optimizer else " "
        yield f"  {marked} {'  '.join(f'{cell:<{width}}' for cell, width in zip(cells, widths, strict=True))}".rstrip()
    yield f"  * {plan.optimizer} is in use"
    called = {member.number: member.called for member in plan.members}
    for row in costs.compared:
        for apart in row.not_planned:
            yield f"    ({apart.number}) {called[apart.number]}: left alone by {row.optimizer}, {apart.why}"


def _row(row: ComparedStrategy, model: str, none: float) -> tuple[str, ...]:
    if row.cost is None or row.milliseconds is None:
        return row.optimizer, "too many plans to look at", "", "", ""
    took = f"{row.milliseconds:.1f} ms" + (", its budget" if row.is_cut_short else "")
    alone = count(row.all_not_planned, "query", "queries") if row.all_not_planned else ""
    return row.optimizer, cost(row.cost, model), part(row.cost, none).removesuffix(" of"), took, alone
