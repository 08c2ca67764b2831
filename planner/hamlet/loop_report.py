"""What HAMLET has found, for the text and for the JSON of ``EXPLAIN SHARING``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sparkext.planner.amounts import cost, count
from sparkext.planner.problem.strategy import Audience, Report
from sparkext.planner.sharing.not_planned import NotPlanned
from sparkext.planner.sharing.sharing_plan import numbers
from sparkext.planner.sharing.template import Template


@dataclass(frozen=True, slots=True)
class CommonLoop:
    """A loop that several queries have.

    Attributes:
        state: Its state.
        queries: That have it.
        groups: Number of different sets of states from which they come to it.
        shared: The Q-sets that share it.
        saved: Cost without them, less that with them; in units of the cost model.
    """

    state: int
    queries: tuple[int, ...]
    groups: int
    shared: tuple[tuple[int, ...], ...]
    saved: float


@dataclass(frozen=True, slots=True)
class HamletSearch:
    """How HAMLET has found its plan.

    Attributes:
        not_planned: Queries that go alone, since they have no loop of a single state that another has.
        repeated: The loops that were looked at.
    """

    not_planned: tuple[NotPlanned, ...]
    repeated: tuple[CommonLoop, ...] = ()

    def report(self, template: Template, model: str, audience: Audience) -> Report:
        """The repeated events that the shown queries have in common with others, and who shares them."""
        shown = [repeated for repeated in self.repeated if audience.concerns(repeated.queries)]
        document = {"hamlet": {"repeated": [_document(repeated, template) for repeated in shown]}}
        return Report(tuple(_lines(shown, template, model)), document)


def _lines(shown: Sequence[CommonLoop], template: Template, model: str) -> Iterator[str]:
    yield f"  HAMLET: {count(len(shown), 'repeated event', 'repeated events')} that several queries have"
    for repeated in shown:
        ways = count(repeated.groups, "way", "different ways")
        saved = f"; {cost(repeated.saved, model)} saved" if repeated.shared else ""
        sharing = ", ".join(map(numbers, repeated.shared)) or "none"
        state = template.states[repeated.state]
        yield f"    {state} {numbers(repeated.queries)}, to which they come in {ways}: {sharing} by bursts{saved}"


def _document(repeated: CommonLoop, template: Template) -> dict[str, Any]:
    return {
        "state": str(template.states[repeated.state]),
        "numbers": [query + 1 for query in repeated.queries],
        "groups": repeated.groups,
        "shared": [[query + 1 for query in sharing] for sharing in repeated.shared],
        "saved": repeated.saved,
    }
