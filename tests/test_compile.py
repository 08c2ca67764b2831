"""Templates, equal prefixes and kernel plans: what is laid over what, and what is kept per state."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.compile import MAX_FIELDS, compile_plan
from planner.components import components
from planner.kernel_plan import Arithmetic, Encoding, KernelPlan, class_words, field_columns
from planner.prefixes import equal_prefixes, share_equal_prefixes, share_nothing
from planner.attribute import Attribute
from planner.query import Aggregate, Function, Query, Window
from planner.sharing import SharingPlan
from planner.template import Template, template
from tests.pools import COUNT, V, W, query
from tests.workloads import typed_class, workload

SUM_A = Aggregate(Function.SUM, "A", V)
MIN_A = Aggregate(Function.MIN, "A", V)


def shared(*queries: Query) -> KernelPlan:
    source = template(queries)
    return compile_plan(source, share_equal_prefixes(source))


def unshared(*queries: Query) -> KernelPlan:
    source = template(queries)
    return compile_plan(source, share_nothing(source))


def links(source: Template) -> list[str]:
    return [f"{source.states[t.source]} -> {source.states[t.target]}: {t.queries}" for t in source.transitions]


def test_template_lays_queries_over_each_other() -> None:
    found = template([query("C (A B)+ D"), query("C (A B)+"), query("A+")])
    assert [str(state) for state in found.states] == ["C", "A", "B", "D"]
    assert found.starts == ((0, 1), (2,), (), ())
    assert found.ends == ((), (2,), (1,), (0,))
    assert links(found) == [
        "C -> A: (0, 1)",
        "A -> A: (2,)",
        "A -> B: (0, 1)",
        "B -> A: (0, 1)",
        "B -> D: (0,)",
    ]


def test_classes_used_several_times_have_several_states() -> None:
    found = template([query("A B A"), query("A C", classes={"C": typed_class("A")})])
    assert [str(state) for state in found.states] == ["A", "B", "A#2"]
    assert found.places == ((0, 1, 2), (0, 2))


def test_equal_prefixes_are_found_by_class_start_window_and_history() -> None:
    pool = [query("A B C"), query("A B D"), query("A+ B"), query("A B", window=Window(5, 5)), query("A? B")]
    first, second, third, fourth, fifth = equal_prefixes(template(pool))
    assert first[:2] == second[:2]
    assert first[2] != second[2]
    assert not set(third) & {*first, *second}
    assert not set(fourth) & {*first, *second, *third}
    assert fifth[0] == first[0], "A starts both"
    assert fifth[1] != first[1], "B starts one of them"


def test_sharing_plans_cover_every_transition_and_query() -> None:
    source = template([query("A B C"), query("A B D"), query("A B C")])
    for plan in (share_equal_prefixes(source), share_nothing(source)):
        assert [(t.source, t.target) for t in plan.transitions] == [(t.source, t.target) for t in source.transitions]
        for choice, transition in zip(plan.transitions, source.transitions, strict=True):
            assert sorted(q for qset in choice.qsets for q in qset.queries) == list(transition.queries)


def sizes(plan: SharingPlan) -> list[list[int]]:
    return [[len(qset.queries) for qset in choice.qsets] for choice in plan.transitions]


def test_what_equal_prefixes_share() -> None:
    source = template([query("A B C"), query("A B D"), query("A+ B")])
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
    many = [Aggregate(Function.SUM, "A", Attribute(f"c{place}", "int")) for place in range(MAX_FIELDS)]
    (bank,) = shared(query("A", *many)).banks
    assert len(bank.slots) > MAX_FIELDS


@pytest.mark.parametrize(("classes", "words"), [(1, 1), (63, 1), (64, 2), (126, 2), (127, 3)])
def test_words_of_class_bits(classes: int, words: int) -> None:
    assert class_words(classes) == words


@given(st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_kernel_plans_are_well_formed(random: Random) -> None:
    queries = workload(random).queries
    for plan in (shared(*queries), unshared(*queries)):
        for number, cell in enumerate(plan.cells):
            check_cell(plan, number)
            assert cell.event < len(plan.classes)
        for bank in plan.banks:
            assert len({slot.field for slot in bank.slots}) == len(bank.slots)
            for slot in bank.slots:
                assert slot.cells
                for place in slot.cells:
                    assert plan.cells[place].window == bank.window
                    assert plan.cells[place].arithmetic is plan.fields[slot.field].arithmetic
        for query_, result in zip(queries, plan.results, strict=True):
            assert plan.windows[plan.banks[result.bank].window] == query_.window
            fields = {slot.field for slot in plan.banks[result.bank].slots}
            assert {result.presence, *(field for value in result.values for field in value)} <= fields
        names = [name for columns in field_columns(plan.fields) for name in columns]
        assert len(names) == len(set(names))
    assert len(shared(*queries).cells) <= len(unshared(*queries).cells)


def check_cell(plan: KernelPlan, number: int) -> None:
    """The rules that the docstring of a cell states."""
    cell = plan.cells[number]
    for source in cell.sources:
        assert plan.cells[source].arithmetic is cell.arithmetic
        assert plan.cells[source].window == cell.window
    if cell.count is not None:
        count = plan.cells[cell.count]
        assert cell.count < number
        assert (count.event, count.window) == (cell.event, cell.window)
        assert count.arithmetic is not Arithmetic.EXTREME
    if cell.column is not None:
        extreme = plan.columns[cell.column].encoding in (Encoding.LEAST, Encoding.GREATEST)
        assert extreme == (cell.arithmetic is Arithmetic.EXTREME)
