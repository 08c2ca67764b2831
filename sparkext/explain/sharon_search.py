"""How SHARON found its plan, for the text and for the JSON of ``EXPLAIN SHARING``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sparkext.amounts import amount, cost, count, unit
from sparkext.explain.report import PassReport, numbers
from sparkext.planner.sharing.not_planned import Reason
from sparkext.planner.sharon.candidates import Candidate
from sparkext.planner.sharon.search import CandidateOutcome, SharonSearch

MAX_CANDIDATES = 60
"""Most candidates that the text shows; JSON has them all."""


def not_planned(one: PassReport) -> dict[int, Reason]:
    """The queries of a pass that its optimizer has left alone, with the reasons."""
    return {apart.query: apart.reason for apart in one.run.optimized.found.not_planned or ()}


def search_lines(one: PassReport) -> Iterator[str]:
    """The candidates of the shown queries, what has become of them, and what is known of the plan."""
    found, model = one.run.optimized.found.sharon, one.run.optimized.model.name
    if found is None:
        return
    saving = sum(candidate.benefit > 0 for candidate in found.considered)
    yield (
        f"  SHARON: {count(len(found.considered), 'candidate', 'candidates')}, {saving} of them save something; "
        f"{count(found.conflicts, 'conflict', 'conflicts')}; costs in {unit(model)}"
    )
    shown = _shown(one, found)
    for index in shown[:MAX_CANDIDATES]:
        considered = found.considered[index]
        near = ", ".join(f"c{other + 1}" for other in considered.conflicts)
        yield (
            f"    c{index + 1} {_candidate(one, considered.candidate)}: saves {amount(considered.benefit)}"
            + (f", in conflict with {near}" if near else "")
            + f"; {_fate_text(considered)}"
        )
    if len(shown) > MAX_CANDIDATES:
        yield f"    and {len(shown) - MAX_CANDIDATES} candidates more, which EXPLAIN SHARING JSON has"
    known = "no set without conflicts saves more" if found.proven else "the best set that was found"
    yield (
        f"  Chosen: saves {cost(found.score, model)}; {known}; {cost(found.by_gwmin, model)} by GWMIN, "
        f"whose guarantee is {cost(found.guarantee, model)}"
    )
    if _matters(found.by_merging, found):
        yield f"    {cost(found.by_merging, model)} more as candidates have some of it to pay for in common"
    if _matters(found.by_expansion, found):
        shared = ", ".join(_candidate(one, candidate) for candidate in found.shared)
        yield f"    {cost(found.by_expansion, model)} more by dropping queries: {shared}"


def search_json(one: PassReport) -> dict[str, Any]:
    """What `search_lines` says, for programs; nothing for other optimizers."""
    found = one.run.optimized.found.sharon
    if found is None:
        return {}
    return {
        "sharon": {
            "candidates": [
                {
                    "candidate": f"c{index + 1}",
                    **_candidate_json(one, found.considered[index].candidate),
                    "benefit": found.considered[index].benefit,
                    "conflicts": [f"c{other + 1}" for other in found.considered[index].conflicts],
                    "fate": _fate(found.considered[index]),
                    "most": found.considered[index].most,
                }
                for index in _shown(one, found)
            ],
            "conflicts": found.conflicts,
            "score": found.score,
            "by_gwmin": found.by_gwmin,
            "guarantee": found.guarantee,
            "by_merging": found.by_merging,
            "by_expansion": found.by_expansion,
            "proven": found.proven,
            "looked_at": found.looked_at,
            "shared": [_candidate_json(one, candidate) for candidate in found.shared if _is_shown(one, candidate)],
        }
    }


def applicable_json(one: PassReport, query: int | None) -> dict[str, Any]:
    """Whether a query was planned, and if not why; nothing for optimizers that plan all."""
    if one.run.optimized.found.not_planned is None or query is None:
        return {}
    reason = not_planned(one).get(query)
    return {"applicable": reason is None, "reason": None if reason is None else reason.name}


def _shown(one: PassReport, found: SharonSearch) -> list[int]:
    return [index for index, considered in enumerate(found.considered) if _is_shown(one, considered.candidate)]


def _is_shown(one: PassReport, candidate: Candidate) -> bool:
    return not set(one.shown).isdisjoint(candidate.queries)


def _matters(saved: float, found: SharonSearch) -> bool:
    """Whether something is saved, and not only rounded."""
    return saved > 1e-9 * max(1.0, found.score)


def _candidate(one: PassReport, candidate: Candidate) -> str:
    """A candidate, such as ``A B C (1,2)``."""
    states = " ".join(str(one.run.template.states[state]) for state in candidate.states)
    return f"{states} {numbers(candidate.queries)}"


def _candidate_json(one: PassReport, candidate: Candidate) -> dict[str, Any]:
    return {
        "states": [str(one.run.template.states[state]) for state in candidate.states],
        "queries": [name for query in candidate.queries for name in one.names[query]],
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
