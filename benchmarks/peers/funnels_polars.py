"""Funnels by hand with Polars, which reads and sorts, and a loop that numba compiles."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pyarrow as pa

from benchmarks.peers.funnel_loop import counted
from benchmarks.peers.funnels import PAGES, Funnel


def loop(folder: Path, funnels: Sequence[Funnel]) -> pa.Table:
    """All funnels in one loop."""
    used = [page for page in PAGES if any(page in funnel.pages for funnel in funnels)]
    number = pl.col("page").replace_strict(list(PAGES), list(range(len(PAGES))), return_dtype=pl.Int64)
    visits = (
        pl.scan_parquet(folder / "*.parquet")
        .filter(pl.col("page").is_in(used))
        .select(
            pl.col("user_id").cast(pl.Int64),
            pl.col("country").cast(pl.Categorical),
            pl.col("ts").cast(pl.Int64),
            number,
        )
        .sort("user_id", "ts")
        .collect()
    )
    names = visits["country"].unique().cast(pl.String).sort()
    answer = counted(
        funnels,
        visits["user_id"].to_numpy(),
        visits["country"].cast(pl.Enum(names)).to_physical().cast(pl.Int64).to_numpy(),
        visits["ts"].to_numpy(),
        visits["page"].to_numpy(),
        len(names),
    )
    return pa.table({**answer, "country": names.to_arrow().take(pa.array(answer["country"]))})
