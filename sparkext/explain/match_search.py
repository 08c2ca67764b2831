"""How MCEP builds matches, for the text and for the JSON of ``EXPLAIN SHARING``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sparkext.amounts import amount, count
from sparkext.explain.report import PassReport, numbers

MAX_NODES = 60
"""Most nodes that the text shows; JSON has them all."""


def match_lines(one: PassReport) -> Iterator[str]:
    """The partial matches that are built for the shown queries."""
    found = one.run.optimized.found.mcep
    if found is None or not found.plan.roots:
        return
    nodes = found.plan.nodes
    yield (
        f"  MCEP: matches are built by {found.by}, then aggregated; {count(len(nodes), 'step', 'steps')}, "
        f"{amount(found.plan.matches)} partial matches expected in a group and window"
    )
    shown = _shown(one)
    for index in shown[:MAX_NODES]:
        node, users = nodes[index], found.plan.users()[index]
        of = ""
        if node.children is not None:
            of = " of " + " with ".join(_name(one, child) for child in node.children)
        yield f"    {_name(one, index)}{of}: {amount(node.expected)} expected; {numbers(sorted(users))}"
    if len(shown) > MAX_NODES:
        yield f"    and {len(shown) - MAX_NODES} steps more, which EXPLAIN SHARING JSON has"
    yield (
        f"    {amount(found.by_themselves)} if each query had its own best order and nothing were shared, "
        f"{amount(found.as_written)} if each took events in the order of its pattern"
    )


def match_json(one: PassReport) -> dict[str, Any]:
    """What `match_lines` says, for programs; nothing for other optimizers."""
    found = one.run.optimized.found.mcep
    if found is None:
        return {}
    nodes, users = found.plan.nodes, found.plan.users()
    return {
        "mcep": {
            "by": found.by,
            "steps": [
                {
                    "events": list(map(str, nodes[index].classes)),
                    "of": [_name(one, child) for child in nodes[index].children or ()],
                    "expected": nodes[index].expected,
                    "numbers": [query + 1 for query in sorted(users[index])],
                }
                for index in _shown(one)
            ],
            "partial_matches": found.plan.matches,
            "by_themselves": found.by_themselves,
            "as_written": found.as_written,
        }
    }


def _shown(one: PassReport) -> list[int]:
    """Nodes that the shown queries use."""
    found = one.run.optimized.found.mcep
    assert found is not None
    return [index for index, users in enumerate(found.plan.users()) if not users.isdisjoint(one.shown)]


def _name(one: PassReport, index: int) -> str:
    found = one.run.optimized.found.mcep
    assert found is not None
    return " ".join(map(str, found.plan.nodes[index].classes))
