"""The cost model of the GLORIA paper: how often totals are touched when every event reads all before it."""

from __future__ import annotations

from collections.abc import Iterable

from sparkext.planner.problem.burst_labels import is_burst
from sparkext.planner.problem.cost_model import Charge, Departure
from sparkext.planner.problem.problem import Problem


class PaperCosts:
    """The cost model ``paper``: equations 1 to 3 of the paper; |E| is the number of events of a state.

    - A start costs |E| for each query.
    - (E', E) alone costs |E'|·|E| for each query.
    - (E', E) in a Q-set costs |E'| when snapshots are taken at E', else |E'|·|X| for snapshots of X.
    - Evaluating snapshots of X at E costs |E|·|X| for each query.

    Of loops that are shared by bursts the paper knows nothing. There, as in the HAMLET paper, (E', E) costs |E'|·|E|
    for the whole Q-set, and evaluation at E |E| for each state of each query.
    """

    name = "paper"
    fewest = 2
    merges = False

    def start(self, problem: Problem, query: int, state: int) -> Iterable[Charge]:
        """Price |E| for each query."""
        yield ("start", query, state), problem.events[state]

    def alone(self, problem: Problem, query: int, transition: int) -> Iterable[Charge]:
        """Price |E'|·|E| for each query."""
        link = problem.transitions[transition]
        yield ("alone", query, transition), problem.events[link.source] * problem.events[link.target]

    def shared(
        self,
        problem: Problem,
        query: int,  # noqa: ARG002 - a Q-set costs the same whatever its queries ask for
        transition: int,
        snapshot: int,
    ) -> Iterable[Charge]:
        """Price |E'| times the length of the form, which is 1 where snapshots are taken, for the whole Q-set."""
        source = problem.transitions[transition].source
        if is_burst(snapshot):
            yield "shared", problem.events[source] * problem.events[problem.transitions[transition].target]
            return
        length = 1.0 if snapshot == source else problem.events[snapshot]
        yield "shared", problem.events[source] * length

    def evaluation(
        self,
        problem: Problem,
        query: int,
        state: int,
        snapshot: int,
        leaving: Departure,  # noqa: ARG002 - the paper evaluates at the state whatever comes then
    ) -> Iterable[Charge]:
        """Price |E|·|X| for each query."""
        if is_burst(snapshot):
            states = len(problem.template.states_of[query])
            yield ("evaluation", query, state, "burst"), problem.events[state] * states
            return
        yield ("evaluation", query, state, snapshot), problem.events[state] * problem.events[snapshot]

    def entry(self, problem: Problem, query: int, transition: int) -> Iterable[Charge]:
        """The same price as alone."""
        return self.alone(problem, query, transition)

    def may_pay(self, problem: Problem, transition: int) -> bool:
        """Whether there are two queries."""
        return len(problem.plain[transition]) >= self.fewest

    def gain_nothing(self, problem: Problem) -> frozenset[int]:
        """None is known."""
        del problem
        return frozenset()
