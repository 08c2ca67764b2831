"""The document of ``EXPLAIN SHARING JSON``, read into plain values for the pictures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sparkext.planner.amounts import amount, cost
from sparkext.planner.patterns.query import Selection


@dataclass(frozen=True, slots=True)
class Query:
    """A registered query.

    Attributes:
        number: In its pass, from 1; None for one that could not be planned. Queries that compute the same
            have the same number.
        name: That it is registered as.
        pattern: Canonical, and which events its trends may leave out, unless that is all.
        aggregates: That its measures are made of.
        measures: Their names.
        window: In plain words.
        sql: The statement that it was written in.
    """

    number: int | None
    name: str
    pattern: str
    aggregates: tuple[str, ...]
    measures: tuple[str, ...]
    window: str
    sql: str


@dataclass(frozen=True, slots=True)
class QSet:
    """Queries that go over a transition together.

    Attributes:
        numbers: Of the queries, ascending.
        snapshot: State at whose events snapshots are taken.
        guard: What must not happen meanwhile.
        cost: Of what goes over the transition.
    """

    numbers: tuple[int, ...]
    snapshot: str | None
    guard: str | None = None
    cost: float = 0.0

    @property
    def is_alone(self) -> bool:
        """Whether it is one query with totals of its own."""
        return self.snapshot is None and len(self.numbers) == 1


@dataclass(frozen=True, slots=True)
class TemplateState:
    """A state of the template, with the queries that start and end there, and what it costs in itself."""

    name: str
    event: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    cost: float


@dataclass(frozen=True, slots=True)
class Transition:
    """From state to state, by their numbers in the template."""

    source: int
    target: int
    qsets: tuple[QSet, ...]


@dataclass(frozen=True, slots=True)
class Statistic:
    """Events of a class in a group and window, and how that is known."""

    event: str
    events: float
    origin: str


@dataclass(frozen=True, slots=True)
class ComparedStrategy:
    """What one optimizer makes of a workload.

    Attributes:
        optimizer: Its name.
        cost: Of its plan; None if the workload is too large for it.
        milliseconds: How long it took; None likewise.
        not_planned: Names of the queries that it leaves alone, with the reasons.
    """

    optimizer: str
    cost: float | None
    milliseconds: float | None
    not_planned: tuple[tuple[str, str], ...]


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

    def shown(self, value: float) -> str:
        """One of these costs, or of a part of the plan, with its unit."""
        return cost(value, self.model)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node of the graph in which a plan was searched for: how the queries of some transitions might be divided.

    Attributes:
        name: ``n`` and a number.
        transitions: Names of states, from and to.
        qsets: The division.
        rule: What generated it.
        cost: Least cost to get there.
        to_end: Cost from there to the end, for the queries that end.
        before: Candidates that it may follow, with the cost of doing so.
        in_plan: Whether the plan divides the queries like this.
        pruned_by: The candidate that is better.
    """

    name: str
    transitions: tuple[tuple[str, str], ...]
    qsets: tuple[QSet, ...]
    rule: str
    cost: float
    to_end: float
    before: tuple[tuple[str, float], ...]
    in_plan: bool
    pruned_by: str | None


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
        candidates: Of the graph of the search, in order of generation.
        edges: Of that graph, and how many of them were pruned.
        running_totals: That the kernel keeps.
    """

    optimizer: str
    milliseconds: float
    statistics: tuple[Statistic, ...]
    states: tuple[TemplateState, ...]
    transitions: tuple[Transition, ...]
    conditions: tuple[tuple[str, str], ...]
    looking_back: tuple[tuple[str, str], ...]
    costs: Costs
    candidates: tuple[Candidate, ...]
    edges: tuple[int, int]
    running_totals: int


@dataclass(frozen=True, slots=True)
class Pass:
    """A pass over the source of a pool.

    Attributes:
        name: Of the pool, and the number of the pass if it has several.
        source: The relation.
        group_by: Keys of the results.
        other_keys: Keys besides.
        order_by: Event time.
        state: ``planned``, ``computed`` or ``broken``.
        kept: Whether the results are kept.
        queries: That are shown.
        names: Of all queries by number, also of others that they share with.
        plan: None when no query could be planned.
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

    @property
    def planned(self) -> int:
        """How many queries the plan is of: those that are shown, and others that they share with."""
        shown = [query.number for query in self.queries if query.number is not None]
        return len(shown) + len(self.names.keys() - set(shown))

    def name_of(self, number: int) -> str:
        """Of a query; several when it is registered more than once."""
        return self.names.get(number, "(no longer registered)")


def read(document: str) -> tuple[Pass, ...]:
    """The passes of a document.

    Raises:
        ValueError: It is not JSON.
        KeyError: It is another document.
    """
    return tuple(map(_pass, json.loads(document)["pools"]))


def _pass(entry: dict[str, Any]) -> Pass:
    names: dict[int, list[str]] = {p["number"]: list(p["names"]) for p in entry.get("partners", ())}
    for query in entry["queries"]:
        if query["number"] is not None:
            names.setdefault(query["number"], []).append(query["name"])
    return Pass(
        name=entry["name"],
        source=entry["source"],
        group_by=tuple(entry["group_by"]),
        other_keys=tuple(entry["other_keys"]),
        order_by=entry["order_by"],
        state=entry["state"],
        kept=entry.get("results_kept", False),
        queries=tuple(map(_query, entry["queries"])),
        names={number: ", ".join(known) for number, known in sorted(names.items()) if known},
        plan=_plan(entry) if "template" in entry else None,
    )


def _query(entry: dict[str, Any]) -> Query:
    within, slide = entry["within"], entry["slide"]
    selection = Selection(entry.get("selection", Selection.ANY))
    window = "unbounded" if within is None else within if within == slide else f"{within}, every {slide}"
    return Query(
        entry["number"],
        entry["name"],
        selection.of(entry["pattern"]),
        tuple(entry["aggregates"]),
        tuple(entry["measures"]),
        f"{window}, span {entry['span']}" if "span" in entry else window,
        entry["sql"],
    )


def _plan(entry: dict[str, Any]) -> Plan:
    at = {state["state"]: number for number, state in enumerate(entry["template"])}
    costs, graph = entry["cost"], entry["graph"]
    return Plan(
        optimizer=entry["optimizer"],
        milliseconds=entry["optimization_ms"],
        statistics=tuple(Statistic(event, s["events"], _origin(s)) for event, s in entry["statistics"].items()),
        states=tuple(
            TemplateState(s["state"], s["event"], tuple(s["start_numbers"]), tuple(s["end_numbers"]), s["cost"])
            for s in entry["template"]
        ),
        transitions=tuple(
            Transition(
                at[t["from"]],
                at[t["to"]],
                tuple(QSet(tuple(q["numbers"]), q["snapshot"], q["while"], q["cost"]) for q in t["qsets"]),
            )
            for t in entry["transitions"]
        ),
        conditions=tuple((c["condition"], c["found_by"]) for c in entry["conditions_on_the_event_before"]),
        looking_back=tuple((c["condition"], c["found_by"]) for c in entry.get("conditions_on_earlier_events", ())),
        costs=Costs(
            costs["model"],
            costs["chosen"],
            costs["none"],
            costs["greedy"],
            costs["published_rules"],
            costs["bound"],
            tuple(map(_compared, entry.get("compared", ()))),
        ),
        candidates=tuple(map(_candidate, graph["trace"])),
        edges=(graph["edges"], graph["pruned_edges"]),
        running_totals=entry["running_totals"],
    )


def _origin(statistic: dict[str, Any]) -> str:
    """How it is known how many events there are, and what a pass that was planned otherwise has counted."""
    origin, counted = str(statistic["origin"]), statistic.get("counted")
    return origin if counted is None else f"{origin}; the pass has counted {amount(counted)}"


def _compared(row: dict[str, Any]) -> ComparedStrategy:
    apart = tuple((", ".join(one["names"]) or f"({one['number']})", one["why"]) for one in row["not_planned"])
    return ComparedStrategy(row["optimizer"], row["cost"], row["planning_ms"], apart)


def _candidate(node: dict[str, Any]) -> Candidate:
    return Candidate(
        name=node["node"],
        transitions=tuple((source, target) for source, target in node["transitions"]),
        qsets=tuple(QSet(tuple(part["numbers"]), part["snapshot"]) for part in node["divided"]),
        rule=node["rule"],
        cost=node["d_s"],
        to_end=node["to_end"],
        before=tuple(zip(node["from"], node["weights"], strict=True)),
        in_plan=node["in_plan"],
        pruned_by=node["pruned_by"],
    )
