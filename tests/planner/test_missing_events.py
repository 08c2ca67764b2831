"""For want of which events a query has no trend, by what a pass has counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from sparkext.planner.sharing.missing_events import missing_events
from sparkext.planner.sharing.template import template_of
from tests.support.pools import query
from tests.support.workloads import typed_class


def missing(patterns: Sequence[str], **counted: int) -> list[str]:
    """Types that are missing, as text."""
    events = {typed_class(name): number for name, number in counted.items()}
    return [str(event) for event in missing_events(template_of([query(text) for text in patterns]), events)]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("A B", ["B"]),
        ("A (B | C)", ["B", "C"]),
        ("A C? (B | C) D", ["D"]),
        ("A B C", ["B", "C"]),
        ("A (B | D) C", ["C"]),
        ("SEQ(A, NOT D, B)", ["B"]),
        ("A & B", ["B"]),
    ],
)
def test_needed_events(pattern: str, expected: list[str]) -> None:
    counted = {"A": 3, "B": 0, "C": 0, "D": 0}
    if pattern.startswith("A C?") or "| D" in pattern:
        counted["B"] = 1
    assert missing([pattern], **counted) == expected


@pytest.mark.parametrize("pattern", ["A", "A B?", "A+ (B | A)", "SEQ(A, NOT B, A)", "A | B"])
def test_events_that_trends_can_do_without(pattern: str) -> None:
    assert missing([pattern], A=3, B=0) == []


def test_a_query_without_any_events() -> None:
    """A source, filter or window may be empty."""
    assert missing(["A B"], A=0, B=0) == []
    assert missing(["A B", "C A"], A=0, B=0, C=1) == ["A"]


def test_a_condition_may_be_true_of_no_event() -> None:
    class_of_b = replace(typed_class("B"), condition="v > 5")
    template = template_of([query("A B C", classes={"B": class_of_b})])
    events = {typed_class("A"): 1, class_of_b: 0, typed_class("C"): 0}
    assert missing_events(template, events) == []
    assert missing_events(template, events | {class_of_b: 1}) == [typed_class("C")]
