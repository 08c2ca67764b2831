"""The arrays of a run before its first event."""

from __future__ import annotations

import numpy as np

from sparkext.planner.kernel_plan.kernel_plan import KernelPlan
from sparkext.udfs.tables import columns as col
from sparkext.udfs.tables.field_indexes import field_indexes
from sparkext.udfs.tables.program import (
    ALWAYS_YET,
    EXACT,
    EXTREME,
    NEVER_YET,
    NO_KEY,
    SCAN_CHUNK,
    Guards,
    Ints,
    Output,
    Past,
    Program,
    Registers,
    State,
    Totals,
)


def totals_of(high: Ints, low: Ints) -> Totals:
    """Totals over two arrays of words, of which the first is read as doubles too."""
    return Totals(high, low, high.view(np.float64))


def set_units(totals: Totals, units: Ints) -> None:
    """Let lanes be 1, each given by its offset and arithmetic. Shape of ``units``: (units, 2)."""
    for at, kind in units:
        if kind == EXACT:
            totals.low[at] = 1
        else:
            totals.number[at] = 1.0


def new_state(program: Program, chunk: int | None = None) -> State:
    """The state before the first event; ``chunk`` is the length of chunks of time."""
    cells, windows, regions = len(program.updates), len(program.windows), len(program.bank_ends) - 1
    opened = np.zeros((windows, col.OPEN_COLUMNS), np.int64)
    opened[regions:, col.OPEN_LANE_END] = program.windows[regions:, col.WINDOW_LANES]
    opened[:, col.OPEN_ENDED :] = ALWAYS_YET, NEVER_YET, ALWAYS_YET
    return State(
        totals=_totals(program),
        event=_totals(program),
        pending=_totals(program),
        open=opened,
        dirty=np.zeros(cells, np.int64),
        is_dirty=np.zeros(cells, np.uint8),
        cursor=np.array([0, 0, 0, 0, -1, 0, 0, 0, chunk or 0, 0], np.int64),
        matched=np.zeros(len(program.group_ends) - 1, np.int64),
        reached=np.full((len(program.groups), windows), ALWAYS_YET, np.int64),
        reaching=np.zeros((len(program.groups), windows), np.int64),
        adding=np.zeros(len(program.groups), np.int64),
    )


def new_guards(program: Program) -> Guards:
    """Guards before the first event."""
    targets = program.cuts[: program.guard_ends[0, col.CUT_ENDS]]
    cuts = np.zeros((len(targets), 3), np.int64)
    cuts[:, col.IS_FILLED] = targets[:, col.TARGET_HISTORY] >= 0
    return Guards(
        latest=np.full(len(program.guard_states), NEVER_YET, np.int64),
        latest_pending=np.full(len(program.guard_states), NEVER_YET, np.int64),
        broken=np.full(program.guards[0], NEVER_YET, np.int64),
        bucket_times=np.zeros((2 * len(program.stores), program.stores[:, col.STORE_BUCKETS].max(initial=0)), np.int64),
        buckets=np.zeros(len(program.stores), np.int64),
        pending=np.zeros(2, np.int64),
        cuts=cuts,
    )


def no_past(program: Program, terms: int) -> Past:
    """The past before the first event, of a plan with so many terms."""
    none, histories, trees = np.zeros(0, np.int64), len(program.histories), len(program.trees)
    narrow = np.zeros(0, np.int32)
    return Past(
        rows=np.zeros((histories, 5), np.int64),
        time=none,
        first=none,
        windows=none,
        source=none,
        taken=np.zeros(0, np.uint8),
        values=totals_of(none, none),
        value_at=np.zeros(histories, np.int64),
        nodes=totals_of(none, none),
        node_window=none,
        node_at=np.zeros(trees, np.int64),
        window_at=np.zeros(trees, np.int64),
        ranks=np.zeros((0, 0, 5), np.int32),
        intervals=np.zeros((0, 2), np.int32),
        shapes=np.zeros((terms, 3), np.int64),
        order=narrow,
        sorted=narrow,
        slots=narrow,
        asking=np.full((terms, 2), -1, np.int64),
        asked_nodes=np.zeros((terms, 0), np.int64),
        matches=np.zeros((len(program.scans), 0), np.int64),
        unseen=np.zeros(1 + len(program.anchored), np.int64),
        matched=np.zeros((len(program.scans), 2), np.int64),
        registers=registers_for(program.code, SCAN_CHUNK),
    )


def registers_for(code: Ints, events: int) -> Registers:
    """Room for as many registers as instructions, for so many events at a time."""
    words = np.zeros((len(code), events), np.int64)
    return Registers(words, words.view(np.float64), np.zeros_like(words), np.zeros(words.shape, np.uint8))


def new_output(plan: KernelPlan, rows: int) -> Output:
    """An empty output with room for at least ``rows`` rows, and for all windows that are open at once."""
    banks = [bank.window for bank in plan.banks]
    at_once = sum((1 if w is None else w.live) * banks.count(i) for i, w in enumerate(plan.windows))
    rows = max(rows, 2 * at_once)
    _, words, floats = field_indexes(plan.fields)
    return Output(
        group=np.zeros(rows, np.int64),
        bank=np.zeros(rows, np.int64),
        window=np.zeros(rows, np.int64),
        words=np.zeros((rows, words), np.int64),
        floats=np.zeros((rows, floats), np.float64),
        table=np.full(1 << (2 * rows).bit_length(), -1, np.int64),
    )


def _totals(program: Program) -> Totals:
    lanes = np.repeat(
        program.windows[:, col.WINDOW_LANES],
        program.windows[:, col.WINDOW_CELLS_END] - program.windows[:, col.WINDOW_CELLS],
    )
    is_extreme = np.repeat(program.kinds == EXTREME, lanes)
    high, low = (np.where(is_extreme, word, 0).astype(np.int64) for word in NO_KEY)
    return totals_of(high, low)
