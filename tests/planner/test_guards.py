"""Conditions: Boolean functions of guards, of which equal ones are equal objects."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkext.planner.automata.guards import (
    ALWAYS,
    MAX_GUARDS,
    NEVER,
    Condition,
    TooManyGuardsError,
    assignments,
    both,
    either,
    guard,
    of,
)

GUARDS = (0, 2, 3, 7)
WORLDS = tuple(assignments(GUARDS))
"""All that may be intact."""

Table = frozenset[frozenset[int]]
"""A Boolean function: the worlds in which it is true."""

TABLES = st.frozensets(st.sampled_from(WORLDS))


def condition(table: Table) -> Condition:
    return of(GUARDS, table.__contains__)


def table(of_guards: Condition) -> Table:
    return frozenset(world for world in WORLDS if of_guards.holds(world))


@given(TABLES)
def test_a_condition_holds_where_its_function_is_true(function: Table) -> None:
    assert table(condition(function)) == function


@given(TABLES, TABLES)
def test_both_and_either(first: Table, second: Table) -> None:
    assert table(both(condition(first), condition(second))) == first & second
    assert table(either(condition(first), condition(second))) == first | second


@given(TABLES, TABLES, TABLES)
def test_equal_functions_are_equal_objects_however_they_came_about(a: Table, b: Table, c: Table) -> None:
    first, second, third = condition(a), condition(b), condition(c)
    assert (first == second) == (a == b)
    assert both(first, either(second, third)) == either(both(first, second), both(first, third))
    assert either(first, both(first, second)) == first
    assert both(first, either(first, second)) == first
    assert hash(both(first, second)) == hash(both(second, first))


@given(TABLES)
def test_only_guards_that_matter_are_kept(function: Table) -> None:
    canonical = condition(function)
    for index in canonical.guards:
        assert any((world | {index} in function) != (world - {index} in function) for world in WORLDS)
    other_guards = frozenset(range(20)) - frozenset(canonical.guards)
    assert all(
        canonical.holds(world | other_guards) == canonical.holds(world) for world in assignments(canonical.guards)
    )


@given(TABLES, TABLES)
def test_always_and_never(function: Table, second: Table) -> None:
    canonical = condition(function)
    assert (
        both(canonical, ALWAYS)
        == both(ALWAYS, canonical)
        == either(canonical, NEVER)
        == either(NEVER, canonical)
        == canonical
    )
    assert both(canonical, NEVER) == both(NEVER, canonical) == NEVER
    assert either(canonical, ALWAYS) == either(ALWAYS, canonical) == ALWAYS
    assert (condition(second) == ALWAYS) == (len(second) == len(WORLDS))
    assert (condition(second) == NEVER) == (not second)


def test_assignments_are_all_subsets() -> None:
    assert set(assignments((3, 1))) == {frozenset(), frozenset({1}), frozenset({3}), frozenset({1, 3})}
    assert len(list(assignments(range(5)))) == 32


@pytest.mark.parametrize("combine", [both, either])
def test_number_of_guards_is_limited(combine: Callable[[Condition, Condition], Condition]) -> None:
    most = ALWAYS if combine is both else NEVER
    for number in range(MAX_GUARDS):
        most = combine(most, guard(number))
    assert most.guards == tuple(range(MAX_GUARDS))
    assert combine(most, guard(3)) == most
    with pytest.raises(TooManyGuardsError):
        combine(most, guard(MAX_GUARDS))


def test_text() -> None:
    names = ("NOT N", "NOT (N M)", "NOT K")
    assert ALWAYS.text(names) == "always"
    assert NEVER.text(names) == "never"
    assert guard(2).text(names) == "NOT K"
    assert both(guard(2), guard(1)).text(names) == "NOT (N M) and NOT K"
    assert either(guard(0), guard(2)).text(names) == (
        "NOT N and not (NOT K) or NOT N and NOT K or not (NOT N) and NOT K"
    )
