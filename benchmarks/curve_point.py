"""One point of a cost curve: runs a plan over events in a process like a worker's, and prints seconds and megabytes.

``python -m benchmarks.curve_point PLAN EVENTS`` with a pickled kernel plan and an Arrow file. Nothing is imported that
a worker does not import, so that the greatest resident size is that of a worker.
"""

from __future__ import annotations

import json
import pickle
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from sparkext.planner.kernel_plan.kernel_plan import KernelPlan, Layout
from sparkext.udfs.workers.pool_run import PoolRun
from sparkext.udfs.workers.variants import KernelForm

ROUNDS, SHORT = 5, 2.0
"""Rounds of which the fastest counts, and seconds after which there are no more."""


def main(plan_file: str, events_file: str) -> None:
    """Run, after the kernels have been loaded by a few events."""
    plan: KernelPlan = pickle.loads(Path(plan_file).read_bytes())
    _run(plan, (batch.slice(0, 200) for batch in _batches(events_file, 1)))
    taken: list[float] = []
    while sum(taken) < SHORT and len(taken) < ROUNDS:
        begin = time.process_time()
        _run(plan, _batches(events_file))
        taken.append(time.process_time() - begin)
    status = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) * 1024 / 1e6 for line in status if line.startswith("VmHWM"))
    print(json.dumps({"seconds": min(taken), "megabytes": peak}))


def _batches(file: str, most: int | None = None) -> Iterator[pa.RecordBatch]:
    with pa.OSFile(file) as source:
        reader = pa.ipc.open_file(source)
        for number in range(reader.num_record_batches if most is None else most):
            yield reader.get_batch(number)


def _run(plan: KernelPlan, batches: Iterator[pa.RecordBatch]) -> None:
    for _ in PoolRun(plan, Layout(1, 1), form=KernelForm(0)).results(batches):
        pass


if __name__ == "__main__":
    main(*sys.argv[1:])
