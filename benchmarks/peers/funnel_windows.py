"""Funnels by hand with window functions, as Spark SQL and DuckDB take them.

The latest start that has reached a step is the greatest one of the rows before that has reached the step before.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.peers.funnels import SPAN, Funnel

_BEFORE = "(PARTITION BY user_id ORDER BY moment ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"


def each(funnels: Sequence[Funnel]) -> str:
    """A query for each funnel, over ``visits`` with a ``moment`` in microseconds, and the union of them."""
    return " UNION ALL ".join(_one(number, funnel) for number, funnel in enumerate(funnels))


def _one(number: int, funnel: Funnel) -> str:
    first, *later = funnel.pages
    pages = ", ".join(f"'{page}'" for page in funnel.pages)
    query = f"SELECT *, CASE WHEN page = '{first}' THEN moment END AS start FROM visits WHERE page IN ({pages})"
    for page in later:
        query = f"""SELECT user_id, country, moment, page,
            CASE WHEN page = '{page}' THEN max(start) OVER {_BEFORE} END AS start FROM ({query})"""
    return f"""SELECT {number} AS funnel, country, count(DISTINCT user_id) AS users, count(*) AS completions
        FROM ({query}) WHERE moment - start < {SPAN} GROUP BY country"""


def together(funnels: Sequence[Funnel]) -> str:
    """All funnels side by side, in as many passes of window functions as the longest has steps."""
    numbers = range(len(funnels))
    starts = (
        f"CASE WHEN page = '{funnel.pages[0]}' THEN moment END AS s{number}" for number, funnel in enumerate(funnels)
    )
    query = f"SELECT user_id, country, moment, page, {', '.join(starts)} FROM visits"
    for step in range(1, max(len(funnel.pages) for funnel in funnels)):
        moved = (
            f"CASE WHEN page = '{funnel.pages[step]}' THEN max(s{number}) OVER {_BEFORE} END AS s{number}"
            if step < len(funnel.pages)
            else f"s{number}"
            for number, funnel in enumerate(funnels)
        )
        query = f"SELECT user_id, country, moment, page, {', '.join(moved)} FROM ({query})"
    ended = ", ".join(f"count(CASE WHEN moment - s{number} < {SPAN} THEN 1 END) AS c{number}" for number in numbers)
    query = f"SELECT user_id, country, {ended} FROM ({query}) GROUP BY user_id, country"
    totals = ", ".join(
        f"count(nullif(c{number}, 0)) AS u{number}, CAST(sum(c{number}) AS BIGINT) AS c{number}" for number in numbers
    )
    query = f"SELECT country, {totals} FROM ({query}) GROUP BY country"
    rows = (
        f"SELECT {number} AS funnel, country, u{number} AS users, c{number} AS completions "
        f"FROM totals WHERE u{number} > 0"
        for number in numbers
    )
    return f"WITH totals AS ({query}) {' UNION ALL '.join(rows)}"
