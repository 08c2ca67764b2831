"""What there is to say of the trend queries of a session: a tree of plain values, which all forms of
``EXPLAIN SHARING`` are written from.

Queries of a pass go by numbers from 1. Costs are in nanoseconds, or in touches with the cost model ``paper``, per group
and window.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from sparkext.planner.amounts import amount, cost, count, part, size
from sparkext.planner.optimizers import NOTHING
from sparkext.planner.patterns.query import Selection
from sparkext.planner.problem.strategy import Report as Search

NO_GRAPH: dict[str, Any] = {"nodes": 0, "edges": 0, "pruned_nodes": 0, "pruned_edges": 0, "trace": []}
"""Of plans that are not searched for in a graph."""

NO_NAME = "(no longer registered)"

TOO_MANY_PLANS = "too many plans to look at"
"""What is said of an optimizer for which a workload is too large."""

NOTHING_REGISTERED = "No views of this session hold trend queries; queries outside of views are not listed."


@dataclass(frozen=True, slots=True)
class Clause:
    """What a query asks for.

    Attributes:
        pattern: Canonical.
        selection: Which events its trends may leave out.
        aggregates: That its measures are made of.
        completions: What it asks of completions.
        measures: Names of its measures.
        within: Length of its windows, in plain words; None if it has none.
        slide: From a window to the next, likewise.
        span: Most that a trend may take, likewise.
    """

    pattern: str
    selection: Selection
    aggregates: tuple[str, ...]
    completions: tuple[str, ...]
    measures: tuple[str, ...]
    within: str | None
    slide: str | None
    span: str | None

    @property
    def pattern_text(self) -> str:
        """The pattern, and which events its trends may leave out, unless that is all."""
        return self.selection.of(self.pattern)

    @property
    def asked_text(self) -> str:
        """Aggregates, and what is asked of completions."""
        return ", ".join((*self.aggregates, *self.completions))

    def window_text(self, within: str = "within ", slide: str = " slide ") -> str:
        """Windows, and the span of trends if they have one, in plain words.

        Args:
            within: What is said before the length of windows.
            slide: What is said before the slide.
        """
        spanned = "" if self.span is None else f", span {self.span}"
        if self.within is None:
            return f"unbounded{spanned}"
        return f"{within}{self.within}{'' if self.within == self.slide else f'{slide}{self.slide}'}{spanned}"


@dataclass(frozen=True, slots=True)
class Query:
    """A registered query.

    Attributes:
        number: In its pass; None for one that could not be planned. Queries that compute the same have the same number.
        name: That it is registered as.
        clause: What it asks for.
        sql: The statement that it was written in.
        source: The relation before the clause, as it was written.
        state: ``broken``, ``planned``, ``computed`` or ``computed in another session``.
    """

    number: int | None
    name: str
    clause: Clause
    sql: str
    source: str = ""
    state: str = ""


@dataclass(frozen=True, slots=True)
class Partner:
    """A query of a pass, which may be registered more than once.

    Attributes:
        number: In the pass.
        names: That it is registered as.
    """

    number: int
    names: tuple[str, ...]

    @property
    def called(self) -> str:
        """What it is registered as."""
        return ", ".join(self.names) or NO_NAME


@dataclass(frozen=True, slots=True)
class LeftAlone(Partner):
    """A query that an optimizer does not plan.

    Attributes:
        reason: A word for programs.
        why: For people.
    """

    reason: str
    why: str


@dataclass(frozen=True, slots=True)
class Member(Partner):
    """A shown query of a pass.

    Attributes:
        clause: What it asks for.
        notes: What is to be known of it.
        left_alone: Why the optimizer does not plan it; None if it does.
    """

    clause: Clause
    notes: tuple[str, ...]
    left_alone: LeftAlone | None


@dataclass(frozen=True, slots=True)
class QSet:
    """Queries that go over a transition together.

    Attributes:
        numbers: Of the queries, ascending.
        snapshot: State at whose events snapshots are taken.
        guard: What must not happen meanwhile.
        cost: Of what goes over the transition.
        names: That the queries are registered as.
    """

    numbers: tuple[int, ...]
    snapshot: str | None
    guard: str | None = None
    cost: float = 0.0
    names: tuple[str, ...] = ()

    @property
    def is_alone(self) -> bool:
        """Whether it is one query with totals of its own."""
        return self.snapshot is None and len(self.numbers) == 1

    def __str__(self) -> str:
        """As the paper writes it: ``(1,2)^A``, or ``(1,2)^burst``."""
        return numbered(self.numbers) + ("" if self.snapshot is None else f"^{self.snapshot}")


@dataclass(frozen=True, slots=True)
class TemplateState:
    """A state of the template.

    Attributes:
        name: Of the state.
        event: Its class.
        starts: Queries that start there, of those that are shown or share with these.
        ends: Queries that end there, likewise.
        cost: In itself.
        number: In the template of the pass, which may have states that are not shown.
        has_snapshots: Whether snapshots are taken at its events.
        starting: Names of all queries that start there.
        ending: Names of all queries that end there.
    """

    name: str
    event: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    cost: float
    number: int = 0
    has_snapshots: bool = False
    starting: tuple[str, ...] = ()
    ending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Transition:
    """A transition from state to state, by their places among those of the plan."""

    source: int
    target: int
    qsets: tuple[QSet, ...]


@dataclass(frozen=True, slots=True)
class Statistic:
    """Events of a class in a group and window, and how that is known.

    Attributes:
        event: The class.
        events: That the plan was made with.
        known_from: How that is known.
        counted: Events that the pass has counted, if the plan was made without that.
        is_missing: Whether the pass has found none.
    """

    event: str
    events: float
    known_from: str
    counted: float | None = None
    is_missing: bool = False

    @property
    def counted_text(self) -> str:
        """What the pass has counted, after how that was known before; empty where that is not new."""
        if self.is_missing:
            return "; the pass has found none"
        return "" if self.counted is None else f"; the pass has counted {amount(self.counted)}"

    @property
    def origin(self) -> str:
        """How it is known how many events there are, and what a pass that was planned otherwise has counted."""
        return self.known_from + self.counted_text


@dataclass(frozen=True, slots=True)
class ComparedStrategy:
    """What one optimizer makes of a workload.

    Attributes:
        optimizer: Its name.
        cost: Of its plan; None if the workload is too large for it.
        milliseconds: How long it took; None likewise.
        is_cut_short: Whether the plan is the best that was found before the budget was used up.
        not_planned: The shown queries that it leaves alone.
        all_not_planned: How many it leaves alone, shown or not.
    """

    optimizer: str
    cost: float | None
    milliseconds: float | None
    is_cut_short: bool
    not_planned: tuple[LeftAlone, ...]
    all_not_planned: int


@dataclass(frozen=True, slots=True)
class Costs:
    """What the plan costs, and what others would; None where that is not known, nothing where it is not asked for."""

    model: str
    chosen: float
    none: float
    greedy: float
    published: float | None
    bound: float | None
    compared: tuple[ComparedStrategy, ...] = ()

    @property
    def is_proved(self) -> bool:
        """Whether it is known that no plan costs less."""
        return self.bound is not None and self.bound >= self.chosen * (1 - 1e-9)

    @property
    def compared_none(self) -> float:
        """What it costs to share nothing, by what is known of the events now; of what has been compared."""
        return next(row.cost for row in self.compared if row.optimizer == NOTHING and row.cost is not None)

    def of_nothing(self, row: ComparedStrategy) -> str:
        """What part of sharing nothing the plan of one of the compared costs; empty if it has none."""
        return "" if row.cost is None else part(row.cost, self.compared_none).removesuffix(" of")

    def shown(self, value: float) -> str:
        """One of these costs, or of a part of the plan, with its unit."""
        return cost(value, self.model)


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop that is shared by bursts.

    Attributes:
        states: Names of its states.
        qset: Who shares it.
        least: From how many events on a burst is shared; None if none is.
        seen: Bursts for which there was a choice, how many were shared, and the events of these; None before a pass.
    """

    states: tuple[str, ...]
    qset: QSet
    least: int | None
    seen: tuple[int, int, int] | None


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept to find completions: a node for each event that takes part, with the rows that registers hold.

    Attributes:
        states: How many of the template.
        registers: Of a node.
        has_lists: Whether all nodes of a trend are kept, or those that states lead to.
        totals: Per beginning; None if nothing is counted.
    """

    states: int
    registers: int
    has_lists: bool
    totals: int | None


@dataclass(frozen=True, slots=True)
class Figures:
    """Numbers of a whole pass.

    Attributes:
        queries: Of the pass.
        links: Transitions of queries.
        propagated: As how many they are.
        by_fallback: Events without linear forms, where that was faster or on trial.
        interpreted: Events that were interpreted, as the kernel was yet to be compiled.
        migrated: Costs of the plan before and of this one, if another has been given up for it.
        completions: What is kept to find these, if some are asked for.
    """

    queries: int = 0
    links: int = 0
    propagated: int = 0
    by_fallback: int = 0
    interpreted: int = 0
    migrated: tuple[float, float] | None = None
    completions: Kept | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """How the queries of a pass share.

    Attributes:
        optimizer: That made the plan.
        milliseconds: That this took.
        statistics: Of the classes of events.
        states: Of the template.
        transitions: Of the template.
        conditions: On the event before, with how they are evaluated.
        looking_back: Likewise, on the latest event of a variable.
        costs: Of the plan.
        search: How the optimizer got there.
        running_totals: That the kernel keeps.
        members: The shown queries.
        partners: Queries that are not shown, and share with some that are.
        plans_all: Whether the optimizer leaves no query alone.
        loops: That are shared by bursts.
        budget: In seconds, if it was used up before the search was done.
        figures: Of the whole pass.
        counts_known_from: How it is known now how many events there are, as far as optimizers are compared.
    """

    optimizer: str
    milliseconds: float
    statistics: tuple[Statistic, ...]
    states: tuple[TemplateState, ...]
    transitions: tuple[Transition, ...]
    conditions: tuple[tuple[str, str], ...]
    looking_back: tuple[tuple[str, str], ...]
    costs: Costs
    search: Search
    running_totals: int
    members: tuple[Member, ...] = ()
    partners: tuple[Partner, ...] = ()
    plans_all: bool = True
    loops: tuple[Loop, ...] = ()
    budget: float | None = None
    figures: Figures = Figures()
    counts_known_from: tuple[str, ...] = ()

    @property
    def graph(self) -> dict[str, Any]:
        """The graph that was searched, as programs get it; empty for plans that are not searched for in a graph."""
        graph: dict[str, Any] = self.search.document.get("graph", NO_GRAPH)
        return graph

    def shown(self, numbers: Iterable[int]) -> list[int]:
        """Those queries, of some, that are shown."""
        members = {member.number for member in self.members}
        return [number for number in numbers if number in members]


@dataclass(frozen=True, slots=True)
class Made:
    """How a pass has been made last.

    Attributes:
        at: When it was done, in UTC, as ISO 8601 has it, to the second.
        seconds: That its jobs took.
        rows_read: That they have read.
        bytes_read: That they have read.
        events: That were processed.
        rows: Of the results that are kept.
        bytes_kept: That these take.

    What Spark does not remember, or is not kept, is None.
    """

    at: str
    seconds: float | None
    rows_read: int | None
    bytes_read: int | None
    events: int
    rows: int | None
    bytes_kept: int | None

    @property
    def text(self) -> str:
        """All of it as a phrase."""
        day, _, moment = self.at.removesuffix("Z").partition("T")
        said = f"{day} {moment} UTC" + ("" if self.seconds is None else f", in {self.seconds:.1f} s")
        return f"{said}; {self.read_text}{self._kept_text}"

    @property
    def read_text(self) -> str:
        """What was read."""
        events = count(self.events, "event", "events")
        if not self.rows_read or self.bytes_read is None:
            return events
        return f"{count(self.rows_read, 'row', 'rows')} read ({size(self.bytes_read)}), {events}"

    @property
    def _kept_text(self) -> str:
        if self.bytes_kept is None:
            return ""
        of = "" if self.rows is None else f"{count(self.rows, 'row', 'rows')} in "
        return f"; {of}{size(self.bytes_kept)} kept"


class Stream(Enum):
    """What computes the queries of a pass over a stream."""

    READ = "one operator, with one state"
    EXPECTED = "one operator for a UNION ALL of them, one for each where they are read apart"


@dataclass(frozen=True, slots=True)
class Pass:
    """A pass over the source of a pool.

    Attributes:
        name: Of the pool, and the number of the pass if it has several.
        source: The relation.
        group_by: Keys of the results.
        other_keys: Keys besides.
        order_by: Event time.
        state: As that of its queries.
        kept: Whether the results are kept.
        queries: That are shown.
        names: Of all queries by number, also of others that they share with.
        plan: None when no query could be planned.
        stream: What computes them, where the source is a stream.
        made: How it has been made last; None before.
    """

    name: str
    source: str
    group_by: tuple[str, ...]
    other_keys: tuple[str, ...]
    order_by: str
    state: str
    kept: bool
    queries: tuple[Query, ...]
    names: Mapping[int, str]
    plan: Plan | None
    stream: Stream | None = None
    made: Made | None = None

    @property
    def planned(self) -> int:
        """How many queries the plan is of: those that are shown, and others that they share with."""
        shown = [query.number for query in self.queries if query.number is not None]
        return len(shown) + len(self.names.keys() - set(shown))

    def name_of(self, number: int) -> str:
        """Name of a query; several when it is registered more than once."""
        return self.names.get(number, NO_NAME)


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool of queries, as it is reported.

    Attributes:
        name: ``pool`` and a number.
        queries: That are shown, in order of registration.
        broken: Names of those that could not be planned.
        notes: What is to be known of the keys and times of the source.
        passes: In order of the first query that they serve; one without a plan if no query could be planned.
    """

    name: str
    queries: tuple[Query, ...]
    broken: tuple[str, ...]
    notes: tuple[str, ...]
    passes: tuple[Pass, ...]

    @property
    def planned(self) -> tuple[tuple[Pass, Plan], ...]:
        """The passes that are planned, with their plans."""
        return tuple((source_pass, source_pass.plan) for source_pass in self.passes if source_pass.plan is not None)


@dataclass(frozen=True, slots=True)
class Report:
    """What there is to say of the trend queries of a session, all of it: texts, documents, graphs and pages read it.

    Attributes:
        pools: In order of their first queries.
    """

    pools: tuple[Pool, ...]

    def passes(self) -> Iterator[tuple[Pass, Plan]]:
        """The passes that are planned, with their plans."""
        for pool in self.pools:
            yield from pool.planned


def numbered(numbers: Iterable[int]) -> str:
    """Queries as the paper writes them: ``(1,2)``."""
    return f"({','.join(map(str, numbers))})"


def names_by_number(queries: Iterable[Query], partners: Iterable[Partner]) -> dict[int, str]:
    """What queries are called that are shown or share with these; those that are registered no more have no name."""
    names = {partner.number: list(partner.names) for partner in partners}
    for query in queries:
        if query.number is not None:
            names.setdefault(query.number, []).append(query.name)
    return {number: ", ".join(called) for number, called in sorted(names.items()) if called}
