"""Funnels with chdb, which is ClickHouse in a process: one ``SELECT`` with a ``windowFunnel`` for each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import chdb
import pyarrow as pa

from benchmarks.peers.funnels import SPAN, Funnel


def window_funnel(folder: Path, funnels: Sequence[Funnel]) -> pa.Table:
    """Users alone: it says how far each has come, not how often."""
    levels, reached = [], []
    for number, funnel in enumerate(funnels):
        steps = ", ".join(f"page = '{page}'" for page in funnel.pages)
        levels.append(f"windowFunnel({SPAN - 1})(moment, {steps}) AS level_{number}")
        reached.append(f"countIf(level_{number} = {len(funnel.pages)})")
    query = f"""
        SELECT funnel, country, users FROM (
          SELECT country, [{", ".join(reached)}] AS counts
          FROM (
            SELECT user_id, any(country) AS country, {", ".join(levels)}
            FROM (
              SELECT user_id, country, page, toUInt64(toUnixTimestamp64Micro(ts)) AS moment
              FROM file('{folder}/*.parquet')
            )
            GROUP BY user_id
          )
          GROUP BY country
        )
        ARRAY JOIN counts AS users, range(length(counts)) AS funnel
        WHERE users > 0"""
    return chdb.query(query, "ArrowTable")
