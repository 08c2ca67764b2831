"""Ride-sharing events: a deterministic generator that writes Parquet.

One event is something that happens to one driver: requests, acceptances, pick-ups, stretches of travel,
drop-offs, cancellations. Keys, rate, mix of types and length of bursts can be chosen; the same choice
gives the same bytes.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

MIX = {"Request": 0.15, "Accept": 0.10, "Pickup": 0.15, "Travel": 0.40, "Delivery": 0.12, "Cancel": 0.08}
"""Default shares of the event types."""

DISTRICTS = 20
_CHUNK = 1_000_000
_START = 1_704_067_200_000_000  # 2024-01-01 in microseconds


@dataclass(frozen=True, slots=True)
class Rides:
    """What to generate.

    Attributes:
        events: How many.
        drivers: How many keys they are spread over, evenly.
        seconds_between: Mean seconds between two events of one driver.
        burst: Mean number of events of one type in a row, per driver.
        mix: Share of each type among bursts.
        seed: Of the random numbers.
    """

    events: int
    drivers: int
    seconds_between: float = 60.0
    burst: float = 1.0
    mix: dict[str, float] = field(default_factory=lambda: dict(MIX))
    seed: int = 7

    def __str__(self) -> str:
        bursts = f", bursts of {self.burst:g}" if self.burst != 1 else ""
        return f"{self.events:,} events of {self.drivers:,} drivers, one each {self.seconds_between:g} s{bursts}"

    def name(self) -> str:
        """A file name that tells this choice from others."""
        mix = "" if self.mix == MIX else "-" + "".join(f"{k[0]}{share:g}" for k, share in self.mix.items())
        return f"rides-{self.events}-{self.drivers}-{self.seconds_between:g}-{self.burst:g}-{self.seed}{mix}"


def write(rides: Rides, directory: Path) -> Path:
    """Write the events as Parquet, in order of time, unless they are there already; returns the folder.

    Columns: driver INT, district INT (a driver stays in one), ts TIMESTAMP, action STRING, speed DOUBLE,
    duration DOUBLE.
    """
    folder = directory / rides.name()
    if (folder / "_DONE").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    current = np.random.default_rng(rides.seed).integers(0, len(rides.mix), rides.drivers)
    for number, first in enumerate(range(0, rides.events, _CHUNK)):
        table = _chunk(rides, first, min(_CHUNK, rides.events - first), current)
        pq.write_table(table, folder / f"part-{number:05}.parquet", compression="snappy")
    (folder / "_DONE").touch()
    return folder


def _chunk(rides: Rides, first: int, rows: int, current: np.ndarray) -> pa.Table:
    """Events ``first`` to ``first + rows``; ``current`` holds each driver's type of burst and is updated."""
    random = np.random.default_rng((rides.seed, first))
    driver = random.integers(0, rides.drivers, rows)
    step = rides.seconds_between * 1e6 / rides.drivers
    time = _START + np.sort(((first + np.arange(rows) + random.random(rows)) * step).astype(np.int64))
    shares = np.array(list(rides.mix.values()))
    fresh = random.choice(len(shares), rows, p=shares / shares.sum())
    action = bursts(driver, random.random(rows) < 1 / rides.burst, fresh, current)
    names = pa.array(list(rides.mix))
    return pa.table(
        {
            "driver": pa.array(driver, pa.int32()),
            "district": pa.array(driver % DISTRICTS, pa.int32()),
            "ts": pa.array(time, pa.timestamp("us", tz="UTC")),
            "action": pa.DictionaryArray.from_arrays(pa.array(action, pa.int32()), names).dictionary_decode(),
            "speed": pa.array(np.round(random.gamma(4.0, 7.0, rows), 2)),
            "duration": pa.array(np.round(random.gamma(2.0, 180.0, rows), 1)),
        }
    )


def bursts(driver: np.ndarray, changes: np.ndarray, fresh: np.ndarray, current: np.ndarray) -> np.ndarray:
    """The type of each event: a fresh one where the driver's burst changes, else that of the driver's last event."""
    order = np.argsort(driver, kind="stable")
    by_driver, starts = driver[order], changes[order].copy()
    new = np.ones(len(order), bool)
    new[1:] = by_driver[1:] != by_driver[:-1]
    values = np.where(starts, fresh[order], current[by_driver])
    last = np.maximum.accumulate(np.where(starts | new, np.arange(len(order)), 0))
    action = np.empty(len(order), np.int64)
    action[order] = values[last]
    ends = np.append(np.flatnonzero(new)[1:] - 1, len(order) - 1)
    current[by_driver[ends]] = values[last][ends]
    return action


def main() -> None:
    """Write one set of events."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--drivers", type=int, default=1_000)
    parser.add_argument("--seconds-between", type=float, default=60.0)
    parser.add_argument("--burst", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--directory", type=Path, default=Path("data"))
    asked = parser.parse_args()
    rides = Rides(asked.events, asked.drivers, asked.seconds_between, asked.burst, seed=asked.seed)
    print(write(rides, asked.directory))


if __name__ == "__main__":
    main()
