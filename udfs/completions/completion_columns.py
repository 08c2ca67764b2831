"""Names of the columns of the tables of completions: of their programs and states.

The docstrings of the tables say what each column holds.
"""

from __future__ import annotations

import numpy as np

(
    STATE_LABEL,
    STATE_START,
    STATE_START_CLASS,
    STATE_START_CONDITION,
    STATE_LINKS,
    STATE_LINKS_END,
    STATE_KIND,
    STATE_TAKEN,
    STATE_ENDS,
    STATE_ENDS_END,
    STATE_OPEN,
    STATE_REACH,
    STATE_CHAIN,
    STATE_TOTALS,
    STATE_TOTALS_END,
    STATE_EVENT,
) = range(16)
"""Of ``Program.states``."""

UNREAD, BEST, BUCKETS, LISTED, ANCHORED = range(5)
"""What is held at a state: nothing, the best node, the best of each bucket of moments, all nodes, or the best node for
each anchor."""

LINK_SOURCE, LINK_CONDITION, LINK_COMPARISON, LINK_ADDS, LINK_ADDS_END = range(5)
"""Of ``Program.links``."""

CONDITION_GUARDS, CONDITION_GUARDS_END, CONDITION_TABLE = range(3)
"""Of ``Program.conditions``."""

CUT_STATE, CUT_CONDITION = range(2)
"""Of ``Program.cuts``."""

GUARD_NUMBER, GUARD_STARTS, GUARD_BREAKS, GUARD_SOURCES, GUARD_SOURCES_END = range(5)
"""Of ``Program.guard_states``."""

END_QUERY, END_CONDITION, END_VALUES = range(3)
"""Of ``Program.ends``."""

(
    QUERY_WITHIN,
    QUERY_SLIDE,
    QUERY_SPAN,
    QUERY_WAIT,
    QUERY_WAITS,
    QUERY_VALUES,
    QUERY_VALUES_END,
    QUERY_BY_LANES,
) = range(8)
"""Of ``Program.queries``."""

(
    TOTAL_KIND,
    TOTAL_EVENT,
    TOTAL_START,
    TOTAL_COUNT,
    TOTAL_COLUMN,
    TOTAL_WEIGHTED,
) = range(6)
"""Of ``Program.totals``."""

NO_START, ANY_START = -2, -1
"""As ``TOTAL_START``: trends that start do not count, or all of them; else those of a class."""

FIRST_OF_ALL, LAST_OF_ALL = 1, 2
"""Of ``Program.registers``: whether the event at a state is remembered if there is none yet, or in any case."""

(
    CURSOR_KEY_OPEN,
    CURSOR_TIME,
    CURSOR_MOMENT,
    CURSOR_NODES,
    CURSOR_NEW,
    CURSOR_ORDER,
    CURSOR_OUT,
    CURSOR_WAITING,
    CURSOR_DEADLINE,
    CURSOR_KEY,
    CURSOR_IS_CUT,
    CURSOR_WANTS,
    CURSOR_LISTED,
    CURSOR_VALUES,
    CURSOR_LANE,
    CURSOR_LANES,
    CURSOR_TABLE,
) = range(17)
"""Of ``State.cursor``."""

WANTS_NOTHING, WANTS_OUTPUT, WANTS_NODES, WANTS_LISTS, WANTS_WAITING, WANTS_FRESH, WANTS_LANES, WANTS_ANCHORS = range(8)
"""Why the kernel has stopped."""

NODE_START, NODE_PREV, NODE_ORDER, NODE_ROW, NODE_STATE, NODE_MOMENT, NODE_TIME, NODE_ANCHOR, NODE_SOURCE, NODE_FROM = (
    range(10)
)
"""Of ``State.nodes``."""

ANCHOR_KEY, ANCHOR_AT, ANCHOR_TABLE = range(3)
"""Of ``State.anchors``."""

ENTRY_NODE, ENTRY_MOMENT, ENTRY_LEAVES = range(3)
"""Of ``State.lists``."""

WAIT_QUERY, WAIT_NODE, WAIT_CONDITION, WAIT_DEADLINE, WAIT_WINDOW, WAIT_LAST = range(6)
"""Of ``State.waiting``."""

OUT_QUERY, OUT_NODE, OUT_ROW, OUT_WINDOW, OUT_LAST, OUT_KEY, OUT_VALUES = range(7)
"""Of ``State.out``."""

FACT_OPEN, FACT_VALUES, FACT_GRAIN, FACT_HORIZON, FACT_UNBOUNDED = range(5)
"""Of ``Program.facts``."""

NO_CHAIN = -1
"""As ``STATE_CHAIN``: nobody asks for all events of a trend."""

FOREVER = np.iinfo(np.int64).max
"""A deadline that never comes."""
