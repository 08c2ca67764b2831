"""A machine that counts completions by the latest start of each state."""

from __future__ import annotations

from sparkext.planner.kernel_plan.kernel_plan import KernelPlan
from sparkext.udfs.completions.kernel_form import Form
from sparkext.udfs.completions.latest_starts import CURSOR_OUT, Starts, new_starts
from sparkext.udfs.completions.start_program import StartProgram, start_program
from sparkext.udfs.tables.batch import Batch
from sparkext.udfs.tables.program import Flags, Ints


class StartMachine:
    """Counts the completions of all queries of a plan, of which starts alone are needed.

    Args:
        plan: The plan.
        rows: Room for changes of counts.
        form: Says whether compiled or interpreted kernels run.
    """

    def __init__(self, plan: KernelPlan, rows: int, form: Form) -> None:
        assert plan.completions is not None
        assert plan.completions.needs_starts_alone
        self._program = start_program(plan.completions, plan)
        self._starts = new_starts(self._program, rows)
        self._form = form

    @property
    def arrays(self) -> tuple[StartProgram, Starts]:
        """What the kernel works with."""
        return self._program, self._starts

    def advance(self, batch: Batch, moments: Flags, keys: Ints, counts: Flags, row: int) -> int:
        """Process the events of a batch from ``row`` on; returns where to go on when there is room again.

        ``counts`` says of which rows the key counts among those that have completions. Shape (rows,).
        """
        run = self._form.of("count", len(batch.time) - row)
        return int(run(self._program, self._starts, batch, moments, keys, counts, row))

    def finish(self) -> bool:
        """End the key under way and its group; returns whether that is done, or changes are to be taken first."""
        return bool(self._form.of("close")(self._program, self._starts))

    def taken(self) -> Ints:
        """Counts, not held any longer; columns as `GROUP_QUERY` and so on, of queries with windows `CHANGE_QUERY`."""
        count = int(self._starts.cursor[CURSOR_OUT])
        self._starts.cursor[CURSOR_OUT] = 0
        changes: Ints = self._starts.out[:count].copy()
        return changes
