"""Rule 6, completion: what the other rules cannot see.

The published rules plan a Kleene sub-pattern as a whole, never split a Q-set, and prune by a lemma that is
proved for equal snapshot types. Here the labels of every query are looked at by themselves: first the plan
that the graph found is changed as long as that helps, then branch and bound shows that it is the best, or
finds a better one. With much to choose from it stops early, and says how far from the best the plan may be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from sparkext.planner.plan_completion.bargaining import bargained
from sparkext.planner.plan_completion.choices import Choices
from sparkext.planner.plan_completion.improvement import improved
from sparkext.planner.plan_completion.options import (
    Core,
    Option,
    TooManyLabelsError,
    all_labels,
    core,
    options,
    some_labels,
)
from sparkext.planner.plan_completion.proof import Proof, best
from sparkext.planner.problem.cost_model import CostModel
from sparkext.planner.problem.labels import ALONE, Labelling, Labels, forms
from sparkext.planner.problem.pricer import Pricer
from sparkext.planner.problem.problem import Problem

LARGE = 5
"""What part of the effort of a proof is spent where not all options are looked at, and nothing can be proved."""


FEWEST_LABELS = 16
"""So many labels of a query are looked at in any case."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard to look, in numbers that do not depend on the machine.

    Attributes:
        queries: Most queries of a workload all of whose labels are looked at.
        transitions: Most transitions that such a query may share.
        labels: How many labels of all queries together are looked at, where these are not all: the simplest of each.
        rounds: Most rounds of bargaining.
        looks: Most options looked at, while changing a plan and again while proving that it is the best.
    """

    queries: int = 8
    transitions: int = 9
    labels: int = 3_200
    rounds: int = 8
    looks: int = 50_000


@dataclass(frozen=True, slots=True)
class CompletedPlan:
    """The labels that completion has found, with what is proved of them.

    Attributes:
        labels: Per query.
        bound: No plan costs less than this; None when not all options were looked at.
        looked_at: Number of partial choices looked at.
    """

    labels: list[Labelling]
    bound: float | None
    looked_at: int


def complete(
    problem: Problem, model: CostModel, pricer: Pricer, labels: Sequence[Labelling], effort: Effort
) -> CompletedPlan:
    """The best labels that can be found, from those of a valid plan.

    Raises:
        BudgetSpentError: There was no time to begin.
    """
    problem.budget.check()
    cores = [core(problem, model.fewest, query) for query in range(len(labels))]
    candidates, every = _candidates(problem, model.fewest, cores, effort)
    groups: dict[object, list[int]] = {}
    for query, own_core in enumerate(cores):
        # To choose the same for queries that pay alike leaves less to choose, and hardly ever loses anything.
        groups.setdefault(query if every or model.merges else own_core, []).append(query)
    options_of: list[list[Option]] = []
    for query, *_ in groups.values():
        own_core = cores[query]
        given = {number: labels[query][number] for number in own_core.transitions}
        distinct = {tuple(some.values()): (some, numbers) for some, numbers in candidates[own_core]}
        distinct.setdefault(tuple(given.values()), (given, forms(problem, query, labels[query]) or {}))
        all_options = options(problem, pricer, query, own_core, distinct.values(), given)
        options_of.append(all_options if every else promising(all_options, given))
    choices = Choices(model.fewest, options_of, list(groups.values()), problem.budget)
    # Groups of queries that have nothing in common with others are small, also in many large workloads.
    proof = searched(choices, labels, effort, effort.looks if every else effort.looks // LARGE)
    completed = [
        {**dict.fromkeys(problem.transitions_of[query], ALONE), **inner}
        for query, inner in enumerate(choices.labels(proof.chosen))
    ]
    return CompletedPlan(completed, proof.bound if every else None, proof.looked_at)


def searched(choices: Choices, labels: Sequence[Labels], effort: Effort, looks: int) -> Proof:
    """The best choice that can be found, from that which gives the queries their labels, with what is known of it.

    Args:
        choices: All options.
        labels: Per query; where they are no choice, the search begins with nothing shared.
        effort: For bargaining and improvement.
        looks: Most options looked at while proving.
    """
    chosen = choices.choice(labels)
    if choices.cost(chosen) == float("inf"):
        chosen = [own_options[0] for own_options in choices.options]
    order = range(len(choices.options))
    begins = [chosen]
    begins += (bargained(choices, effort.rounds, way) for way in (order, order[::-1]) if not choices.budget.is_spent())
    return best(choices, improved(choices, min(begins, key=choices.cost), effort.looks), looks)


_Labels: TypeAlias = tuple[Labelling, Mapping[int, int]]
"""Labels, with the forms that they give."""

_Candidates: TypeAlias = dict[Core, list[_Labels]]
"""Per core its labels; the first share nothing."""


def _candidates(problem: Problem, fewest: int, cores: Sequence[Core], effort: Effort) -> tuple[_Candidates, bool]:
    """Labels to choose from, and whether they are all that there are."""
    representatives = {own_core: query for query, own_core in reversed(list(enumerate(cores)))}
    if len(cores) <= effort.queries and all(len(own_core.transitions) <= effort.transitions for own_core in cores):
        with suppress(TooManyLabelsError):
            return {c: _of_core(c, all_labels(problem, fewest, query)) for c, query in representatives.items()}, True
    most = max(FEWEST_LABELS, effort.labels // len(cores)) if cores else 0
    return {c: _of_core(c, some_labels(problem, fewest, q, most)) for c, q in representatives.items()}, False


def _of_core(own_core: Core, valid: Iterable[_Labels]) -> list[_Labels]:
    inner = [({number: some[number] for number in own_core.transitions}, numbers) for some, numbers in valid]
    return [(dict.fromkeys(own_core.transitions, ALONE), {}), *inner]


def promising(options: list[Option], given: Labelling) -> list[Option]:
    """Options that would pay if the forms in them cost nothing."""
    alone = options[0].own
    return [option for option in options if option.labels == given or option is options[0] or option.own < alone]
