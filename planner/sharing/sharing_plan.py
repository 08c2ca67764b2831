"""The workload sharing plan: which queries share which transitions, and through which snapshots."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sparkext.planner.automata.guards import ALWAYS
from sparkext.planner.patterns.query import Selection
from sparkext.planner.sharing.template import Template

BURST = -1
"""In place of the state at whose events snapshots are taken: they are taken when a burst begins, that is, at the first
event of a loop after anything else has changed what comes to the loop for any of the queries."""

BURST_NAME = "burst"
"""What stands in texts where the state would stand at whose events snapshots are taken."""


@dataclass(frozen=True, slots=True)
class QSet:
    """Queries (by number in the pool) that share a transition.

    Attributes:
        queries: Ascending.
        snapshot: State of the template at whose events snapshots are taken: what goes over the transition
            is a linear form over them, the same for all queries. `BURST` inside a loop whose snapshots are taken when
            bursts begin. None for a query that goes alone, and for several whose totals are equal anyway.
    """

    queries: tuple[int, ...]
    snapshot: int | None


def snapshot_name(template: Template, qset: QSet) -> str | None:
    """What people call the snapshots of a Q-set: the state where they are taken, or `BURST_NAME`; None for none."""
    if qset.snapshot is None:
        return None
    return BURST_NAME if qset.snapshot == BURST else str(template.states[qset.snapshot])


@dataclass(frozen=True, slots=True)
class TransitionPlan:
    """How the queries of one transition of the template are divided into Q-sets."""

    source: int
    target: int
    qsets: tuple[QSet, ...]


@dataclass(frozen=True, slots=True)
class SharingPlan:
    """One transition plan per transition of the template, in its order.

    Attributes:
        optimizer: What made the plan.
        transitions: The choices.
    """

    optimizer: str
    transitions: tuple[TransitionPlan, ...]


def numbers(queries: Iterable[int]) -> str:
    """Queries as the paper writes them, counted from 1: ``(1,2)``."""
    return "(" + ",".join(str(query + 1) for query in queries) + ")"


def qset_text(template: Template, qset: QSet) -> str:
    """A Q-set as the paper writes it: ``(1,2)^A``, or ``(1,2)^burst``."""
    name = snapshot_name(template, qset)
    return numbers(qset.queries) + ("" if name is None else f"^{name}")


class Steps:
    """Which steps of a template may be shared.

    A step of a query is plain when it has neither guards nor a condition on the event before, and the query skips till
    any match and has no span, so that totals only grow, and keeps no totals per earlier event. Only plain steps can be
    part of a linear form. A state passes a query's forms on, instead of turning them into values, only if all that the
    query does there is plain.
    """

    def __init__(self, template: Template) -> None:
        self._template = template
        self._at = [{state: index for index, state in enumerate(states)} for states in template.states_of]
        self._grows = [
            query.selection is Selection.ANY
            and query.span is None
            and not template.is_anchored(number)
            and not query.has_extreme_differences
            for number, query in enumerate(template.queries)
        ]

    def is_plain(self, query: int, source: int, target: int) -> bool:
        """Whether a query's step from state to state of the template is plain."""
        if not self._grows[query]:
            return False
        at = self._at[query]
        condition = self._template.automata[query].follows[at[source]][at[target]]
        return condition == ALWAYS and self._template.states[target].step is None

    def passes_on(self, query: int, state: int) -> bool:
        """Whether a state of the template may pass on what a query brings there."""
        automaton, at = self._template.automata[query], self._at[query][state]
        return (
            self._grows[query]
            and self._template.states[state].step is None
            and automaton.starts.get(at, ALWAYS) == ALWAYS
            and automaton.ends.get(at, ALWAYS) == ALWAYS
            and all(self.is_plain(query, state, self._template.states_of[query][t]) for t in automaton.follows[at])
        )

    def starts(self, query: int, state: int) -> bool:
        """Whether a query starts at a state of the template."""
        return self._at[query][state] in self._template.automata[query].starts
