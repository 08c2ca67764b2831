"""Funnels by hand with DuckDB: window functions, and for a repeated step a fold over the hour after each start."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb
import pyarrow as pa

from benchmarks.peers import funnel_windows
from benchmarks.peers.funnels import SPAN, Funnel


def windows(folder: Path, funnels: Sequence[Funnel]) -> pa.Table:
    """One statement."""
    return _answer(folder, funnel_windows.each(funnels))


def folds(folder: Path, funnels: Sequence[Funnel]) -> pa.Table:
    """Trends, in one statement."""
    return _answer(folder, " UNION ALL ".join(_fold(number, funnel) for number, funnel in enumerate(funnels)))


def _fold(number: int, funnel: Funnel) -> str:
    """``list_reduce`` over what each first step has within an hour after it."""
    first, second, *later = funnel.pages
    before = "s.s1"
    steps = [f"'s1': s.s1 + CASE WHEN e = '{second}' THEN 1 + s.s1 ELSE 0 END"]
    for step, page in enumerate(later, 2):
        steps.append(f"'s{step}': s.s{step} + CASE WHEN e = '{page}' THEN {before} ELSE 0 END")
        before = f"s.s{step}"
    nothing = ", ".join(f"'s{step}': 0::BIGINT" for step in range(1, len(funnel.pages)))
    pages = ", ".join(f"'{page}'" for page in funnel.pages[1:])
    return f"""
        SELECT {number} AS funnel, country, sum(trends)::BIGINT AS trends FROM (
          SELECT country, list_reduce(pages, lambda s, e: {{{", ".join(steps)}}}, {{{nothing}}}).{before[2:]} AS trends
          FROM (
            SELECT any_value(one.country) AS country, list(two.page ORDER BY two.moment) AS pages
            FROM visits AS one JOIN visits AS two
              ON one.user_id = two.user_id AND two.moment > one.moment AND two.moment < one.moment + {SPAN}
            WHERE one.page = '{first}' AND two.page IN ({pages})
            GROUP BY one.user_id, one.moment
          )
        )
        GROUP BY country HAVING sum(trends) > 0"""


def _answer(folder: Path, query: str) -> pa.Table:
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        database.execute(f"""
            CREATE TEMP VIEW visits AS
            SELECT user_id, country, page, epoch_us(ts) AS moment FROM read_parquet('{folder}/*.parquet')""")
        return database.sql(query).to_arrow_table()
