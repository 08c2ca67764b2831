"""How HAMLET found its plan, for the text and for the JSON of ``EXPLAIN SHARING``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sparkext.amounts import cost, count
from sparkext.explain.report import PassReport, numbers
from sparkext.planner.hamlet.search import CommonLoop


def loop_lines(one: PassReport) -> Iterator[str]:
    """The repeated events that the shown queries have in common with others, and who shares them."""
    if one.run.optimized.found.hamlet is None:
        return
    found, model = _shown(one), one.run.optimized.model.name
    yield f"  HAMLET: {count(len(found), 'repeated event', 'repeated events')} that several queries have"
    for repeated in found:
        ways = count(repeated.groups, "way", "different ways")
        saved = f"; {cost(repeated.saved, model)} saved" if repeated.shared else ""
        sharing = ", ".join(map(numbers, repeated.shared)) or "none"
        state = one.run.template.states[repeated.state]
        yield f"    {state} {numbers(repeated.queries)}, to which they come in {ways}: {sharing} by bursts{saved}"


def loop_json(one: PassReport) -> dict[str, Any]:
    """What `loop_lines` says, for programs; nothing for other optimizers."""
    if one.run.optimized.found.hamlet is None:
        return {}
    return {
        "hamlet": {
            "repeated": [
                {
                    "state": str(one.run.template.states[repeated.state]),
                    "numbers": [query + 1 for query in repeated.queries],
                    "groups": repeated.groups,
                    "shared": [[query + 1 for query in sharing] for sharing in repeated.shared],
                    "saved": repeated.saved,
                }
                for repeated in _shown(one)
            ]
        }
    }


def _shown(one: PassReport) -> list[CommonLoop]:
    found = one.run.optimized.found.hamlet
    return [] if found is None else [r for r in found.repeated if not set(one.shown).isdisjoint(r.queries)]
