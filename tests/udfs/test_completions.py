"""Completions by a pass below Spark: rows, witnesses, aggregates and counts are those of the enumerator."""

from __future__ import annotations

from random import Random

import pytest

from sparkext.planner.compiler.compile import compile_completions
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.pattern import Repeat, Sequence, Variable
from sparkext.planner.patterns.query import Completion, EventClass, Mark, Query, Shown, Side
from sparkext.planner.sharing.template import template_of
from tests.support.completion_pools import NUMBER, draw, found_rows, problems
from tests.support.completions import enumerate_completions
from tests.support.enumerator import Event
from tests.support.prev_conditions import MEANINGS
from tests.support.tiers import EXAMPLES

PARTS = 10


@pytest.mark.parametrize("part", range(PARTS))
def test_random_pools(part: int) -> None:
    """In batches cut at random, some of 1 row, with little room, in both forms."""
    wrong: list[str] = []
    completions = 0
    for seed in range(part, 2 * EXAMPLES, PARTS):
        random = Random(seed)
        drawn, events = draw(random)
        wrong += (f"seed {seed}: {problem}" for problem in problems(drawn.queries, events, random))
        completions += sum(len(enumerate_completions(query, events, MEANINGS)) for query in drawn.queries[:1])
    assert not wrong, "\n".join(wrong)
    assert completions > 0


def test_what_is_shared_makes_no_difference() -> None:
    """The rows of a query by itself are those that it has in a pool."""
    compared = 0
    for seed in range(EXAMPLES // 6):
        drawn, events = draw(Random(seed))
        rows, counts = found_rows(drawn.queries, events)
        for number, query in enumerate(drawn.queries):
            (alone,), (counted,) = found_rows([query], events)
            assert sorted(map(repr, alone)) == sorted(map(repr, rows[number])), seed
            assert counted == counts[number], seed
            compared += len(alone)
    assert compared > 0


def event(kind: str, time: int, number: int) -> Event:
    return Event((), ("k",), time, frozenset({EventClass("kind", kind, None)}), {NUMBER.text: number})


def funnel(steps: str, name: str = "funnel") -> Query:
    """The steps that a funnel has reached, each with its first event."""
    before, last = list(steps[:-1]), steps[-1]
    pattern: Variable | Sequence = Variable(last)
    for step in reversed(before):
        pattern = Sequence((Variable(step), Repeat(pattern, 0, 1)))
    classes = tuple((step, EventClass("kind", step, None)) for step in steps)
    shown = (Shown(), Shown(Mark(Side.FIRST, None), NUMBER), Shown(None, NUMBER))
    return Query(name, pattern, classes, (), None, completion=Completion(True, shown))


def test_the_witness_is_the_latest_start() -> None:
    events = [event(kind, time, time) for time, kind in enumerate("AABB")]
    (rows,), _ = found_rows([funnel("AB")], events)
    assert [row.shown for row in rows] == [
        ("A", 0, (0,)),
        ("A", 1, (1,)),
        ("B", 1, (1, 2)),
        ("B", 1, (1, 3)),
    ]


def test_equal_beginnings_are_shared() -> None:
    """Twenty funnels with three steps in common have these once."""
    queries = [funnel("ABC" + chr(ord("D") + number), f"q{number}") for number in range(20)]
    plan = compile_completions(template_of(queries))
    assert plan.completions is not None
    assert len(plan.completions.states) == 3 + 20
    assert len(plan.completions.registers) == 1


def test_nodes_that_nothing_leads_to_are_dropped() -> None:
    """What is shown of many events is kept for those that a trend may still go on from."""
    many = 5000
    events = [event("AB"[time % 2], time, time) for time in range(many)]
    query = funnel("AB")
    (rows,), _ = found_rows([query], events, Random(1))
    assert len(rows) == many
    assert rows[-1].shown == ("B", many - 2, (many - 2, many - 1))


def test_attributes_are_taken_from_the_rows_that_are_named() -> None:
    """Values of any Arrow type, NULL among them."""
    text = Attribute("ts", "bigint")
    query = Query(
        "q",
        Sequence((Variable("A"), Repeat(Variable("B"), 0, 1))),
        (("A", EventClass("kind", "A", None)), ("B", EventClass("kind", "B", None))),
        (),
        None,
        completion=Completion(True, (Shown(Mark(Side.LAST, "B"), text),)),
    )
    events = [
        Event((), (), time, frozenset({EventClass("kind", kind, None)}), {"ts": value})
        for time, (kind, value) in enumerate([("A", 1), ("B", None), ("B", 7)])
    ]
    (rows,), _ = found_rows([query], events)
    assert [row.shown for row in rows] == [(None,), (None,), (7,)]
