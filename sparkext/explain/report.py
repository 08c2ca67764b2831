"""What there is to say about the workload, put together for all forms of ``EXPLAIN SHARING``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sparkext.binding.bound_query import BoundQuery
from sparkext.binding.event_time import TimeKind
from sparkext.jvm.relation_filter import name_of
from sparkext.planner.amounts import count
from sparkext.planner.automata.guards import ALWAYS
from sparkext.planner.conditions.access import accesses, is_ranked
from sparkext.planner.errors import PlanningError
from sparkext.planner.kernel_plan.kernel_plan import Access
from sparkext.planner.patterns.prev_condition import Operand
from sparkext.planner.patterns.query import EventClass, Selection
from sparkext.planner.problem.strategy import Audience, Report
from sparkext.planner.sharing.not_planned import Reason
from sparkext.planner.sharing.sharing_plan import QSet, TransitionPlan
from sparkext.workload.run import Run
from sparkext.workload.trend_query import TrendQuery, by_pool

_MICROSECONDS = (("day", 86_400_000_000), ("hour", 3_600_000_000), ("minute", 60_000_000), ("second", 1_000_000))


@dataclass(frozen=True, slots=True)
class PassReport:
    """One pass over the source of a pool.

    Attributes:
        run: That makes it.
        names: Per query of the run, what it is registered as; several when it is registered more than once.
        shown: Queries of the run, by number, that are to be shown.
    """

    run: Run
    names: tuple[tuple[str, ...], ...]
    shown: tuple[int, ...]

    def called(self, query: int) -> str:
        """What a query of the run is registered as."""
        return ", ".join(self.names[query]) or "(no longer registered)"

    def counted(self, event: EventClass) -> float | None:
        """How many events of a class the pass has counted in a group and window, if the plan was made without that."""
        known = self.run.known()[event]
        is_counted = self.run.counted.seen() is not None and known.origin == "counted"
        return known.events if is_counted and self.run.expected[event].origin != "counted" else None

    def search(self) -> Report:
        """How the optimizer found the plan."""
        optimized = self.run.optimized
        audience = Audience(self.shown, self.names, optimized.found.plan)
        return optimized.found.report(self.run.template, optimized.model.name, audience)

    def not_planned(self) -> dict[int, Reason]:
        """The queries that the optimizer has left alone, with the reasons."""
        return {apart.query: apart.reason for apart in self.run.optimized.found.not_planned or ()}

    def transitions(self) -> list[TransitionPlan]:
        """Transitions that some of the shown queries have, with all Q-sets of which some have a part."""
        wanted = set(self.shown)
        found = []
        for transition in self.run.sharing.transitions:
            qsets = tuple(qset for qset in transition.qsets if wanted & set(qset.queries))
            if qsets:
                found.append(TransitionPlan(transition.source, transition.target, qsets))
        return found

    def partners(self) -> list[int]:
        """Queries that are not shown, and are in Q-sets with some that are."""
        return sorted({q for t in self.transitions() for s in t.qsets for q in s.queries} - set(self.shown))

    def states(self) -> list[int]:
        """States of the template that some of the shown queries have."""
        return sorted({state for query in self.shown for state in self.run.template.states_of[query]})

    def guarded(self, transition: TransitionPlan, qset: QSet) -> str | None:
        """What must not happen for a Q-set to take a transition; None when it always may."""
        template, query = self.run.template, qset.queries[0]
        states = template.states_of[query]
        source, target = states.index(transition.source), states.index(transition.target)
        condition = template.automata[query].follows[source][target]
        return None if condition == ALWAYS else condition.text(template.guard_names)

    def comparisons(self) -> list[tuple[str, str]]:
        """The conditions on adjacent events of the shown queries, with what finds the events before."""
        template = self.run.template
        found: dict[tuple[str, str], None] = {}
        for query in self.shown:
            states, selection = template.states_of[query], template.queries[query].selection
            for after in template.automata[query].follows:
                for target, condition in after.items():
                    step = template.states[states[target]].step
                    if step is not None and step.anchor is None:
                        structures = accesses(step.condition, condition != ALWAYS)
                        found[step.text, _SCANNED.get(selection) or _found_by(structures)] = None
        return list(found)

    def looking_back(self) -> list[tuple[str, str]]:
        """The conditions on the latest event of a variable of the shown queries, with what finds these events."""
        template = self.run.template
        found: dict[tuple[str, str], None] = {}
        for query in self.shown:
            for source, after in enumerate(template.automata[query].follows):
                for target in after:
                    step = template.states[template.states_of[query][target]].step
                    if step is not None and step.anchor is not None:
                        how = _looked_up_by(step.condition, template.is_open(query, source))
                        found[step.text, f"looks back at {step.anchor}, by {how}"] = None
        return list(found)


@dataclass(frozen=True, slots=True)
class PoolReport:
    """A pool.

    Attributes:
        name: ``pool`` and a number.
        queries: In order of registration.
        passes: In order of the first query that they serve.
    """

    name: str
    queries: tuple[TrendQuery, ...]
    passes: tuple[PassReport, ...]


_SCANNED = {
    Selection.NEXT: "scan of the events before that nothing has come after",
    Selection.CONTIGUOUS: "scan of the events of the time before",
}
"""What finds the events before where a trend may not leave out every event."""


def _found_by(structures: tuple[Access, ...]) -> str:
    """What finds the events before, one for each of the terms that a condition is taken apart into."""
    if structures == (Access.SCAN,):
        return "scan of all events before"
    return " + ".join(access.value for access in structures)


def _looked_up_by(condition: Operand, is_open: bool) -> str:
    """What finds the latest events of a variable; ``is_open``: other events may lie between."""
    structures = accesses(condition, False)
    if is_open and is_ranked(condition):
        return "scan of the ranks of its events"
    return "scan of its events" if is_open or structures == (Access.SCAN,) else _found_by(structures)


def report(queries: Sequence[TrendQuery], only: str | None = None) -> list[PoolReport]:
    """What there is to say.

    Args:
        queries: All queries, in order of registration; those in no run could not be planned.
        only: Name of a view or query, when only that is to be reported.

    Raises:
        PlanningError: ``TREND_UNKNOWN_QUERY``.
    """
    reports = [_pool(name, members, only) for name, members in by_pool(queries).items()]
    if only is None:
        return reports
    found = [pool for pool in reports if pool.queries]
    if not found:
        known = ", ".join(query.bound.query.name for query in queries)
        said = f"There are: {known}." if known else "There is none; views with MATCH_TREND make some."
        raise PlanningError("TREND_UNKNOWN_QUERY", 0, 0, name=only, known=said)
    return found


def _pool(name: str, queries: Sequence[TrendQuery], only: str | None) -> PoolReport:
    wanted = tuple(query for query in queries if only is None or _is_named(query, only))
    passes: list[PassReport] = []
    for run in dict.fromkeys(query.run for query in wanted if query.run is not None):
        names: list[list[str]] = [[] for _ in run.queries]
        for query in queries:
            index = run.index_of(query.bound) if query.run is run else None
            if index is not None:
                names[index].append(query.bound.query.name)
        mine = {run.index_of(query.bound) for query in wanted if query.run is run}
        shown = tuple(index for index in range(len(run.queries)) if only is None or index in mine)
        passes.append(PassReport(run, tuple(map(tuple, names)), shown))
    return PoolReport(name, wanted, tuple(passes))


def _is_named(query: TrendQuery, name: str) -> bool:
    own = query.bound.query.name.lower()
    return own == name.lower() or own.rpartition("#")[0] == name.lower()


def source_text(query: TrendQuery) -> str:
    """The relation before the clause as it was written."""
    start, end = query.use.source_at
    return " ".join(query.use.sql[start:end].split())


def source_of_pool(queries: Sequence[TrendQuery]) -> str:
    """The relation that the queries of a pool read: as one that reads all of it was written, or by its name."""
    whole = next((query for query in queries if query.bound.part is None), None)
    name = None if whole is not None else name_of(queries[0].bound.source)
    return name or source_text(whole or queries[0])


def window_text(bound: BoundQuery) -> str:
    """The window of a query, and the span of its trends if they have one, in plain words."""
    window, span = bound.query.window, bound.query.span
    spanned = "" if span is None else f", span {duration(span, bound.time_kind)}"
    if window is None:
        return f"unbounded{spanned}"
    within, slide = (duration(length, bound.time_kind) for length in (window.within, window.slide))
    shown = f"within {within}" if window.within == window.slide else f"within {within} slide {slide}"
    return f"{shown}{spanned}"


def pattern_text(bound: BoundQuery) -> str:
    """The pattern of a query, and which events its trends may leave out, unless that is all."""
    return bound.query.selection.of(str(bound.query.pattern))


def duration(length: int, kind: TimeKind) -> str:
    """A length of time in plain words."""
    if kind is TimeKind.INTEGRAL:
        return str(length)
    if kind is TimeKind.DATE:
        return count(length, "day", "days")
    for unit, size in _MICROSECONDS:
        if length % size == 0:
            return count(length // size, unit, unit + "s")
    return count(length, "microsecond", "microseconds")
