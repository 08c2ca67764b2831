"""Funnels with sparkext: a view for each, and one statement that reads all of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from benchmarks.peers.funnels import Funnel
from benchmarks.spark import opened

_SPAN = "SPAN INTERVAL 1 HOUR"


def counts(folder: Path, funnels: Sequence[Funnel]) -> pa.Table:
    """What is asked, as two aggregates of each view."""
    measures = "COUNT(DISTINCT user_id) AS users, COUNT(DISTINCT LAST(*)) AS completions"
    _create(folder, funnels, "PARTITION BY user_id GROUP BY country", measures)
    return _read("SELECT {number} AS funnel, country, users, completions FROM funnel_{number}", funnels)


def trends(folder: Path, funnels: Sequence[Funnel]) -> pa.Table:
    """How many trends there are, which a repeated step makes many of."""
    _create(folder, funnels, "PARTITION BY user_id GROUP BY country", "COUNT(*) AS trends")
    return _read("SELECT {number} AS funnel, country, trends FROM funnel_{number}", funnels)


def rows(folder: Path, funnels: Sequence[Funnel]) -> pa.Table:
    """A row for each completion, of which Spark counts: the country is that of the first step."""
    _create(folder, funnels, "PARTITION BY user_id ONE ROW PER COMPLETION", "FIRST({first}.country) AS country")
    return _read(
        "SELECT {number} AS funnel, country, count(DISTINCT user_id) AS users, count(*) AS completions "
        "FROM funnel_{number} GROUP BY country",
        funnels,
    )


def _create(folder: Path, funnels: Sequence[Funnel], keys: str, measures: str) -> None:
    spark = opened()
    spark.read.parquet(str(folder)).createOrReplaceTempView("visits")
    for number, funnel in enumerate(funnels):
        spark.sql(
            f"CREATE OR REPLACE TEMP VIEW funnel_{number} AS SELECT * FROM visits MATCH_TREND ({keys} ORDER BY ts "
            f"TYPE BY page MEASURES {measures.format(first=funnel.pages[0])} PATTERN ({funnel.pattern}) {_SPAN})"
        )


def _read(each: str, funnels: Sequence[Funnel]) -> pa.Table:
    return opened().sql(" UNION ALL ".join(each.format(number=number) for number, _ in enumerate(funnels))).toArrow()
