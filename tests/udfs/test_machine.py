"""What a machine remembers can be put away and taken up again, between any two batches."""

from __future__ import annotations

import io
from collections.abc import Iterator
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from sparkext.planner.compiler.compile import compile_plan
from sparkext.planner.sharing.prefixes import share_nothing
from sparkext.planner.sharing.template import template_of
from sparkext.udfs.tables.batch import Batch
from sparkext.udfs.workers.machine import Machine
from sparkext.udfs.workers.pool_run import PoolRun
from tests.support import kernel_harness
from tests.support.pools import query
from tests.support.soak import problems
from tests.support.tiers import first
from tests.support.workloads import workload


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


@pytest.mark.parametrize("seed", first(12, range(60)))
def test_random_pools_move_between_machines(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_harness, "PoolRun", Moving)
    assert not problems(workload(Random(seed)), seed)


def test_arrays_of_another_plan_are_refused() -> None:
    one, other = (template_of([query(text)]) for text in ("A B+", "A B+ C D"))
    machines = [
        Machine(compile_plan(template, share_nothing(template)), None, combine=False) for template in (one, other)
    ]
    with pytest.raises(ValueError, match="not the arrays of this plan"):
        machines[0].restore(machines[1].saved())
