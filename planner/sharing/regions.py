"""Regions: where queries are propagated as linear forms over snapshots, as a sharing plan says.

All that comes to a state in Q-sets with snapshots of one type X is a linear form over totals at X and at
states on the way, the same for all queries of the Q-sets and in all windows. The total there is evaluated
only when it is asked for. States are in one region when forms go from one to the other; the base of a region
is X, its states from which forms go on, and 1 if a trend may start at some state of it.

In a loop that is shared by bursts, forms are over what comes to its states from outside, of which each query has
totals of its own, and over the totals at its states.
"""

from __future__ import annotations

from dataclasses import dataclass

from sparkext.planner.automata.refinement import refine
from sparkext.planner.disjoint_sets import put_together
from sparkext.planner.sharing.prefixes import entered_in
from sparkext.planner.sharing.sharing_plan import BURST, SharingPlan, Steps
from sparkext.planner.sharing.template import Template


@dataclass(frozen=True, slots=True)
class LinearForm:
    """What comes to a state of a query's automaton as a linear form.

    Attributes:
        snapshot: The state of the automaton whose totals it is over; None in a loop that is shared by bursts.
        begins: Whether some of it comes straight from there.
        starts: Whether a trend may start at the state.
        sources: The states whose forms it is the sum of, further.
        kept_apart: Whether the state also takes snapshots for the query, so that its total is made by its
            events, and the one in the base of the region is another.
        block: Forms of one block are equal, and made once.
        inflow: In a loop that is shared by bursts, the states outside from which something comes to the state.
    """

    snapshot: int | None
    begins: bool
    starts: bool
    sources: tuple[int, ...]
    kept_apart: bool
    block: int
    inflow: tuple[int, ...] = ()

    @property
    def is_fed(self) -> bool:
        """Whether something comes to a state of a loop from outside it, or starts there."""
        return self.snapshot is None and (self.starts or bool(self.inflow))


@dataclass(frozen=True, slots=True)
class RegionBase:
    """Columns of a region. Column 0 is the state that snapshots are taken at, unless it is shared by bursts.

    Attributes:
        columns: Number of columns.
        blocks: Column of each block of forms that go on from their state.
        constant: Column of the constant 1; None when there is none.
        inflows: In a region that is shared by bursts, the column of what comes from outside to the states of a block.
    """

    columns: int
    blocks: dict[int, int]
    constant: int | None
    inflows: dict[int, int]


@dataclass(frozen=True, slots=True)
class Regions:
    """All regions of a plan.

    Attributes:
        forms: Per query, by state of its automaton.
        region_of: Per block, the number of its region.
        bases: Per region.
    """

    forms: tuple[dict[int, LinearForm], ...]
    region_of: tuple[int, ...]
    bases: tuple[RegionBase, ...]

    def columns(self, query: int, state: int) -> dict[int, int]:
        """Per column of the region of a state's form, the state of the query whose total is meant there."""
        form = self.forms[query][state]
        column_of = self.bases[self.region_of[form.block]].blocks
        own = {column_of[f.block]: source for source, f in self.forms[query].items() if f.block in column_of}
        return own if form.snapshot is None else {0: form.snapshot} | own

    def inflows(self, query: int, state: int) -> dict[int, LinearForm]:
        """Per column of what comes to a loop from outside, the form of the state of the query to which it comes."""
        column_of = self.bases[self.region_of[self.forms[query][state].block]].inflows
        return {column_of[f.block]: f for f in self.forms[query].values() if f.is_fed and f.block in column_of}


def regions(template: Template, plan: SharingPlan) -> Regions:
    """The regions of a valid plan."""
    steps = Steps(template)
    leaving: dict[tuple[int, int], set[int | None]] = {}
    arriving: dict[tuple[int, int], dict[int, int | None]] = {}
    for transition in plan.transitions:
        for qset in transition.qsets:
            for query in qset.queries:
                leaving.setdefault((query, transition.source), set()).add(qset.snapshot)
                arriving.setdefault((query, transition.target), {})[transition.source] = qset.snapshot
    over: dict[tuple[int, int], int] = {}
    for (query, state), snapshots in arriving.items():
        onwards = leaving.get((query, state), set())
        if BURST in snapshots.values():
            over[query, state] = BURST
            continue
        snapshot = next(iter(snapshots.values()))
        if (
            snapshot not in (None, state)
            and set(snapshots.values()) == {snapshot}
            and steps.passes_on(query, state)
            and (state not in onwards or snapshot in onwards)
        ):
            over[query, state] = snapshot
    entered = entered_in(plan)
    number = {node: count for count, node in enumerate(over)}
    sources = {
        (query, state): [s for s, label in sorted(arriving[query, state].items()) if s != snapshot == label]
        for (query, state), snapshot in over.items()
    }
    in_loops = _in_loops(plan)
    blocks = refine(
        (
            (state, *in_loops[query, state])
            if snapshot == BURST
            else (state, steps.starts(query, state), entered[query, state])
            for (query, state), snapshot in over.items()
        ),
        [tuple((None, number[query, source]) for source in sources[query, state]) for query, state in over],
    )
    forms: tuple[dict[int, LinearForm], ...] = tuple({} for _ in template.queries)
    state_at = [{state: index for index, state in enumerate(states)} for states in template.states_of]
    for ((query, state), snapshot), block in zip(over.items(), blocks, strict=True):
        at = state_at[query].__getitem__
        outside = (source for source, label in arriving[query, state].items() if snapshot == BURST != label)
        forms[query][at(state)] = LinearForm(
            snapshot=None if snapshot == BURST else at(snapshot),
            begins=snapshot in arriving[query, state],
            starts=steps.starts(query, state),
            sources=tuple(sorted(map(at, sources[query, state]))),
            kept_apart=state in leaving.get((query, state), ()),
            block=block,
            inflow=tuple(sorted(map(at, outside))),
        )
    return _in_regions(forms)


def _in_loops(plan: SharingPlan) -> dict[tuple[int, int], tuple[object, ...]]:
    """Per query and state of the template in a loop that is shared by bursts, the Q-sets by which it is entered."""
    entries: dict[tuple[int, int], list[object]] = {}
    for transition in plan.transitions:
        for qset in transition.qsets:
            for query in qset.queries if qset.snapshot == BURST else ():
                entries.setdefault((query, transition.target), []).append((transition.source, qset.queries))
    return {node: (BURST, *entered) for node, entered in entries.items()}


def _in_regions(forms: tuple[dict[int, LinearForm], ...]) -> Regions:
    """Blocks between which forms go are put into one region."""
    links = {(own[source].block, form.block) for own in forms for form in own.values() for source in form.sources}
    blocks = len({form.block for own in forms for form in own.values()})
    together = put_together(blocks, list(links))
    of_block = {block: region for region, members in enumerate(together) for block in members}
    region_of = tuple(of_block[block] for block in range(blocks))
    sources = {source for source, _ in links}
    every = [form for own in forms for form in own.values()]
    starting = {region_of[form.block] for form in every if form.starts and form.snapshot is not None}
    bursts = {region_of[form.block] for form in every if form.snapshot is None}
    fed = {form.block for form in every if form.is_fed}
    bases = []
    for region, members in enumerate(together):
        inflows = {block: column for column, block in enumerate(block for block in members if block in fed)}
        first = len(inflows) if region in bursts else 1
        columns = {block: column for column, block in enumerate((b for b in members if b in sources), first)}
        constant = first + len(columns) if region in starting else None
        bases.append(RegionBase(first + len(columns) + (region in starting), columns, constant, inflows))
    return Regions(forms, region_of, tuple(bases))
