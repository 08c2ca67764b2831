"""The match plan, put together from the local plans of patterns."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import inf

from sparkext.planner.mcep.annealing import TargetPattern
from sparkext.planner.mcep.local_plans import LocalPlan
from sparkext.planner.mcep.partial_matches import Expected, Kinds
from sparkext.planner.patterns.query import EventClass
from sparkext.planner.sharing.match_plan import MatchNode, MatchPlan, Root


def match_plan(
    patterns: Sequence[TargetPattern],
    plans: Sequence[LocalPlan],
    roots: Mapping[int, Sequence[tuple[int, tuple[str, ...]]]],
    lengths: Sequence[int | None],
    expected: Expected,
    classes: Mapping[Hashable, EventClass],
) -> MatchPlan:
    """Nodes of the local plans of patterns, of which equal ones are one.

    Args:
        patterns: Distinct ones.
        plans: Of each.
        roots: Per query its patterns, by number, each with the variables of its events.
        lengths: Per query that of its window; None for any.
        expected: Numbers of partial matches.
        classes: What the kinds of the patterns are.
    """
    halves: dict[Kinds, tuple[Kinds, Kinds, tuple[int, ...]]] = {}
    for pattern, plan in zip(patterns, plans, strict=True):
        for left, right in plan.joins:
            both = pattern.node(left | right)
            among = (position for position in range(len(pattern.kinds)) if (left | right) >> position & 1)
            indexes = tuple(index for index, position in enumerate(among) if left >> position & 1)
            halves.setdefault(both, (pattern.node(left), pattern.node(right), indexes))
    reach: dict[Kinds, float] = {}
    part: dict[Kinds, float] = {}
    for query, own_roots in roots.items():
        within = lengths[query]
        for pattern_number, _ in own_roots:
            pattern = patterns[pattern_number]
            todo = [pattern.kinds]
            while todo:
                node = todo.pop()
                reach[node] = max(reach.get(node, 0), inf if within is None else within)
                part[node] = max(part.get(node, 0.0), pattern.part)
                todo += halves[node][:2] if node in halves else ()
    order = sorted(reach, key=lambda node: (len(node), repr(node)))
    number = {node: index for index, node in enumerate(order)}
    nodes = [
        MatchNode(
            classes=tuple(classes[kind] for kind in node),
            children=(number[halves[node][0]], number[halves[node][1]]) if node in halves else None,
            indexes=halves[node][2] if node in halves else (),
            within=None if reach[node] == inf else int(reach[node]),
            expected=expected(node, part[node]),
        )
        for node in order
    ]
    return MatchPlan(
        tuple(nodes),
        tuple(
            Root(query, number[patterns[pattern].kinds], labels)
            for query in sorted(roots)
            for pattern, labels in roots[query]
        ),
    )
