"""Rule 6, completion: what the other rules cannot see.

The published rules plan a Kleene sub-pattern as a whole, never split a Q-set, and prune by a lemma that is
proved for equal snapshot types. Here the labels of every query are looked at by themselves: first the plan
that the graph found is changed as long as that helps, then branch and bound shows that it is the best, or
finds a better one. With much to choose from it stops early, and says how far from the best the plan may be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.gloria.choices import Choices, Priced, best, improved
from planner.gloria.costs import CostModel, Pricer
from planner.gloria.labels import ALONE
from planner.gloria.options import Labelling, Option, all_labels, can_share, option, some_labels
from planner.gloria.problem import Problem


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard to look, in numbers that do not depend on the machine.

    Attributes:
        queries: Most queries of a workload all of whose labels are looked at.
        transitions: Most transitions that such a query may share.
        looks: Most options looked at, while changing a plan and again while proving that it is the best.
    """

    queries: int = 8
    transitions: int = 9
    looks: int = 50_000


@dataclass(frozen=True, slots=True)
class Completion:
    """What the rule found.

    Attributes:
        labels: Per query.
        bound: No plan costs less than this; None when not all options were looked at.
        looked_at: Number of partial choices looked at.
    """

    labels: list[Labelling]
    bound: float | None
    looked_at: int


def complete(problem: Problem, model: CostModel, labels: Sequence[Labelling], effort: Effort) -> Completion:
    """The best labels that can be found, from those of a valid plan."""
    pricer = Pricer(problem, model)
    known: list[list[Option]] = []
    all_known = True
    for query, given in enumerate(labels):
        sharable = sum(can_share(problem, model.fewest, query, number) for number in given)
        every = len(labels) <= effort.queries and sharable <= effort.transitions
        all_known &= every
        candidates = (all_labels if every else some_labels)(problem, model.fewest, query)
        first = dict.fromkeys(problem.mine[query], ALONE)
        distinct = {tuple(c.values()): c for c in (first, {n: given[n] for n in first}, *candidates)}
        options = (option(problem, pricer, query, candidate) for candidate in distinct.values())
        known.append([found for found in options if found is not None])
    choices = Choices(model.fewest, known)
    chosen = [_same(mine, given) for mine, given in zip(choices.options, labels, strict=True)]
    chosen = improved(choices, chosen, effort.looks)
    proof = best(choices, chosen, effort.looks)
    bound = proof.bound if all_known else None
    return Completion([dict(option.labels) for option in proof.chosen], bound, proof.looked_at)


def _same(options: Sequence[Priced], labels: Labelling) -> Priced:
    return next(option for option in options if option.labels == labels)
