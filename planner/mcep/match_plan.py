"""The match plan: which partial matches are built, from which others, and which queries their matches are of."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from sparkext.planner.mcep.annealing import TargetPattern
from sparkext.planner.mcep.local_plans import LocalPlan
from sparkext.planner.mcep.partial_matches import Expected, Kinds
from sparkext.planner.patterns.query import EventClass
from sparkext.planner.sharing.not_planned import NotPlanned


@dataclass(frozen=True, slots=True)
class MatchNode:
    """Partial matches: tuples of events, each later than the one before it.

    Attributes:
        classes: What each of the events must be.
        children: The nodes, earlier in the plan, of which they are put together; None for the events of one class.
        indexes: Which of the events are those of the first child.
        within: How much less than that the last event is after the first, in units of the time column; None for any
            time.
        expected: How many of them are expected in a key and a window of that length.
    """

    classes: tuple[EventClass, ...]
    children: tuple[int, int] | None
    indexes: tuple[int, ...]
    within: int | None
    expected: float


@dataclass(frozen=True, slots=True)
class Root:
    """Trends of a query.

    Attributes:
        query: Its number in the pool.
        node: The node that they are built at.
        labels: The variable of each of their events.
    """

    query: int
    node: int
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MatchPlan:
    """How the matches of some queries are built.

    Attributes:
        nodes: A node comes after its children.
        roots: By query.
    """

    nodes: tuple[MatchNode, ...]
    roots: tuple[Root, ...]

    @property
    def queries(self) -> frozenset[int]:
        """Those whose matches are built."""
        return frozenset(root.query for root in self.roots)

    @property
    def matches(self) -> float:
        """How many partial matches are expected in a key and window, those of single events included."""
        return sum(node.expected for node in self.nodes)

    def users(self) -> list[set[int]]:
        """Per node, the queries for which it is built."""
        found: list[set[int]] = [set() for _ in self.nodes]
        for root in self.roots:
            found[root.node].add(root.query)
        for number in reversed(range(len(self.nodes))):
            for child in self.nodes[number].children or ():
                found[child] |= found[number]
        return found


@dataclass(frozen=True, slots=True)
class MatchSearch:
    """What MCEP has found.

    Attributes:
        plan: How matches are built; without roots if there is no query that it knows.
        not_planned: Queries that it does not know.
        by: ``orders`` or ``trees``.
        by_themselves: Partial matches if each query had its own best order, and nothing were shared.
        as_written: Likewise if each took events in the order of its pattern.
    """

    plan: MatchPlan
    not_planned: tuple[NotPlanned, ...]
    by: str
    by_themselves: float
    as_written: float


def match_plan(
    patterns: Sequence[TargetPattern],
    plans: Sequence[LocalPlan],
    roots: Mapping[int, Sequence[tuple[int, tuple[str, ...]]]],
    lengths: Sequence[int | None],
    expected: Expected,
    classes: Mapping[Hashable, EventClass],
) -> MatchPlan:
    """Nodes of the local plans of patterns, of which equal ones are one.

    Args:
        patterns: Distinct ones.
        plans: Of each.
        roots: Per query its patterns, by number, each with the variables of its events.
        lengths: Per query that of its window; None for any.
        expected: Numbers of partial matches.
        classes: What the kinds of the patterns are.
    """
    made: dict[Kinds, tuple[Kinds, Kinds, tuple[int, ...]]] = {}
    for pattern, plan in zip(patterns, plans, strict=True):
        for left, right in plan.joins:
            both = pattern.node(left | right)
            among = (position for position in range(len(pattern.kinds)) if (left | right) >> position & 1)
            indexes = tuple(index for index, position in enumerate(among) if left >> position & 1)
            made.setdefault(both, (pattern.node(left), pattern.node(right), indexes))
    reach: dict[Kinds, float] = {}
    part: dict[Kinds, float] = {}
    for query, mine in roots.items():
        within = lengths[query]
        for pattern_number, _ in mine:
            pattern = patterns[pattern_number]
            todo = [pattern.kinds]
            while todo:
                node = todo.pop()
                reach[node] = max(reach.get(node, 0), inf if within is None else within)
                part[node] = max(part.get(node, 0.0), pattern.part)
                todo += made[node][:2] if node in made else ()
    order = sorted(reach, key=lambda node: (len(node), repr(node)))
    number = {node: index for index, node in enumerate(order)}
    nodes = [
        MatchNode(
            classes=tuple(classes[kind] for kind in node),
            children=(number[made[node][0]], number[made[node][1]]) if node in made else None,
            indexes=made[node][2] if node in made else (),
            within=None if reach[node] == inf else int(reach[node]),
            expected=expected(node, part[node]),
        )
        for node in order
    ]
    return MatchPlan(
        tuple(nodes),
        tuple(
            Root(query, number[patterns[pattern].kinds], labels)
            for query in sorted(roots)
            for pattern, labels in roots[query]
        ),
    )
