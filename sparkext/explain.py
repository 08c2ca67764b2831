"""The text of ``EXPLAIN SHARING`` and the rows of ``SHOW TREND QUERIES``."""

from __future__ import annotations

from collections.abc import Sequence

from planner.access import access
from planner.guards import ALWAYS
from planner.query import Window
from planner.sharing import TransitionPlan
from planner.template import Template
from sparkext.binding import BoundQuery
from sparkext.event_time import TimeKind
from sparkext.pool import Run
from sparkext.workload import TrendQuery

_MICROSECONDS = (("day", 86_400_000_000), ("hour", 3_600_000_000), ("minute", 60_000_000), ("second", 1_000_000))


def explain_sharing(queries: Sequence[TrendQuery]) -> str:
    """The plan of the whole workload.

    Args:
        queries: All queries, in order of registration; those that nothing shows could not be planned.
    """
    if not queries:
        return "== Sharing Plan ==\nNo trend queries are registered in this session."
    blocks = ["== Sharing Plan =="]
    for number, (pool_queries, runs) in enumerate(_pools(queries), 1):
        blocks.append("\n".join(_pool(number, pool_queries, runs)))
    return "\n\n".join(blocks)


def trend_queries(queries: Sequence[TrendQuery]) -> list[tuple[str, str, str, str, str, str, str]]:
    """Name, pool, source, pattern, window, measures and state of each query."""
    rows: list[tuple[str, str, str, str, str, str, str]] = []
    for number, (pool_queries, _) in enumerate(_pools(queries), 1):
        for query in pool_queries:
            bound = query.bound
            state = "broken" if query.shown is None else "computed" if query.shown.is_computed() else "planned"
            measures = ", ".join(map(str, bound.query.aggregates))
            rows.append(
                (
                    bound.query.name,
                    f"pool {number}",
                    _source(query),
                    str(bound.query.pattern),
                    _window(bound),
                    measures,
                    state,
                )
            )
    return rows


def _pools(queries: Sequence[TrendQuery]) -> list[tuple[list[TrendQuery], list[Run]]]:
    """Per pool its queries and the runs that serve them, in order of registration."""
    pools: dict[int, tuple[list[TrendQuery], list[Run]]] = {}
    for query in queries:
        members, runs = pools.setdefault(id(query.pool), ([], []))
        members.append(query)
        if query.shown is not None and query.shown not in runs:
            runs.append(query.shown)
    return list(pools.values())


def _pool(number: int, queries: Sequence[TrendQuery], runs: Sequence[Run]) -> list[str]:
    first = queries[0].bound
    keys = ", ".join(key.canonical for key in first.partitions) or "none"
    lines = [
        f"Pool {number}: {_count(len(queries), 'query', 'queries')}, "
        f"{_count(len(runs), 'pass', 'passes')} over the source",
        f"  source: {_source(queries[0])}",
        f"  group by: {', '.join(key.canonical for key in first.groups) or 'none'}; other keys: {keys}; "
        f"time: {first.time_canonical}",
    ]
    broken = [query.bound.query.name for query in queries if query.shown is None]
    if broken:
        lines.append(f"  broken, reading them says why: {', '.join(broken)}")
    for place, run in enumerate(runs, 1):
        state = "computed" if run.is_computed() else "planned"
        kept = "results are kept" if run.persisted else "results are not kept"
        lines += ["", f"  Pass {place} ({state}, {kept})"]
        names = {
            i: [q.bound.query.name for q in queries if q.shown is run and run.place(q.bound) == i]
            for i in range(len(run.queries))
        }
        lines += _queries(run, names)
        lines += _template(run)
        lines += _totals(run)
    return lines


def _queries(run: Run, names: dict[int, list[str]]) -> list[str]:
    lines = ["  Queries"]
    for place, bound in enumerate(run.queries):
        shown = ", ".join(names[place]) or "(no longer registered)"
        aggregates = ", ".join(map(str, bound.query.aggregates))
        lines.append(f"    ({place + 1}) {shown}: {bound.query.pattern} | {aggregates} | {_window(bound)}")
    return lines


def _template(run: Run) -> list[str]:
    machine: Template = run.template
    width = max((len(str(state)) for state in machine.states), default=0)
    lines = ["  Template"]
    for place, state in enumerate(machine.states):
        marks = [
            f"{label} {_numbers(numbers)}"
            for label, numbers in (("starts", machine.starts[place]), ("ends", machine.ends[place]))
            if numbers
        ]
        lines.append(f"    {state!s:<{width}}  {', '.join(marks)}".rstrip())
    lines.append("  Transitions (queries in one parenthesis share)")
    for transition in run.sharing.transitions:
        sets = ", ".join(
            _numbers(qset.queries) + _guarded(machine, qset.queries[0], transition) for qset in transition.qsets
        )
        arrow = f"{machine.states[transition.source]} -> {machine.states[transition.target]}"
        lines.append(f"    {arrow}: {sets}")
    return [*lines, *_comparisons(machine)]


def _guarded(machine: Template, query: int, transition: TransitionPlan) -> str:
    """What must not happen for a query to take a transition."""
    places = machine.places[query]
    source, target = places.index(transition.source), places.index(transition.target)
    condition = machine.automata[query].follows[source][target]
    return "" if condition == ALWAYS else f" while {condition.text(machine.guard_names)}"


def _comparisons(machine: Template) -> list[str]:
    """How conditions on adjacent events are evaluated."""
    found: dict[str, None] = {}
    for automaton, places in zip(machine.automata, machine.places, strict=True):
        for after in automaton.follows:
            for target, condition in after.items():
                step = machine.states[places[target]].step
                if step is not None:
                    found[f"    {step.text}: {access(step.condition, condition != ALWAYS).value}"] = None
    return ["  Conditions on the event before", *found] if found else []


def _totals(run: Run) -> list[str]:
    shared = sum(len(t.qsets) for t in run.sharing.transitions)
    all_links = sum(len(t.queries) for t in run.template.transitions)
    return [
        f"  Sharing: {run.sharing.optimizer} (equal prefixes merged): {all_links} transitions of queries are "
        f"propagated as {shared}; {len(run.plan.cells)} running totals"
    ]


def _numbers(queries: Sequence[int]) -> str:
    return "(" + ",".join(str(query + 1) for query in queries) + ")"


def _source(query: TrendQuery) -> str:
    start, end = query.use.source_at
    return " ".join(query.use.sql[start:end].split())


def _window(bound: BoundQuery) -> str:
    window: Window | None = bound.query.window
    if window is None:
        return "unbounded"
    within, slide = (_duration(length, bound.time_kind) for length in (window.within, window.slide))
    return f"within {within}" if window.within == window.slide else f"within {within} slide {slide}"


def _duration(length: int, kind: TimeKind) -> str:
    if kind is TimeKind.INTEGRAL:
        return str(length)
    if kind is TimeKind.DATE:
        return _count(length, "day", "days")
    for unit, size in _MICROSECONDS:
        if length % size == 0:
            return _count(length // size, unit, unit + "s")
    return _count(length, "microsecond", "microseconds")


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
