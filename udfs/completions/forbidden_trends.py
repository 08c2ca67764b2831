"""What must not happen between two events: the latest starts of forbidden trends, and whether a condition holds."""

from __future__ import annotations

import numpy as np

from sparkext.udfs.completions import completion_columns as col
from sparkext.udfs.jit.compiled import inner
from sparkext.udfs.tables.program import NEVER_YET

_NEVER = np.int64(NEVER_YET)


@inner
def forbid(program, state, event):
    """What an event of a class adds to forbidden trends; it waits until the moment is over."""
    rows = program.guard_states
    for r in range(program.guard_ends[event], program.guard_ends[event + 1]):
        latest = state.cursor[col.CURSOR_MOMENT] if rows[r, col.GUARD_STARTS] else _NEVER
        for g in range(rows[r, col.GUARD_SOURCES], rows[r, col.GUARD_SOURCES_END]):
            latest = max(latest, state.latest[0, program.guard_sources[g]])
        number = rows[r, col.GUARD_NUMBER]
        state.latest[1, number] = max(state.latest[1, number], latest)


@inner
def holds(program, state, condition, since):
    """Whether a condition holds for an event at a moment: nothing forbidden has started after it and is complete."""
    begin, bits = program.conditions[condition, col.CONDITION_GUARDS], 0
    for g in range(begin, program.conditions[condition, col.CONDITION_GUARDS_END]):
        bits |= np.int64(state.broken[program.condition_guards[g]] <= since) << (g - begin)
    return program.condition_tables[program.conditions[condition, col.CONDITION_TABLE] + bits] != 0


@inner
def settle_forbidden(program, state):
    """Let what the events of a moment have added to forbidden trends count from now on."""
    rows = program.guard_states
    for r in range(len(rows)):
        number = rows[r, col.GUARD_NUMBER]
        latest = state.latest[1, number]
        if latest > _NEVER:
            state.latest[1, number] = _NEVER
            state.latest[0, number] = max(state.latest[0, number], latest)
            if rows[r, col.GUARD_BREAKS] >= 0:
                state.broken[rows[r, col.GUARD_BREAKS]] = max(state.broken[rows[r, col.GUARD_BREAKS]], latest)
