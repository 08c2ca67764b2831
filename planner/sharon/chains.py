"""Chains: the queries whose automata are plain sequences, which are all that SHARON knows."""

from __future__ import annotations

from sparkext.planner.gloria.problem import Problem
from sparkext.planner.patterns.query import Selection
from sparkext.planner.sharing.not_planned import Reason


def chain(problem: Problem, query: int) -> tuple[int, ...] | Reason:
    """The states of a query one after another, as those of the template; or why it is no chain of plain steps."""
    template = problem.template
    asked, machine, places = template.queries[query], template.automata[query], template.places[query]
    if asked.selection is not Selection.ANY:
        return Reason.SELECTION
    if asked.span is not None:
        return Reason.SPAN
    if asked.has_extreme_differences:
        return Reason.DIFFERENCE
    if template.is_anchored(query):
        return Reason.EARLIER
    if machine.guards:
        return Reason.NOT
    if any(template.states[place].step is not None for place in places):
        return Reason.PREV
    if len(problem.cycles[query]) < len(places) or any(state in after for state, after in enumerate(machine.follows)):
        return Reason.KLEENE
    if len(machine.starts) > 1 or len(machine.ends) > 1 or any(len(after) > 1 for after in machine.follows):
        return Reason.BRANCHES
    (state,) = machine.starts
    found = [places[state]]
    while machine.follows[state]:
        (state,) = machine.follows[state]
        found.append(places[state])
    return tuple(found)


def chains(problem: Problem) -> tuple[dict[int, tuple[int, ...]], dict[int, Reason]]:
    """By query, the states of those that are chains, and the reasons why others are none."""
    found: dict[int, tuple[int, ...]] = {}
    reasons: dict[int, Reason] = {}
    for query in range(len(problem.template.queries)):
        states = chain(problem, query)
        if isinstance(states, Reason):
            reasons[query] = states
        else:
            found[query] = states
    return found, reasons
