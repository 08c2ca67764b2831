"""What SHARON has found, and how it found that, for the text and for the JSON of ``EXPLAIN SHARING``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sparkext.planner.amounts import amount, cost, count, unit
from sparkext.planner.problem.strategy import Audience, Report
from sparkext.planner.sharing.not_planned import NotPlanned
from sparkext.planner.sharing.sharing_plan import numbers
from sparkext.planner.sharing.template import Template
from sparkext.planner.sharon.candidates import Candidate

MAX_CANDIDATES = 60
"""Most candidates that the text shows; JSON has them all."""


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
        return sum(len(outcome.conflicts) for outcome in self.considered) // 2

    def report(self, template: Template, model: str, audience: Audience) -> Report:
        """The candidates of the shown queries, what has become of them, and what is known of the plan."""
        shown = [i for i, outcome in enumerate(self.considered) if audience.concerns(outcome.candidate.queries)]
        lines = tuple(_lines(self, template, model, shown))
        return Report(lines, {"sharon": _document(self, template, audience, shown)})


def _lines(search: SharonSearch, template: Template, model: str, shown: list[int]) -> Iterator[str]:
    saving = sum(candidate.benefit > 0 for candidate in search.considered)
    yield (
        f"  SHARON: {count(len(search.considered), 'candidate', 'candidates')}, {saving} of them save something; "
        f"{count(search.conflicts, 'conflict', 'conflicts')}; costs in {unit(model)}"
    )
    for index in shown[:MAX_CANDIDATES]:
        considered = search.considered[index]
        near = ", ".join(f"c{neighbour + 1}" for neighbour in considered.conflicts)
        yield (
            f"    c{index + 1} {_candidate(template, considered.candidate)}: saves {amount(considered.benefit)}"
            + (f", in conflict with {near}" if near else "")
            + f"; {_fate_text(considered)}"
        )
    if len(shown) > MAX_CANDIDATES:
        yield f"    and {len(shown) - MAX_CANDIDATES} candidates more, which EXPLAIN SHARING JSON has"
    proof = "no set without conflicts saves more" if search.proven else "the best set that was found"
    yield (
        f"  Chosen: saves {cost(search.score, model)}; {proof}; {cost(search.by_gwmin, model)} by GWMIN, "
        f"whose guarantee is {cost(search.guarantee, model)}"
    )
    if _matters(search.by_merging, search):
        yield f"    {cost(search.by_merging, model)} more as candidates have some of it to pay for in common"
    if _matters(search.by_expansion, search):
        shared = ", ".join(_candidate(template, candidate) for candidate in search.shared)
        yield f"    {cost(search.by_expansion, model)} more by dropping queries: {shared}"


def _document(search: SharonSearch, template: Template, audience: Audience, shown: list[int]) -> dict[str, Any]:
    return {
        "candidates": [
            {
                "candidate": f"c{index + 1}",
                **_candidate_json(template, audience, search.considered[index].candidate),
                "benefit": search.considered[index].benefit,
                "conflicts": [f"c{neighbour + 1}" for neighbour in search.considered[index].conflicts],
                "fate": _fate(search.considered[index]),
                "most": search.considered[index].most,
            }
            for index in shown
        ],
        "conflicts": search.conflicts,
        "score": search.score,
        "by_gwmin": search.by_gwmin,
        "guarantee": search.guarantee,
        "by_merging": search.by_merging,
        "by_expansion": search.by_expansion,
        "proven": search.proven,
        "looked_at": search.looked_at,
        "shared": [
            _candidate_json(template, audience, candidate)
            for candidate in search.shared
            if audience.concerns(candidate.queries)
        ],
    }


def _matters(saved: float, search: SharonSearch) -> bool:
    """Whether something is saved, and not only rounded."""
    return saved > 1e-9 * max(1.0, search.score)


def _candidate(template: Template, candidate: Candidate) -> str:
    """A candidate, such as ``A B C (1,2)``."""
    states = " ".join(str(template.states[state]) for state in candidate.states)
    return f"{states} {numbers(candidate.queries)}"


def _candidate_json(template: Template, audience: Audience, candidate: Candidate) -> dict[str, Any]:
    return {
        "states": [str(template.states[state]) for state in candidate.states],
        "queries": [name for query in candidate.queries for name in audience.names[query]],
        "numbers": [query + 1 for query in candidate.queries],
    }


def _fate(considered: CandidateOutcome) -> str:
    """What has become of a candidate, in a word for programs."""
    if considered.benefit <= 0:
        return "saves_nothing"
    if considered.most is not None:
        return "conflict_ridden"
    if not considered.chosen:
        return "not_chosen"
    return "chosen" if considered.conflicts else "conflict_free"


def _fate_text(considered: CandidateOutcome) -> str:
    match _fate(considered):
        case "saves_nothing":
            return "pruned, as it saves nothing"
        case "conflict_ridden":
            return f"pruned, as no set with it saves more than {amount(considered.most or 0.0)}"
        case "not_chosen":
            return "not chosen"
        case _:
            return "chosen" if considered.conflicts else "chosen, as it has no conflicts"
