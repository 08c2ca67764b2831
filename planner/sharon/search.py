"""The search of SHARON: candidates, benefits, conflicts, reduction, the heaviest independent set, expansion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sparkext.planner.bits import members
from sparkext.planner.completion.completion import Effort
from sparkext.planner.completion.labels import ALONE
from sparkext.planner.completion.options import Labelling
from sparkext.planner.costs.cost_model import CostModel, Pricer
from sparkext.planner.gloria.problem import Problem
from sparkext.planner.sharing.not_planned import NotPlanned, Reason
from sparkext.planner.sharon.benefits import Benefits
from sparkext.planner.sharon.candidates import Candidate, candidates, shared_by
from sparkext.planner.sharon.chains import chains
from sparkext.planner.sharon.conflicts import ConflictGraph, conflict_graph
from sparkext.planner.sharon.expansion import expanded
from sparkext.planner.sharon.gwmin import guarantee, gwmin
from sparkext.planner.sharon.independent_set import heaviest
from sparkext.planner.sharon.reduction import Reduction, reduced

PRICING_PART = 0.6
"""Part of the budget after which no candidates are priced, so that some is left for choosing among them."""


@dataclass(frozen=True, slots=True)
class CandidateOutcome:
    """What has become of a candidate.

    Attributes:
        candidate: The candidate.
        benefit: What it saves if all else goes alone, in units of the cost model.
        conflicts: Other candidates, by index, that it is in conflict with; none if it saves nothing.
        most: The most that a plan with it saves, if that is too little for it to be looked at any further; else None.
        chosen: Whether it is in the best set.
    """

    candidate: Candidate
    benefit: float
    conflicts: tuple[int, ...]
    most: float | None
    chosen: bool


@dataclass(frozen=True, slots=True)
class SharonSearch:
    """How SHARON found its plan.

    Attributes:
        not_planned: Queries that have no part in it.
        considered: All candidates.
        shared: What the plan shares: the chosen candidates, or with fewer queries where that saves more.
        score: What the best set saves, compared with all alone; in units of the cost model, as the others.
        by_gwmin: What the set of GWMIN saves.
        guarantee: What it saves at least.
        by_merging: What the set saves further as its candidates have something to pay for in common.
        by_expansion: What the plan saves further by dropping queries.
        proven: Whether no set of candidates without conflicts saves more than ``score``.
        looked_at: Number of partial sets looked at.
    """

    not_planned: tuple[NotPlanned, ...]
    considered: tuple[CandidateOutcome, ...] = ()
    shared: tuple[Candidate, ...] = ()
    score: float = 0.0
    by_gwmin: float = 0.0
    guarantee: float = 0.0
    by_merging: float = 0.0
    by_expansion: float = 0.0
    proven: bool = True
    looked_at: int = 0

    @property
    def conflicts(self) -> int:
        """Number of pairs of candidates that are in conflict."""
        return sum(len(one.conflicts) for one in self.considered) // 2


def search(
    problem: Problem, model: CostModel, pricer: Pricer, effort: Effort | None = None, part: float = PRICING_PART
) -> tuple[list[Labelling], SharonSearch]:
    """Labels of the best plan that can be found in the budget, per query, and how it was found.

    Args:
        problem: The workload.
        model: Its costs.
        pricer: Of these.
        effort: How hard to look.
        part: Of the budget, after which no candidates are looked for or priced.
    """
    sequences, reasons = chains(problem)
    found = candidates(problem, sequences, part)
    having: dict[int, list[Candidate]] = {}
    for candidate in found:
        for query in candidate.queries:
            having.setdefault(query, []).append(candidate)
    reasons |= dict.fromkeys(sequences.keys() - having.keys(), Reason.NOTHING_IN_COMMON)
    not_planned = tuple(NotPlanned(query, reasons[query]) for query in sorted(reasons))
    if not found:
        alone: list[Labelling] = [dict.fromkeys(mine, ALONE) for mine in problem.mine]
        return alone, SharonSearch(not_planned, proven=not problem.budget.is_used_up)
    benefits = Benefits(problem, model, pricer, having)
    saving: list[float] = []
    gaining: list[Candidate] = []
    for candidate in found:
        if problem.budget.is_spent(part):
            break
        benefit = benefits.of(candidate)
        saving.append(benefit.saved)
        if 2 <= len(benefit.gaining) < len(candidate.queries):
            candidate = replace(candidate, queries=benefit.gaining)
            benefit = benefits.of(candidate)
        if benefit.saved > 0 and len(benefit.gaining) > 1:
            gaining.append(candidate)
    paying = [index for index, saved in enumerate(saving) if saved > 0]
    graph = conflict_graph([found[index] for index in paying], [saving[index] for index in paying])
    greedy = gwmin(graph)
    reduction = reduced(graph, graph.weight(greedy))
    best = heaviest(graph, reduction.left, greedy & reduction.left, problem.budget)
    chosen = max((best.vertices | reduction.free, greedy), key=graph.weight)
    in_budget, score = not problem.budget.is_used_up, graph.weight(chosen)
    together = [found[paying[vertex]] for vertex in members(chosen)]
    labels = benefits.together(together)
    merged = benefits.cost - pricer.cost(labels) - score
    if not problem.budget.is_spent():
        labels = expanded(problem, pricer, benefits, gaining, together, effort or Effort())
    return labels, SharonSearch(
        not_planned,
        _considered(found, saving, paying, graph, reduction, chosen),
        shared=tuple(shared_by(problem, sequences, labels)),
        score=score,
        by_gwmin=graph.weight(greedy),
        guarantee=guarantee(graph),
        by_merging=merged,
        by_expansion=benefits.cost - pricer.cost(labels) - score - merged,
        proven=best.proven and in_budget,
        looked_at=best.looked_at,
    )


def _considered(
    found: Sequence[Candidate],
    saving: Sequence[float],
    paying: Sequence[int],
    graph: ConflictGraph,
    reduction: Reduction,
    chosen: int,
) -> tuple[CandidateOutcome, ...]:
    """The candidates that were priced; ``paying`` are those that are vertices."""
    priced = [CandidateOutcome(*both, (), None, False) for both in zip(found, saving, strict=False)]
    for vertex, index in enumerate(paying):
        priced[index] = replace(
            priced[index],
            conflicts=tuple(paying[other] for other in members(graph.neighbours[vertex])),
            most=reduction.ridden.get(vertex),
            chosen=bool(chosen >> vertex & 1),
        )
    return tuple(priced)
