"""States of what is forbidden, as kernels are told of them."""

from __future__ import annotations

from collections.abc import Callable

from sparkext.planner.kernel_plan.kernel_plan import GuardState
from sparkext.planner.patterns.query import EventClass
from sparkext.planner.sharing.template import Template


def guard_states(template: Template, number_of: Callable[[EventClass], int]) -> tuple[GuardState, ...]:
    """The states of all guards of a template, one guard after another; ``number_of`` numbers classes of events."""
    states: list[GuardState] = []
    for guard, forbidden in enumerate(template.guards):
        first = len(states)
        states += (
            GuardState(guard, number_of(s.event), s.start, s.end, tuple(first + source for source in s.sources))
            for s in forbidden
        )
    return tuple(states)
