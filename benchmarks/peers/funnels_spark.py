"""Funnels by hand with Spark: window functions, and a function for users of a bucket with a loop of numba."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from benchmarks.peers import funnel_windows
from benchmarks.peers.funnel_loop import counted
from benchmarks.peers.funnels import KEYS, PAGES, Funnel
from benchmarks.spark import opened

BUCKETS = 64


def windows(folder: Path, funnels: Sequence[Funnel]) -> pa.Table:
    """One statement, whose window functions share one shuffle and one sort."""
    _visits(folder).createOrReplaceTempView("visits")
    return opened().sql(funnel_windows.together(funnels)).toArrow()


def loop(folder: Path, funnels: Sequence[Funnel]) -> pa.Table:
    """One job, whose function sorts the visits of a bucket of users."""
    (measures,) = {("trends",) if funnel.repeated else ("users", "completions") for funnel in funnels}

    def count(frame: pd.DataFrame) -> pd.DataFrame:
        user, moment = frame["user_id"].to_numpy(np.int64), frame["moment"].to_numpy()
        order = np.lexsort((moment, user))
        country, names = pd.factorize(frame["country"])
        page = frame["page"].to_numpy(np.int64)
        answer = counted(funnels, user[order], country.astype(np.int64)[order], moment[order], page[order], len(names))
        return pd.DataFrame({**answer, "country": names[answer["country"]]})

    visits = _visits(folder)
    used = [page for page in PAGES if any(page in funnel.pages for funnel in funnels)]
    number = F.create_map(*(F.lit(value) for index, page in enumerate(PAGES) for value in (page, index)))[F.col("page")]
    schema = f"funnel LONG, country STRING, {', '.join(f'{name} LONG' for name in measures)}"
    found = (
        visits.where(F.col("page").isin(used))
        .withColumn("page", number)
        .groupBy(F.pmod(F.hash("user_id"), F.lit(BUCKETS)))
        .applyInPandas(count, schema)
    )
    return found.groupBy(*KEYS).agg(*(F.sum(name).alias(name) for name in measures)).toArrow()


def _visits(folder: Path) -> DataFrame:
    read = opened().read.parquet(str(folder))
    return read.select("user_id", "country", "page", F.unix_micros("ts").alias("moment"))
