"""A second truth: trends found by DuckDB, as runs of automata that were written down by hand.

A recursive query extends every run by every event that a transition allows, one row per run, and adds the
finished ones up. Nothing of the product takes part, neither its patterns nor its automata.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeAlias

import duckdb

SCHEMA = "tbl INT, part INT, grp STRING, t INT, ty STRING, w DOUBLE"
"""Of the events, for Spark: number of the table, two keys, time, type and the one attribute."""

Row: TypeAlias = tuple[Any, ...]

Found: TypeAlias = dict[tuple[tuple[Any, ...], int], list[Any]]
"""Per table and key, and index of the window (0 if there are none): COUNT(*), COUNT(X), and COUNT, SUM, AVG,
MIN, MAX of X.w."""


SKIP_TILL_ANY, SKIP_TILL_NEXT, CONTIGUOUS = "SKIP TILL ANY MATCH", "SKIP TILL NEXT MATCH", "CONTIGUOUS"


@dataclass(frozen=True, slots=True)
class Case:
    """A query, and its automaton.

    Attributes:
        pattern: What the automaton accepts.
        steps: Its transitions ``from variable to``; 0 is where runs start.
        ends: States in which a run is a trend.
        measured: The variable whose events are aggregated.
        window: WITHIN and SLIDE; None for no window.
        conditions: Per variable a condition on w, in the SQL of both Spark and DuckDB. ``{w}`` is the
            event's, ``{prev}`` that of the event before it in the trend, and ``{A}`` that of the latest A before it.
        selection: Which events a trend may leave out, as it is written.
        span: How long a trend may be; it is then in the windows of its last event.
    """

    pattern: str
    steps: str
    ends: str
    measured: str
    window: tuple[int, int] | None = None
    conditions: dict[str, str] = field(default_factory=dict)
    selection: str = SKIP_TILL_ANY
    span: int | None = None

    @property
    def transitions(self) -> list[tuple[int, str, int]]:
        """`steps` taken apart."""
        rows = (step.split() for step in self.steps.split(","))
        return [(int(source), variable, int(target)) for source, variable, target in rows]

    @property
    def variables(self) -> list[str]:
        """In order of first use."""
        return list(dict.fromkeys(variable for _, variable, _ in self.transitions))


ON_ONE_EVENT = [
    Case("A B", "0 A 1, 1 B 2", "2", "B"),
    Case("A B", "0 A 1, 1 B 2", "2", "A", (6, 6), {"A": "{w} > 0"}),
    Case("A+ B", "0 A 1, 1 A 1, 1 B 2", "2", "A"),
    Case("A+ B", "0 A 1, 1 A 1, 1 B 2", "2", "A", (7, 3), {"B": "{w} <= 2", "A": "{w} IS NOT NULL"}),
    Case("(A B)+", "0 A 1, 1 B 2, 2 A 1", "2", "B", (9, 2)),
    Case("(A B)+", "0 A 1, 1 B 2, 2 A 1", "2", "A", None, {"B": "{w} > 0"}),
    Case("A (B C)+ D", "0 A 1, 1 B 2, 2 C 3, 3 B 2, 3 D 4", "4", "C"),
    Case("A (B C)+ D", "0 A 1, 1 B 2, 2 C 3, 3 B 2, 3 D 4", "4", "B", (10, 4), {"C": "{w} IS NULL OR {w} < 3"}),
    Case("A+ B+", "0 A 1, 1 A 1, 1 B 2, 2 B 2", "2", "B", (5, 8)),
    Case("A+ B+", "0 A 1, 1 A 1, 1 B 2, 2 B 2", "2", "A", (12, 5), {"A": "{w} <= 2"}),
    Case("A B? C", "0 A 1, 1 B 2, 1 C 3, 2 C 3", "3", "B"),
    Case("A B? C", "0 A 1, 1 B 2, 1 C 3, 2 C 3", "3", "C", (8, 1), {"B": "{w} > 0"}),
    Case("(A | B)+ C?", "0 A 1, 0 B 2, 1 A 1, 1 B 2, 2 A 1, 2 B 2, 1 C 3, 2 C 3", "1 2 3", "A", (4, 3)),
]

ON_ADJACENT_EVENTS = [
    Case("A B", "0 A 1, 1 B 2", "2", "B", None, {"B": "{w} < {prev}"}),
    Case("A B+", "0 A 1, 1 B 2, 2 B 2", "2", "B", (9, 4), {"B": "{w} < {prev}"}),
    Case("A+", "0 A 1, 1 A 1", "1", "A", None, {"A": "{prev} IS NULL OR {w} < {prev}"}),
    Case("A+ B", "0 A 1, 1 A 1, 1 B 2", "2", "A", (10, 3), {"A": "{w} > 0 AND ({prev} IS NULL OR {w} <> {prev})"}),
    Case("(A B)+", "0 A 1, 1 B 2, 2 A 1", "2", "A", None, {"B": "{w} >= {prev}", "A": "coalesce({prev} < 3, true)"}),
    Case("A (B C)+ D", "0 A 1, 1 B 2, 2 C 3, 3 B 2, 3 D 4", "4", "C", (15, 6), {"C": "{w} - {prev} BETWEEN -2 AND 3"}),
    Case("A B? C", "0 A 1, 1 B 2, 1 C 3, 2 C 3", "3", "C", None, {"C": "{w} > {prev}"}),
]

ON_EARLIER_EVENTS = [
    Case("A B C", "0 A 1, 1 B 2, 2 C 3", "3", "B", None, {"C": "{w} > {A}"}),
    Case("A B+ C", "0 A 1, 1 B 2, 2 B 2, 2 C 3", "3", "B", (12, 5), {"C": "{w} <> {A}"}),
    Case("A+ B C", "0 A 1, 1 A 1, 1 B 2, 2 C 3", "3", "A", None, {"C": "{w} = {A} OR {A} IS NULL", "B": "{w} > 0"}),
    Case("A (B C)+ D", "0 A 1, 1 B 2, 2 C 3, 3 B 2, 3 D 4", "4", "C", (15, 6), {"D": "{w} - {A} BETWEEN -2 AND 3"}),
    Case("A B? C", "0 A 1, 1 B 2, 1 C 3, 2 C 3", "3", "C", None, {"C": "{w} >= {B} OR {B} IS NULL"}),
    Case("(A | B)+ C", "0 A 1, 0 B 2, 1 A 1, 1 B 2, 2 A 1, 2 B 2, 1 C 3, 2 C 3", "3", "B", (9, 2), {"C": "{w} < {B}"}),
]

WITH_SPANS = [
    Case("A B", "0 A 1, 1 B 2", "2", "B", span=3),
    Case("A+ B", "0 A 1, 1 A 1, 1 B 2", "2", "A", (4, 4), span=7),
    Case("(A B)+", "0 A 1, 1 B 2, 2 A 1", "2", "B", (9, 2), {"B": "{w} > 0"}, span=5),
    Case("A (B C)+ D?", "0 A 1, 1 B 2, 2 C 3, 3 B 2, 3 D 4", "3 4", "C", (3, 5), span=9),
    Case("A+ B+", "0 A 1, 1 A 1, 1 B 2, 2 B 2", "2", "A", span=1000),
]

OF_SELECTIONS = [
    Case("A B", "0 A 1, 1 B 2", "2", "B"),
    Case("A+ B", "0 A 1, 1 A 1, 1 B 2", "2", "A", (10, 3)),
    Case("(A B)+", "0 A 1, 1 B 2, 2 A 1", "2", "A", None, {"B": "{w} > 0"}),
    Case("A (B C)+ D?", "0 A 1, 1 B 2, 2 C 3, 3 B 2, 3 D 4", "3 4", "C", (15, 4)),
    Case("(A | B)+ C?", "0 A 1, 0 B 2, 1 A 1, 1 B 2, 2 A 1, 2 B 2, 1 C 3, 2 C 3", "1 2 3", "A"),
    Case("A+", "0 A 1, 1 A 1", "1", "A", None, {"A": "{prev} IS NULL OR {w} < {prev}"}),
    Case("A B+", "0 A 1, 1 B 2, 2 B 2", "2", "B", (9, 4), {"B": "{w} <= {prev}"}),
]
"""Automata in which every state is on the way to an end, so that every step could have continued a trend."""


def random_tables(number: int, seed: int) -> list[Row]:
    """The rows of some small tables: with ties, missing times, types, keys and attributes."""
    random = Random(seed)
    return [row for table in range(number) for row in _table(random, table)]


def _table(random: Random, table: int) -> list[Row]:
    start, span = random.choice((0, -7, 40)), random.choice((8, 14, 20))
    types = random.choice(("AAAABBCD", "AABBCCD", "ABCD"))
    keys = [(random.choice((1, None)), random.choice(("x", "y", None))) for _ in range(random.choice((1, 1, 2, 3)))]
    return [
        (
            table,
            *random.choice(keys),
            random.choice((None, *[start + random.randint(0, span)] * 25)),
            random.choice((*types, *types, random.choice((None, "a", "Z")))),
            random.choice((None, *(random.randint(-4, 20) / 4 for _ in range(6)))),
        )
        for _ in range(random.randint(9, 24))
    ]


def find(rows: Sequence[Row], cases: Sequence[Case], keys: Sequence[str], shown: Sequence[str]) -> list[Found]:
    """Per case, what it finds in ``rows``, the events of all tables.

    Args:
        rows: As in `SCHEMA`.
        cases: The queries.
        keys: Columns on which the events of a trend agree.
        shown: Those of them that results are grouped by.
    """
    database = duckdb.connect()
    database.execute(f"CREATE TABLE events ({SCHEMA})")
    database.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", rows)
    return [_found(database.execute(_query(case, keys, shown)).fetchall(), len(shown)) for case in cases]


def _found(rows: Sequence[Row], keys: int) -> Found:
    return {(row[:keys], row[keys]): list(row[keys + 1 :]) for row in rows}


def _query(case: Case, keys: Sequence[str], shown: Sequence[str]) -> str:
    """The number of runs grows with that of the trends: this is for small tables only."""
    transitions = ", ".join(f"({source}, '{variable}', {target})" for source, variable, target in case.transitions)
    none = "CAST(NULL AS DOUBLE)"
    first = _allowed(case, "event", none, dict.fromkeys(case.variables, none))
    then, instead = (_allowed(case, event, "run.w", _latest(case)) for event in ("event", "other"))
    same, likewise = (
        " AND ".join(f"{event}.{key} IS NOT DISTINCT FROM run.{key}" for key in keys) for event in ("event", "other")
    )
    between = f"SELECT * FROM events AS other WHERE {likewise} AND other.t > run.t AND other.t < event.t"
    could_continue = f"(other.ty, run.state) IN (SELECT (variable, source) FROM step) AND {instead}"
    left_out = {
        SKIP_TILL_ANY: "true",
        SKIP_TILL_NEXT: f"NOT EXISTS ({between} AND {could_continue})",
        CONTIGUOUS: f"NOT EXISTS ({between})",
    }[case.selection]
    ends = ", ".join(case.ends.split())
    adds = f"ty = '{case.measured}'"
    within, slide = case.window or (1, 1)
    windows, in_time = "0, 0", "true"
    if case.window is not None:
        reported = "first" if case.span is None else "t"
        windows = f"CAST(floor((run.t - {within}) / {slide}) AS INT) + 1, CAST(floor(run.{reported} / {slide}) AS INT)"
    longest = case.span or (case.window and case.window[0])
    if longest is not None:
        in_time = f"event.t - run.first < {longest}"
    columns = ", ".join(shown)
    return f"""
        WITH RECURSIVE step(source, variable, target) AS (VALUES {transitions}),
        run AS (
          SELECT {", ".join(f"event.{key}" for key in keys)}, t AS first, t, w, target AS state,
            CAST({adds} AS INT) AS events, CAST({adds} AND w IS NOT NULL AS INT) AS number,
            CASE WHEN {adds} AND w IS NOT NULL THEN w ELSE 0 END AS total,
            CASE WHEN {adds} THEN w END AS least, CASE WHEN {adds} THEN w END AS most,
            {", ".join(f"CASE WHEN ty = '{v}' THEN w END AS latest_{v}" for v in case.variables)}
          FROM events AS event JOIN step ON ty = variable AND source = 0
          WHERE t IS NOT NULL AND {first}
          UNION ALL
          SELECT {", ".join(f"run.{key}" for key in keys)}, run.first, event.t, event.w, target,
            events + CAST({adds} AS INT), number + CAST({adds} AND event.w IS NOT NULL AS INT),
            total + CASE WHEN {adds} AND event.w IS NOT NULL THEN event.w ELSE 0 END,
            CASE WHEN {adds} AND event.w IS NOT NULL AND (least IS NULL OR event.w < least) THEN event.w ELSE least END,
            CASE WHEN {adds} AND event.w IS NOT NULL AND (most IS NULL OR event.w > most) THEN event.w ELSE most END,
            {", ".join(f"CASE WHEN ty = '{v}' THEN event.w ELSE run.latest_{v} END" for v in case.variables)}
          FROM run JOIN step ON source = state JOIN events AS event ON ty = variable
          WHERE event.t > run.t AND {same} AND {in_time} AND {then} AND {left_out}
        )
        SELECT {columns}, k, count(*), sum(events), sum(number), CASE WHEN sum(number) > 0 THEN sum(total) END,
          CASE WHEN sum(number) > 0 THEN sum(total) / sum(number) END, min(least), max(most)
        FROM run, unnest(generate_series({windows})) AS windows(k)
        WHERE state IN ({ends})
        GROUP BY {columns}, k"""


def _latest(case: Case) -> dict[str, str]:
    """Per variable, w of the latest of its events in a run."""
    return {variable: f"run.latest_{variable}" for variable in case.variables}


def _allowed(case: Case, event: str, prev: str, latest: Mapping[str, str]) -> str:
    """The conditions of all variables on a row called ``event``: each holds for its own events."""
    conditions = (
        f"({event}.ty <> '{variable}' OR coalesce({condition.format(w=f'{event}.w', prev=prev, **latest)}, false))"
        for variable, condition in case.conditions.items()
    )
    return " AND ".join(conditions) or "true"
