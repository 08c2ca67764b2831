"""How the time and memory of a plan grow with the events of one key."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log2
from pathlib import Path

import pyarrow as pa

from benchmarks.kernel import BATCH, Stream
from benchmarks.report import significant
from sparkext.planner.kernel_plan.kernel_plan import KernelPlan

METHOD = (
    "the kernel alone; processor time in a process of its own, the fastest of five rounds below two seconds; "
    "greatest resident size (VmHWM)"
)


@dataclass(frozen=True, slots=True)
class Point:
    """What a number of events took.

    Attributes:
        events: How many.
        seconds: Of processor time, with kernels loaded.
        megabytes: Greatest resident size of the process.
    """

    events: int
    seconds: float
    megabytes: float


def figures(points: Sequence[Point]) -> dict[str, object]:
    """Of a curve, as columns of a table."""
    growth = [more.seconds / max(less.seconds, 1e-9) for less, more in pairwise(points)]
    log_squared = [2 * (log2(more.events) / log2(less.events)) ** 2 for less, more in pairwise(points)]
    return {
        **{name: point.seconds for name, point in zip(("1/8", "1/4", "1/2", "1"), points, strict=True)},
        "growth by doubling": ", ".join(map(significant, growth)),
        "n log² n": significant(log_squared[-1]),
        "MB": points[-1].megabytes,
    }


def curve(plan: KernelPlan, most: int, directory: Path) -> list[Point]:
    """What an eighth, a quarter, half and all of ``most`` events of one key take, a microsecond apart."""
    directory.mkdir(parents=True, exist_ok=True)
    return [_measured(plan, most // part, directory) for part in (8, 4, 2, 1)]


def _measured(plan: KernelPlan, events: int, directory: Path) -> Point:
    """Run a plan over so many events of one key, in a process of its own."""
    plan_file, events_file = directory / "curve.plan", directory / "curve.arrow"
    plan_file.write_bytes(pickle.dumps(plan))
    stream = Stream(events, 1, apart=1)
    batch = stream.rows(plan)
    with pa.OSFile(str(events_file), "wb") as file, pa.ipc.new_file(file, batch.schema) as writer:
        for at in range(0, events, BATCH):
            writer.write_batch(batch.slice(at, BATCH))
    command = [sys.executable, "-m", "benchmarks.curve_point", str(plan_file), str(events_file)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = json.loads(out)
    return Point(events, found["seconds"], found["megabytes"])
