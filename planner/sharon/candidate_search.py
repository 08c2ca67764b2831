"""The search of SHARON: candidates, benefits, conflicts, reduction, the heaviest independent set, expansion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sparkext.planner.bits import members
from sparkext.planner.plan_completion.completed_plan import Effort
from sparkext.planner.problem.cost_model import CostModel
from sparkext.planner.problem.labels import ALONE, Labelling
from sparkext.planner.problem.pricer import Pricer
from sparkext.planner.problem.problem import Problem
from sparkext.planner.sharing.not_planned import NotPlanned, Reason
from sparkext.planner.sharon.benefits import Benefits
from sparkext.planner.sharon.candidate_report import CandidateOutcome, SharonSearch
from sparkext.planner.sharon.candidates import Candidate, candidates, shared_by
from sparkext.planner.sharon.chains import chains
from sparkext.planner.sharon.conflicts import ConflictGraph, conflict_graph
from sparkext.planner.sharon.expansion import expanded
from sparkext.planner.sharon.gwmin import guarantee, gwmin
from sparkext.planner.sharon.independent_set import heaviest
from sparkext.planner.sharon.reduction import Reduction, reduced

PRICING_PART = 0.6
"""Part of the budget after which no candidates are priced, so that some is left for choosing among them."""


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
    looked_at = candidates(problem, sequences, part)
    having: dict[int, list[Candidate]] = {}
    for candidate in looked_at:
        for query in candidate.queries:
            having.setdefault(query, []).append(candidate)
    reasons |= dict.fromkeys(sequences.keys() - having.keys(), Reason.NOTHING_IN_COMMON)
    not_planned = tuple(NotPlanned(query, reasons[query]) for query in sorted(reasons))
    if not looked_at:
        alone: list[Labelling] = [dict.fromkeys(transitions, ALONE) for transitions in problem.transitions_of]
        return alone, SharonSearch(not_planned, proven=not problem.budget.is_used_up)
    benefits = Benefits(problem, model, pricer, having)
    saving: list[float] = []
    gaining: list[Candidate] = []
    for candidate in looked_at:
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
    graph = conflict_graph([looked_at[index] for index in paying], [saving[index] for index in paying])
    greedy = gwmin(graph)
    reduction = reduced(graph, graph.weight(greedy))
    best = heaviest(graph, reduction.left, greedy & reduction.left, problem.budget)
    chosen = max((best.vertices | reduction.free, greedy), key=graph.weight)
    in_budget, score = not problem.budget.is_used_up, graph.weight(chosen)
    together = [looked_at[paying[vertex]] for vertex in members(chosen)]
    labels = benefits.together(together)
    merged = benefits.cost - pricer.cost(labels) - score
    if not problem.budget.is_spent():
        labels = expanded(problem, pricer, benefits, gaining, together, effort or Effort())
    return labels, SharonSearch(
        not_planned,
        _considered(looked_at, saving, paying, graph, reduction, chosen),
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
    looked_at: Sequence[Candidate],
    saving: Sequence[float],
    paying: Sequence[int],
    graph: ConflictGraph,
    reduction: Reduction,
    chosen: int,
) -> tuple[CandidateOutcome, ...]:
    """The candidates that were priced; ``paying`` are those that are vertices."""
    priced = [CandidateOutcome(*both, (), None, False) for both in zip(looked_at, saving, strict=False)]
    for vertex, index in enumerate(paying):
        priced[index] = replace(
            priced[index],
            conflicts=tuple(paying[neighbour] for neighbour in members(graph.neighbours[vertex])),
            most=reduction.ridden.get(vertex),
            chosen=bool(chosen >> vertex & 1),
        )
    return tuple(priced)
