"""The GLORIA graph: pools of candidate transition plans, and the edges between those of neighbouring pools."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from sparkext.planner.bits import bits, members
from sparkext.planner.problem.cost_model import Charge, CostModel, Departure
from sparkext.planner.problem.labels import ALONE
from sparkext.planner.problem.pricer import Pricer, total
from sparkext.planner.problem.problem import Problem
from sparkext.planner.sharing.sharing_plan import QSet


@dataclass(frozen=True, slots=True)
class Pool:
    """What is planned at once: one transition, or all transitions of a Kleene sub-pattern.

    Attributes:
        number: Among the pools; those before come first.
        transitions: By number in the template.
        queries: That have some of the transitions, ascending.
        preceding: Pools by which some query comes here; only such as are planned before.
        kleene: Whether it is a Kleene sub-pattern.
    """

    number: int
    transitions: tuple[int, ...]
    queries: tuple[int, ...]
    preceding: tuple[int, ...]
    kleene: bool


Sharing: TypeAlias = tuple[int, int]
"""A Q-set with snapshots: its queries as bits, and the state of the snapshots."""


@dataclass(slots=True, eq=False)
class Node:
    """A candidate: how the queries of a pool are divided into Q-sets, the same at all its transitions.

    Attributes:
        name: ``n`` and a number, in order of generation.
        pool: Number of the pool.
        queries: Of the pool, ascending.
        shared: The Q-sets with snapshots, ordered; all other queries go alone.
        rule: What generated it first.
        edges: Per preceding pool, the nodes it may follow, with the weight of the edge.
        d_s: Least cost of what comes before, found by the edges.
        d_e: Least cost of what comes after.
        dead_ends: Following pools to which there is no way on.
        pruned_by: The node that is better; None while nothing is.
        labels: Per query that does not go alone, the state of the snapshots of its Q-set.
        sets: The Q-sets with snapshots, as bits.
        masks: Per state of snapshots, and None, the queries of its Q-sets as bits.
    """

    name: str
    pool: int
    queries: tuple[int, ...]
    shared: tuple[QSet, ...]
    rule: str
    edges: dict[int, dict[Node, float]] = field(default_factory=dict)
    d_s: float = 0.0
    d_e: float = 0.0
    dead_ends: int = 0
    pruned_by: Node | None = None
    labels: dict[int, int | None] = field(init=False)
    sets: tuple[Sharing, ...] = field(init=False)
    masks: dict[int | None, int] = field(init=False)

    def __post_init__(self) -> None:
        self.labels = {query: qset.snapshot for qset in self.shared for query in qset.queries}
        self.sets = tuple([(bits(qset.queries), qset.snapshot) for qset in self.shared if qset.snapshot is not None])
        self.masks = {ALONE: bits(self.queries)}
        for queries, snapshot in self.sets:
            self.masks[snapshot] = self.masks.get(snapshot, 0) | queries
            self.masks[ALONE] ^= queries

    @property
    def qsets(self) -> tuple[QSet, ...]:
        """All Q-sets, ordered."""
        alone = [QSet((query,), None) for query in self.queries if query not in self.labels]
        return tuple(sorted((*self.shared, *alone), key=lambda qset: qset.queries))

    def label(self, query: int) -> int | None:
        """State of the snapshots of a query's Q-set; None when it goes alone."""
        return self.labels.get(query, ALONE)


GRAPH_PART = 0.4
"""Part of the budget after which nothing is added to a graph any more, so that some is left for what comes then."""


@dataclass(slots=True)
class Graph:
    """The graph of a problem, as far as it has been built.

    Attributes:
        pricer: Of its weights.
        pools: In topological order.
        nodes: Per pool its nodes, also those that have been pruned.
        generated: Number of nodes generated.
        edges: Number of edges generated.
        pruned_edges: Number of those pruned.
        node_of: Nodes by pool and Q-sets.
        part: Of the budget, after which nothing is added any more.
    """

    pricer: Pricer
    pools: tuple[Pool, ...]
    nodes: list[list[Node]]
    generated: int = 0
    edges: int = 0
    pruned_edges: int = 0
    node_of: dict[object, Node] = field(default_factory=dict, repr=False)
    part: float = GRAPH_PART
    _memo: dict[object, float] = field(default_factory=dict, repr=False)
    _queries: dict[tuple[int, int | None], int] = field(default_factory=dict, repr=False)
    _ends_at: dict[int, int] = field(default_factory=dict, repr=False)
    _users: dict[int, int] = field(default_factory=dict, repr=False)
    _listed: dict[int, tuple[int, ...]] = field(default_factory=dict, repr=False)
    _at: dict[int, list[int]] = field(default_factory=dict, repr=False)
    _passes: dict[tuple[int, int | None], list[tuple[int, int]]] = field(default_factory=dict, repr=False)

    @property
    def problem(self) -> Problem:
        """The problem."""
        return self.pricer.problem

    @property
    def model(self) -> CostModel:
        """Its costs."""
        return self.pricer.model

    def kept(self, pool: int) -> list[Node]:
        """Nodes of a pool that have not been pruned."""
        return [node for node in self.nodes[pool] if node.pruned_by is None]

    def all_nodes(self) -> Iterator[Node]:
        """All nodes, also those that have been pruned."""
        for nodes in self.nodes:
            yield from nodes

    def starts(self, pool: Pool) -> float:
        """Cost of the starts at the states that the transitions of a pool leave."""
        problem = self.problem
        states = {problem.transitions[number].source for number in pool.transitions}
        return self.pricer.starts(
            (query, state)
            for query in pool.queries
            for state in sorted(states & problem.starts[query])
            if pool.kleene or not any(self.pools[k].kleene and query in self.pools[k].queries for k in pool.preceding)
        )

    def weight(self, before: Node, after: Node | None) -> float:
        """Weight of an edge; ``after`` is None for the end.

        It is the cost of what goes over the transition of ``before`` for the queries of ``after``, and of
        turning it into values where ``after`` needs them.
        """
        pool = self.pools[before.pool]
        between = self._between(pool, after)
        if pool.kleene:
            return self._out_of(before, after, between)
        number = pool.transitions[0]
        propagation = (before, None if after is None else after.pool)
        if propagation not in self._memo:
            self._memo[propagation] = self.propagation(number, before, between)
        state = self.problem.transitions[number].target
        fresh, alone = (0, 0) if after is None else (after.masks.get(state, 0), after.masks.get(ALONE, 0))
        ends = self._ending(state)
        next_pool = -1 if after is None else after.pool
        weight = self._memo[propagation]
        for snapshot, queries in before.masks.items():
            sharing = queries & between
            if snapshot is not ALONE and (left := sharing & (fresh | alone | ends)):
                key = (state, snapshot, left, sharing & fresh, sharing & alone, next_pool)
                if key not in self._memo:
                    self._memo[key] = self._evaluation(state, snapshot, self.numbers(left), after)
                weight += self._memo[key]
        return weight

    def _evaluation(self, state: int, snapshot: int, queries: Iterable[int], after: Node | None) -> float:
        """Cost of turning what comes to a state over snapshots into values, for queries that need them."""
        return total(
            charge
            for query in queries
            for charge in self.pricer.evaluation(query, state, snapshot, self._leaving(query, state, after))
        )

    def propagation(self, number: int, node: Node, queries: int) -> float:
        """Cost of what goes over a transition, as far as some queries need it, which are given as bits."""
        wanted = queries & self.users(number)
        shared = [self._over(number, snapshot, sharing & wanted) for sharing, snapshot in node.sets if sharing & wanted]
        return self._alone(number, node.masks[ALONE] & wanted) + sum(shared)

    def _alone(self, number: int, queries: int) -> float:
        """Cost of what goes over a transition for queries that go alone."""
        key = (number, queries)
        if key not in self._memo:
            self._memo[key] = sum([total(self.pricer.values(query, number)) for query in self.numbers(queries)])
        return self._memo[key]

    def _over(self, number: int, snapshot: int, queries: int) -> float:
        """Cost of what goes over a transition for a Q-set with snapshots."""
        key = (number, snapshot, queries)
        if key not in self._memo:
            self._memo[key] = total(self.pricer.form(self.numbers(queries), number, snapshot))
        return self._memo[key]

    def users(self, number: int) -> int:
        """The queries that have a transition, as bits."""
        if number not in self._users:
            self._users[number] = bits(self.problem.transitions[number].queries)
        return self._users[number]

    def numbers(self, queries: int) -> tuple[int, ...]:
        """Queries that are given as bits, ascending."""
        if queries not in self._listed:
            self._listed[queries] = members(queries)
        return self._listed[queries]

    def _between(self, pool: Pool, after: Node | None) -> int:
        """The queries of a pool that go on to a node, or that end there, as bits."""
        key = (pool.number, None if after is None else after.pool)
        if key not in self._queries:
            self._queries[key] = bits(
                [query for query in pool.queries if self._ends(pool, query)]
                if after is None
                else set(pool.queries).intersection(self.pools[after.pool].queries)
            )
        return self._queries[key]

    def _ending(self, state: int) -> int:
        """The queries that end at a state, as bits."""
        if state not in self._ends_at:
            self._ends_at[state] = bits(self.problem.template.ends[state])
        return self._ends_at[state]

    def inside(self, node: Node) -> float:
        """Cost of a Kleene sub-pattern without its starts, and without what it is left with.

        Raises:
            BudgetSpentError: Nothing is left of the budget.
        """
        self.problem.budget.check()
        pool = self.pools[node.pool]
        return sum(self.propagation(number, node, ~0) for number in pool.transitions) + total(
            charge
            for state, circling in self._passing(pool, pool.number)
            for query in self.numbers(circling & node.masks.get(state, 0))
            for charge in self._around(query, state)
        )

    def _out_of(self, before: Node, after: Node | None, between: int) -> float:
        """What leaving a Kleene sub-pattern costs beyond what is paid inside it."""
        sharing = between & ~before.masks.get(ALONE, 0)
        seen = () if after is None else tuple((label, queries & sharing) for label, queries in after.masks.items())
        key = (before, None if after is None else after.pool, seen)
        if key in self._memo:
            return self._memo[key]
        pool = self.pools[before.pool]
        weight = 0.0
        circling = dict(self._passing(pool, pool.number))
        for state, passing in self._passing(pool, None if after is None else after.pool):
            around = circling.get(state, 0) & before.masks.get(state, 0)
            for query in self.numbers(passing & sharing):
                if left := self._leaving(query, state, after):
                    snapshot = self._snapshot(before, query)
                    both = Departure(left.fresh or snapshot == state, left.alone, left.ends)
                    weight += total(self.pricer.evaluation(query, state, snapshot, both))
                    if around >> query & 1:
                        weight -= total(self._around(query, state))
        self._memo[key] = weight
        return weight

    def _around(self, query: int, state: int) -> Iterable[Charge]:
        """Evaluations at a state of a Kleene sub-pattern since snapshots are taken there again."""
        return self.pricer.evaluation(query, state, state, Departure(True, (), False))

    def _leaving(self, query: int, state: int, after: Node | None) -> Departure:
        ends = state in self.problem.ends[query]
        if after is None:
            return Departure(False, (), ends)
        pool = self.pools[after.pool]
        departing = tuple(n for n in self.problem.departures[query].get(state, ()) if n in pool.transitions)
        label = after.label(query)
        return Departure(bool(departing) and label == state, departing if label is ALONE else (), ends)

    def _ends(self, pool: Pool, query: int) -> bool:
        return any(state in self.problem.ends[query] for state in self._states(pool))

    def _states(self, pool: Pool) -> list[int]:
        """States that the transitions of a pool lead to."""
        if pool.number not in self._at:
            self._at[pool.number] = sorted({self.problem.transitions[number].target for number in pool.transitions})
        return self._at[pool.number]

    def _passing(self, pool: Pool, after: int | None) -> list[tuple[int, int]]:
        """Per state the queries that come there in a pool and go on in another or the same, or end there, as bits."""
        key = (pool.number, after)
        if key not in self._passes:
            transitions = self.problem.transitions
            come = _users((transitions[n].target, transitions[n].queries) for n in pool.transitions)
            if after is None:
                go = {state: self._ending(state) for state in come}
            else:
                go = _users((transitions[n].source, transitions[n].queries) for n in self.pools[after].transitions)
            both = ((state, queries & go.get(state, 0)) for state, queries in sorted(come.items()))
            self._passes[key] = [(state, queries) for state, queries in both if queries]
        return self._passes[key]

    @staticmethod
    def _snapshot(node: Node, query: int) -> int:
        snapshot = node.labels[query]
        assert snapshot is not None
        return snapshot


def _users(pairs: Iterable[tuple[int, Iterable[int]]]) -> dict[int, int]:
    """Per state all the queries that come with it, as bits."""
    queries_at: dict[int, int] = {}
    for state, queries in pairs:
        queries_at[state] = queries_at.get(state, 0) | bits(queries)
    return queries_at


Rule: TypeAlias = Callable[[Graph, Pool], None]
"""Adds to the nodes and edges of a pool, or prunes them; those before have been looked at."""
