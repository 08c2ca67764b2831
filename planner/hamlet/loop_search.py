"""The search for the queries that share a loop by bursts.

The larger a Q-set, the more events end its bursts: those of all states from which any of its queries comes to the loop.
So queries are grouped by the states they come from, groups are sorted by how many events there are of these, and the
first group, the first two, and so on are priced, by the cost model in force. The best of these share; then the same is
tried with what is left, which the paper does not do. Of many groups, only some numbers of them are priced, and then all
that are near the best of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sparkext.planner.hamlet.loop_report import CommonLoop, HamletSearch
from sparkext.planner.hamlet.repeats import repeats
from sparkext.planner.problem.labels import ALONE, Labelling
from sparkext.planner.problem.pricer import Pricer
from sparkext.planner.problem.problem import Problem
from sparkext.planner.sharing.loops import Loop

SIZES = 16
"""How many numbers of groups are priced at first."""


def search(problem: Problem, pricer: Pricer) -> tuple[list[Labelling], HamletSearch]:
    """Labels that cost no more than if all go alone, per query, and how they were found; as far as the budget goes."""
    labels: list[Labelling] = [dict.fromkeys(transitions, ALONE) for transitions in problem.transitions_of]
    loops, not_planned = repeats(problem)
    cost = pricer.cost(labels)
    repeated: list[CommonLoop] = []
    for state, having in loops.items():
        if problem.budget.is_spent():
            break
        begin = cost
        left, shared = dict(having), list[tuple[int, ...]]()
        while len(left) > 1:
            queries, label, least = _best(problem, pricer, labels, left)
            if not least < cost * (1 - 1e-12):
                break
            _share(labels, left, queries, label)
            shared.append(queries)
            cost = least
            left = {query: loop for query, loop in left.items() if query not in queries}
        groups = len({loop.before for loop in having.values()})
        repeated.append(CommonLoop(state, tuple(having), groups, tuple(shared), begin - cost))
    return labels, HamletSearch(not_planned, tuple(repeated))


def _best(
    problem: Problem, pricer: Pricer, labels: list[Labelling], loops: Mapping[int, Loop]
) -> tuple[tuple[int, ...], int, float]:
    """The queries that had best share a loop, with the label of their bursts, and what all costs then."""
    groups: dict[frozenset[int], list[int]] = {}
    for query, loop in loops.items():
        groups.setdefault(loop.before, []).append(query)
    order = sorted(groups, key=lambda states: (sum(problem.events[state] for state in states), sorted(states)))
    priced: dict[int, tuple[tuple[int, ...], int, float]] = {}

    def price(sizes: Iterable[int]) -> int:
        """Price the first groups, so many of them, while the budget lasts; returns how many are best."""
        for size in sizes:
            sharing = [query for before in order[:size] for query in groups[before]]
            if size in priced or len(sharing) < 2 or (priced and problem.budget.is_spent()):
                continue
            label = problem.bursts.label_of(loops[query] for query in sharing)
            tried = list(labels)
            for query in sharing:
                tried[query] = {**labels[query], **dict.fromkeys(loops[query].inside, label)}
            priced[size] = tuple(sorted(sharing)), label, pricer.cost(tried)
        return min(priced, key=lambda size: priced[size][2])

    step = max(1, len(order) // SIZES)
    near = price(range(len(order), 0, -step))
    return priced[price(range(max(1, near - step + 1), min(len(order), near + step - 1) + 1))]


def _share(labels: list[Labelling], loops: Mapping[int, Loop], queries: tuple[int, ...], label: int) -> None:
    """Let queries share a loop."""
    for query in queries:
        labels[query].update(dict.fromkeys(loops[query].inside, label))
