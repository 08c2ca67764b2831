"""A completion plan of which starts alone are needed, as flat arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sparkext.planner.kernel_plan.kernel_plan import Completions, KernelPlan
from sparkext.udfs.completions import completion_columns as col
from sparkext.udfs.completions.completion_program import assemble, ends_of_classes
from sparkext.udfs.tables.program import Ints

OTHER_STATE, OTHER_CLASS, OTHER_SOURCES, OTHER_SOURCES_END = range(4)
"""Of ``StartProgram.others``."""

NO_START = -1
"""As ``OTHER_CLASS``: no trend begins there."""

END_STATE, END_OF_QUERY, END_IS_ONLY = range(3)
"""Of ``StartProgram.ends``."""


class StartProgram(NamedTuple):
    """What comes to which states. All arrays are int64 and C-contiguous.

    States are numbered in order of the classes of their events, so that those of a class follow each other. What comes
    to most of them is what has come to one other state, or begins with the event: that is as if it came from one more
    state, the last, to which each event has come.

    Attributes:
        state_ends: Where the states of each class begin, and the end. Shape (classes + 1,).
        source: Per state, the state before; itself where there is none, or not one. Shape (states,).
        others: States with none or several before, or where trends begin with events that are of another class, too;
            that class (or `NO_START`), begin and end in ``sources``. In order of classes. Shape (others, 4).
        other_ends: Where those of each class begin, and the end. Shape (classes + 1,).
        sources: States before.
        ends: State, query, and whether the query ends there only. In order of classes. Shape (ends, 3).
        end_ends: Where those of each class begin, and the end. Shape (classes + 1,).
        cuts: States that events of a class empty, in order of classes.
        cut_ends: Where those of each class begin, and the end. Shape (classes + 1,).
        queries: As in `sparkext.udfs.completions.completion_program.Program`.
    """

    state_ends: Ints
    source: Ints
    others: Ints
    other_ends: Ints
    sources: Ints
    ends: Ints
    end_ends: Ints
    cuts: Ints
    cut_ends: Ints
    queries: Ints


def start_program(asked: Completions, plan: KernelPlan) -> StartProgram:
    """A completion plan as flat arrays.

    Args:
        asked: The completion plan, which needs starts alone.
        plan: The kernel plan that it is of.
    """
    program, classes = assemble(asked, plan), len(plan.classes)
    number = np.argsort(program.class_states)
    states = program.states[program.class_states]
    event, sources = states[:, col.STATE_EVENT], number[program.links[:, col.LINK_SOURCE]]
    source = np.arange(len(states))
    others: list[tuple[int, int, int, int]] = []
    for state, row in enumerate(states):
        begins, needed, begin, end = row[
            [col.STATE_START, col.STATE_START_CLASS, col.STATE_LINKS, col.STATE_LINKS_END]
        ].tolist()
        if begins and needed < 0:
            source[state] = len(states)  # no start is later than that
        elif not begins and end == begin + 1:
            source[state] = sources[begin]
        else:
            others.append((state, needed if begins else NO_START, begin, end))
    of_ends = program.ends[:, col.END_QUERY]
    ends = np.column_stack(
        [
            np.repeat(number, program.states[:, col.STATE_ENDS_END] - program.states[:, col.STATE_ENDS]),
            of_ends,
            np.bincount(of_ends, minlength=1)[of_ends] == 1,
        ]
    ).astype(np.int64)
    ends = ends[np.argsort(ends[:, END_STATE], kind="stable")]
    return StartProgram(
        state_ends=program.class_ends,
        source=source,
        others=np.array(others, np.int64).reshape(-1, 4),
        other_ends=ends_of_classes(event[[other[OTHER_STATE] for other in others]], classes),
        sources=sources,
        ends=ends,
        end_ends=ends_of_classes(event[ends[:, END_STATE]], classes),
        cuts=number[program.cuts[:, col.CUT_STATE]],
        cut_ends=program.cut_ends,
        queries=program.queries,
    )
