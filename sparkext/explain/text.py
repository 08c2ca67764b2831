"""The text of ``EXPLAIN SHARING``, from a report, and the rows of ``SHOW TREND QUERIES``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from sparkext.explain.report import (
    NOTHING_REGISTERED,
    Kept,
    Loop,
    Made,
    Pass,
    Plan,
    Pool,
    QSet,
    Query,
    Report,
    numbered,
)
from sparkext.planner.amounts import amount, count, part
from sparkext.planner.optimizers import QUICK
from sparkext.sql.quoting import one_line

Row: TypeAlias = "tuple[str | float | None, ...]"


def sharing_text(report: Report) -> str:
    """The plan of the whole workload, or the part of it that the report is of."""
    if not report.pools:
        return f"== Sharing Plan ==\n{NOTHING_REGISTERED}"
    return "\n\n".join(["== Sharing Plan ==", *("\n".join(_pool(pool)) for pool in report.pools)])


def plan_text(plan: Plan) -> str:
    """What has been planned for one pass over a source, and by what, but not how the optimizer got there."""
    return "\n".join(map(one_line, _plan(plan)))


QUERY_COLUMNS = {
    **dict.fromkeys(("name", "pool", "source", "pattern", "window", "measures", "state"), "STRING"),
    "computed_at": "TIMESTAMP",
    "seconds": "DOUBLE",
    **dict.fromkeys(("rows_read", "bytes_read", "events", "rows_kept", "bytes_kept"), "BIGINT"),
}
"""Of a row for each query, with their types."""


def query_row(pool: str, query: Query, made: Made | None) -> Row:
    """What `QUERY_COLUMNS` says of a query of a pool, and of how its pass has been made last."""
    clause = query.clause
    asked = clause.pattern_text, clause.window_text(), clause.asked_text
    last: Row = (None,) * 7
    if made is not None:
        last = made.at, made.seconds, made.rows_read, made.bytes_read, made.events, made.rows, made.bytes_kept
    return (query.name, pool, query.source, *asked, query.state, *last)


def _pool(pool: Pool) -> Iterator[str]:
    first = pool.passes[0]
    size, passes = count(len(pool.queries), "query", "queries"), count(len(pool.planned), "pass", "passes")
    yield f"{pool.name.capitalize()}: {size}, {passes} over the source"
    yield f"  source: {first.source}"
    keys, groups = (", ".join(names) or "none" for names in (first.other_keys, first.group_by))
    yield f"  group by: {groups}; other keys: {keys}; time: {first.order_by}"
    yield from (f"  note: {text}" for text in pool.notes)
    if pool.broken:
        yield f"  broken, reading them says why: {', '.join(pool.broken)}"
    for number, (source_pass, plan) in enumerate(pool.planned, 1):
        yield ""
        yield _head(source_pass, number)
        if source_pass.made is not None:
            yield f"  Made {source_pass.made.text}"
        yield from _plan(plan)
        yield from plan.search.lines


def _head(source_pass: Pass, number: int) -> str:
    if source_pass.stream is not None:
        return f"  Pass {number} over a stream ({source_pass.stream.value})"
    kept = "results are kept" if source_pass.kept else "results are not kept"
    return f"  Pass {number} ({source_pass.state}, {kept})"


def _plan(plan: Plan) -> Iterator[str]:
    yield from _queries(plan)
    yield from _statistics(plan)
    yield from _template(plan)
    yield from _totals(plan)


def _queries(plan: Plan) -> Iterator[str]:
    yield "  Queries"
    for member in plan.members:
        clause = member.clause
        said = f"{clause.pattern_text} | {clause.asked_text} | {clause.window_text()}"
        yield f"    ({member.number}) {member.called}: {said}"
        yield from (f"        note: {text}" for text in member.notes)
        if member.left_alone is not None:
            yield f"        not planned by {plan.optimizer} ({member.left_alone.why}); computed by itself"
    for partner in plan.partners:
        yield f"    ({partner.number}) {partner.called}: shares with them"


def _statistics(plan: Plan) -> Iterator[str]:
    by_event = {statistic.event: statistic for statistic in plan.statistics}
    events = list(dict.fromkeys(state.event for state in plan.states))
    width = max(map(len, events), default=0)
    yield "  Events in a group and window"
    for event in events:
        seen = by_event[event]
        yield f"    {event:<{width}}  {amount(seen.events)} ({seen.known_from}){seen.counted_text}"


def _template(plan: Plan) -> Iterator[str]:
    width = max((len(state.name) for state in plan.states), default=0)
    yield "  Template"
    for state in plan.states:
        marks = [
            f"{label} {numbered(shown)}"
            for label, queries in (("starts", state.starts), ("ends", state.ends))
            if (shown := plan.shown(queries))
        ]
        yield f"    {state.name:<{width}}  {', '.join(marks)}".rstrip()
    yield "  Transitions (queries in one parenthesis share; ^ says where snapshots are taken)"
    for transition in plan.transitions:
        source, target = plan.states[transition.source].name, plan.states[transition.target].name
        yield f"    {source} -> {target}: {', '.join(map(_guarded, transition.qsets))}"
    if plan.loops:
        yield "  Bursts"
        yield from map(_loop, plan.loops)
    if plan.conditions:
        yield "  Conditions on the event before"
        yield from (f"    {condition}: {how}" for condition, how in plan.conditions)
    if plan.looking_back:
        yield "  Conditions on earlier events"
        yield from (f"    {condition}: {how}" for condition, how in plan.looking_back)


def _guarded(qset: QSet) -> str:
    return f"{qset}" if qset.guard is None else f"{qset} while {qset.guard}"


def _loop(loop: Loop) -> str:
    said = "all are shared"
    if loop.least is None:
        said = "none is shared"
    elif loop.least > 1:
        said = f"shared from {count(loop.least, 'event', 'events')} on"
    if loop.seen is not None and loop.seen[0]:
        bursts, shared, events = loop.seen
        said += f"; {shared:,} of {count(bursts, 'burst', 'bursts')} shared, with {count(events, 'event', 'events')}"
    return f"    {', '.join(loop.states)}: {loop.qset}, {said}"


def _completions(kept: Kept) -> str:
    nodes = "all nodes of a trend" if kept.has_lists else "nodes that states lead to"
    states, registers = count(kept.states, "state", "states"), count(kept.registers, "register", "registers")
    beside = "" if kept.totals is None else f"; {count(kept.totals, 'total', 'totals')} per beginning"
    return f"  Completions: {states}, {registers} a node, {nodes}{beside}"


def _totals(plan: Plan) -> Iterator[str]:
    costs, figures = plan.costs, plan.figures
    if len(plan.members) < figures.queries:
        yield f"  All {figures.queries} queries of the pass"
    links = count(figures.links, "transition of queries is", "transitions of queries are")
    totals = count(plan.running_totals, "running total", "running totals")
    yield f"  Sharing: {links} propagated as {figures.propagated:,}; {totals}"
    if figures.completions is not None:
        yield _completions(figures.completions)
    yield (
        f"  Cost: {costs.shown(costs.chosen)} in a group and window ({costs.model}), {part(costs.chosen, costs.none)} "
        f"the {costs.shown(costs.none)} when nothing is shared; {costs.shown(costs.greedy)} by {QUICK}"
    )
    said = ""
    if costs.bound is not None:
        said = "; no plan costs less" if costs.is_proved else f"; no plan costs less than {costs.shown(costs.bound)}"
    if costs.published is not None and costs.published > costs.chosen * (1 + 1e-9):
        said += f"; {costs.shown(costs.published)} by the published rules alone"
    if plan.budget is not None:
        said += f"; the best found in its budget of {plan.budget:g} s"
    yield f"  Optimizer: {plan.optimizer}{said}; {plan.milliseconds:.1f} ms"
    if astray := figures.by_fallback:
        yield f"  Fallback: {count(astray, 'event', 'events')} without linear forms, where that was faster or on trial"
    if slow := figures.interpreted:
        yield f"  Kernels: {count(slow, 'event', 'events')} interpreted, as the kernel was yet to be compiled"
    if figures.migrated is not None:
        old, new = map(costs.shown, figures.migrated)
        yield f"  Migrated from a plan that costs {old} with these statistics to one that costs {new}"
