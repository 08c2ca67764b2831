"""The cost model of the executor: nanoseconds per group and window, from constants measured on a machine.

What costs time in the kernel (`sparkext.udfs.kernels.event_loop`), and how often it happens:

- An event of a state where a query has values adds them lane by lane: one lane per live window, or where there are
  many, two per row of the matrix of a pane.
- An event of a state where a Q-set has a form adds coefficients, one per state that the form is over, and
  makes a note that the form has changed.
- Forms are evaluated for all states of a region at once when a snapshot is taken, and when windows open or
  close; and for one state when an event asks for its values. But only if forms have changed since: with D
  events that ask and B that change, randomly mixed, that is D·B / (D + B) times, and never more often than there are
  runs of either (`Problem.changes`).
- In a loop that is shared by bursts, forms are evaluated when an event has changed what comes to the loop for any query
  of the Q-set, which is as often as a run of the loop's events begins, and when windows open or close. What comes there
  is read when forms are evaluated, and costs nothing by itself.
- Where a condition on the event before is looked up, it costs a walk through a tree, or a scan.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from math import log2

from sparkext.planner.automata.automaton import Automaton
from sparkext.planner.automata.guards import ALWAYS
from sparkext.planner.conditions.access import accesses
from sparkext.planner.disjoint_sets import put_together
from sparkext.planner.kernel_plan.kernel_plan import Access
from sparkext.planner.problem.burst_labels import is_burst
from sparkext.planner.problem.cost_model import Charge, Departure
from sparkext.planner.problem.problem import Problem
from sparkext.planner.sharing.loops import Loop
from sparkext.planner.sharing.prefixes import equal_prefixes
from sparkext.planner.totals.components import needed
from sparkext.planner.totals.pane_rows import pane_rows, told_apart


@dataclass(frozen=True, slots=True)
class Constants:
    """What the parts of the kernel's work take, in nanoseconds; the defaults are of one core of a cloud machine.

    Attributes:
        update: To begin with one running total at one event.
        lane: To add one lane, or one coefficient, of one total to another.
        multiply: To multiply one coefficient with one lane and add it up.
        tree: One step through a tree, per lane.
        scan: To look at one event before.
        form: What an event that adds to a form costs beside its updates.
        evaluate: To begin with evaluating one total.
        wide: As ``lane``, for counts that do not fit into a word and doubles that need a scale. Totals of a loop are
            soon like that: each of its events doubles them.
        choose: To choose for one event whether it is shared.
    """

    update: float = 16.0
    lane: float = 0.6
    multiply: float = 2.0
    tree: float = 42.0
    scan: float = 12.5
    form: float = 8.0
    evaluate: float = 56.0
    wide: float = 2.5
    choose: float = 12.0


class MeasuredCosts:
    """The cost model ``measured``: nanoseconds per group and longest window."""

    name = "measured"
    fewest = 1
    merges = True

    def __init__(self, constants: Constants | None = None) -> None:
        self.constants = constants or Constants()

    def start(self, problem: Problem, query: int, state: int) -> Iterable[Charge]:
        """Price of an update of the count of trends."""
        kernel, c = self._kernel(problem), self.constants
        cost = c.update + kernel.lanes[query] * c.lane
        yield ("start", state, kernel.block(query, state)), problem.events[state] * cost

    def alone(self, problem: Problem, query: int, transition: int) -> Iterable[Charge]:
        """Price of an update of every total at every event of the target, lane by lane."""
        kernel, c = self._kernel(problem), self.constants
        key = (query, transition)
        if key not in kernel.charged:
            target = problem.transitions[transition].target
            block, events = kernel.block(query, target), problem.events[target]
            cost = events * (c.update + 2 * kernel.lanes[query] * c.lane + kernel.look_up(query, transition, c))
            update = kernel.number(("alone", transition, block))
            kernel.charged[key] = [((update, total), cost) for total in kernel.needed[query]]
        return kernel.charged[key]

    def shared(self, problem: Problem, query: int, transition: int, snapshot: int) -> Iterable[Charge]:
        """An update of coefficients at every event, and more to evaluate whenever snapshots are taken."""
        kernel, c = self._kernel(problem), self.constants
        key = (query, transition, snapshot)
        if key in kernel.charged:
            return kernel.charged[key]
        link = problem.transitions[transition]
        if is_burst(snapshot):
            columns, events = len(problem.loop_of[query][transition].states) + 1, problem.events[link.target]
            adding = events * (c.update + 2 * columns * c.lane)
            kernel.charged[key] = [("form", events * c.form)]
            kernel.charged[key] += ((("coefficients", total), adding) for total in kernel.needed[query])
        else:
            columns = len(kernel.between(query, snapshot, link.source)) + 1
            block, events = kernel.block(query, link.target), problem.events[link.target]
            adding = events * (c.update + 2 * columns * c.lane)
            asked = problem.changes((link.target,), (snapshot,), kernel.slides[query])
            rows = asked * (c.evaluate + kernel.lanes[query] * columns * c.multiply)
            charges: list[Charge] = [("form", events * c.form)]
            for total in kernel.needed[query]:
                charges += (("coefficients", total), adding), (("rows", block, total), rows)
            kernel.charged[key] = charges
        return kernel.charged[key]

    def evaluation(
        self, problem: Problem, query: int, state: int, snapshot: int, leaving: Departure
    ) -> Iterable[Charge]:
        """The rows that are asked for, each time that they are, and an update where snapshots are taken."""
        kernel, c = self._kernel(problem), self.constants
        key = (query, state, snapshot, leaving)
        if key in kernel.charged:
            return kernel.charged[key]
        if is_burst(snapshot):
            cost = self._of_burst(problem, query, state, snapshot, leaving)
            evaluated = kernel.number(("burst", state, snapshot, leaving, kernel.block(query, state)))
            kernel.charged[key] = [((evaluated, total), cost) for total in kernel.needed[query]]
            return kernel.charged[key]
        between = kernel.between(query, snapshot, state)
        row = c.evaluate + kernel.lanes[query] * (len(between) + 1) * c.multiply
        cost = 0.0
        if leaving.alone:
            targets = {problem.transitions[number].target for number in leaving.alone}
            cost += problem.changes(between, targets) * row
        if leaving.fresh:
            rows = sum(problem.transitions[n].source != snapshot for n in problem.arrivals[query][state])
            update = c.update + 2 * kernel.lanes[query] * c.lane
            cost += problem.changes(between, (state,)) * row * rows + problem.events[state] * update
        evaluated = kernel.number(("evaluation", state, snapshot, leaving, kernel.block(query, state)))
        kernel.charged[key] = [((evaluated, total), cost) for total in kernel.needed[query]]
        return kernel.charged[key]

    def _of_burst(self, problem: Problem, query: int, state: int, label: int, leaving: Departure) -> float:
        """Of a total in a loop that is shared by bursts: once a burst, whenever it is asked for, and where snapshots
        are taken an update for all that comes there."""
        kernel, c = self._kernel(problem), self.constants
        arriving = problem.arrivals[query][state]
        loop = next(problem.loop_of[query][number] for number in arriving if number in problem.loop_of[query])
        row = c.evaluate + kernel.lanes[query] * (len(loop.states) + 1) * c.multiply
        ending = problem.bursts.ending(label)
        cost = (problem.changes(loop.states, ending) + kernel.slides[query]) * row
        targets = {problem.transitions[number].target for number in leaving.alone}
        cost += problem.changes(loop.states, targets) * row
        if leaving.fresh:
            from_outside = sum(problem.transitions[number].source not in (state, *loop.before) for number in arriving)
            update = c.update + 2 * kernel.lanes[query] * c.lane
            cost += problem.changes(loop.states, (state,)) * row * from_outside
            cost += problem.events[state] * update * len(arriving)
        return cost

    def entry(
        self,
        problem: Problem,  # noqa: ARG002 - what comes to the loop is read when its forms are evaluated
        query: int,  # noqa: ARG002
        transition: int,  # noqa: ARG002
    ) -> Iterable[Charge]:
        """No price: it is part of what an evaluation costs."""
        return ()

    def may_pay(self, problem: Problem, transition: int) -> bool:
        """Whether coefficients instead of lanes, and one form instead of values of each, save more than a form costs.

        A form has one coefficient or more. It adds one to each total, where queries alone add lanes to each of their
        totals that are not equal. So no Q-set saves more than that of all queries for those totals that gain by it.
        In a loop that is shared by bursts, what comes from outside costs nothing either.
        """
        c = self.constants
        events = problem.events[problem.transitions[transition].target]
        values: dict[int, dict[Hashable, float]] = {}
        for query in problem.plain[transition]:
            loop = problem.loop_of[query].get(transition)
            for number in (transition, *(() if loop is None else loop.entering)):
                for total, (kept_number, cost) in zip(
                    self._kernel(problem).needed[query], self.alone(problem, query, number), strict=True
                ):
                    values.setdefault(total, {})[kept_number] = cost
        least = events * (c.update + 2 * c.lane)
        saved = sum(max(0.0, sum(paid.values()) - least) for paid in values.values())
        return saved > events * c.form

    def gain_nothing(self, problem: Problem) -> frozenset[int]:
        """Queries for which rows, or evaluations of bursts, cost no less than to go alone, wherever they may share.

        In any plan, totals of a state that are equal when nothing is shared are paid for by all queries that have them
        alone, or else by one of them at least as rows of each transition on which it shares, or as an evaluation of
        bursts. Where neither is cheaper at any state, it may as well go alone, and so may all that have totals in
        common with it. What a form costs comes on top.
        """
        kernel = self._kernel(problem)
        groups: dict[tuple[int, int], _EqualTotals] = {}
        for query, arrivals in enumerate(problem.arrivals):
            rarest = self._rarest_snapshots(problem, query)
            for state, arriving in arrivals.items():
                equal = groups.setdefault((state, kernel.block(query, state)), _EqualTotals())
                equal.queries.append(query)
                for number in arriving:
                    alone = max((cost for _, cost in self.alone(problem, query, number)), default=0.0)
                    equal.alone[number] = max(alone, equal.alone.get(number, 0.0))
                    if query in problem.plain[number]:
                        least = self._least_rows(problem, query, state, rarest)
                        equal.rows[number] = min(least, equal.rows.get(number, least))
            for loop in problem.loops[query]:
                for state in loop.states:
                    least = self._least_of_burst(problem, query, loop)
                    equal = groups[state, kernel.block(query, state)]
                    equal.of_burst = min(least, equal.of_burst)
        gaining = {equal.queries[0] for equal in groups.values() if equal.may_gain}
        together = put_together(len(problem.arrivals), [equal.queries for equal in groups.values()])
        return frozenset(query for queries in together if gaining.isdisjoint(queries) for query in queries)

    def _rarest_snapshots(self, problem: Problem, query: int) -> tuple[int, ...]:
        """States of which a query's snapshots are taken least often: one by its events, one by its runs."""
        sources = {problem.transitions[n].source for n in problem.transitions_of[query] if query in problem.plain[n]}
        if not sources:
            return ()
        by_events = min(sources, key=problem.events.__getitem__)
        return (by_events, min(sources, key=problem.runs.__getitem__)) if problem.runs else (by_events,)

    def _least_rows(self, problem: Problem, query: int, target: int, rarest: Iterable[int]) -> float:
        """The least that rows of a total cost at a state, of whatever snapshots the form is."""
        kernel, c = self._kernel(problem), self.constants
        row = c.evaluate + kernel.lanes[query] * c.multiply
        return row * min(problem.changes((target,), (snapshot,), kernel.slides[query]) for snapshot in rarest)

    def _least_of_burst(self, problem: Problem, query: int, loop: Loop) -> float:
        """The least that evaluations of a total cost at a state of a loop that is shared by bursts."""
        kernel, c = self._kernel(problem), self.constants
        row = c.evaluate + kernel.lanes[query] * (len(loop.states) + 1) * c.multiply
        return (problem.changes(loop.states, loop.before) + kernel.slides[query]) * row

    def _kernel(self, problem: Problem) -> _Kernel:
        kernel = problem.notes.get(_Kernel)
        if kernel is None:
            kernel = problem.notes[_Kernel] = _Kernel(problem)
        assert isinstance(kernel, _Kernel)
        return kernel


@dataclass(slots=True)
class _EqualTotals:
    """Totals of a state that are equal when nothing is shared.

    Attributes:
        queries: That have them.
        alone: Per transition to the state, what it costs to go alone.
        rows: Per transition that may be shared, the least that rows cost.
        of_burst: The least that evaluations cost when a loop is shared by bursts.
    """

    queries: list[int] = field(default_factory=list)
    alone: dict[int, float] = field(default_factory=dict)
    rows: dict[int, float] = field(default_factory=dict)
    of_burst: float = float("inf")

    @property
    def may_gain(self) -> bool:
        """Whether some way to share may cost less."""
        if self.of_burst < sum(self.alone.values()):
            return True
        return any(least < self.alone[number] for number, least in self.rows.items())


class _Kernel:
    """What the kernel will have to do for the queries of a problem.

    Attributes:
        lanes: Per query, how many there are of each total: one for each window that is live at a time, or two for
            each row of a pane matrix.
        slides: Per query, how often a window opens or closes within the longest window.
        needed: Per query what is kept at its states, by number: as many running totals at each.
        charged: What has been charged already, by what for.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        queries = problem.template.queries
        longest = max((query.window.within for query in queries if query.window), default=0)
        self._blocks = equal_prefixes(problem.template)
        panes = pane_rows(problem.template, told_apart(self._blocks))
        live = [query.window.within / query.window.slide if query.window else 1.0 for query in queries]
        self.lanes = [n if pane is None else 2.0 * pane.rows for n, pane in zip(live, panes, strict=True)]
        self.slides = [longest / query.window.slide if query.window else 0.0 for query in queries]
        self.charged: dict[object, list[Charge]] = {}
        self._numbers: dict[object, int] = {}
        self.needed: list[tuple[int, ...]] = []
        for query in queries:
            classes = dict(query.classes)
            kept = needed(query)
            totals = ((c.arithmetic, classes.get(c.variable or ""), c.column, c.mark, c.between) for c in kept)
            self.needed.append(tuple(dict.fromkeys(map(self.number, totals))))
        self._at = [{state: index for index, state in enumerate(states)} for states in problem.template.states_of]
        self._between: dict[tuple[int, int, int], frozenset[int]] = {}

    def number(self, charged: object) -> int:
        """A number for what is charged for, the same for equal ones."""
        return self._numbers.setdefault(charged, len(self._numbers))

    def block(self, query: int, state: int) -> int:
        """Number that queries whose totals at a state are equal anyway have in common."""
        return self._blocks[query][self._at[query][state]]

    def between(self, query: int, snapshot: int, state: int) -> frozenset[int]:
        """States on a query's ways from snapshots to ``state``, which is one of them unless it is ``snapshot``."""
        key = (query, snapshot, state)
        if key not in self._between:
            problem = self._problem
            reached, todo = set[int](), [state]
            while todo:
                current = todo.pop()
                if current == snapshot or current in reached:
                    continue
                reached.add(current)
                todo += [problem.transitions[number].source for number in problem.arrivals[query][current]]
            self._between[key] = frozenset(reached)
        return self._between[key]

    def look_up(self, query: int, transition: int, c: Constants) -> float:
        """Nanoseconds to find the events before that go with an event."""
        problem = self._problem
        link = problem.transitions[transition]
        step = problem.template.states[link.target].step
        if step is None:
            return 0.0
        automaton: Automaton = problem.template.automata[query]
        condition = automaton.follows[self._at[query][link.source]][self._at[query][link.target]]
        before = problem.events[link.source]
        is_open = problem.template.is_open(query, self._at[query][link.source])
        structures = accesses(step.condition, is_open or condition != ALWAYS)
        if Access.SCAN in structures:
            return before * c.scan
        # In a range tree, blocks are found in one order, and in each of them a node is looked for in the other.
        steps = log2(before + 2)
        return sum(steps ** (2 if access is Access.RANGE else 1) for access in structures) * self.lanes[query] * c.tree
