"""Pools: what of a template is planned at once, and in which order.

A Kleene sub-pattern is what some query may go round: the transitions of a strongly connected component of its
own automaton, put together with those of other queries that have some of them too. (A component of the whole
template need not be one: with the patterns ``A B`` and ``B A`` there are two transitions in it, and no query
goes round.)
"""

from __future__ import annotations

from itertools import product

from sparkext.planner.disjoint_sets import put_together
from sparkext.planner.gloria.graph import Pool
from sparkext.planner.problem.problem import Problem
from sparkext.planner.strong_components import strong_components


def pools(problem: Problem) -> tuple[Pool, ...]:
    """The pools of a problem: one per Kleene sub-pattern, one per other transition.

    Those before come first, but where queries go through the same transitions in different orders.

    Raises:
        BudgetSpentError: There are too many to put them in order.
    """
    groups, kleene = _groups(problem)
    group_of = {number: index for index, group in enumerate(groups) for number in group}
    links: set[tuple[int, int]] = set()
    for query, arrivals in enumerate(problem.arrivals):
        for state, coming in arrivals.items():
            problem.budget.check()
            going = {group_of[after] for after in problem.departures[query][state]}
            links.update(product({group_of[before] for before in coming}, going))
    links = {(before, after) for before, after in links if before != after}
    order = [index for component in strong_components(range(len(groups)), sorted(links)) for index in component]
    numbers = {index: number for number, index in enumerate(order)}
    preceding: list[list[int]] = [[] for _ in groups]
    for before, after in links:
        if numbers[before] < numbers[after]:
            preceding[numbers[after]].append(numbers[before])
    return tuple(
        Pool(
            number=number,
            transitions=groups[index],
            queries=tuple(sorted({query for n in groups[index] for query in problem.transitions[n].queries})),
            preceding=tuple(sorted(preceding[number])),
            kleene=index in kleene,
        )
        for number, index in enumerate(order)
    )


def _groups(problem: Problem) -> tuple[list[tuple[int, ...]], set[int]]:
    """The transitions that are planned at once, and which of these are Kleene sub-patterns."""
    on_cycle: set[int] = set()
    circles: list[list[int]] = []
    for query, components in enumerate(problem.cycles):
        for states in components:
            inside = frozenset(states)
            around = [n for state in states for n in problem.departures[query][state]]
            around = [n for n in around if problem.transitions[n].target in inside]
            on_cycle.update(around)
            circles.append(around)
    groups = [tuple(numbers) for numbers in put_together(len(problem.transitions), circles)]
    return groups, {index for index, numbers in enumerate(groups) if numbers[0] in on_cycle}
