"""Rule 6, completion: what the other rules cannot see.

The published rules plan a Kleene sub-pattern as a whole, never split a Q-set, and prune by a lemma that is
proved for equal snapshot types. Here the labels of every query are looked at by themselves: first the plan
that the graph found is changed as long as that helps, then branch and bound shows that it is the best, or
finds a better one. With much to choose from it stops early, and says how far from the best the plan may be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from planner.gloria.choices import Choices, Priced, best, improved
from planner.gloria.costs import CostModel
from planner.gloria.labels import ALONE
from planner.gloria.options import Labelling, Option, all_labels, option
from planner.gloria.problem import Problem


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard to look, in numbers that do not depend on the machine.

    Attributes:
        options: Most options of one query; one that has more keeps the first of them.
        looks: Most options looked at while changing a plan.
        branches: Most partial choices looked at, per group of queries with something in common.
    """

    options: int = 500
    looks: int = 50_000
    branches: int = 2_000


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
    known: list[list[Option]] = []
    all_known = True
    for query, given in enumerate(labels):
        candidates = list(islice(all_labels(problem, model.fewest, query), effort.options + 1))
        all_known &= len(candidates) <= effort.options
        first = dict.fromkeys(given, ALONE)
        distinct = {tuple(c.items()): c for c in ({n: c[n] for n in given} for c in (first, given, *candidates))}
        options = (option(problem, model, query, candidate) for candidate in distinct.values())
        known.append([found for found in options if found is not None])
    choices = Choices(model.fewest, known)
    chosen = [_same(mine, given) for mine, given in zip(choices.options, labels, strict=True)]
    chosen = improved(choices, chosen, effort.looks)
    proof = best(choices, chosen, effort.branches)
    return Completion(
        [dict(option.labels) for option in proof.chosen], proof.bound if all_known else None, proof.looked_at
    )


def _same(options: Sequence[Priced], labels: Labelling) -> Priced:
    return next(option for option in options if option.labels == labels)
