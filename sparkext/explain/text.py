"""The text of ``EXPLAIN SHARING`` and the rows of ``SHOW TREND QUERIES``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sparkext.binding.bound_query import BoundQuery
from sparkext.explain.bursts import burst_lines
from sparkext.explain.report import (
    PassReport,
    PoolReport,
    pattern_text,
    report,
    source_of_pool,
    source_text,
    window_text,
)
from sparkext.planner.amounts import amount, cost, count, part
from sparkext.planner.kernel_plan.kernel_plan import Completions
from sparkext.planner.optimizers import NOTHING, QUICK
from sparkext.planner.sharing.sharing_plan import QSet, TransitionPlan, numbers, qset_text
from sparkext.planner.sharing.template import Template
from sparkext.sql.quoting import one_line
from sparkext.workload.remarks import remarks, traps
from sparkext.workload.run import Run
from sparkext.workload.trend_query import TrendQuery


def explain_sharing(queries: Sequence[TrendQuery], only: str | None = None) -> str:
    """The plan of the whole workload, or the part of it that concerns one query.

    Raises:
        PlanningError: ``TREND_UNKNOWN_QUERY`` when ``only`` is none.
    """
    pools = report(queries, only)
    if not pools:
        return (
            "== Sharing Plan ==\nNo views of this session hold trend queries; queries outside of views are not listed."
        )
    return "\n\n".join(["== Sharing Plan ==", *("\n".join(_pool(pool)) for pool in pools)])


def explain_run(run: Run) -> str:
    """What has been planned for one pass over a source, and by what."""
    names = tuple((query.query.name,) for query in run.queries)
    one = PassReport(run, names, tuple(range(len(run.queries))))
    return "\n".join(map(one_line, [*_queries(one), *_statistics(one), *_template(one), *_totals(one)]))


def trend_queries(queries: Sequence[TrendQuery]) -> list[tuple[str, str, str, str, str, str, str]]:
    """Name, pool, source, pattern, window, measures and state of each query."""
    rows: list[tuple[str, str, str, str, str, str, str]] = []
    for pool in report(queries):
        for query in pool.queries:
            bound = query.bound
            is_computed = query.run is not None and query.run.is_computed()
            state = "broken" if not query.is_right else "computed" if is_computed else "planned"
            measures = measures_text(bound)
            pattern = pattern_text(bound)
            window = window_text(bound)
            rows.append((bound.query.name, pool.name, source_text(query), pattern, window, measures, state))
    return rows


def _pool(pool: PoolReport) -> Iterator[str]:
    first = pool.queries[0].bound
    keys = ", ".join(key.canonical for key in first.partitions) or "none"
    groups = ", ".join(key.canonical for key in first.groups) or "none"
    size, passes = count(len(pool.queries), "query", "queries"), count(len(pool.passes), "pass", "passes")
    yield f"{pool.name.capitalize()}: {size}, {passes} over the source"
    yield f"  source: {source_of_pool(pool.queries)}"
    yield f"  group by: {groups}; other keys: {keys}; time: {first.time_canonical}"
    if (seen := pool.queries[0].pool.source.seen) is not None:
        yield from (f"  note: {text}" for text in remarks([query.bound for query in pool.queries], seen))
    broken = [query.bound.query.name for query in pool.queries if query.run is None]
    if broken:
        yield f"  broken, reading them says why: {', '.join(broken)}"
    for number, one in enumerate(pool.passes, 1):
        state = "computed" if one.run.is_computed() else "planned"
        kept = "results are kept" if one.run.persisted else "results are not kept"
        yield ""
        yield f"  Pass {number} ({state}, {kept})"
        yield from _queries(one)
        yield from _statistics(one)
        yield from _template(one)
        yield from _totals(one)
        yield from one.search().lines


def _queries(one: PassReport) -> Iterator[str]:
    yield "  Queries"
    apart = one.not_planned()
    for query in one.shown:
        bound = one.run.queries[query]
        aggregates = measures_text(bound)
        yield f"    ({query + 1}) {one.called(query)}: {pattern_text(bound)} | {aggregates} | {window_text(bound)}"
        yield from (f"        note: {text}" for text in traps(one.run.template, query, bound))
        if query in apart:
            yield f"        not planned by {one.run.optimized.optimizer} ({apart[query].value}); computed by itself"
    for partner in one.partners():
        yield f"    ({partner + 1}) {one.called(partner)}: shares with them"


def _statistics(one: PassReport) -> Iterator[str]:
    expected = one.run.expected
    events = dict.fromkeys(one.run.template.states[state].event for state in one.states())
    width = max((len(str(event)) for event in events), default=0)
    seen = one.run.counted.seen()
    yield "  Events in a group and window"
    for event in events:
        found = "; the pass has found none" if seen is not None and seen.events.get(event) == 0 else ""
        if not found and (counted := one.counted(event)) is not None:
            found = f"; the pass has counted {amount(counted)}"
        yield f"    {event!s:<{width}}  {amount(expected[event].events)} ({expected[event].origin}){found}"


def _template(one: PassReport) -> Iterator[str]:
    template: Template = one.run.template
    width = max((len(str(template.states[state])) for state in one.states()), default=0)
    yield "  Template"
    for state in one.states():
        marks = [
            f"{label} {numbers(mine)}"
            for label, queries in (("starts", template.starts[state]), ("ends", template.ends[state]))
            if (mine := [query for query in queries if query in one.shown])
        ]
        yield f"    {template.states[state]!s:<{width}}  {', '.join(marks)}".rstrip()
    yield "  Transitions (queries in one parenthesis share; ^ says where snapshots are taken)"
    for transition in one.transitions():
        sets = ", ".join(
            qset_text(one.run.template, qset) + _guarded(one, transition, qset) for qset in transition.qsets
        )
        yield f"    {template.states[transition.source]} -> {template.states[transition.target]}: {sets}"
    yield from burst_lines(one)
    comparisons = one.comparisons()
    if comparisons:
        yield "  Conditions on the event before"
        yield from (f"    {condition}: {found}" for condition, found in comparisons)
    looking_back = one.looking_back()
    if looking_back:
        yield "  Conditions on earlier events"
        yield from (f"    {condition}: {found}" for condition, found in looking_back)


def _guarded(one: PassReport, transition: TransitionPlan, qset: QSet) -> str:
    condition = one.guarded(transition, qset)
    return "" if condition is None else f" while {condition}"


def measures_text(bound: BoundQuery) -> str:
    """What a query asks for."""
    asked = list(map(str, bound.query.aggregates))
    if bound.query.completion is not None:
        asked += [*map(str, bound.query.completion.shown), *(one.value for one in bound.query.completion.counted)]
    return ", ".join(asked)


def _completions(asked: Completions) -> str:
    """What is kept to find completions: a node for each event that takes part, with the rows that registers hold."""
    kept = ", ".join(
        [
            count(len(asked.states), "state", "states"),
            count(len(asked.registers), "register", "registers") + " a node",
            "all nodes of a trend" if any(map(asked.has_lists, asked.queries)) else "nodes that states lead to",
        ]
    )
    totals = sum(len(state.totals) for state in asked.states)
    beside = f"; {count(totals, 'total', 'totals')} per beginning" if totals else ""
    return f"  Completions: {kept}{beside}"


def _totals(one: PassReport) -> Iterator[str]:
    run, optimized = one.run, one.run.optimized
    shared = sum(len(t.qsets) for t in run.sharing.transitions)
    all_links = sum(len(t.queries) for t in run.template.transitions)
    if len(one.shown) < len(run.queries):
        yield f"  All {len(run.queries)} queries of the pass"
    links = count(all_links, "transition of queries is", "transitions of queries are")
    totals = count(len(run.plan.cells), "running total", "running totals")
    yield f"  Sharing: {links} propagated as {shared:,}; {totals}"
    if run.plan.completions is not None:
        yield _completions(run.plan.completions)
    found, model = optimized.found, optimized.model.name
    none = run.cost_by(NOTHING)
    yield (
        f"  Cost: {cost(found.cost, model)} in a group and window ({model}), {part(found.cost, none)} "
        f"the {cost(none, model)} when nothing is shared; {cost(run.cost_by(QUICK), model)} by {QUICK}"
    )
    said = ""
    if found.bound is not None:
        proved = found.bound >= found.cost * (1 - 1e-9)
        said = "; no plan costs less" if proved else f"; no plan costs less than {cost(found.bound, model)}"
    if found.published is not None and found.published > found.cost * (1 + 1e-9):
        said += f"; {cost(found.published, model)} by the published rules alone"
    if optimized.is_cut_short:
        said += f"; the best found in its budget of {run.settings.budget:g} s"
    yield f"  Optimizer: {optimized.optimizer}{said}; {1000 * optimized.seconds:.1f} ms"
    if astray := run.counted.by_fallback():
        yield f"  Fallback: {count(astray, 'event', 'events')} without linear forms, where that was faster or on trial"
    if slow := run.counted.interpreted():
        yield f"  Kernels: {count(slow, 'event', 'events')} interpreted, as the kernel was yet to be compiled"
    if run.migration is not None:
        old, new = cost(run.migration.old, model), cost(run.migration.new, model)
        yield f"  Migrated from a plan that costs {old} with these statistics to one that costs {new}"
