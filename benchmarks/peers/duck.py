"""In DuckDB: sorted lists that are folded, joins of a table with itself, and a recursive query."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb
import pyarrow as pa

from benchmarks.peers.trends import SLIDE, WITHIN, Trend, quoted


def folded(folder: Path, trends: Sequence[Trend]) -> pa.Table:
    """``list_reduce`` over the sorted events of a key and window, for all trends in one statement."""
    types = tuple(dict.fromkeys(name for trend in trends for name in trend.types))
    folds = ", ".join(f"sum({_fold(trend)}.c) AS n{number}" for number, trend in enumerate(trends))
    numbers = ", ".join(f"n{number}" for number in range(len(trends)))
    return _answer(f"""
        WITH placed AS ({_placed(folder, types)}),
        sorted AS (
          SELECT district, driver, k, list(action ORDER BY ts) AS actions FROM placed GROUP BY district, driver, k
        ),
        added AS (SELECT district, k, {folds} FROM sorted GROUP BY district, k),
        stacked AS (
          SELECT district, k, unnest(range({len(trends)})) AS query, unnest([{numbers}]) AS n FROM added
        )
        SELECT query, district, {_start("k")} AS window_start, n FROM stacked WHERE n > 0""")


def _fold(trend: Trend) -> str:
    a, b, c = trend.types
    again = "2 * s.b" if trend.kleene else "s.b"
    step = f"""{{'a': s.a + (e = '{a}')::DOUBLE, 'b': CASE WHEN e = '{b}' THEN s.a + {again} ELSE s.b END,
        'c': s.c + CASE WHEN e = '{c}' THEN s.b ELSE 0 END}}"""
    return f"list_reduce(actions, lambda s, e: {step}, {{'a': 0::DOUBLE, 'b': 0::DOUBLE, 'c': 0::DOUBLE}})"


def joined(folder: Path, trend: Trend) -> pa.Table:
    """Three times the same table, for trends of which nothing is repeated: every trend is a row."""
    a, b, c = trend.types
    return _answer(f"""
        WITH placed AS MATERIALIZED ({_placed(folder, trend.types)})
        SELECT 0 AS query, one.district, {_start("one.k")} AS window_start, count(*) AS n
        FROM placed AS one
        JOIN placed AS two ON two.driver = one.driver AND two.k = one.k AND two.ts > one.ts
        JOIN placed AS three ON three.driver = two.driver AND three.k = two.k AND three.ts > two.ts
        WHERE one.action = '{a}' AND two.action = '{b}' AND three.action = '{c}'
        GROUP BY one.district, one.k""")


def recursive(folder: Path, trend: Trend) -> pa.Table:
    """Every trend is built, event by event: only for few events, or few in a window."""
    a, b, c = trend.types
    windows = f"((epoch_us(ts) - {WITHIN}) // {SLIDE}) + 1, epoch_us(began) // {SLIDE}"
    return _answer(f"""
        WITH RECURSIVE events AS MATERIALIZED (
          SELECT district, driver, ts, action FROM read_parquet('{folder}/*.parquet')
          WHERE action IN ({quoted(trend.types)})
        ),
        run AS (
          SELECT district, driver, ts AS began, ts, 1 AS state FROM events WHERE action = '{a}'
          UNION ALL
          SELECT run.district, run.driver, began, events.ts, CASE WHEN action = '{c}' THEN 3 ELSE 2 END
          FROM run JOIN events ON events.driver = run.driver AND events.ts > run.ts
            AND epoch_us(events.ts) < epoch_us(began) + {WITHIN}
            AND (action = '{b}' AND state < 3 OR action = '{c}' AND state = 2)
        )
        SELECT 0 AS query, district, {_start("k")} AS window_start, count(*) AS n
        FROM (SELECT district, unnest(generate_series({windows})) AS k FROM run WHERE state = 3)
        GROUP BY district, k""")


def _placed(folder: Path, types: tuple[str, ...]) -> str:
    """Each event in each of its windows, which go by numbers."""
    windows = f"((epoch_us(ts) - {WITHIN}) // {SLIDE}) + 1, epoch_us(ts) // {SLIDE}"
    return f"""SELECT district, driver, ts, action, unnest(generate_series({windows})) AS k
        FROM read_parquet('{folder}/*.parquet') WHERE action IN ({quoted(types)})"""


def _start(window: str) -> str:
    return f"make_timestamp({window} * {SLIDE})"


def _answer(sql: str) -> pa.Table:
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        return database.sql(sql).to_arrow_table()
