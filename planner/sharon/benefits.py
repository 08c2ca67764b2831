"""Benefits: what a candidate saves if all else goes alone, by the cost model in force.

The paper's own formula (`tests/support/sharon_paper.py`) has a term that is cubic in the rates of events, for combining
counts of parts. Nothing of that kind is done here: what comes from before a part is one total per window. Candidates
without conflicts save together what they save each, or more where they have something to pay for in common, such as the
forms of equal beginnings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from sparkext.planner.problem.cost_model import CostModel
from sparkext.planner.problem.labels import ALONE, Labelling, forms
from sparkext.planner.problem.pricer import Bundle, Pricer, spot
from sparkext.planner.problem.problem import Problem
from sparkext.planner.sharon.candidates import Candidate


@dataclass(frozen=True, slots=True)
class Benefit:
    """What a candidate saves.

    Attributes:
        saved: Cost of all alone, less that of the plan with this candidate; in units of the cost model.
        gaining: Of its queries, those that pay less if the forms cost nothing.
    """

    saved: float
    gaining: tuple[int, ...]


class Benefits:
    """What candidates save.

    Attributes:
        alone: Per query its labels if nothing is shared but equal prefixes.
        cost: Of the plan in which that is so.
    """

    def __init__(self, problem: Problem, model: CostModel, pricer: Pricer, queries: Iterable[int]) -> None:
        """Price the queries by themselves; of ``queries`` there may be candidates."""
        self.alone: list[Labelling] = [dict.fromkeys(own, ALONE) for own in problem.transitions_of]
        self._problem = problem
        self._pricer = pricer
        self._merges = model.merges
        paid = [pricer.all(query, own) for query, own in enumerate(self.alone)]
        charges = [_charges(own) for own in paid]
        self.cost = sum({key: cost for own in charges for key, cost in own.items()}.values())
        self._payers = Counter(key for own in charges for key in own)
        self._at = {query: dict(zip(problem.arrivals[query], paid[query], strict=True)) for query in queries}

    def of(self, candidate: Candidate) -> Benefit:
        """What is saved by a candidate, and which of its queries gain by it."""
        before: dict[Hashable, float] = {}
        after: dict[Hashable, float] = {}
        leaving: Counter[Hashable] = Counter()
        gaining: list[int] = []
        for query in candidate.queries:
            old, new = self._changes(query, candidate)
            if sum([bundle.own_cost for bundle in new]) < sum([bundle.own_cost for bundle in old]):
                gaining.append(query)
            charges = _charges(old)
            before.update(charges)
            leaving.update(charges.keys())
            after.update(_charges(new))
        saved = sum([cost for key, cost in before.items() if leaving[key] == self._payers[key]])
        saved -= sum([cost for key, cost in after.items() if leaving[key] == self._payers[key]])
        return Benefit(saved, tuple(gaining))

    def labels(self, query: int, parts: Iterable[Candidate]) -> Labelling:
        """Labels of a query that shares parts, which have no state in common, and goes alone else."""
        return {**self.alone[query], **{n: part.states[0] for part in parts for n in part.transitions}}

    def together(self, chosen: Iterable[Candidate]) -> list[Labelling]:
        """Labels of all queries that share candidates between which there is no conflict."""
        labels = [dict(own) for own in self.alone]
        for candidate in chosen:
            for query in candidate.queries:
                labels[query].update(dict.fromkeys(candidate.transitions, candidate.states[0]))
        return labels

    def _changes(self, query: int, candidate: Candidate) -> tuple[list[Bundle], list[Bundle]]:
        """What a query pays at the states where a candidate changes that: when it goes alone, and with it."""
        problem, pricer, at = self._problem, self._pricer, self._at[query]
        labels = self.labels(query, [candidate])
        form_of = forms(problem, query, labels)
        assert form_of is not None, f"query {query} does not have {candidate} as plain steps"
        changed = list(candidate.states)
        if self._merges:
            # What comes behind is no longer equal to totals of queries that do not share.
            changed += (state for state in at if state not in candidate.states and state in problem.equals[query])
        departures, arrivals = problem.departures[query], problem.arrivals[query]
        spots = [
            spot(s, arrivals[s], departures[s], labels, form_of, pricer.behind(query, s, labels, form_of))
            for s in changed
        ]
        return [at[state] for state in changed], [pricer.at(query, where, labels, form_of) for where in spots]


def _charges(bundles: Sequence[Bundle]) -> dict[Hashable, float]:
    return {key: cost for bundle in bundles for key, cost in (*bundle.own, *bundle.of_forms)}
