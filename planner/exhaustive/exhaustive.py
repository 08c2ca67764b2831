"""Finds the cheapest of all valid plans: the truth for small workloads, and out of the question for others.

Transition by transition, every partition of its queries into Q-sets and every state whose snapshots a
Q-set might have. Nothing is assumed about what a good plan looks like. Of parts of plans that look the
same to what is still to be chosen, only the cheapest is gone on with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from sparkext.planner.budget import BudgetSpentError
from sparkext.planner.problem.cost_model import Charge, CostModel
from sparkext.planner.problem.labels import labels_of, plan_of
from sparkext.planner.problem.plan_cost import plan_cost
from sparkext.planner.problem.pricer import Pricer, total
from sparkext.planner.problem.problem import Problem
from sparkext.planner.problem.strategy import PlanResult, Strategy, WorkloadTooLargeError
from sparkext.planner.sharing.sharing_plan import BURST, QSet, SharingPlan, TransitionPlan

MAX_PARTS = 200_000
"""Most parts of plans that are gone on with at one transition."""

MAX_QUERIES = 15
"""Most queries of a transition; so many can be divided in a thousand million ways."""

LOOKS_PER_PART = 20
"""Of so many times as many parts each may be looked at, in all."""

_QSets: TypeAlias = tuple[QSet, ...]
_Part: TypeAlias = tuple[tuple[int, _QSets], ...]
"""What has been chosen and still matters: transitions with their Q-sets."""


@dataclass(frozen=True, slots=True)
class Exhaustive:
    """The cheapest of all plans, of workloads that have few enough.

    Attributes:
        first_strategy: Finds a plan to begin with: parts of plans that cost more need not be gone on with.
        most: Most parts of plans to go on with.
        name: By which users ask for it.
    """

    first_strategy: Strategy
    most: int = 10_000
    name: str = "exhaustive"

    def plan(self, problem: Problem, model: CostModel) -> PlanResult:
        """The cheapest of all plans.

        Raises:
            WorkloadTooLargeError: There are too many of them, or too many for the budget.
        """
        completed = self.first_strategy.plan(problem, model)
        try:
            best = exhaustive(problem, model, self.most, completed.cost)
        except BudgetSpentError:
            raise WorkloadTooLargeError from None
        plan = SharingPlan(self.name, completed.plan.transitions) if best is None else best
        cost = plan_cost(problem, model, plan)
        return PlanResult(plan, cost, bound=cost)


def exhaustive(
    problem: Problem, model: CostModel, most: int = MAX_PARTS, known_cost: float = float("inf")
) -> SharingPlan | None:
    """The cheapest of all valid plans.

    Args:
        problem: The problem.
        model: Its costs.
        most: Most parts of plans to go on with.
        known_cost: Cost of a plan that is known, so that parts that cost more need not be gone on with.

    Returns:
        The plan; None when all cost more than ``known_cost``.

    Raises:
        WorkloadTooLargeError: There are more than ``most`` parts of plans, or it takes too many looks to tell.
        BudgetSpentError: It takes more than the budget.
    """
    if any(len(transition.queries) > MAX_QUERIES for transition in problem.transitions):
        raise WorkloadTooLargeError
    looks = 0
    too_much = known_cost * (1 + 1e-9)
    over: dict[tuple[int, _QSets], float] = {}
    evaluated: dict[object, float] = {}
    pricer = Pricer(problem, model)
    starts = ((query, state) for state, queries in enumerate(problem.template.starts) for query in queries)
    parts: dict[_Part, tuple[float, tuple[_QSets, ...]]] = {(): (pricer.starts(starts), ())}
    order = sorted(range(len(problem.transitions)), key=lambda n: (problem.rank[problem.transitions[n].source], n))
    for index, number in enumerate(order):
        chosen = order[: index + 1]
        matter = frozenset(_still_matter(problem, chosen))
        closed = _closed(problem, chosen) - _closed(problem, chosen[:-1])
        around = _finished(problem, number, chosen)
        longer: dict[_Part, tuple[float, tuple[_QSets, ...]]] = {}
        near = {
            state: [n for n, t in enumerate(problem.transitions) if state in (t.source, t.target)] for state in closed
        }
        for part, (cost, path) in parts.items():
            choice = dict(part)
            for qsets in _divisions(problem, model.fewest, number, choice):
                problem.budget.check()
                looks += 1
                if looks > most * LOOKS_PER_PART:
                    raise WorkloadTooLargeError
                choice[number] = qsets
                if (number, qsets) not in over:
                    over[number, qsets] = _over(pricer, number, qsets)
                total = cost + over[number, qsets]
                for state in closed:
                    seen = (state, *(choice[n] for n in near[state]))
                    if seen not in evaluated:
                        evaluated[seen] = _at(pricer, state, choice)
                    total += evaluated[seen]
                if total > too_much or not all(_is_valid(problem, judged, choice) for judged in around):
                    continue
                key = tuple(item for item in choice.items() if item[0] in matter)
                if key not in longer or total < longer[key][0]:
                    longer[key] = (total, (*path, qsets))
            if len(longer) > most:
                raise WorkloadTooLargeError
        parts = longer
    if not parts:
        return None
    _, path = min(parts.values(), key=lambda part: part[0])
    by_number = dict(zip(order, path, strict=True))
    transitions = tuple(TransitionPlan(t.source, t.target, by_number[n]) for n, t in enumerate(problem.transitions))
    return plan_of(problem, "exhaustive", labels_of(problem, SharingPlan("exhaustive", transitions)))


def _still_matter(problem: Problem, chosen: Sequence[int]) -> Iterator[int]:
    """Transitions that what is still to be chosen, or paid, depends on."""
    rank = problem.rank
    missing = [t for number, t in enumerate(problem.transitions) if number not in chosen]
    open_components = {rank[state] for t in missing for state in (t.source, t.target)}
    for number in chosen:
        transition = problem.transitions[number]
        if rank[transition.source] in open_components or rank[transition.target] in open_components:
            yield number


def _closed(problem: Problem, chosen: Sequence[int]) -> set[int]:
    """States all of whose transitions have been chosen."""
    return set(range(len(problem.template.states))) - {
        state
        for number in set(range(len(problem.transitions))) - set(chosen)
        for state in (problem.transitions[number].source, problem.transitions[number].target)
    }


def _has_all(problem: Problem, state: int, chosen: Sequence[int]) -> bool:
    """Whether everything that comes to a state, round its component, has been chosen."""
    problem.budget.check()
    component = problem.rank[state]
    return all(number in chosen for number, t in enumerate(problem.transitions) if problem.rank[t.target] == component)


def _finished(problem: Problem, number: int, chosen: Sequence[int]) -> list[int]:
    """Transitions whose Q-sets can be judged now that ``number`` has been chosen."""
    sources = {earlier: problem.transitions[earlier].source for earlier in chosen}
    return [
        earlier
        for earlier, source in sources.items()
        if _has_all(problem, source, chosen) and (earlier == number or not _has_all(problem, source, chosen[:-1]))
    ]


def _divisions(problem: Problem, fewest: int, number: int, qsets_of: Mapping[int, _QSets]) -> Iterator[_QSets]:
    """All ways to divide the queries of a transition, as far as what is known allows them."""
    transition = problem.transitions[number]
    snapshots: set[int] = {transition.source}
    for neighbour, link in enumerate(problem.transitions):
        if link.target == transition.source:
            snapshots |= (
                {qset.snapshot for qset in qsets_of[neighbour] if qset.snapshot not in (None, BURST)}
                if neighbour in qsets_of
                else set(range(len(problem.template.states)))
            )
    for blocks in _partitions(transition.queries):
        choices: list[list[int | None]] = []
        for block in blocks:
            snapshots_of: list[int | None] = [None] if len(block) == 1 else []
            if len(block) >= fewest and problem.plain[number] >= set(block):
                snapshots_of += sorted(snapshots)
                loops = {loop.inside for query in block if (loop := problem.loop_of[query].get(number)) is not None}
                if len(loops) == 1 and all(number in problem.loop_of[query] for query in block):
                    snapshots_of.append(BURST)
            choices.append(snapshots_of)
        for combination in product(*choices):
            yield tuple(QSet(block, snapshot) for block, snapshot in zip(blocks, combination, strict=True))


def _partitions(items: Sequence[int]) -> Iterator[tuple[tuple[int, ...], ...]]:
    if not items:
        yield ()
        return
    first, rest = items[0], items[1:]
    for blocks in _partitions(rest):
        yield ((first,), *blocks)
        for index, block in enumerate(blocks):
            yield (*blocks[:index], (first, *block), *blocks[index + 1 :])


def _is_valid(problem: Problem, number: int, qsets_of: Mapping[int, _QSets]) -> bool:
    """Whether the Q-sets of a transition are valid, as `sparkext.planner.sharing.invalid.invalid` says."""
    source = problem.transitions[number].source
    for qset in qsets_of[number]:
        if qset.snapshot is None or qset.snapshot == source:
            continue
        members = set(qset.queries)
        if qset.snapshot == BURST:
            loops = [problem.loop_of[query][number] for query in qset.queries]
            if any(qset not in qsets_of[neighbour] for neighbour in loops[0].inside):
                return False
            if any(
                query in q.queries and q.snapshot is not None
                for query, loop in zip(qset.queries, loops, strict=True)
                for neighbour in loop.entering
                for q in qsets_of[neighbour]
            ):
                return False
            continue
        if len({source in problem.starts[query] for query in members}) != 1:
            return False
        if not all(source in problem.passing[query] for query in members):
            return False
        if not _begins(problem, source, qset, qsets_of):
            return False
        for neighbour, link in enumerate(problem.transitions):
            if link.target != source or not members & set(link.queries):
                continue
            if not any(q.snapshot == qset.snapshot and members <= set(q.queries) for q in qsets_of[neighbour]):
                return False
    return True


def _begins(problem: Problem, state: int, qset: QSet, qsets_of: Mapping[int, _QSets]) -> bool:
    seen, todo = {state}, [state]
    while todo:
        current = todo.pop()
        for number, link in enumerate(problem.transitions):
            if link.target != current or number not in qsets_of:
                continue
            if not any(q.snapshot == qset.snapshot and set(q.queries) & set(qset.queries) for q in qsets_of[number]):
                continue
            # What comes from another component has been found to begin there before.
            if link.source == qset.snapshot or problem.rank[link.source] < problem.rank[current]:
                return True
            if link.source not in seen:
                seen.add(link.source)
                todo.append(link.source)
    return False


def _over(pricer: Pricer, number: int, qsets: _QSets) -> float:
    """Cost of a transition."""
    problem = pricer.problem
    depends = _depends(problem, number)

    def charges() -> Iterator[Charge]:
        for qset in qsets:
            snapshot = _label(problem, number, qset)
            if snapshot is not None:
                yield from (((qset.queries, key), cost) for key, cost in pricer.form(qset.queries, number, snapshot))
            elif not depends:
                for query in qset.queries:
                    yield from pricer.values(query, number)

    return total(charges())


def _label(problem: Problem, number: int, qset: QSet) -> int | None:
    """The label of the queries of a Q-set."""
    if qset.snapshot != BURST:
        return qset.snapshot
    return problem.bursts.label_of(problem.loop_of[query][number] for query in qset.queries)


def _depends(problem: Problem, number: int) -> bool:
    """Whether what is paid for values over a transition depends on whether some query shares its target by bursts."""
    return any(
        number in loop.entering for query in problem.transitions[number].queries for loop in problem.loops[query]
    )


def _at(pricer: Pricer, state: int, qsets_of: Mapping[int, _QSets]) -> float:
    """Cost of the evaluations at a state, and of values over transitions to it of which `_depends` is true."""
    problem = pricer.problem

    def charges() -> Iterator[Charge]:
        for query, (arrivals, departures) in enumerate(zip(problem.arrivals, problem.departures, strict=True)):
            if state not in arrivals:
                continue
            labels = {
                number: _label(problem, number, next(qset for qset in qsets_of[number] if query in qset.queries))
                for number in (*arrivals[state], *departures[state])
            }
            yield from pricer.evaluations(query, state, labels)
            enters = pricer.enters(query, state, labels)
            for number in arrivals[state]:
                if labels[number] is None and _depends(problem, number):
                    yield from pricer.values(query, number, enters)

    return total(charges())
