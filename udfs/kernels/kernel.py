"""The kernel: one function that Python has all tasks done by, so that what they share is compiled once."""

from __future__ import annotations

from sparkext.udfs.jit.compiled import inner, kernel
from sparkext.udfs.jit.handed_on import by_reference
from sparkext.udfs.kernels.event_loop import advance, end_key, pause
from sparkext.udfs.kernels.lookback import refill_trees

ADVANCE, END_KEY, PAUSE, REFILL_TREES = range(4)
"""Tasks, each a function of that name."""


@kernel
def run(task, program, state, guards, past, regions, spans, differences, panes, output, batch, row, combine):
    """Do one of the tasks above.

    Args:
        task: Which.
        program: This and all others as `sparkext.udfs.kernels.event_loop.advance` takes them. The batch and the row are
            for that task alone, and the output is for it and the end of a key.

    Returns:
        What `sparkext.udfs.kernels.event_loop.advance` returns; 0 for other tasks.
    """
    return _do(
        task,
        by_reference(program),
        by_reference(state),
        by_reference(guards),
        by_reference(past),
        by_reference(regions),
        by_reference(spans),
        by_reference(differences),
        by_reference(panes),
        by_reference(output),
        by_reference(batch),
        row,
        combine,
    )


@inner
def _do(task, program, state, guards, past, regions, spans, differences, panes, output, batch, row, combine):
    if task == ADVANCE:
        return advance(program, state, guards, past, regions, spans, differences, panes, output, batch, row, combine)
    if task == END_KEY:
        end_key(program, state, guards, past, regions, spans, panes, output, combine)
    if task == PAUSE:
        pause(program, state, guards, past, regions, spans)
    if past is not None:
        if task == REFILL_TREES:
            refill_trees(program, past)
    return 0
