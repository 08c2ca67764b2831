"""Loops that are shared by bursts: from how many events on, and how many bursts were, for text and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sparkext.explain.report import PassReport
from sparkext.planner.amounts import count
from sparkext.planner.sharing.regions import regions
from sparkext.planner.sharing.sharing_plan import BURST, QSet, qset_text


@dataclass(frozen=True, slots=True)
class _Shared:
    """A loop that is shared by bursts.

    Attributes:
        states: Of the template.
        qset: Who shares it.
        least: From how many events on a burst is shared; None if none is.
        seen: Bursts for which there was a choice, how many were shared, and the events of these; None before a pass.
    """

    states: tuple[int, ...]
    qset: QSet
    least: int | None
    seen: tuple[int, int, int] | None


def burst_lines(one: PassReport) -> Iterator[str]:
    """A line for each loop that is shared by bursts."""
    found, template = _shared(one), one.run.template
    if found:
        yield "  Bursts"
    for shared in found:
        loop = ", ".join(str(template.states[state]) for state in shared.states)
        said = "all are shared"
        if shared.least is None:
            said = "none is shared"
        elif shared.least > 1:
            said = f"shared from {count(shared.least, 'event', 'events')} on"
        if shared.seen is not None and shared.seen[0]:
            bursts, part, events = shared.seen
            said += f"; {part:,} of {count(bursts, 'burst', 'bursts')} shared, with {count(events, 'event', 'events')}"
        yield f"    {loop}: {qset_text(template, shared.qset)}, {said}"


def burst_json(one: PassReport) -> dict[str, Any]:
    """What `burst_lines` says, for programs; nothing if no loop is shared by bursts."""
    found = [
        {
            "states": [str(one.run.template.states[state]) for state in shared.states],
            "numbers": [query + 1 for query in shared.qset.queries],
            "shared_from": shared.least,
            **({} if shared.seen is None else dict(zip(("bursts", "shared", "events"), shared.seen, strict=True))),
        }
        for shared in _shared(one)
    ]
    return {"bursts": found} if found else {}


def _shared(one: PassReport) -> list[_Shared]:
    """The loops that some of the shown queries share by bursts."""
    run = one.run
    loops: dict[tuple[int, QSet], list[int]] = {}
    found = regions(run.template, run.sharing)
    for transition in run.sharing.transitions:
        for qset in transition.qsets:
            if qset.snapshot == BURST and not set(one.shown).isdisjoint(qset.queries):
                query = qset.queries[0]
                form = found.forms[query][run.template.states_of[query].index(transition.target)]
                loops.setdefault((found.region_of[form.block], qset), []).append(transition.target)
    bursts = run.counted.bursts() if run.counted.seen() is not None else None
    return [
        _Shared(
            tuple(sorted(set(states))),
            qset,
            run.plan.regions[number].shares_from,
            None if bursts is None else bursts[number],
        )
        for (number, qset), states in loops.items()
    ]
