"""Templates, equal prefixes and kernel plans: what is laid over what, and what is kept per state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkext.planner.automata.guards import ALWAYS, NEVER, Condition, guard
from sparkext.planner.compiler.banks import MAX_FIELDS
from sparkext.planner.compiler.compile import compile_plan
from sparkext.planner.kernel_plan.kernel_plan import (
    NO_EVENT,
    Access,
    Arithmetic,
    Cell,
    Comparison,
    Encoding,
    Instruction,
    KernelPlan,
    Link,
    class_words,
)
from sparkext.planner.kernel_plan.result_columns import field_column
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.query import Aggregate, Function, Query, Step, Window
from sparkext.planner.sharing.prefixes import equal_prefixes, share_equal_prefixes, share_nothing
from sparkext.planner.sharing.sharing_plan import SharingPlan
from sparkext.planner.sharing.template import Template, template_of
from sparkext.planner.totals.components import components
from sparkext.udfs.comparisons.codes import CODES
from tests.support.pools import COUNT, V, W, query
from tests.support.prev_conditions import ADJACENT_BY_SQL
from tests.support.sharing_plans import draw_plan
from tests.support.tiers import EXAMPLES
from tests.support.workloads import typed_class, workload

SUM_A = Aggregate(Function.SUM, "A", V)
MIN_A = Aggregate(Function.MIN, "A", V)


def shared(*queries: Query) -> KernelPlan:
    source = template_of(queries)
    return compile_plan(source, share_equal_prefixes(source))


def unshared(*queries: Query) -> KernelPlan:
    source = template_of(queries)
    return compile_plan(source, share_nothing(source))


def links(source: Template) -> list[str]:
    return [f"{source.states[t.source]} -> {source.states[t.target]}: {t.queries}" for t in source.transitions]


def test_aggregates_are_shown_as_they_are_written() -> None:
    """But for those of expressions, in which columns are without their variable."""
    shown = [str(Aggregate(Function.SUM, "A", Attribute(text, "int"))) for text in ("v", "v + 1")]
    assert shown == ["SUM(A.v)", "SUM(A: v + 1)"]


def test_template_lays_queries_over_each_other() -> None:
    template = template_of([query("C (A B)+ D"), query("C (A B)+"), query("A+")])
    assert [str(state) for state in template.states] == ["C", "A", "B", "D"]
    assert template.starts == ((0, 1), (2,), (), ())
    assert template.ends == ((), (2,), (1,), (0,))
    assert links(template) == [
        "C -> A: (0, 1)",
        "A -> A: (2,)",
        "A -> B: (0, 1)",
        "B -> A: (0, 1)",
        "B -> D: (0,)",
    ]


def test_classes_used_several_times_have_several_states() -> None:
    template = template_of([query("A B A"), query("A C", classes={"C": typed_class("A")})])
    assert [str(state) for state in template.states] == ["A", "B", "A#2"]
    assert template.states_of == ((0, 1, 2), (0, 2))


def test_equal_prefixes_are_found_by_class_start_window_and_history() -> None:
    pool = [query("A B C"), query("A B D"), query("A+ B"), query("A B", window=Window(5, 5)), query("A? B")]
    first, second, third, fourth, fifth = equal_prefixes(template_of(pool))
    assert first[:2] == second[:2]
    assert first[2] != second[2]
    assert not set(third) & {*first, *second}
    assert not set(fourth) & {*first, *second, *third}
    assert fifth[0] == first[0], "A starts both"
    assert fifth[1] != first[1], "B starts one of them"


def test_sharing_plans_cover_every_transition_and_query() -> None:
    source = template_of([query("A B C"), query("A B D"), query("A B C")])
    for plan in (share_equal_prefixes(source), share_nothing(source)):
        assert [(t.source, t.target) for t in plan.transitions] == [(t.source, t.target) for t in source.transitions]
        for choice, transition in zip(plan.transitions, source.transitions, strict=True):
            assert sorted(q for qset in choice.qsets for q in qset.queries) == list(transition.queries)


def sizes(plan: SharingPlan) -> list[list[int]]:
    return [[len(qset.queries) for qset in choice.qsets] for choice in plan.transitions]


def test_what_equal_prefixes_share() -> None:
    source = template_of([query("A B C"), query("A B D"), query("A+ B")])
    assert links(source) == ["A -> A: (2,)", "A -> B: (0, 1, 2)", "B -> C: (0,)", "B -> D: (1,)"]
    assert sizes(share_equal_prefixes(source)) == [[1], [2, 1], [1], [1]]
    assert sizes(share_nothing(source)) == [[1], [1, 1, 1], [1], [1]]


def test_equal_queries_cost_nothing_more() -> None:
    assert shared(query("A+ B"), query("A+ B")).cells == shared(query("A+ B")).cells
    assert len(shared(query("C (A B)+ D"), query("C (A B)+")).cells) == 4


def test_queries_go_alone_when_nothing_is_shared() -> None:
    """A start state has nothing before it that could be shared; all states after it are kept apart."""
    assert len(unshared(query("A+ B"), query("A+ B")).cells) == 4


def test_a_component_is_kept_from_where_it_is_contributed() -> None:
    plan = shared(query("B+ A C", COUNT, MIN_A))
    assert [cell.arithmetic for cell in plan.cells].count(Arithmetic.EXACT) == 3
    assert [cell.arithmetic for cell in plan.cells].count(Arithmetic.EXTREME) == 2


def test_counts_are_kept_in_the_arithmetic_that_needs_them() -> None:
    assert {cell.arithmetic for cell in shared(query("A+", SUM_A)).cells} == {Arithmetic.NUMBER}
    assert {cell.arithmetic for cell in shared(query("A+", COUNT)).cells} == {Arithmetic.EXACT}
    assert {cell.arithmetic for cell in shared(query("A+", MIN_A)).cells} == {Arithmetic.EXACT, Arithmetic.EXTREME}


def test_counts_in_doubles_need_no_exact_counts() -> None:
    approximate, logarithm = Aggregate(Function.APPROX_COUNT), Aggregate(Function.LOG10_COUNT)
    plan = shared(query("A+", approximate, logarithm, SUM_A, Aggregate(Function.APPROX_COUNT, "A", V)))
    assert {cell.arithmetic for cell in plan.cells} == {Arithmetic.NUMBER}
    assert {(column.attribute.text, column.encoding) for column in plan.columns} == {
        ("v", Encoding.NUMBER),
        ("v", Encoding.PRESENT),
    }
    (result,) = plan.results
    assert result.values[0] == result.values[1] == (result.presence,)
    both = shared(query("A+", COUNT, approximate))
    assert sorted(cell.arithmetic.name for cell in both.cells) == ["EXACT", "NUMBER"]
    of_events = shared(query("A+", Aggregate(Function.LOG10_COUNT, "A")))
    assert [(cell.arithmetic, cell.column) for cell in of_events.cells] == [(Arithmetic.NUMBER, None)] * 2


def test_sum_and_average_of_one_attribute_are_kept_once() -> None:
    average = Aggregate(Function.AVG, "A", V)
    plan = shared(query("A+", SUM_A, average))
    assert plan.cells == shared(query("A+", SUM_A)).cells
    (result,) = plan.results
    assert result.values[0] == result.values[1]


def test_columns_say_how_an_attribute_reaches_the_kernel() -> None:
    aggregates = (SUM_A, MIN_A, Aggregate(Function.MAX, "A", W), Aggregate(Function.COUNT, "A", W))
    plan = shared(query("A", *aggregates))
    assert {(column.attribute.text, column.encoding) for column in plan.columns} == {
        ("v", Encoding.NUMBER),
        ("v", Encoding.LEAST),
        ("w", Encoding.GREATEST),
        ("w", Encoding.PRESENT),
    }


def test_presence_and_values_of_a_query() -> None:
    presence, values = components(query("A B", SUM_A, COUNT))
    assert presence.arithmetic is Arithmetic.EXACT
    assert [len(value) for value in values] == [2, 1]
    presence, _ = components(query("A B", SUM_A))
    assert presence.arithmetic is Arithmetic.NUMBER


def test_banks_are_per_window_and_of_limited_width() -> None:
    texts = [f"A {'B ' * times}" for times in range(1, MAX_FIELDS + 3)]
    plan = shared(*map(query, texts), query("A", window=Window(5, 5)))
    assert [(bank.window, len(bank.slots)) for bank in plan.banks] == [(0, MAX_FIELDS), (0, 2), (1, 1)]
    assert len(plan.fields) == MAX_FIELDS
    many = [Aggregate(Function.SUM, "A", Attribute(f"c{index}", "int")) for index in range(MAX_FIELDS)]
    (bank,) = shared(query("A", *many)).banks
    assert len(bank.slots) > MAX_FIELDS


@pytest.mark.parametrize(("classes", "words"), [(1, 1), (63, 1), (64, 2), (126, 2), (127, 3)])
def test_words_of_class_bits(classes: int, words: int) -> None:
    assert class_words(classes) == words


@given(st.randoms(use_true_random=False))
@settings(max_examples=EXAMPLES // 6, deadline=None)
def test_kernel_plans_are_well_formed(random: Random) -> None:
    queries = workload(random).queries
    source = template_of(queries)
    for plan in (shared(*queries), unshared(*queries), compile_plan(source, draw_plan(random, source))):
        check_regions(plan)
        check_spans(plan)
        for number, cell in enumerate(plan.cells):
            check_cell(plan, number)
            assert cell.event < len(plan.classes)
        for bank in plan.banks:
            assert len({slot.field for slot in bank.slots}) == len(bank.slots)
            for slot in bank.slots:
                # There may be no trend with an event that a condition, or an aggregate of ends, asks for.
                may_be_nothing = any(q.marks or any(step.anchor for _, step in q.steps) for q in queries)
                assert slot.cells or slot.links or may_be_nothing
                for index in (*slot.cells, *(link.cell for link in slot.links)):
                    assert plan.cells[index].window == bank.window
                    assert plan.cells[index].arithmetic is plan.fields[slot.field].arithmetic
                for link in slot.links:
                    assert link.comparison is None
                    check_condition(plan, link.condition)
        for query_, result in zip(queries, plan.results, strict=True):
            assert plan.windows[plan.banks[result.bank].window] == query_.window
            fields = {slot.field for slot in plan.banks[result.bank].slots}
            assert {result.presence, *(field for value in result.values for field in value)} <= fields
        check_guards(plan)
        check_comparisons(plan)
        names = [field_column(number, field) for number, field in enumerate(plan.fields)]
        assert len(names) == len(set(names))


DIFFERENCES = (Encoding.LEAST_DIFFERENCE, Encoding.GREATEST_DIFFERENCE)


def check_cell(plan: KernelPlan, number: int) -> None:
    """The rules that the docstring of a cell states."""
    cell = plan.cells[number]
    for source in (*cell.sources, *(link.cell for link in cell.links)):
        assert plan.cells[source].arithmetic is cell.arithmetic
        assert plan.cells[source].window == cell.window
    assert all(is_whole(plan.cells[source]) for source in cell.sources)
    for link in cell.links:
        source_cell = plan.cells[link.cell]
        if link.comparison is None:
            assert source_cell.taken is None
            if cell.anchor is not None:
                assert cell.anchor in (source_cell.anchor, source_cell.event)
            elif link.condition != ALWAYS or is_whole(source_cell):
                check_condition(plan, link.condition)
        else:
            assert link.comparison < len(plan.comparisons)
            scanned = plan.comparisons[link.comparison].is_scan
            assert scanned or link.condition == ALWAYS, "totals of several events know nothing of their times"
            assert scanned or not source_cell.cuts, "nothing leaves a tree"
            assert source_cell.taken is not None or is_whole(source_cell)
    for cut in cell.cuts:
        assert cut.event < len(plan.classes)
        if cut.condition != ALWAYS:
            check_condition(plan, cut.condition)
    assert cell.anchor is None or not (cell.start or cell.sources or cell.cuts or cell.taken is not None)
    assert all(plan.cells[source].anchor is None for source in cell.sources)
    assert cell.start or (cell.start_event is None and cell.start_condition == ALWAYS)
    assert not cell.start or cell.arithmetic is not Arithmetic.EXTREME
    assert cell.start_event is None or cell.start_event < len(plan.classes)
    if cell.count is not None:
        count = plan.cells[cell.count]
        assert cell.count < number
        assert (count.event, count.window) == (cell.event, cell.window)
        assert count.arithmetic is not Arithmetic.EXTREME
    if cell.column is not None:
        extreme = plan.columns[cell.column].encoding in (Encoding.LEAST, Encoding.GREATEST, *DIFFERENCES)
        assert extreme == (cell.arithmetic is Arithmetic.EXTREME)
    if cell.addend is not None:
        part = plan.columns[cell.addend]
        assert cell.arithmetic is Arithmetic.EXTREME
        assert part.encoding in DIFFERENCES
        assert part.unit is not None
        assert not part.is_beside, "what is NULL besides is so to the earlier end"


def is_whole(cell: Cell) -> bool:
    """Whether no events leave a cell in which others stay."""
    return cell.taken is None and all(cut.condition == ALWAYS for cut in cell.cuts)


def check_regions(plan: KernelPlan) -> None:
    """Events add to what is not evaluated; forms are of counts wherever they are units; products fit their total."""
    for number, region in enumerate(plan.regions):
        window = region.space.number
        assert window == len(plan.windows) + number
        for form, column in region.space.units:
            assert plan.cells[form].window == window
            assert plan.cells[form].arithmetic is not Arithmetic.EXTREME
            assert column < region.space.lanes
        for evaluation in region.space.forms:
            total = plan.cells[evaluation.cell]
            assert total.event == NO_EVENT
            assert evaluation.view is None or plan.cells[evaluation.view] == total
            assert evaluation.cell in {product.base for product in evaluation.products}
            for product in evaluation.products:
                coefficients = plan.cells[product.form]
                factors = [coefficients] if product.base is None else [coefficients, plan.cells[product.base]]
                assert coefficients.window == window
                assert product.column < region.space.lanes
                assert all(base.window == total.window for base in factors[1:])
                extremes = sum(factor.arithmetic is Arithmetic.EXTREME for factor in factors)
                assert extremes == (total.arithmetic is Arithmetic.EXTREME)
    evaluated = {cell for r in plan.regions for e in r.space.forms for cell in (e.cell, e.view)}
    units = {form for region in plan.regions for form, _ in region.space.units}
    units |= {cell for space in (*plan.panes, *(span.space for span in plan.spans)) for cell, _ in space.units}
    gained = {gain.cell for span in plan.spans for gain in span.gains}
    assert all(c.event != NO_EVENT or n in evaluated | units | gained for n, c in enumerate(plan.cells))
    kept = {evaluation.cell for region in plan.regions for evaluation in region.space.forms}
    assert not kept & {source for cell in plan.cells for source in cell.sources}, "events read views"


def check_spans(plan: KernelPlan) -> None:
    """Spans are numbered on from regions; what they gain goes from cells of theirs into those of windows."""
    for number, span in enumerate(plan.spans):
        window = len(plan.windows) + len(plan.regions) + number
        assert span.space.number == window
        for evaluation in span.space.forms:
            added = [plan.cells[product.form].event != NO_EVENT for product in evaluation.products]
            assert added == sorted(added, reverse=True), "products with what events add come first"
        for gain in span.gains:
            assert plan.cells[gain.cell].event == NO_EVENT
            assert plan.cells[gain.cell].window < len(plan.windows)
            for source in gain.sources:
                assert plan.cells[source].window == window
                assert plan.cells[source].arithmetic is plan.cells[gain.cell].arithmetic
                assert source in {evaluation.cell for evaluation in span.space.forms}


def check_condition(plan: KernelPlan, condition: Condition) -> None:
    """A condition that is asked for depends on some guards of the plan, or is never true.

    Two negations of one query may have the same states, and are one guard then: "one intact, one broken" is never true.
    """
    assert condition.guards or condition == NEVER
    assert set(condition.guards) <= set(range(plan.guards))


def check_guards(plan: KernelPlan) -> None:
    """Every guard has states at which it starts and ends; they lead to states of the same guard."""
    for number in range(plan.guards):
        states = [state for state in plan.guard_states if state.guard == number]
        assert any(state.start for state in states)
        assert any(state.end for state in states)
    for state in plan.guard_states:
        assert state.guard < plan.guards
        assert state.event < len(plan.classes)
        assert all(plan.guard_states[source].guard == state.guard for source in state.sources)


def structures(comparison: Comparison) -> list[Access]:
    """What answers the terms of a comparison."""
    return [term.access for term in comparison.terms]


def check_comparisons(plan: KernelPlan) -> None:
    """Each comparison has what its structures need, of columns in the right encoding, and is used."""
    used = {link.comparison for cell in plan.cells for link in cell.links}
    assert used - {None} == set(range(len(plan.comparisons)))
    for comparison in plan.comparisons:
        assert bool(comparison.program) != bool(comparison.terms)
        programs = [comparison.program]
        for term in comparison.terms:
            assert (term.order is not None) == (term.access is Access.FENWICK)
            assert len(term.intervals) == {Access.SEGMENT: 1, Access.RANGE: 2}.get(term.access, 0)
            for columns in term.equal:
                assert {plan.columns[column].encoding for column in columns} <= {Encoding.LEAST, Encoding.IDENTITY}
            if term.order is not None:
                columns = (term.order.here, term.order.prev)
                assert {plan.columns[column].encoding for column in columns} == {Encoding.LEAST}
            programs += [term.asks, term.stands, *(interval.program for interval in term.intervals)]
            for interval in term.intervals:
                read = {instruction.column for instruction in interval.program if instruction.code.startswith("prev")}
                assert read == {interval.axis}
        for program in programs:
            check_program(plan, program)


def check_program(plan: KernelPlan, program: Sequence[Instruction]) -> None:
    """Its instructions are known, and read what comes before them."""
    for index, instruction in enumerate(program):
        assert instruction.code in CODES
        assert all(operand < index for operand in instruction.operands)
        assert instruction.column < len(plan.columns)


def test_guards_are_laid_over_each_other() -> None:
    pool = [query("A NOT (N M) B"), query("C NOT (N M) D NOT N"), query("A NOT M B")]
    plan = shared(*pool)
    assert plan.guards == 3
    names = [plan.classes[state.event].type for state in plan.guard_states]
    assert list(zip(names, [state.guard for state in plan.guard_states], strict=True)) == [
        ("N", 0),
        ("M", 0),
        ("N", 1),
        ("M", 2),
    ]
    assert [(state.start, state.end) for state in plan.guard_states] == [
        (True, False),
        (False, True),
        (True, True),
        (True, True),
    ]
    assert [state.sources for state in plan.guard_states] == [(), (0,), (), ()]


def test_patterns_that_are_negated_are_one_guard_when_their_automata_are_equal() -> None:
    assert shared(query("A NOT (N N*) B"), query("A NOT N+ C")).guards == 1


def test_conditions_of_steps_starts_and_ends() -> None:
    plan = shared(query("NOT N A NOT M B NOT N"))
    first, second = plan.cells
    assert (first.start, first.start_condition) == (True, guard(0))
    assert (first.sources, first.links) == ((), ())
    assert (second.start, second.start_condition, second.sources) == (False, ALWAYS, ())
    assert second.links == (Link(0, guard(1)),)
    ((slot,),) = (bank.slots for bank in plan.banks)
    assert (slot.cells, slot.links) == ((), (Link(1, guard(0)),))


def test_steps_are_shared_when_their_guards_are_equal() -> None:
    pool = [query("A NOT N B"), query("A NOT N B C"), query("A NOT M B"), query("A B")]
    plan = shared(*pool)
    # One A for all, three kinds of B, one C.
    assert len(plan.cells) == 5
    assert {cell.links[0].condition for cell in plan.cells if cell.links} == {guard(0), guard(1)}
    assert len(unshared(*pool).cells) == 6
    assert len(shared(query("NOT N A"), query("NOT N A B"), query("A"), query("A NOT N")).cells) == 3


def adjacent(text: str, *variables: str, case: str = "v < PREV(v)") -> Query:
    """A query in which each of ``variables`` has a condition on the event before."""
    condition = ADJACENT_BY_SQL[case]
    start = None if condition.start is None else typed_class("A", condition.start)
    step = Step(condition.sql, condition.condition, start)
    return replace(query(text), steps=tuple((name, step) for name in variables))


def test_states_with_conditions_on_the_event_before() -> None:
    template = template_of([adjacent("A A+", "A"), query("A+")])
    assert [str(state) for state in template.states] == ["A[v < PREV(v)]", "A[v < PREV(v)]#2", "A"]
    plan = shared(adjacent("A B+", "B"))
    first, second = plan.cells
    assert (first.start, first.links) == (True, ())
    assert second.sources == ()
    assert sorted(second.links, key=lambda link: link.cell) == [Link(0, ALWAYS, 0), Link(1, ALWAYS, 0)]
    assert [structures(comparison) for comparison in plan.comparisons] == [[Access.FENWICK]]


@pytest.mark.parametrize(
    ("case", "condition"),
    [("v < PREV(v)", None), ("PREV(d) IS NULL OR d > PREV(d)", "TRUE"), ("v <=> PREV(v)", "v IS NULL")],
)
def test_what_starts_a_trend_under_a_condition_on_the_event_before(case: str, condition: str | None) -> None:
    plan = shared(adjacent("A B", "A", case=case))
    cell = plan.cells[0]
    assert cell.start == (condition is not None)
    if condition is not None:
        assert cell.start_event is not None
        assert plan.classes[cell.start_event].condition == condition


def test_a_step_that_is_guarded_as_well_is_scanned() -> None:
    plan = shared(adjacent("A NOT N B | A C B", "B"))
    accesses = {
        (link.condition, *structures(plan.comparisons[link.comparison]))
        for cell in plan.cells
        for link in cell.links
        if link.comparison is not None
    }
    assert accesses == {(guard(0),), (ALWAYS, Access.FENWICK)}


def test_equal_conditions_are_one_comparison() -> None:
    plan = shared(adjacent("A B", "B"), adjacent("A B C", "B", "C"), adjacent("A B", "B", case="v = PREV(v)"))
    assert [structures(comparison) for comparison in plan.comparisons] == [[Access.FENWICK], [Access.HASH]]
    # A is one for all; of the three B two are one.
    assert len(plan.cells) == 4
