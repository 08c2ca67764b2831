"""Random pools of queries that ask for completions, through ``spark.sql``."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from random import Random
from typing import Any

from pyspark.sql import Row, SparkSession

from sparkext.planner.patterns.query import Distinct, Query, Shown
from tests.support.completion_pools import NUMBER, CompletionRow, difference, draw
from tests.support.completions import count_completions, enumerate_completions
from tests.support.enumerator import Event
from tests.support.prev_conditions import MEANINGS
from tests.support.sql_harness import as_results, can_be_written, in_microseconds
from tests.support.workloads import SCHEMA, Workload


def draw_for_sql(random: Random) -> tuple[Workload, list[Event]] | None:
    """A workload that can be said in SQL, and its events; None if there is none."""
    drawn, events = draw(random)
    if not can_be_written(drawn) or not drawn.queries:
        return None
    whole = replace(drawn, partition=tuple(dict.fromkeys((*drawn.partition, *(drawn.group or ())))), group=None)
    orders = [event.order for event in events]
    queries = tuple(_writable(query, whole) for query in whole.queries)
    whole = replace(whole, queries=queries)
    drawn_queries = [
        replace(event, values={**event.values, NUMBER.text: number}, order=order)
        for number, (event, order) in enumerate(zip(whole.events(), orders, strict=True))
    ]
    return whole, drawn_queries


def _writable(query: Query, drawn: Workload) -> Query:
    """A query without what SQL has no words for."""
    completion = query.completion
    assert completion is not None
    if Distinct.KEYS in completion.counted and not drawn.partition:
        completion = replace(completion, counted=(Distinct.COMPLETIONS,))
    return replace(query, completion=completion)


def statement(drawn: Workload, query: Query, relation: str, has_order: bool) -> str:
    """A statement with what ``query`` asks for: m0, … are aggregates, s0, … what is shown, c0, … what is counted."""
    completion = query.completion
    assert completion is not None
    lines = drawn.sql(query, relation).removesuffix("\n)").split("\n  ")
    asked = (
        [] if not query.aggregates else [next(x for x in lines if x.startswith("MEASURES")).removeprefix("MEASURES ")]
    )
    asked += [f"{_said(shown)} AS s{number}" for number, shown in enumerate(completion.shown)]
    keys = ", ".join(drawn.partition)
    counted = {Distinct.COMPLETIONS: "LAST(*)", Distinct.KEYS: keys}
    asked += [f"COUNT(DISTINCT {counted[kind]}) AS c{number}" for number, kind in enumerate(completion.counted)]
    written: list[str] = []
    for line in lines:
        if line.startswith("MEASURES"):
            written.append(f"MEASURES {', '.join(asked)}")
        elif line.startswith("ORDER BY") and has_order:
            written.append("ORDER BY ts, seq")
        elif line.startswith("PATTERN") and query.wait is not None:
            written.append(f"{line[:-1]} FOR {query.wait})")
        else:
            written.append(line)
    if completion.has_rows:
        written.append("ONE ROW PER COMPLETION")
    return "\n  ".join(written) + "\n)"


def _said(shown: Shown) -> str:
    if shown.attribute is None:
        return "CLASSIFIER()"
    if shown.mark is None:
        return f"EVENTS({shown.attribute.text})"
    prefix = "" if shown.mark.variable is None else f"{shown.mark.variable}."
    return f"{shown.mark.side.value}({prefix}{shown.attribute.text})"


def mismatches(spark: SparkSession, seed: int) -> tuple[list[str], int]:
    """What ``spark.sql`` and the enumerator disagree on, for the random pool of ``seed``; and the number of rows."""
    random = Random(seed)
    drawn_and_events = draw_for_sql(random)
    if drawn_and_events is None:
        return [], 0
    drawn, events = drawn_and_events
    has_order = any(event.order for event in events)
    rows = [
        (*record, number, event.order[0] if event.order else 0)
        for number, (record, event) in enumerate(zip(drawn.records(), events, strict=True))
    ]
    relation = f"completions_{seed}"
    frame = spark.createDataFrame(rows, f"{SCHEMA}, number BIGINT, seq INT")
    frame.repartition(random.choice((1, 2, 7))).createOrReplaceTempView(relation)
    spark.conf.set("spark.sparkext.partitions", random.choice(("1", "2", "7", "auto")))
    names = []
    for number, query in enumerate(drawn.queries):
        names.append(f"{relation}_{number}")
        text = statement(drawn, query, relation, has_order)
        spark.sql(f"CREATE OR REPLACE TEMP VIEW {names[-1]} AS {text}")
    wrong: list[str] = []
    compared = 0
    for name, query in zip(names, drawn.queries, strict=True):
        result_rows = (
            spark.table(name).collect() if random.random() < 0.7 else spark.sql(f"SELECT * FROM {name}").collect()
        )
        compared += len(result_rows)
        problem = _problem(drawn, query, events, result_rows)
        if problem is not None:
            wrong.append(f"seed {seed}: {statement(drawn, query, 'rows', has_order)}: {problem}")
    for name in [*names, relation]:
        spark.catalog.dropTempView(name)
    return wrong, compared


def _problem(drawn: Workload, query: Query, events: list[Event], rows: list[Row]) -> str | None:
    completion = query.completion
    assert completion is not None
    truth = enumerate_completions(query, events, MEANINGS)
    keys, bounds = len(drawn.partition), 0 if query.window is None else 2
    if completion.has_rows:
        truth = [
            replace(completion, values=tuple(map(in_microseconds, query.aggregates, completion.values)))
            for completion in truth
        ]
        from_rows = [_row(query, tuple(row), keys, bounds) for row in rows]
        return difference(truth, from_rows, completion)
    expected = {at: [counts[kind] for kind in completion.counted] for at, counts in count_completions(truth).items()}
    counts_by_key: dict[Any, list[Any]] = {}
    for row in rows:
        values = tuple(row)
        window = 0 if query.window is None else values[keys] // query.window.slide
        counts_by_key[values[:keys], window] = list(values[keys + bounds :])
    return None if expected == counts_by_key else f"counted {counts_by_key}, expected {expected}"


def _row(query: Query, values: tuple[Any, ...], keys: int, bounds: int) -> CompletionRow:
    """A row as a pass below Spark gives it."""
    group, rest = values[:keys], values[keys + bounds :]
    window = 0 if query.window is None else values[keys] // query.window.slide
    count = len(query.aggregates)
    added = as_results(_NO_KEYS, replace(query, window=None), [rest[:count]])[(), 0] if count else []
    return CompletionRow(group, window, tuple(map(_plain, rest[count:])), tuple(added))


_NO_KEYS = Workload((), (), None, ())


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc)
    return tuple(value) if isinstance(value, list) else value
