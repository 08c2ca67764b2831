"""What there is to optimize: a template, how many events its states see, and what may be shared in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sparkext.planner.budget import Budget
from sparkext.planner.problem.burst_labels import Bursts
from sparkext.planner.sharing.loops import Loop, loops
from sparkext.planner.sharing.prefixes import equal_prefixes
from sparkext.planner.sharing.sharing_plan import Steps
from sparkext.planner.sharing.template import Template, Transition
from sparkext.planner.strong_components import strong_components

MOST_MATCHES = 10_000_000
"""Most partial matches of a step in a key and window, unless a user says otherwise."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A workload to be optimized.

    Transitions go by their number in the template.

    Attributes:
        template: Of the pool.
        events: Per state of the template, the events expected there per group and window; in a pool
            with different windows, per the longest of them.
        budget: How long may be looked for a plan.
        left_alone: Queries that go alone, whatever they might share.
        most_matches: Most partial matches of a step that may be built in a key and window; None if none may be, as over
            a stream.
        runs: Per state, how many runs of events are expected there, see `ObservedStatistics.runs`; as many as events if
            left out.
    """

    template: Template
    events: tuple[float, ...]
    budget: Budget = field(default_factory=Budget)
    left_alone: frozenset[int] = frozenset()
    most_matches: int | None = MOST_MATCHES
    runs: tuple[float, ...] = ()

    def changes(self, before: Iterable[int], after: Iterable[int], more: float = 0.0) -> float:
        """How often an event of some states is the first after one of others.

        With B events and A, randomly mixed, that is A·B / (A + B) times, and it is no more than there are runs of
        either.

        Args:
            before: The others.
            after: The states.
            more: How often something else happens that counts like an event of those, such as that a window opens.
        """
        first, then = tuple(before), tuple(after)
        changing = sum(self.events[state] for state in first)
        asking = sum(self.events[state] for state in then) + more
        if not asking or not changing:
            return 0.0
        mixed = asking * changing / (asking + changing)
        if not self.runs:
            return mixed
        return min(mixed, sum(self.runs[state] for state in first), sum(self.runs[state] for state in then) + more)

    @cached_property
    def transitions(self) -> tuple[Transition, ...]:
        """The transitions of the template."""
        return self.template.transitions

    @cached_property
    def steps(self) -> Steps:
        """Which steps may be part of a linear form."""
        return Steps(self.template)

    @cached_property
    def arrivals(self) -> tuple[dict[int, tuple[int, ...]], ...]:
        """Per query and state it has, its transitions into the state."""
        return tuple(self._near(number, by_target=True) for number in range(len(self.template.queries)))

    @cached_property
    def departures(self) -> tuple[dict[int, tuple[int, ...]], ...]:
        """Per query and state it has, its transitions out of the state."""
        return tuple(self._near(number, by_target=False) for number in range(len(self.template.queries)))

    @cached_property
    def cycles(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """Per query the strongly connected components of its own automaton, as states of the template."""
        links: list[list[tuple[int, int]]] = [[] for _ in self.template.queries]
        for transition in self.transitions:
            for query in transition.queries:
                links[query].append((transition.source, transition.target))
        return tuple(
            tuple(strong_components(states, query_links))
            for states, query_links in zip(self.template.states_of, links, strict=True)
        )

    @cached_property
    def loops(self) -> tuple[tuple[Loop, ...], ...]:
        """Per query its loops that can be shared by bursts, and that another query has."""
        every = enumerate(loops(self.template, self.steps))
        candidates = [() if query in self.left_alone else query_loops for query, query_loops in every]
        having = Counter(loop.inside for query_loops in candidates for loop in query_loops)
        return tuple(tuple(loop for loop in query_loops if having[loop.inside] > 1) for query_loops in candidates)

    @cached_property
    def loop_of(self) -> tuple[dict[int, Loop], ...]:
        """Per query and transition inside a loop of it that can be shared by bursts, the loop."""
        return tuple({number: loop for loop in query_loops for number in loop.inside} for query_loops in self.loops)

    @cached_property
    def bursts(self) -> Bursts:
        """Labels of loops that are shared by bursts."""
        return Bursts(self.loops, self.events)

    @cached_property
    def transitions_of(self) -> tuple[tuple[int, ...], ...]:
        """Per query its transitions, in an order in which those before come first, but in cycles."""
        of_query: list[list[int]] = [[] for _ in self.template.queries]
        for number, transition in enumerate(self.transitions):
            for query in transition.queries:
                of_query[query].append(number)
        ranks = [{state: rank for rank, c in enumerate(own) for state in c} for own in self.cycles]
        return tuple(
            tuple(sorted(numbers, key=lambda n: (rank[self.transitions[n].source], n)))
            for numbers, rank in zip(of_query, ranks, strict=True)
        )

    @cached_property
    def passing(self) -> tuple[frozenset[int], ...]:
        """Per query the states that may pass its forms on."""
        return tuple(
            frozenset(state for state in states if self.steps.passes_on(query, state))
            for query, states in enumerate(self.template.states_of)
        )

    @cached_property
    def starts(self) -> tuple[frozenset[int], ...]:
        """Per query the states where it starts."""
        return self._of_queries(self.template.starts)

    @cached_property
    def ends(self) -> tuple[frozenset[int], ...]:
        """Per query the states where it ends."""
        return self._of_queries(self.template.ends)

    @cached_property
    def components(self) -> tuple[tuple[int, ...], ...]:
        """Strongly connected components of the template, each its states, those before first."""
        states = range(len(self.template.states))
        return tuple(strong_components(states, [(t.source, t.target) for t in self.transitions]))

    @cached_property
    def rank(self) -> tuple[int, ...]:
        """Per state of the template, the number of its component."""
        rank = [0] * len(self.template.states)
        for number, states in enumerate(self.components):
            for state in states:
                rank[state] = number
        return tuple(rank)

    @cached_property
    def forms(self) -> dict[object, int]:
        """Numbers of the forms that have been met, see `sparkext.planner.problem.labels.forms`."""
        return {}

    @cached_property
    def notes(self) -> dict[object, Any]:
        """What cost models remember of the problem."""
        return {}

    @cached_property
    def plain(self) -> tuple[frozenset[int], ...]:
        """Per transition the queries that may share it: their step is plain, see `sharing_plan.Steps`."""
        return tuple(
            frozenset(
                query
                for query in t.queries
                if query not in self.left_alone and self.steps.is_plain(query, t.source, t.target)
            )
            for t in self.transitions
        )

    @cached_property
    def equals(self) -> tuple[frozenset[int], ...]:
        """Per query the states where another query has equal totals when nothing is shared."""
        at = [
            list(zip(blocks, states, strict=True))
            for blocks, states in zip(equal_prefixes(self.template), self.template.states_of, strict=True)
        ]
        many = Counter(pair for pairs in at for pair in pairs)
        return tuple(frozenset(state for block, state in pairs if many[block, state] > 1) for pairs in at)

    def upstream(self, query: int, state: int) -> tuple[int, ...]:
        """The transitions by which a query may come to a state, from wherever, ascending."""
        key = (query, state)
        if key not in self._upstream:
            reached: set[int] = set()
            todo = [state]
            while todo:
                for number in self.arrivals[query][todo.pop()]:
                    if number not in reached:
                        reached.add(number)
                        todo.append(self.transitions[number].source)
            self._upstream[key] = tuple(sorted(reached))
        return self._upstream[key]

    @cached_property
    def _upstream(self) -> dict[tuple[int, int], tuple[int, ...]]:
        return {}

    def _near(self, query: int, by_target: bool) -> dict[int, tuple[int, ...]]:
        near: dict[int, list[int]] = {state: [] for state in self.template.states_of[query]}
        for number in self.transitions_of[query]:
            transition = self.transitions[number]
            near[transition.target if by_target else transition.source].append(number)
        return {state: tuple(numbers) for state, numbers in near.items()}

    def _of_queries(self, states: Sequence[Sequence[int]]) -> tuple[frozenset[int], ...]:
        states_of: list[set[int]] = [set() for _ in self.template.queries]
        for state, queries in enumerate(states):
            for query in queries:
                states_of[query].add(state)
        return tuple(map(frozenset, states_of))
