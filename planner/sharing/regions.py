"""Regions: where queries are propagated as linear forms over snapshots, as a sharing plan says.

All that comes to a state in Q-sets with snapshots of one type X is a linear form over totals at X and at
states on the way, the same for all queries of the Q-sets and in all windows. The total there is evaluated
only when it is asked for. States are in one region when forms go from one to the other; the base of a region
is X, its states from which forms go on, and 1 if a trend may start at some state of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from sparkext.planner.automata.refinement import refine
from sparkext.planner.disjoint_sets import put_together
from sparkext.planner.sharing.prefixes import entered_in
from sparkext.planner.sharing.sharing_plan import SharingPlan, Steps
from sparkext.planner.sharing.template import Template


@dataclass(frozen=True, slots=True)
class Form:
    """What comes to a state of a query's automaton as a linear form.

    Attributes:
        snapshot: The state of the automaton whose totals it is over.
        begins: Whether some of it comes straight from there.
        starts: Whether a trend may start at the state.
        sources: The states whose forms it is the sum of, further.
        kept_apart: Whether the state also takes snapshots for the query, so that its total is made by its
            events, and the one in the base of the region is another.
        block: Forms of one block are equal, and made once.
    """

    snapshot: int
    begins: bool
    starts: bool
    sources: tuple[int, ...]
    kept_apart: bool
    block: int


@dataclass(frozen=True, slots=True)
class RegionBase:
    """Columns of a region. Column 0 is the state that snapshots are taken at.

    Attributes:
        columns: Number of columns.
        blocks: Column of each block of forms that go on from their state.
        constant: Column of the constant 1; None when there is none.
    """

    columns: int
    blocks: dict[int, int]
    constant: int | None


@dataclass(frozen=True, slots=True)
class Regions:
    """All regions of a plan.

    Attributes:
        forms: Per query, by state of its automaton.
        region_of: Per block, the number of its region.
        bases: Per region.
    """

    forms: tuple[dict[int, Form], ...]
    region_of: tuple[int, ...]
    bases: tuple[RegionBase, ...]

    def columns(self, query: int, state: int) -> dict[int, int]:
        """Per column of the region of a state's form, the state of the query whose total is meant there."""
        form = self.forms[query][state]
        places = self.bases[self.region_of[form.block]].blocks
        own = {places[f.block]: other for other, f in self.forms[query].items() if f.block in places}
        return {0: form.snapshot} | own


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
    for (query, place), snapshots in arriving.items():
        snapshot = next(iter(snapshots.values()))
        onwards = leaving.get((query, place), set())
        if (
            snapshot not in (None, place)
            and set(snapshots.values()) == {snapshot}
            and steps.passes_on(query, place)
            and (place not in onwards or snapshot in onwards)
        ):
            over[query, place] = snapshot
    entered = entered_in(plan)
    number = {node: count for count, node in enumerate(over)}
    blocks = refine(
        ((place, steps.starts(query, place), entered[query, place]) for query, place in over),
        [
            tuple((None, number[query, source]) for source in sorted(arriving[query, place]) if source != snapshot)
            for (query, place), snapshot in over.items()
        ],
    )
    forms: tuple[dict[int, Form], ...] = tuple({} for _ in template.queries)
    state_at = [{place: state for state, place in enumerate(places)} for places in template.places]
    for ((query, place), snapshot), block in zip(over.items(), blocks, strict=True):
        at = state_at[query].__getitem__
        forms[query][at(place)] = Form(
            snapshot=at(snapshot),
            begins=snapshot in arriving[query, place],
            starts=steps.starts(query, place),
            sources=tuple(sorted(at(source) for source in arriving[query, place] if source != snapshot)),
            kept_apart=place in leaving.get((query, place), ()),
            block=block,
        )
    return _in_regions(forms)


def _in_regions(forms: tuple[dict[int, Form], ...]) -> Regions:
    """Blocks between which forms go are put into one region."""
    links = {(mine[source].block, form.block) for mine in forms for form in mine.values() for source in form.sources}
    blocks = len({form.block for mine in forms for form in mine.values()})
    together = put_together(blocks, list(links))
    of_block = {block: region for region, members in enumerate(together) for block in members}
    known = tuple(of_block[block] for block in range(blocks))
    sources = {one for one, _ in links}
    starting = {known[form.block] for mine in forms for form in mine.values() if form.starts}
    bases = []
    for region, members in enumerate(together):
        columns = {block: place for place, block in enumerate((b for b in members if b in sources), 1)}
        constant = 1 + len(columns) if region in starting else None
        bases.append(RegionBase(1 + len(columns) + (region in starting), columns, constant))
    return Regions(forms, known, tuple(bases))
