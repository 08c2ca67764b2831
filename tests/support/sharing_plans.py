"""Random sharing plans that are valid, whatever the template."""

from __future__ import annotations

from random import Random
from typing import TypeAlias

from sparkext.planner.costs.measured import Constants
from sparkext.planner.optimizers import MODELS, cost_model, optimize
from sparkext.planner.problem.problem import Problem
from sparkext.planner.sharing.invalid import invalid
from sparkext.planner.sharing.loops import Loop, loops
from sparkext.planner.sharing.prefixes import share_equal_prefixes
from sparkext.planner.sharing.sharing_plan import BURST, QSet, SharingPlan, Steps, TransitionPlan
from sparkext.planner.sharing.template import Template

_Choice: TypeAlias = tuple[int | None, tuple[int, ...]]
"""The state that a query's snapshots on a transition are of, and what tells its Q-set from others of the same."""


def draw_plan(random: Random, template: Template) -> SharingPlan:
    """A random valid plan: forms go on from some states as far as they may, but where chance ends or splits them."""
    plan = _Drawer(random, template).plan()
    assert not list(invalid(template, plan))
    return plan


class _Drawer:
    """Draws for each transition and query its Q-set, and takes back what is not valid until all is."""

    def __init__(self, random: Random, template: Template) -> None:
        self._random = random
        self._template = template
        self._steps = Steps(template)
        self._chosen: dict[tuple[int, int, int], _Choice] = {}
        self._into: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        self._loops: dict[tuple[tuple[int, ...], int], dict[int, Loop]] = {}
        sizes = random.choice((1, 1, 2))
        for query, loops_of_query in enumerate(loops(template, self._steps)):
            for loop in loops_of_query:
                if random.random() < 0.9:
                    self._loops.setdefault((loop.inside, random.randrange(sizes)), {})[query] = loop
        for transition in template.transitions:
            for query in transition.queries:
                link = (transition.source, transition.target, query)
                self._into.setdefault((transition.target, query), []).append(link)

    def plan(self) -> SharingPlan:
        """The plan."""
        self._alone()
        sources = [t.source for t in self._template.transitions for _ in range(len(t.queries) ** 2)]
        for _ in range(self._random.choice((1, 2, 4, 8)) if sources else 0):
            snapshot = self._random.choice(sources)
            self._spread(snapshot)
        while self._take_back():
            pass
        while self._share_loops():
            while self._take_back():
                pass
        plans = []
        for transition in self._template.transitions:
            together: dict[_Choice, list[int]] = {}
            for query in transition.queries:
                choice = self._chosen[transition.source, transition.target, query]
                together.setdefault(choice, []).append(query)
            qsets = tuple(QSet(tuple(queries), snapshot) for (snapshot, _), queries in together.items())
            plans.append(TransitionPlan(transition.source, transition.target, qsets))
        return SharingPlan("random", tuple(plans))

    def _alone(self) -> None:
        """Let queries share only what is equal, and not all of that."""
        for transition in share_equal_prefixes(self._template).transitions:
            for number, qset in enumerate(transition.qsets):
                for query in qset.queries:
                    part = self._random.randint(0, 1)
                    self._chosen[transition.source, transition.target, query] = (None, (number, part))

    def _spread(self, snapshot: int) -> None:
        """Let forms over the snapshots of a state go on for some queries."""
        random, sizes = self._random, self._random.choice((1, 1, 2))
        group = {q: random.randrange(sizes) for q in range(len(self._template.queries)) if random.random() < 0.9}
        ends, taken = random.choice((0.0, 0.0, 0.1, 0.3)), random.choice((0.0, 0.5))
        polite = random.random() < 0.5
        reached, todo = {snapshot}, [snapshot]
        while todo:
            source = todo.pop()
            for transition in self._template.transitions:
                of_group = [query for query in transition.queries if query in group]
                end = taken if source == snapshot else ends
                if transition.source != source or not of_group or random.random() < end:
                    continue
                split = random.random() < 0.1
                for query in of_group:
                    tag = (group[query], random.randint(0, 1) if split else 0)
                    if polite and source != snapshot and self._chosen[source, transition.target, query][0] is not None:
                        continue
                    if self._steps.is_plain(query, source, transition.target):
                        self._chosen[source, transition.target, query] = (snapshot, tag)
                if transition.target not in reached:
                    reached.add(transition.target)
                    todo.append(transition.target)

    def _share_loops(self) -> bool:
        """Let some queries share a loop by bursts, which has not been tried before; returns whether there was one."""
        random = self._random
        while self._loops:
            (shape, number), queries = self._loops.popitem()
            if random.random() < 0.5:
                continue
            for query, loop in queries.items():
                for transition in (*loop.inside, *loop.entering):
                    link = self._template.transitions[transition]
                    choice: _Choice = (BURST, (*shape, number)) if transition in loop.inside else (None, (-1 - query,))
                    self._chosen[link.source, link.target, query] = choice
            return True
        return False

    def _take_back(self) -> bool:
        """Split Q-sets that do not come in one, and let those go alone that cannot be passed on."""
        renewed = {link: self._renewed(link, choice) for link, choice in self._chosen.items()}
        begun = self._begun(renewed)
        for (source, target, query), (snapshot, _) in renewed.items():
            if snapshot not in (None, BURST, source) and (source, query, snapshot) not in begun:
                renewed[source, target, query] = self._otherwise(source, query)
        changed = renewed != self._chosen
        self._chosen = renewed
        return changed

    def _renewed(self, link: tuple[int, int, int], choice: _Choice) -> _Choice:
        (source, target, query), (snapshot, tag) = link, choice
        if snapshot in (None, BURST, source):
            return choice
        before = [self._chosen[earlier] for earlier in self._into.get((source, query), ())]
        if not self._steps.passes_on(query, source) or any(earlier != snapshot for earlier, _ in before):
            return self._otherwise(source, query)
        signature = self._signature(source, query)
        alike = (
            q
            for q in range(len(self._template.queries))
            if self._chosen.get((source, target, q)) == choice and self._signature(source, q) == signature
        )
        return snapshot, (*tag[:2], next(alike))

    def _signature(self, state: int, query: int) -> object:
        """In which Q-sets a query comes to a state, and whether it starts there."""
        into = [(source, self._chosen[source, state, query]) for source, _, _ in self._into.get((state, query), ())]
        return into, self._steps.starts(query, state)

    def _otherwise(self, source: int, query: int) -> _Choice:
        """How a query goes on that may not stay in its Q-set: with snapshots of the state it leaves, or without."""
        return (source if self._random.random() < 0.3 else None), (-1 - query, 0)

    def _begun(self, chosen: dict[tuple[int, int, int], _Choice]) -> set[tuple[int, int, int]]:
        """State, query and snapshots of what comes to a state and has begun where the snapshots are."""
        begun = {(t, q, s) for (source, t, q), (s, _) in chosen.items() if s is not None and s == source}
        while True:
            more = {(t, q, s) for (source, t, q), (s, _) in chosen.items() if s is not None and (source, q, s) in begun}
            if more <= begun:
                return begun
            begun |= more


def optimized_plan(random: Random, template: Template) -> SharingPlan:
    """What some optimizer finds with random statistics."""
    events = {state.event: random.choice((1.0, 3.0, 10.0, 100.0)) for state in template.states}
    problem = Problem(template, tuple(events[state.event] for state in template.states))
    # Costs that make sharing pay, also for a single query, and costs as they are.
    constants = random.choice((None, Constants(lane=50.0, multiply=0.1)))
    model = cost_model(random.choice(MODELS), constants)
    strategies = ("gloria", "gloria", "greedy", "sharon", "hamlet", "published")
    return optimize(problem, model, random.choice(strategies)).plan_result.plan


def sharon_plan(random: Random, template: Template) -> SharingPlan:
    """What SHARON finds with random statistics, and costs that make sharing pay."""
    problem = Problem(template, tuple(random.choice((1.0, 3.0, 10.0, 100.0)) for _ in template.states))
    model = random.choice((cost_model("paper"), cost_model("measured", Constants(lane=50.0, multiply=0.1))))
    plan = optimize(problem, model, "sharon").plan_result.plan
    assert not list(invalid(template, plan))
    return plan
