"""Names of the columns of the tables that kernels work with: of programs, states, regions, panes and spans.

The docstrings of the tables say what each column holds.
"""

from __future__ import annotations

WINDOW_COLUMNS = 7
WINDOW_WITHIN, WINDOW_SLIDE, WINDOW_LANES, WINDOW_CELLS, WINDOW_CELLS_END, WINDOW_AT, WINDOW_LIVE = range(
    WINDOW_COLUMNS
)
"""Of ``Program.windows``."""

UPDATE_COLUMNS = 17
(
    UPDATE_KIND,
    UPDATE_WINDOW,
    UPDATE_AT,
    UPDATE_START,
    UPDATE_SOURCES,
    UPDATE_SOURCES_END,
    UPDATE_COUNT,
    UPDATE_COUNT_KIND,
    UPDATE_COLUMN,
    UPDATE_WEIGHTED,
    UPDATE_STORE,
    UPDATE_START_CLASS,
    UPDATE_START_LINK,
    UPDATE_LINKS,
    UPDATE_LINKS_END,
    UPDATE_TARGET,
    UPDATE_IS_COUNTED,
) = range(UPDATE_COLUMNS)
"""Of ``Program.updates``."""

GROUP_COLUMNS = 6
GROUP_BEGIN, GROUP_END, GROUP_STARTS, GROUP_ENDS, GROUP_SOURCES, GROUP_SOURCES_END = range(GROUP_COLUMNS)
"""Of ``Program.groups``."""

BANK_COLUMNS = 3
BANK_NUMBER, BANK_SLOTS, BANK_SLOTS_END = range(BANK_COLUMNS)
"""Of ``Program.banks``."""

SLOT_COLUMNS = 7
SLOT_KIND, SLOT_SOURCES, SLOT_SOURCES_END, SLOT_WORD, SLOT_FLOAT, SLOT_LINKS, SLOT_LINKS_END = range(SLOT_COLUMNS)
"""Of ``Program.slots``."""

LINK_COLUMNS = 9
LINK_STORE, LINK_GUARDS, LINK_GUARDS_END, LINK_TABLE, LINK_TERM, LINK_TREE, LINK_SCAN, LINK_HISTORY, LINK_LANES = range(
    LINK_COLUMNS
)
"""Of ``Program.links``."""

STORE_COLUMNS = 4
STORE_AT, STORE_BUCKETS, STORE_STATES, STORE_STATES_END = range(STORE_COLUMNS)
"""Of ``Program.stores``."""

GUARD_COLUMNS = 5
GUARD_NUMBER, GUARD_STARTS, GUARD_BREAKS, GUARD_SOURCES, GUARD_SOURCES_END = range(GUARD_COLUMNS)
"""Of ``Program.guard_states``."""

GUARD_ENDS, CUT_ENDS, ANCHORED_ENDS = range(3)
"""Of ``Program.guard_ends``."""

HISTORY_COLUMNS = 5
HISTORY_WINDOW, HISTORY_LANES, HISTORY_CELLS, HISTORY_BEGIN, HISTORY_END = range(HISTORY_COLUMNS)
"""Of ``Program.histories``."""

TREE_COLUMNS = 5
TREE_TERM, TREE_LANES, TREE_INTERVALS, TREE_KIND, TREE_WINDOW = range(TREE_COLUMNS)
"""Of ``Program.trees``."""

FEED_COLUMNS = 3
FEED_TREE, FEED_LANES, FEED_UPDATE = range(FEED_COLUMNS)
"""Of ``Program.feeds``."""

SCAN_COLUMNS = 7
SCAN_LINK, SCAN_HISTORY, SCAN_BEGIN, SCAN_END, SCAN_TERM, SCAN_TERM_END, SCAN_TARGET = range(SCAN_COLUMNS)
"""Of ``Program.scans``."""

TARGET_COLUMNS = 6
TARGET_WINDOW, TARGET_AT, TARGET_KIND, TARGET_STORE, TARGET_HISTORY, TARGET_TAKEN = range(TARGET_COLUMNS)
"""Of the targets in ``Program.cuts``."""

CUT_TARGET, CUT_LINK = range(2)
"""Of the cuts in ``Program.cuts``."""

ANCHORED_COLUMNS = 12
(
    ANCHORED_KIND,
    ANCHORED_WINDOW,
    ANCHORED_HISTORY,
    ANCHORED_HELD,
    ANCHORED_PENDING,
    ANCHORED_LINKS,
    ANCHORED_LINKS_END,
    ANCHORED_COUNT_KIND,
    ANCHORED_COUNT_LINKS,
    ANCHORED_COUNT_LINKS_END,
    ANCHORED_COLUMN,
    ANCHORED_WEIGHTED,
) = range(ANCHORED_COLUMNS)
"""Of ``Program.anchored``."""

OPEN_COLUMNS = 8
OPEN_ORIGIN, OPEN_FIRST, OPEN_LAST, OPEN_LANE, OPEN_LANE_END, OPEN_ENDED, OPEN_EARLIEST, OPEN_LATEST = range(
    OPEN_COLUMNS
)
"""Of ``State.open``."""

(
    CURSOR_KEY,
    CURSOR_TIME,
    CURSOR_DIRTY,
    CURSOR_ROWS,
    CURSOR_GROUP,
    CURSOR_TURN,
    CURSOR_WIDE,
    CURSOR_SCALED,
    CURSOR_CHUNK,
    CURSOR_WRITTEN,
) = range(10)
"""Indexes into ``State.cursor``."""

IS_FILLED, IS_MARKED, IN_TURN = range(3)
"""Of ``Guards.cuts``."""

IS_PENDING, MARKED = range(2)
"""Indexes into ``Guards.pending``."""

PAST_FIRST, PAST_ROOM, PAST_BEGIN, PAST_END, PAST_SEEN = range(5)
"""Of ``Past.rows``."""

LEAVES, TREE_LEVELS, LAYOUT_AT = range(3)
"""Of ``Past.shapes``."""

(
    EVALUATED_KIND,
    EVALUATED_WINDOW,
    EVALUATED_AT,
    EVALUATED_VIEW,
    EVALUATED_PRODUCTS,
    EVALUATED_PRODUCTS_END,
    EVALUATED_REGION,
) = range(7)
"""Of ``Regions.evaluations``."""

PRODUCT_COLUMNS = 5
PRODUCT_FORM, PRODUCT_BASE, PRODUCT_COUNT, PRODUCT_OF_TOTAL, PRODUCT_PLACE = range(PRODUCT_COLUMNS)
"""Of ``Regions.products`` and ``Panes.products``; see `sparkext.udfs.state.products`."""

CHOICE_REGION, CHOICE_SHARED, CHOICE_ALONE, CHOICE_LEAST, CHOICE_IS_ALL = range(5)
"""Of ``Regions.choices``."""

FEEDING, ENDING = range(2)
"""Of ``Regions.masks``."""

(
    REGION_DIRTY,
    REGION_WAITING,
    REGION_MOVED,
    REGION_LATER,
    REGION_CHANGES,
    REGION_MODE,
    REGION_BURSTS,
    REGION_SHARED,
    REGION_EVENTS,
) = range(9)
"""Of ``Regions.now``."""

UNIT_AT, UNIT_KIND = range(2)
"""Of ``Regions.units`` and ``Panes.units``."""

(
    PANES_ROWS,
    PANES_ROOM,
    PANES_CELLS,
    PANES_CELLS_END,
    PANES_UNITS,
    PANES_UNITS_END,
    PANES_FRONT,
    PANES_MATRICES,
    PANES_PRODUCT,
    PANES_SCRATCH,
    PANES_NEWEST,
    PANES_TOUCHED,
    PANES_OTHERS,
) = range(13)
"""Of ``Panes.windows``."""

PANED_KIND, PANED_AT, PANED_PRODUCTS, PANED_PRODUCTS_END, PANED_UNIT = range(5)
"""Of ``Panes.evaluations``."""

FRONT_BEGIN, FRONT_END, PANES_SINCE = range(3)
"""Of ``Panes.now``."""

CARRIED_COLUMNS = 4
CARRIED_MODE, CARRIED_UNTIL, CARRIED_NEWEST, CARRIED_LANES = range(CARRIED_COLUMNS)
"""Of ``Carried.windows``."""

CARRIED_KEY, CARRIED_ENTRIES = range(2)
"""Indexes into ``Carried.now``."""

ALONE, GOES_ON, BEGINS = range(3)
"""What becomes of windows by panes: a pass computes them by itself; it goes on from a front that an earlier one has
left; it leaves a front."""

SPAN_WINDOW, SPAN_LENGTH, SPAN_UNITS, SPAN_UNITS_END = range(4)
"""Of ``Spans.table``."""

OF_SPAN, OF_GAIN, OF_EVALUATION, OF_START = range(4)
"""Of ``Spans.of``."""

IS_BY_PANES, HAS_BEGUN, CHANGES = range(3)
"""Of ``Spans.now``."""

GAIN_SPAN, GAIN_BEGIN, GAIN_END, GAIN_TARGETS, GAIN_TARGETS_END = range(5)
"""Of ``Spans.gains``."""

REACHED_CELL, REACHED_WINDOW = range(2)
"""Of ``Spans.targets``."""

ADDED_COLUMN, ADDED_KIND, ADDED_IS_GREATEST = range(3)
"""Of the tables of `Differences`."""

WHOLE, DOUBLE = range(2)
"""Values of `ADDED_KIND`: what the keys of a difference are made of."""
