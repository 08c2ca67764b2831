"""Simulated annealing over the local plans of many patterns: the fewest partial matches that serve all of them.

Two patterns are planned anew so that both have one of their common sub-patterns among their nodes, or the empty one,
which gives each its own best plan again. The paper leaves the empty one out; then one wrong choice can never be undone.
The random numbers and their number are always the same, and so is the plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import exp
from random import Random

from sparkext.planner.budget import Budget
from sparkext.planner.disjoint_sets import put_together
from sparkext.planner.mcep.common import common
from sparkext.planner.mcep.local_plans import LocalBest, LocalPlan, best_tree
from sparkext.planner.mcep.partial_matches import Expected, Kinds

STEPS = 1000
"""Neighbours that are tried, as many as are looked at first to know how far apart costs are."""

STEPS_PER_PATTERN = 20
"""Neighbours that are tried for each pattern, where that is more."""

COOLING = 0.99
"""By what the temperature is multiplied at each step."""

SEED = 2019


@dataclass(frozen=True, slots=True)
class TargetPattern:
    """A pattern whose matches are to be built.

    Attributes:
        kinds: Its classes, in order of time.
        part: Its window, as a part of the longest one.
    """

    kinds: Kinds
    part: float = 1.0

    def node(self, positions: int) -> Kinds:
        """The classes at a set of positions."""
        return tuple(kind for position, kind in enumerate(self.kinds) if positions >> position & 1)


def total(patterns: Sequence[TargetPattern], plans: Sequence[LocalPlan], expected: Expected) -> float:
    """Partial matches of all plans together: equal nodes once, in the longest of their windows."""
    both = zip(patterns, plans, strict=True)
    return _total(((map(pattern.node, plan.nodes), pattern.part) for pattern, plan in both), expected)


def _total(nodes: Iterable[tuple[Iterable[Kinds], float]], expected: Expected) -> float:
    """As `total`, of the nodes of each plan with the part of the longest window that it needs."""
    parts: dict[Kinds, float] = {}
    for plan_nodes, part in nodes:
        for node in plan_nodes:
            parts[node] = max(parts.get(node, 0.0), part)
    return sum(expected(node, part) for node, part in parts.items())


@dataclass(frozen=True, slots=True)
class AnnealingResult:
    """The plans that annealing has found.

    Attributes:
        plans: Of each pattern.
        start: Cost of the best plans that patterns have by themselves, with equal nodes once.
        cost: Of the plans.
    """

    plans: tuple[LocalPlan, ...]
    start: float
    cost: float


def anneal(patterns: Sequence[TargetPattern], best: LocalBest, expected: Expected, budget: Budget) -> AnnealingResult:
    """Plans of patterns that share partial matches; never dearer than the best plans by themselves.

    Args:
        patterns: Distinct ones.
        best: Whether by orders or by trees.
        expected: Numbers of partial matches.
        budget: When it is spent, the best so far is taken.
    """
    search = _Search(patterns, best, expected)
    plans = list(search.plans)
    for component in search.components():
        for pattern, plan in search.annealed(component, budget).items():
            plans[pattern] = plan
    return AnnealingResult(tuple(plans), total(patterns, search.plans, expected), total(patterns, plans, expected))


class _Search:
    """The multi-pattern graph: patterns, of which two are neighbours when they have a sub-pattern in common."""

    def __init__(self, patterns: Sequence[TargetPattern], best: LocalBest, expected: Expected) -> None:
        self._patterns = patterns
        self._best = best
        self._expected = expected
        self._known: dict[tuple[int, tuple[int, ...]], LocalPlan] = {}
        self._nodes: dict[tuple[int, LocalPlan], tuple[Kinds, ...]] = {}
        self._costs: dict[tuple[Kinds, float], float] = {}
        self.plans = [self._local(pattern) for pattern in range(len(patterns))]
        self._common = {
            (left, right): masks
            for right in range(len(patterns))
            for left in range(right)
            if (masks := common(patterns[left].kinds, patterns[right].kinds))
        }

    def components(self) -> list[list[int]]:
        """Patterns that have something in common, directly or through others; those alone are left out."""
        return [members for members in put_together(len(self._patterns), self._common) if len(members) > 1]

    def annealed(self, component: Sequence[int], budget: Budget) -> Mapping[int, LocalPlan]:
        """The plans of the patterns of a component."""
        random = Random(SEED)
        inside = set(component)
        edges = [edge for edge in self._common if edge[0] in inside]
        plan = {pattern: self.plans[pattern] for pattern in component}
        cost = self._cost(plan)
        least, best = cost, plan
        steps = max(STEPS, STEPS_PER_PATTERN * len(component))
        heat = 1.0
        for _ in range(steps):
            if budget.is_spent():
                return best
            changed_cost = self._cost(plan | self._neighbour(plan, edges, random))
            heat = max(heat, abs(changed_cost - cost))
        for _ in range(steps):
            if budget.is_spent():
                break
            changed = plan | self._neighbour(plan, edges, random)
            changed_cost = self._cost(changed)
            if changed_cost < cost or random.random() < exp((cost - changed_cost) / heat):
                plan, cost = changed, changed_cost
                if cost < least:
                    least, best = cost, plan
            heat *= COOLING
        return best

    def _neighbour(
        self, plan: Mapping[int, LocalPlan], edges: Sequence[tuple[int, int]], random: Random
    ) -> dict[int, LocalPlan]:
        """Two patterns that are planned anew, with a common sub-pattern among their nodes, or each by itself."""
        edge = random.choice(edges)
        chosen = random.randint(0, len(self._common[edge]))
        if chosen == 0:
            return {pattern: self.plans[pattern] for pattern in edge}
        masks = self._common[edge][chosen - 1]
        return {
            pattern: self._local(pattern, (mask, *self._kept(plan, pattern, mask, random)))
            for pattern, mask in zip(edge, masks, strict=True)
        }

    def _kept(self, plan: Mapping[int, LocalPlan], pattern: int, mask: int, random: Random) -> list[int]:
        """By chance, other subtrees that a pattern shares and that a sub-pattern leaves whole; none of an order."""
        if self._best is not best_tree:
            return []
        beside = [
            positions
            for positions in plan[pattern].nodes
            if positions & (positions - 1) and positions & mask in (0, positions, mask) and positions != mask
        ]
        return [
            positions for positions in beside if random.random() < 0.5 and self._is_shared(plan, pattern, positions)
        ]

    def _is_shared(self, plan: Mapping[int, LocalPlan], pattern: int, positions: int) -> bool:
        node = self._patterns[pattern].node(positions)
        return any(sharer != pattern and node in self._nodes_of(sharer, plan[sharer]) for sharer in plan)

    def _local(self, pattern: int, fixed: tuple[int, ...] = ()) -> LocalPlan:
        """The best plan of a pattern by itself with some sets of positions among its nodes."""
        key = (pattern, tuple(sorted(fixed)))
        if key not in self._known:
            sought = self._patterns[pattern]
            price = partial(self._price, sought)
            self._known[key] = self._best(len(sought.kinds), price, key[1])
        return self._known[key]

    def _price(self, pattern: TargetPattern, positions: int) -> float:
        return self._expected_at(pattern.node(positions), pattern.part)

    def _expected_at(self, node: Kinds, part: float) -> float:
        key = (node, part)
        if key not in self._costs:
            self._costs[key] = self._expected(node, part)
        return self._costs[key]

    def _nodes_of(self, pattern: int, plan: LocalPlan) -> tuple[Kinds, ...]:
        key = (pattern, plan)
        if key not in self._nodes:
            self._nodes[key] = tuple(map(self._patterns[pattern].node, plan.nodes))
        return self._nodes[key]

    def _cost(self, plan: Mapping[int, LocalPlan]) -> float:
        """As `total`, of some patterns."""
        nodes = ((self._nodes_of(pattern, local), self._patterns[pattern].part) for pattern, local in plan.items())
        return _total(nodes, self._expected_at)
