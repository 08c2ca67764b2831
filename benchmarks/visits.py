"""Visits of pages: a deterministic generator that writes Parquet, of which funnels are asked.

Pages are drawn by Zipf's law, the first one most often. A user stays in one country, and no two visits have one time.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.peers.funnels import PAGES

COUNTRIES = ("BR", "CN", "DE", "DK", "FR", "IN", "JP", "KE", "PE", "US")
APART = 300
"""Mean seconds between two visits of a user."""

_CHUNK = 1_000_000
_START = 1_704_067_200_000_000  # 2024-01-01 in microseconds


@dataclass(frozen=True, slots=True)
class Visits:
    """What to generate: how many visits, of how many users, over whom they are spread evenly."""

    events: int
    users: int

    def __str__(self) -> str:
        return (
            f"{self.events:,} visits of {self.users:,} users, one each {APART} s, of {len(PAGES)} pages by Zipf's law"
        )


def write(visits: Visits, directory: Path) -> Path:
    """Write the visits as Parquet, in order of time, unless they are there already; returns the folder.

    Columns: user_id INT, country STRING, ts TIMESTAMP, page STRING.
    """
    folder = directory / f"visits-{visits.events}-{visits.users}"
    if (folder / "_DONE").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    for number, first in enumerate(range(0, visits.events, _CHUNK)):
        table = _chunk(visits, first, min(_CHUNK, visits.events - first))
        pq.write_table(table, folder / f"part-{number:05}.parquet", compression="snappy")
    (folder / "_DONE").touch()
    return folder


def _chunk(visits: Visits, first: int, rows: int) -> pa.Table:
    random = np.random.default_rng(first)
    user = random.integers(0, visits.users, rows)
    step = APART * 1_000_000 // visits.users
    moment = _START + (first + np.arange(rows)) * step + random.integers(0, step, rows)
    weights = 1 / np.arange(1, len(PAGES) + 1)
    page = random.choice(len(PAGES), rows, p=weights / weights.sum())
    return pa.table(
        {
            "user_id": pa.array(user, pa.int32()),
            "country": _names(user % len(COUNTRIES), COUNTRIES),
            "ts": pa.array(moment, pa.timestamp("us", tz="UTC")),
            "page": _names(page, PAGES),
        }
    )


def _names(number: np.ndarray, names: tuple[str, ...]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(number, pa.int32()), pa.array(names)).dictionary_decode()
