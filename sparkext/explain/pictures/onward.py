"""Which way the transitions of a template lead: from the beginnings of patterns to their ends."""

from __future__ import annotations

from sparkext.explain.report import Plan

LEVEL = 0.25
"""What a transition between states that are equally far from the start counts."""


def onward(plan: Plan) -> list[float]:
    """Per transition, the number of queries that get further from their start by it."""
    starts: dict[int, list[int]] = {}
    links: dict[int, list[tuple[int, int, int]]] = {}
    for at, state in enumerate(plan.states):
        for query in state.starts:
            starts.setdefault(query, []).append(at)
    for at, transition in enumerate(plan.transitions):
        for qset in transition.qsets:
            for query in qset.numbers:
                links.setdefault(query, []).append((transition.source, transition.target, at))
    weights = [0.0] * len(plan.transitions)
    for query, own_links in links.items():
        far = _steps_from(starts.get(query, []), [(source, target) for source, target, _ in own_links])
        for source, target, at in own_links:
            before, after = far.get(source, 0), far.get(target, 0)
            weights[at] += 1.0 if before < after else LEVEL if before == after else 0.0
    return weights


def _steps_from(starts: list[int], links: list[tuple[int, int]]) -> dict[int, int]:
    """Per state the fewest steps that lead there."""
    far = dict.fromkeys(starts, 0)
    todo = list(starts)
    for state in todo:
        for source, target in links:
            if source == state and target not in far:
                far[target] = far[state] + 1
                todo.append(target)
    return far
