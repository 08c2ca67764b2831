"""Repeats: the loops of a single state, which are all that HAMLET shares, and why queries have none."""

from __future__ import annotations

from sparkext.planner.automata.guards import ALWAYS
from sparkext.planner.problem.problem import Problem
from sparkext.planner.sharing.loops import Loop
from sparkext.planner.sharing.not_planned import NotPlanned, Reason, first_reason

OUTSIDE = (Reason.SELECTION, Reason.SPAN, Reason.DIFFERENCE, Reason.EARLIER)
"""What no query asks for whose loops are shared."""


def repeats(problem: Problem) -> tuple[dict[int, dict[int, Loop]], tuple[NotPlanned, ...]]:
    """Per state the queries that may share its loop, each with its loop; and the queries that have no such state."""
    having: dict[int, dict[int, Loop]] = {}
    apart: list[NotPlanned] = []
    for query, loops in enumerate(problem.loops):
        single = [loop for loop in loops if len(loop.states) == 1]
        for loop in single:
            having.setdefault(loop.states[0], {})[query] = loop
        if not single:
            apart.append(NotPlanned(query, _reason(problem, query)))
    return dict(sorted(having.items())), tuple(apart)


def _reason(problem: Problem, query: int) -> Reason:
    """Why a query has no loop of a single state that it may share."""
    template = problem.template
    automaton, template_states = template.automata[query], template.states_of[query]
    own = {state for state, after in enumerate(automaton.follows) if state in after}
    cycles = {template_state: len(states) for states in problem.cycles[query] for template_state in states}
    around = [
        state for state, template_state in enumerate(template_states) if state in own or cycles[template_state] > 1
    ]
    if not around:
        return Reason.NO_KLEENE
    reason = first_reason(template, query, OUTSIDE)
    if reason is not None:
        return reason
    single = [state for state in around if cycles[template_states[state]] == 1]
    if not single:
        return Reason.COMPLEX_KLEENE
    steps = [condition for state in single for condition in automaton.follows[state].values()]
    steps += [after[state] for state in single for after in automaton.follows if state in after]
    steps += [ways[state] for state in single for ways in (automaton.starts, automaton.ends) if state in ways]
    if any(condition != ALWAYS for condition in steps):
        return Reason.NOT
    near = {target for state in single for target in (state, *automaton.follows[state])}
    if any(template.states[template_states[state]].step is not None for state in near):
        return Reason.PREV
    return Reason.NOTHING_IN_COMMON
