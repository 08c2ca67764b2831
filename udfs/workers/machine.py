"""A machine: the arrays that one kernel plan works with, from event to event."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from sparkext.planner.kernel_plan.kernel_plan import KernelPlan
from sparkext.udfs.kernels.kernel import ADVANCE, END_KEY, PAUSE, REFILL_TREES
from sparkext.udfs.state.assemble import assembled, cell_offsets
from sparkext.udfs.state.carried_tables import Carried, CarriedWindows, Left, lanes_of, no_left, values_of
from sparkext.udfs.state.difference_tables import new_differences
from sparkext.udfs.state.fresh import new_guards, new_output, new_state, no_past, set_units
from sparkext.udfs.state.pane_tables import Matrix, new_panes, put_stretches, stretch_matrix
from sparkext.udfs.state.parts import is_lean
from sparkext.udfs.state.past import PastRoom
from sparkext.udfs.state.region_tables import new_regions
from sparkext.udfs.state.span_tables import is_full, new_spans, with_room
from sparkext.udfs.tables import columns as col
from sparkext.udfs.tables.batch import Batch, no_batch
from sparkext.udfs.tables.program import Ints, Output
from sparkext.udfs.workers.variants import (
    COMPILED,
    FORMS,
    FULL,
    PLAIN,
    SPANS,
    Arguments,
    Kernel,
    KernelForm,
    variant_of,
)


def variant_name(plan: KernelPlan) -> str:
    """Name of the variant of the kernel that a plan needs."""
    if not is_lean(plan):
        return FULL
    if plan.spans:
        return SPANS
    return FORMS if plan.regions else PLAIN


class Machine:
    """What a plan's kernel knows and remembers; it writes to an output that others may write to in turn.

    Args:
        plan: The plan.
        chunk: See `sparkext.planner.kernel_plan.kernel_plan.Layout`.
        combine: Whether rows of the same group, bank and window are added up.
        regions: Whether to have regions although the plan has none, so that no other kernel is compiled for it.
        stretches: Most matrices that `multiply` will be given.
        form: Says whether compiled or interpreted kernels run; the compiled ones once they are there if left out.
    """

    def __init__(
        self,
        plan: KernelPlan,
        chunk: int | None,
        combine: bool,
        regions: bool = False,
        stretches: int = 1,
        form: KernelForm | None = None,
    ) -> None:
        self._plan = plan
        self._combine = combine
        self._program = assembled(plan)
        self._offsets = cell_offsets(plan)
        self._state = new_state(self._program, chunk)
        self._room = PastRoom(plan, self._program) if plan.comparisons else None
        lean = is_lean(plan) and not (plan.spans and regions)
        self._regions = None if lean and not (plan.regions or regions) else new_regions(plan, self._state)
        self._guards = None if lean else new_guards(self._program)
        self._past = None if lean else no_past(self._program, 0)
        self._spans = None if lean and not plan.spans else new_spans(plan, self._program)
        self._differences = None if lean else new_differences(plan)
        self._panes = new_panes(plan, self._program, stretches)
        if plan.is_stretched:
            self._state.open[0, col.OPEN_LANE] = plan.panes[0].lanes  # only the matrix of the stretch is asked for
        self._form = form or KernelForm()
        self._no_output, self._no_batch = new_output(plan, 1), no_batch(plan)
        self._variant = variant_of(self._arguments(self._no_output, self._no_batch))

    @property
    def rows(self) -> int:
        """Rows written since the last flush."""
        return int(self._state.cursor[col.CURSOR_ROWS])

    @property
    def group(self) -> int:
        """Number of the group under way, among those begun since the last flush."""
        return int(self._state.cursor[col.CURSOR_GROUP])

    @property
    def time(self) -> int:
        """Time of the latest event."""
        return int(self._state.cursor[col.CURSOR_TIME])

    @property
    def has_begun(self) -> bool:
        """Whether a key is under way."""
        return bool(self._state.cursor[col.CURSOR_KEY])

    @property
    def bursts(self) -> Ints:
        """Per region, bursts for which there was a choice, how many of them were shared, and the events of these.

        Shape (regions, 3).
        """
        changing = np.zeros((0, col.REGION_EVENTS + 1), np.int64) if self._regions is None else self._regions.now
        return changing[:, col.REGION_BURSTS : col.REGION_EVENTS + 1]

    def flushed(self) -> None:
        """Take note that what was written has been handed on."""
        self._state.cursor[col.CURSOR_ROWS] = self._state.cursor[col.CURSOR_GROUP] = 0

    def follow(self, other: Machine) -> None:
        """Write where another has stopped to, which has no key under way."""
        self._state.cursor[col.CURSOR_ROWS : col.CURSOR_GROUP + 1] = other._state.cursor[
            col.CURSOR_ROWS : col.CURSOR_GROUP + 1
        ]

    def pause(self) -> None:
        """Bring all totals up to the latest time, so that another machine can take over before an event of a later."""
        self._run(PAUSE)

    def take_over(self, other: Machine, handover: Iterable[tuple[int, int]]) -> None:
        """Go on where another has paused, with what it has of the key under way.

        Args:
            other: Of a plan with the same windows, neither of which has guards, comparisons or panes.
            handover: Own cells, each with a cell of the other that holds the same total.
        """
        state, other_state = self._state, other._state
        windows = len(self._plan.windows)
        state.cursor[:], state.open[:windows] = other_state.cursor, other_state.open[:windows]
        for to, of in handover:
            lanes = self._program.windows[self._plan.cells[to].window, 2]
            from_lanes, to_lanes = (slice(at, at + lanes) for at in (other._offsets[of], self._offsets[to]))
            state.totals.high[to_lanes], state.totals.low[to_lanes] = (
                other_state.totals.high[from_lanes],
                other_state.totals.low[from_lanes],
            )
        if self._regions is not None:
            self._regions.seen[:] = -1
        if self._guards is not None:
            self._guards.cuts[:, col.IS_FILLED] = 1

    def restrict(self, windows: Sequence[tuple[int, int]]) -> None:
        """Let only some windows open of each kind: from a first number to a last."""
        for kind, (first, last) in enumerate(windows):
            self._state.open[kind, col.OPEN_EARLIEST :] = first, last

    def carry(self, wanted: Mapping[int, CarriedWindows], came: Left, of: Ints, entries: int) -> None:
        """Let some kinds of windows, all by panes, go on from what was left of keys, or leave it; no others open.

        Args:
            wanted: What becomes of each, by their numbers.
            came: What was left by passes of the same plan.
            of: Per window by panes and key, in the order in which keys will come, which of those in ``came.lanes`` it
                is; -1 for none.
            entries: How many entries of fronts they may leave.
        """
        panes, opened = self._panes, self._state.open
        windows = np.zeros((len(panes.windows), col.CARRIED_COLUMNS), np.int64)
        at = lanes_of(panes.windows, panes.of, self._program)
        windows[:, col.CARRIED_LANES], lanes = at[:-1], at[-1]
        for kind, row in enumerate(panes.of[: len(self._plan.windows)].tolist()):
            one = wanted.get(kind)
            opened[kind, col.OPEN_EARLIEST :] = (1, 0) if one is None else (one.first, one.latest)
            if row >= 0:
                rows = int(panes.windows[row, col.PANES_ROWS])
                # Fronts are made of what happens in each pane, and multiplied with what happens after them.
                opened[kind, col.OPEN_LANE] = 2 * rows if one is None else rows * one.begins
            if one is not None:
                windows[row, : col.CARRIED_LANES] = one.mode, one.last, one.newest
        left = no_left(len(windows), of.shape[1], lanes, entries, values_of(panes.windows))
        sizes = np.array([lanes, values_of(panes.windows)], np.int64)
        self._panes = panes._replace(carried=Carried(windows, np.array([-1, 0], np.int64), of, came, left, sizes))

    @property
    def carried(self) -> Carried:
        """What is carried, by `carry`, with what is left of the keys that have ended since then."""
        return self._panes.carried

    @property
    def paned(self) -> list[int]:
        """Per kind of windows, its number among those by panes; -1 for others."""
        return [int(number) for number in self._panes.of[: len(self._plan.windows)]]

    @property
    def layout(self) -> bytes:
        """What tells apart plans that leave different things to each other: all tables that a kernel goes by."""
        panes = self._panes
        tables = (*self._program, panes.of, panes.windows, panes.evaluations, panes.products, panes.units)
        return b"".join(repr(table.shape).encode() + table.tobytes() for table in tables)

    @property
    def carried_lanes(self) -> int:
        """How many lanes are left of a key."""
        return lanes_of(self._panes.windows, self._panes.of, self._program)[-1]

    @property
    def carried_values(self) -> int:
        """How many values an entry of a front has."""
        return values_of(self._panes.windows)

    def extend(self, batch: Batch) -> Batch:
        """A batch with what conditions on the event before may have to look at."""
        if self._room is None:
            return batch
        batch = self._room.extend(batch, self._state)
        self._run(REFILL_TREES)
        return batch

    def would_wait(self, rows: int) -> bool:
        """Whether so few rows had better wait for more."""
        return self._room is not None and self._room.worth_waiting(rows)

    def at_once(self, rows: int) -> int:
        """How many of the next rows there is room for at once."""
        return rows if self._room is None else min(rows, self._room.at_once())

    def advance(self, batch: Batch, row: int, output: Output) -> int:
        """Process the events of a batch from ``row`` on; returns where to go on when the output has been flushed."""
        end = len(batch.time)
        while row < end:
            kernel = self._kernel
            until = row + self._form.rows(kernel, end - row)
            part = batch if until == end else batch._replace(time=batch.time[:until])
            first, begin = row, time.thread_time()
            row = self._advance(kernel, part, row, output)
            if kernel is not COMPILED:
                self._form.took(self._variant, row - first, time.thread_time() - begin)
            if row < until:
                break
        return row

    def _advance(self, kernel: Kernel, batch: Batch, row: int, output: Output) -> int:
        """Process the events of a batch from ``row`` on in one form, with as much room for spans as they need."""
        while True:
            row = int(kernel(ADVANCE, *self._arguments(output, batch), row, self._combine))
            if self._spans is None or row == len(batch.time) or not is_full(self._spans):
                return row
            self._spans = with_room(self._spans, self._plan, self._program)

    def end_key(self, output: Output) -> None:
        """Write out and clear all windows of the key under way, if any."""
        if self.has_begun:
            self._run(END_KEY, output)

    def end_stretch(self, scratch: Output) -> Matrix | None:
        """What all events of the key under way do to totals, which is over then; None when they do nothing.

        Args:
            scratch: An output for the rows that the stretch would be by itself.
        """
        cursor = self._state.cursor
        rows, cursor[col.CURSOR_ROWS] = self.rows, 0
        self.end_key(scratch)
        cursor[col.CURSOR_ROWS] = rows
        scratch.table.fill(-1)
        return stretch_matrix(self._panes)

    def multiply(self, matrices: Sequence[Matrix], group: int, output: Output) -> None:
        """Write out a key by what its stretches do, in the order of time.

        Args:
            matrices: As `end_stretch` gives them.
            group: Number of the key's group.
            output: What it is written to.
        """
        state = self._state
        state.cursor[[col.CURSOR_KEY, col.CURSOR_GROUP, col.CURSOR_WIDE, col.CURSOR_SCALED]] = 1, group, 1, 1
        state.open[0, col.OPEN_FIRST : col.OPEN_LAST + 1] = 0
        set_units(state.totals, self._panes.units)
        put_stretches(self._panes, matrices)
        self.end_key(output)

    @property
    def _kernel(self) -> Kernel:
        """What to call next."""
        return self._form.of(self._variant)

    def _run(self, task: int, output: Output | None = None) -> None:
        """Have the kernel do a task that needs no events."""
        self._kernel(task, *self._arguments(output or self._no_output, self._no_batch), 0, self._combine)

    def _arguments(self, output: Output, batch: Batch) -> Arguments:
        """What the kernel is called with."""
        past = self._past if self._room is None else self._room.past
        return Arguments(
            self._program,
            self._state,
            self._guards,
            past,
            self._regions,
            self._spans,
            self._differences,
            self._panes,
            output,
            batch,
        )
