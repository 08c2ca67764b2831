"""Chains: the queries whose automata are plain sequences, which are all that SHARON knows."""

from __future__ import annotations

from sparkext.planner.problem.problem import Problem
from sparkext.planner.sharing.not_planned import Reason, first_reason

OUTSIDE = (Reason.SELECTION, Reason.SPAN, Reason.DIFFERENCE, Reason.EARLIER, Reason.NOT, Reason.PREV)
"""What no chain asks for."""


def chain(problem: Problem, query: int) -> tuple[int, ...] | Reason:
    """The states of a query one after another, as those of the template; or why it is no chain of plain steps."""
    template = problem.template
    reason = first_reason(template, query, OUTSIDE)
    if reason is not None:
        return reason
    automaton, template_states = template.automata[query], template.states_of[query]
    if len(problem.cycles[query]) < len(template_states) or any(
        state in after for state, after in enumerate(automaton.follows)
    ):
        return Reason.KLEENE
    if len(automaton.starts) > 1 or len(automaton.ends) > 1 or any(len(after) > 1 for after in automaton.follows):
        return Reason.BRANCHES
    (state,) = automaton.starts
    states = [template_states[state]]
    while automaton.follows[state]:
        (state,) = automaton.follows[state]
        states.append(template_states[state])
    return tuple(states)


def chains(problem: Problem) -> tuple[dict[int, tuple[int, ...]], dict[int, Reason]]:
    """By query, the states of those that are chains, and the reasons why others are none."""
    chain_of: dict[int, tuple[int, ...]] = {}
    reasons: dict[int, Reason] = {}
    for query in range(len(problem.template.queries)):
        states = chain(problem, query)
        if isinstance(states, Reason):
            reasons[query] = states
        else:
            chain_of[query] = states
    return chain_of, reasons
