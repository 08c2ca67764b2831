"""What MCEP has found, and how it builds matches, for the text and for the JSON of ``EXPLAIN SHARING``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sparkext.planner.amounts import amount, count
from sparkext.planner.problem.strategy import Audience, Report
from sparkext.planner.sharing.match_plan import MatchNode, MatchPlan
from sparkext.planner.sharing.not_planned import NotPlanned
from sparkext.planner.sharing.sharing_plan import numbers
from sparkext.planner.sharing.template import Template

MAX_NODES = 60
"""Most nodes that the text shows; JSON has them all."""


@dataclass(frozen=True, slots=True)
class MatchSearch:
    """What MCEP has found.

    Attributes:
        plan: How matches are built; without roots if there is no query that it knows.
        not_planned: Queries that it does not know.
        by: ``orders`` or ``trees``.
        by_themselves: Partial matches if each query had its own best order, and nothing were shared.
        as_written: Likewise if each took events in the order of its pattern.
    """

    plan: MatchPlan
    not_planned: tuple[NotPlanned, ...]
    by: str
    by_themselves: float
    as_written: float

    def report(self, template: Template, model: str, audience: Audience) -> Report:
        """The partial matches that are built for the shown queries."""
        del template, model  # what is built has been counted in partial matches
        users = self.plan.users()
        shown = [index for index, queries in enumerate(users) if audience.concerns(queries)]
        lines = tuple(_lines(self, users, shown)) if self.plan.roots else ()
        return Report(lines, {"mcep": _document(self, users, shown)})


def _lines(search: MatchSearch, users: list[set[int]], shown: list[int]) -> Iterator[str]:
    nodes = search.plan.nodes
    yield (
        f"  MCEP: matches are built by {search.by}, then aggregated; {count(len(nodes), 'step', 'steps')}, "
        f"{amount(search.plan.matches)} partial matches expected in a group and window"
    )
    for index in shown[:MAX_NODES]:
        node = nodes[index]
        of = ""
        if node.children is not None:
            of = " of " + " with ".join(_name(nodes[child]) for child in node.children)
        yield f"    {_name(node)}{of}: {amount(node.expected)} expected; {numbers(sorted(users[index]))}"
    if len(shown) > MAX_NODES:
        yield f"    and {len(shown) - MAX_NODES} steps more, which EXPLAIN SHARING JSON has"
    yield (
        f"    {amount(search.by_themselves)} if each query had its own best order and nothing were shared, "
        f"{amount(search.as_written)} if each took events in the order of its pattern"
    )


def _document(search: MatchSearch, users: list[set[int]], shown: list[int]) -> dict[str, Any]:
    nodes = search.plan.nodes
    return {
        "by": search.by,
        "steps": [
            {
                "events": list(map(str, nodes[index].classes)),
                "of": [_name(nodes[child]) for child in nodes[index].children or ()],
                "expected": nodes[index].expected,
                "numbers": [query + 1 for query in sorted(users[index])],
            }
            for index in shown
        ],
        "partial_matches": search.plan.matches,
        "by_themselves": search.by_themselves,
        "as_written": search.as_written,
    }


def _name(node: MatchNode) -> str:
    return " ".join(map(str, node.classes))
