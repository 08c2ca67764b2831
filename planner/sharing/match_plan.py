"""The match plan: which partial matches are built, from which others, and which queries their matches are of."""

from __future__ import annotations

from dataclasses import dataclass

from sparkext.planner.patterns.query import EventClass


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
        queries_of: list[set[int]] = [set() for _ in self.nodes]
        for root in self.roots:
            queries_of[root.node].add(root.query)
        for number in reversed(range(len(self.nodes))):
            for child in self.nodes[number].children or ():
                queries_of[child] |= queries_of[number]
        return queries_of
