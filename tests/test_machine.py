"""What a machine remembers can be put away and taken up again, between any two batches."""

from __future__ import annotations

import io
from collections.abc import Iterator
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from planner.compile import compile_plan
from planner.prefixes import share_nothing
from planner.template import template
from tests import harness
from tests.pools import query
from tests.soak import problems
from tests.workloads import workload
from udfs.batches import Batch
from udfs.machine import Machine
from udfs.run import PoolRun


class Moving(PoolRun):
    """Before each batch, all that is remembered goes to a new machine by way of a file."""

    def _process(self, arrow: pa.RecordBatch, batch: Batch) -> Iterator[pa.RecordBatch]:
        if self._now.rows:
            yield self._flush()
        file = io.BytesIO()
        np.savez(file, *self._now.saved())
        file.seek(0)
        plan = self._plan if self._at == 0 else self._plan.fallback
        assert plan is not None
        fresh = self._machine(plan)
        fresh.restore(list(np.load(file).values()))
        self._machines[self._at] = fresh
        yield from super()._process(arrow, batch)


@pytest.mark.parametrize("seed", range(60))
def test_random_pools_move_between_machines(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "PoolRun", Moving)
    assert not problems(workload(Random(seed)), seed)


def test_arrays_of_another_plan_are_refused() -> None:
    one, other = (template([query(text)]) for text in ("A B+", "A B+ C D"))
    machines = [Machine(compile_plan(machine, share_nothing(machine)), None, combine=False) for machine in (one, other)]
    with pytest.raises(ValueError, match="not the arrays of this plan"):
        machines[0].restore(machines[1].saved())
