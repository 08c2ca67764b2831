"""A second truth: trends found by DuckDB, as runs of automata that were written down by hand.

A recursive query extends every run by every event that a transition allows, one row per run, and adds the
finished ones up. Nothing of the product takes part, neither its patterns nor its automata.
"""

from __future__ import annotations

from collections.abc import Sequence
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
            event's, ``{prev}`` that of the event before it in the trend.
    """

    pattern: str
    steps: str
    ends: str
    measured: str
    window: tuple[int, int] | None = None
    conditions: dict[str, str] = field(default_factory=dict)

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
    first, then = (_allowed(case, prev) for prev in ("CAST(NULL AS DOUBLE)", "run.w"))
    same = " AND ".join(f"event.{key} IS NOT DISTINCT FROM run.{key}" for key in keys)
    ends = ", ".join(case.ends.split())
    mine = f"ty = '{case.measured}'"
    within, slide = case.window or (1, 1)
    windows = "0, 0"
    if case.window is not None:
        in_time = f"event.t - run.first < {within}"
        windows = f"CAST(floor((run.t - {within}) / {slide}) AS INT) + 1, CAST(floor(run.first / {slide}) AS INT)"
    else:
        in_time = "true"
    columns = ", ".join(shown)
    return f"""
        WITH RECURSIVE step(source, variable, target) AS (VALUES {transitions}),
        run AS (
          SELECT {", ".join(f"event.{key}" for key in keys)}, t AS first, t, w, target AS state,
            CAST({mine} AS INT) AS events, CAST({mine} AND w IS NOT NULL AS INT) AS number,
            CASE WHEN {mine} AND w IS NOT NULL THEN w ELSE 0 END AS total,
            CASE WHEN {mine} THEN w END AS least, CASE WHEN {mine} THEN w END AS most
          FROM events AS event JOIN step ON ty = variable AND source = 0
          WHERE t IS NOT NULL AND {first}
          UNION ALL
          SELECT {", ".join(f"run.{key}" for key in keys)}, run.first, event.t, event.w, target,
            events + CAST({mine} AS INT), number + CAST({mine} AND event.w IS NOT NULL AS INT),
            total + CASE WHEN {mine} AND event.w IS NOT NULL THEN event.w ELSE 0 END,
            CASE WHEN {mine} AND event.w IS NOT NULL AND (least IS NULL OR event.w < least) THEN event.w ELSE least END,
            CASE WHEN {mine} AND event.w IS NOT NULL AND (most IS NULL OR event.w > most) THEN event.w ELSE most END
          FROM run JOIN step ON source = state JOIN events AS event ON ty = variable
          WHERE event.t > run.t AND {same} AND {in_time} AND {then}
        )
        SELECT {columns}, k, count(*), sum(events), sum(number), CASE WHEN sum(number) > 0 THEN sum(total) END,
          CASE WHEN sum(number) > 0 THEN sum(total) / sum(number) END, min(least), max(most)
        FROM run, unnest(generate_series({windows})) AS windows(k)
        WHERE state IN ({ends})
        GROUP BY {columns}, k"""


def _allowed(case: Case, prev: str) -> str:
    """The conditions of all variables: each holds for its own events."""
    conditions = (
        f"(ty <> '{variable}' OR coalesce({condition.format(w='event.w', prev=prev)}, false))"
        for variable, condition in case.conditions.items()
    )
    return " AND ".join(conditions) or "true"
