"""Queries through ``spark.sql`` against DuckDB, which enumerates trends by recursive queries of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

from sparkext.planner.patterns.query import Aggregate, EventClass, Function, Window
from tests.support.duckdb_trends import (
    CONTIGUOUS,
    OF_SELECTIONS,
    ON_ADJACENT_EVENTS,
    ON_EARLIER_EVENTS,
    ON_ONE_EVENT,
    SCHEMA,
    SKIP_TILL_NEXT,
    WITH_SPANS,
    Case,
    Found,
    find,
    random_tables,
)
from tests.support.enumerator import Event, enumerate_results
from tests.support.kernel_harness import difference
from tests.support.pools import COUNT, W, query
from tests.support.sql_cases import results
from tests.support.tiers import first

pytestmark = pytest.mark.long

ROWS = random_tables(20, seed=4)

KEYS = {
    "PARTITION BY part GROUP BY tbl, grp": (("tbl", "part", "grp"), ("tbl", "grp")),
    "PARTITION BY tbl": (("tbl",), ("tbl",)),
}
"""Per beginning of a clause, what the events of a trend agree on, and what results are grouped by."""

HOLDS: dict[str, Callable[[float | None], bool]] = {
    "": lambda _: True,
    "{w} > 0": lambda w: w is not None and w > 0,
    "{w} <= 2": lambda w: w is not None and w <= 2,
    "{w} IS NOT NULL": lambda w: w is not None,
    "{w} IS NULL OR {w} < 3": lambda w: w is None or w < 3,
}
"""The conditions on one event, in Python."""


def by_spark(spark: SparkSession, cases: Sequence[Case], keys: str) -> list[Found]:
    """What one statement with a clause for each case finds."""
    shown = KEYS[keys][1]
    columns = (*shown, "k", "n", "x", "present", "total", "mean", "least", "most")
    answers = results(spark, [_statement(case, keys) for case in cases], columns)
    return [
        {
            (row[: len(shown)], row[len(shown)]): [*map(int, row[len(shown) + 1 :][:3]), *row[len(shown) + 4 :]]
            for row in rows
        }
        for rows in answers
    ]


def _statement(case: Case, keys: str) -> str:
    more, number = "", "0"
    if case.conditions:
        named = {"prev": "PREV(w)"} | {v: f"{v}.w" for v in case.variables}
        written = (f"{v} AS {text.format(w=f'{v}.w', **named)}" for v, text in case.conditions.items())
        more = "DEFINE " + ", ".join(written)
    if case.window is not None:
        within, slide = case.window
        more += f" WITHIN {within} SLIDE {slide}"
        number = f"CAST(window_start / {slide} AS INT)"
    if case.span is not None:
        more += f" SPAN {case.span}"
    x = case.measured
    measures = f"""COUNT(*) AS n, COUNT({x}) AS x, COUNT({x}.w) AS present, SUM({x}.w) AS total, AVG({x}.w) AS mean,
        MIN({x}.w) AS least, MAX({x}.w) AS most"""
    pattern = f"PATTERN ({case.pattern}) {case.selection}"
    clause = f"MATCH_TREND ({keys} ORDER BY t TYPE BY ty MEASURES {measures} {pattern} {more})"
    return f"SELECT *, {number} AS k FROM events {clause}"


def by_enumerator(case: Case, keys: str) -> Found:
    """What the enumerator of the tests finds, which takes the pattern and not the automaton."""
    classes = {variable: EventClass("ty", variable, case.conditions.get(variable)) for variable in case.variables}
    functions = (Function.COUNT, Function.SUM, Function.AVG, Function.MIN, Function.MAX)
    asked = query(
        case.pattern,
        COUNT,
        Aggregate(Function.COUNT, case.measured),
        *(Aggregate(function, case.measured, W) for function in functions),
        window=None if case.window is None else Window(*case.window),
        classes=classes,
    )
    agreed, shown = KEYS[keys]
    events = []
    for row in ROWS:
        named = dict(zip(("tbl", "part", "grp", "t", "ty", "w"), row, strict=True))
        matched = (
            event_class
            for variable, event_class in classes.items()
            if named["ty"] == variable and HOLDS[event_class.condition or ""](named["w"])
        )
        hidden = tuple(named[key] for key in agreed if key not in shown)
        group = tuple(named[key] for key in shown)
        events.append(Event(hidden, group, named["t"], frozenset(matched), {"w": named["w"]}))
    return enumerate_results(asked, events)


def check(spark: SparkSession, cases: Sequence[Case], keys: str) -> None:
    """Spark and DuckDB agree on every case."""
    spark.createDataFrame(ROWS, SCHEMA).createOrReplaceTempView("events")
    expected = find(ROWS, cases, *KEYS[keys])
    for case, expected_rows, actual_rows in zip(cases, expected, by_spark(spark, cases, keys), strict=True):
        assert expected_rows, case
        assert difference(expected_rows, actual_rows) is None, case


@pytest.mark.parametrize("keys", first(1, KEYS))
def test_patterns_windows_and_conditions(spark: SparkSession, keys: str) -> None:
    check(spark, ON_ONE_EVENT, keys)


@pytest.mark.parametrize("keys", first(1, KEYS))
def test_conditions_on_adjacent_events(spark: SparkSession, keys: str) -> None:
    check(spark, ON_ADJACENT_EVENTS, keys)


@pytest.mark.parametrize("keys", first(1, KEYS))
def test_conditions_on_earlier_events(spark: SparkSession, keys: str) -> None:
    check(spark, ON_EARLIER_EVENTS, keys)


@pytest.mark.parametrize("selection", [CONTIGUOUS, SKIP_TILL_NEXT])
@pytest.mark.parametrize("keys", first(1, KEYS))
def test_event_selection(spark: SparkSession, keys: str, selection: str) -> None:
    check(spark, [replace(case, selection=selection) for case in OF_SELECTIONS], keys)


@pytest.mark.parametrize("keys", first(1, KEYS))
def test_spans(spark: SparkSession, keys: str) -> None:
    check(spark, WITH_SPANS, keys)


@pytest.mark.parametrize("keys", KEYS)
def test_the_enumerator_agrees(keys: str) -> None:
    """Two truths that have nothing in common."""
    for case, trends_found in zip(ON_ONE_EVENT, find(ROWS, ON_ONE_EVENT, *KEYS[keys]), strict=True):
        assert difference(trends_found, by_enumerator(case, keys)) is None, case
