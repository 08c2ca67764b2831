"""The compiled kernel plan: what the kernels on the executors are told, as plain immutable data.

Terms:

- A **cell** holds one running total per live window: of one template state and one intermediate
  aggregate. An event adds to the cells of its classes: what it starts, what the source cells hold,
  and its own contribution.
- An **anchor** is an earlier event that the condition of a later one asks for. A cell with anchors holds a total for
  each of them, of the trends in which it is the latest of its variable.
- A **space** is a block of lanes of totals: all cells of a window, a region or a span. It is in units when it has been
  closed, and forms make totals of its lanes, some of them those of another space, when it closes.
- A **form** is a cell of a region: instead of one total per live window it holds one coefficient per
  total of the region's base, which is the same for all queries and windows. A region is **rebased** when
  the totals of its base are made anew from the forms, which then start over.
- A **burst** of a region is what is added to its forms between two changes of its base. Where a region has a choice,
  each burst is shared, or events add to the totals that would be made from forms, as if there were none.
- A **pane** is the time from the start of a window to that of the next. Where very many windows are open at a time,
  their cells have a lane per row of a matrix instead of one per window: of what the pane under way does to
  totals, and of what all panes since some window did. A **stretch** is a pane of a window without bounds: a part
  of the time of a key, which a task computes.
- A **span** is the time before each moment that trends may have begun in. Its cells are those of a window that is
  computed by panes, of the events of one time each. What these events add to its trends is a **gain**, which goes
  into cells of the windows that the query is reported in.
- A **bank** is a row layout for the results of some queries with one window. All banks have the same
  output fields, so that the results of a pool are one table.

Of completions, the events that end a trend, and of one trend of each, its witness:

- A **state** holds, of the trends that have come so far, the best begun one: that with the latest first event.
- A **node** is an event at a state, with the node before it in the best trend that has come there.
- A **register** is an event of the witness that is asked for by name, as FIRST or LAST of a variable. Each node holds
  the rows of all registers, inherited from the node before it.
- A **slot** is a column of the result rows for what is shown of witnesses.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from importlib.resources import files

from sparkext.planner.automata.guards import ALWAYS, Condition
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.query import Distinct, EventClass, Side, Window

SOURCE = files("sparkext.planner.kernel_plan") / "kernel_plan.py"
"""This file: compiled kernels hold its constants, so they are made anew when it changes."""

COUNT_LIMIT = 10**38
"""Least count that is too large: a DECIMAL(38,0) holds what is below."""

STUCK_HIGH = (COUNT_LIMIT >> 64) + 1
"""High word at which a 128-bit count sticks, wherever counts are added: such a count is above the limit."""


NO_EVENT = -1
"""Event class of a cell that no event adds to."""

SCALE_BITS = 512
"""A scaled double with number n and scale s stands for n · 2^(SCALE_BITS·s)."""


class Arithmetic(Enum):
    """How the totals of a cell are held.

    EXACT: 128-bit counts that stick at overflow. NUMBER: doubles with an exponent of their own, so
    that they neither overflow nor vanish. EXTREME: the least of 128-bit order keys.
    """

    EXACT = 0
    NUMBER = 1
    EXTREME = 2


class Encoding(Enum):
    """How an attribute reaches the kernel.

    NUMBER: as a double. PRESENT: only whether it is NULL. LEAST, GREATEST: as an order key of which
    the least is wanted, with the order reversed for GREATEST. IDENTITY: as a number that equal values
    of all such columns have in common. AFTER: as a double, less one value that all events of a task are held
    against; BEFORE: as that value less the attribute. LEAST_DIFFERENCE, GREATEST_DIFFERENCE: as a part of a difference,
    an order key of which other parts are added; see `Column.unit`. Times are so many microseconds or days.
    """

    NUMBER = "number"
    PRESENT = "present"
    LEAST = "least"
    GREATEST = "greatest"
    IDENTITY = "identity"
    AFTER = "after"
    BEFORE = "before"
    LEAST_DIFFERENCE = "least difference"
    GREATEST_DIFFERENCE = "greatest difference"


@dataclass(frozen=True, slots=True)
class Column:
    """An attribute of the events, in one encoding.

    Attributes:
        attribute: Which.
        encoding: How it reaches the kernel.
        origin: For AFTER and BEFORE, a name that columns have in common which are held against the same value.
        unit: Of a part of a difference, the type that it is brought to: ``double`` if the other part is, too; else
            ``decimal(38,s)`` with the scale of both, or ``bigint`` where that is 0.
        is_taken: Of a part of a difference, whether it is taken away.
        is_beside: Of a part of a difference of doubles, whether for the least difference -∞ counts as NULL, and for the
            greatest all else does; see `sparkext.planner.totals.difference_columns`.
    """

    attribute: Attribute
    encoding: Encoding
    origin: str | None = None
    unit: str | None = None
    is_taken: bool = False
    is_beside: bool = False


class Access(Enum):
    """How the events before are found that go with an event.

    HASH: by equal values. FENWICK: by rank, in a Fenwick tree over the values in order, of which the first so
    many go with the event. SEGMENT: by rank as well, in a segment tree, of which any intervals do. RANGE: by two
    ranks, in a range tree. SCAN: by evaluating the condition for each of them.
    """

    HASH = "hash"
    FENWICK = "Fenwick tree"
    SEGMENT = "segment tree"
    RANGE = "range tree"
    SCAN = "scan"


@dataclass(frozen=True, slots=True)
class Order:
    """An ordered comparison of an event with the one before it, both as order keys.

    Attributes:
        here: Column of the event.
        prev: Column of the event before.
        before_is_less: Whether the value before must be less, or greater.
        or_equal: Whether it may be equal.
        or_null: Whether it may be NULL.
    """

    here: int
    prev: int
    before_is_less: bool
    or_equal: bool
    or_null: bool


@dataclass(frozen=True, slots=True)
class Instruction:
    """One step of a condition that is evaluated for an event and many events before it.

    Each instruction has a register of its own, in order; the last one's is the result.

    Attributes:
        code: What to do; see `sparkext.udfs.comparisons.scan`.
        operands: Numbers of registers.
        column: The column that is read, if any.
        value: The constant, if any, and whether it is not NULL.
    """

    code: str
    operands: tuple[int, ...] = ()
    column: int = -1
    value: tuple[float | int, bool] = (0, False)


@dataclass(frozen=True, slots=True)
class Interval:
    """A condition that is true of some intervals of the events before, in the order of one of their attributes.

    Attributes:
        axis: Column of the attribute, the only one of the event before that the program reads.
        program: The condition. For any one event it changes its truth a few times along the order; a search
            finds where; see `sparkext.planner.conditions.monotone`.
    """

    axis: int
    program: tuple[Instruction, ...]


@dataclass(frozen=True, slots=True)
class Term:
    """A conjunction that one structure answers.

    Attributes:
        access: Which.
        equal: Columns of the event and of the one before that must be equal.
        order: What else must hold; for FENWICK.
        intervals: What else must hold: one for SEGMENT, two for RANGE.
        asks: What must be true of the event alone; empty for nothing.
        stands: What must be true of the event before alone; empty for nothing.
    """

    access: Access
    equal: tuple[tuple[int, int], ...] = ()
    order: Order | None = None
    intervals: tuple[Interval, ...] = ()
    asks: tuple[Instruction, ...] = ()
    stands: tuple[Instruction, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """A condition on an event and the one before it in a trend.

    Attributes:
        terms: Conjunctions of which exactly one is true of two events when the condition is, and none else.
            Empty when the events before are scanned.
        program: The whole condition, for a scan; else empty.
    """

    terms: tuple[Term, ...]
    program: tuple[Instruction, ...] = ()

    @property
    def is_scan(self) -> bool:
        """Whether the events before are looked at one by one."""
        return bool(self.program)


@dataclass(frozen=True, slots=True)
class Link:
    """A cell whose events count only under a condition.

    Attributes:
        cell: The cell.
        condition: Which guards must be intact since the event was there.
        comparison: What must be true of an event there and the event at hand; None for nothing.
    """

    cell: int
    condition: Condition
    comparison: int | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """Events that end the stay of earlier events in a cell: none that is later finds them there.

    Attributes:
        event: Number of the class of these events.
        condition: Which guards must be intact since an earlier event was there, for that one to leave.
    """

    event: int
    condition: Condition = ALWAYS


@dataclass(frozen=True, slots=True)
class GuardState:
    """A state of what must not happen.

    Attributes:
        guard: The guard that is broken when it ends.
        event: Number of the event class matched there.
        start: Whether it may start there.
        end: Whether it may end there.
        sources: The states it may come right after, among all of the plan.
    """

    guard: int
    event: int
    start: bool
    end: bool
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """One intermediate aggregate of one state.

    An event adds to a cell with anchors, for each of them, what its links hold for it and what the event contributes.
    All links lead from cells with anchors of that class, or from cells to which events of that class add. Links to and
    from cells with anchors are followed anchor by anchor, and terms of their comparisons have no structure but ranks.

    Attributes:
        arithmetic: How the total is held.
        event: Number of the event class that adds to it; `NO_EVENT` when it is evaluated, or never changes.
        window: Number of the space that it is of, see `Numbering`.
        start: Whether an event starts a trend here, which counts 1.
        sources: Cells, of the same arithmetic, of the states before; one may occur several times.
        count: The cell of the same state that counts trends, when an event contributes here by
            itself; else None. It comes earlier in the plan.
        column: The column that an event contributes; None when it contributes by being there.
        weighted: Whether the column's value counts, or only that it is not NULL.
        start_event: Class that an event must also be of to start a trend; None for no further one.
        start_condition: Which guards must be intact since the start of the window for that.
        links: Further cells of the states before, of which not all events count.
        cuts: What empties the cell, when the time of those events is over. Comparisons by which it is read are scans.
            If any cut has a condition, the cell is read by links without comparisons alone.
        taken: Of a cell that is read by scans alone, and that an event leaves when one of them has found it and the
            time of that is over: a number that cells of one class have in common which an event leaves together. None
            for any other.
        anchor: Number of the class of its anchors; None when it has none.
        addend: Of an extreme, the column of a part of a difference that an event adds to whatever comes with it, its
            own contribution included; None for none.
    """

    arithmetic: Arithmetic
    event: int
    window: int
    start: bool
    sources: tuple[int, ...]
    count: int | None
    column: int | None
    weighted: bool
    start_event: int | None = None
    start_condition: Condition = ALWAYS
    links: tuple[Link, ...] = ()
    cuts: tuple[Cut, ...] = ()
    taken: int | None = None
    anchor: int | None = None
    addend: int | None = None


@dataclass(frozen=True, slots=True)
class Product:
    """A coefficient times a total of the base.

    Attributes:
        form: The cell that holds the coefficient.
        column: Its lane.
        base: The cell that holds the total, which may be that of the constant; None for the constant 1.
    """

    form: int
    column: int
    base: int | None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A cell whose total is a linear form.

    Attributes:
        cell: It holds the total as of when its region was last rebased. It may be in the base.
        view: A cell that holds the total as of the event at hand; None when no event needs it.
        products: They make the total, of which what the cell held is a part. For an extreme, a product is its
            factor that is no count, wherever the count is not zero.
    """

    cell: int
    view: int | None
    products: tuple[Product, ...]


class Closing(Enum):
    """What ends the time that the lanes of a space are about."""

    WINDOW = "a window ends"
    PANE = "a window begins, or one ends that began in the pane"
    BASE = "a total changes that its forms are over"
    TIME = "the time goes on"


@dataclass(frozen=True, slots=True)
class Space:
    """A block of lanes of totals: all cells of a window, a region or a span.

    Attributes:
        number: ``Cell.window`` of its cells; `Numbering` has all.
        lanes: Of each of its cells: one per window that may be kept at once, or one per coefficient. Where it closes
            with panes or times, workers keep each twice, of which row 0 is the constant 1.
        units: Cells, all of counts, that hold 1 in one lane and 0 in the others when the space has been closed. All
            others are empty then. Those of panes with lane 0 are the constant 1 itself, and no event adds to them.
        forms: What totals are made of coefficients when it closes. They are of its own cells where it closes with panes
            or times, and have no views; those whose coefficients others need come after these. Of a span, products with
            coefficients that events add to come first.
        closes_at: What closes it.
    """

    number: int
    lanes: int
    units: tuple[tuple[int, int], ...]
    forms: tuple[Evaluation, ...]
    closes_at: Closing


@dataclass(frozen=True, slots=True)
class Numbering:
    """Numbers of the spaces of a plan: windows, then regions, then spans.

    Attributes:
        windows: How many windows there are.
        regions: How many regions.
        spans: How many spans.
    """

    windows: int
    regions: int
    spans: int

    @property
    def of_windows(self) -> range:
        """Numbers of the windows."""
        return range(self.windows)

    @property
    def of_regions(self) -> range:
        """Numbers of the regions."""
        return range(self.windows, self.windows + self.regions)

    @property
    def of_spans(self) -> range:
        """Numbers of the spans."""
        return range(self.of_regions.stop, self.of_regions.stop + self.spans)


@dataclass(frozen=True, slots=True)
class Region:
    """States to which linear forms over the same totals come.

    Attributes:
        space: Their forms, and all cells of the forms' values. It has a lane per total in the base.
        alone: Of a loop that is shared by bursts, cells of evaluations, each with what events add to it in a burst that
            is not shared, from totals as they are. There is no form that has changed then.
        shares_from: From how many events on a burst is shared; None if none is.
    """

    space: Space
    alone: tuple[tuple[int, Cell], ...] = ()
    shares_from: int | None = 0

    @property
    def has_choice(self) -> bool:
        """Whether each burst is shared or not, as it turns out."""
        return bool(self.alone) and (self.shares_from is None or self.shares_from > 1)


@dataclass(frozen=True, slots=True)
class Gain:
    """A total of the trends that have ended in a window, wherever they began.

    Attributes:
        cell: It holds the total, and no event adds to it by itself.
        sources: Cells of a span, all of the same arithmetic. Whatever events add to them is added to the total as well.
    """

    cell: int
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """Trends whose last event is less than some time after their first.

    Attributes:
        length: That time.
        space: How their totals are made from what happens at each time.
        gains: What they end in.
    """

    length: int
    space: Space
    gains: tuple[Gain, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """An output field. ``encoding`` and ``type`` are set for EXTREME only."""

    arithmetic: Arithmetic
    encoding: Encoding | None = None
    type: str | None = None


@dataclass(frozen=True, slots=True)
class Slot:
    """A field of a bank and the cells whose totals make its value.

    Attributes:
        field: Number of the field.
        cells: Those whose events all count.
        links: Those whose events count only while some guards are intact.
    """

    field: int
    cells: tuple[int, ...]
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Bank:
    """Results of some queries with one window; a row is written when some slot is not zero."""

    window: int
    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Where the results of a query are found.

    Attributes:
        bank: Number of its bank.
        presence: The field that is zero when there is no trend.
        values: Per aggregate its fields: SUM and AVG have the sum and the number of values, the least or greatest
            difference of doubles has two of which it is one, all others have one.
        most_matches: If matches are built, the most that there may be of a step in a key and window.
        most_nodes: If completions are asked for, the most nodes that may be held at once.
        counted: Fields of what is counted once, in a bank of their own.
        counted_in: Number of that bank.
        shown: If each completion is a row, the columns of what it shows.
    """

    bank: int
    presence: int
    values: tuple[tuple[int, ...], ...]
    most_matches: int | None = None
    most_nodes: int | None = None
    counted: tuple[int, ...] = ()
    counted_in: int | None = None
    shown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MatchStep:
    """Partial matches: tuples of events, each later than the one before it.

    Attributes:
        classes: Numbers of the classes that the events must be of.
        children: Steps, earlier in the plan, whose partial matches are put together; None for single events.
        indexes: Which of the events are those of the first child.
    """

    classes: tuple[int, ...]
    children: tuple[int, int] | None = None
    indexes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MatchContribution:
    """What a match adds to a field.

    Attributes:
        field: Number of the field.
        positions: Events of the match that add to it; None if the match itself does, which counts 1.
        column: The column that these events contribute; None when they contribute by being there.
        weighted: Whether the column's value counts, or only that it is not NULL.
    """

    field: int
    positions: tuple[int, ...] | None
    column: int | None
    weighted: bool


@dataclass(frozen=True, slots=True)
class MatchRoot:
    """A step whose partial matches are matches of a query.

    Attributes:
        step: Number of the step.
        bank: Of the query; no other has a part of it.
        window: Of the query.
        added: What a match adds to the fields of the bank.
    """

    step: int
    bank: int
    window: Window | None
    added: tuple[MatchContribution, ...]


@dataclass(frozen=True, slots=True)
class Matches:
    """Queries whose matches are built, and then aggregated.

    Attributes:
        steps: What is built.
        roots: What is aggregated.
        most: Most partial matches of a step in a key and window of a query. If there are more, there are no results of
            the query but a row that says so, whose bank is `too_many` of its own.
    """

    steps: tuple[MatchStep, ...]
    roots: tuple[MatchRoot, ...]
    most: int


MOST_NODES = 5_000_000
"""Most nodes of completions at once, unless a user says otherwise."""


def too_many(bank: int) -> int:
    """Number of the bank of rows that say that there is too much to hold for the query of a bank."""
    return -1 - bank


@dataclass(frozen=True, slots=True)
class KernelPlan:
    """All that a kernel needs to compute the results of a pool in one pass.

    Attributes:
        classes: Event classes; an event carries one bit for each.
        columns: Attributes an event carries.
        windows: Distinct windows; one may stand twice, computed by panes and not.
        cells: Ordered so that a cell comes after the one it counts by.
        fields: Output fields of every bank.
        banks: Row layouts.
        results: Per query of the pool.
        guards: Number of guards.
        guard_states: States of all guards.
        comparisons: Conditions on events and those before them.
        regions: Where linear forms are kept.
        panes: The spaces of the windows that are computed by them.
        spans: Of the queries with one.
        fallback: A plan of the same classes, columns, fields and rows without regions, for parts of a stream
            on which it turns out to be faster; None when there is none.
        handover: Of a fallback, cells of the plan that it is of, each with a cell of its own that holds the same
            total between two times. With them one plan can take over from the other while a key is under way.
            Empty when it cannot.
        carried: A plan of the same classes, columns, fields and rows, by whose panes what keys have done is carried on
            from one micro-batch of a stream to the next; None when nothing can be.
        matches: Of queries whose matches are built, to which no cell adds anything.
        completions: Of queries that ask for the events that end a trend.
    """

    classes: tuple[EventClass, ...]
    columns: tuple[Column, ...]
    windows: tuple[Window | None, ...]
    cells: tuple[Cell, ...]
    fields: tuple[Field, ...]
    banks: tuple[Bank, ...]
    results: tuple[QueryResult, ...]
    guards: int = 0
    guard_states: tuple[GuardState, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    regions: tuple[Region, ...] = ()
    panes: tuple[Space, ...] = ()
    spans: tuple[Span, ...] = ()
    fallback: KernelPlan | None = None
    handover: tuple[tuple[int, int], ...] = ()
    carried: KernelPlan | None = None
    matches: Matches | None = None
    completions: Completions | None = None

    @property
    def has_addends(self) -> bool:
        """Whether events add to extremes."""
        return any(cell.addend is not None for cell in self.cells)

    @property
    def is_cut(self) -> bool:
        """Whether events leave cells before their windows end."""
        return any(cell.cuts or cell.taken is not None for cell in self.cells)

    @property
    def holds_totals_alone(self) -> bool:
        """Whether totals of cells are all that is held of a key: nothing is forbidden or looked back at, and there are
        neither panes nor spans."""
        return not (self.guard_states or self.comparisons or self.panes or self.spans)

    @property
    def is_stretched(self) -> bool:
        """Whether keys are computed in stretches of time, whose matrices are multiplied."""
        return any(self.windows[space.number] is None for space in self.panes)

    @property
    def numbering(self) -> Numbering:
        """Numbers of the plan's spaces."""
        return Numbering(len(self.windows), len(self.regions), len(self.spans))

    @property
    def spaces(self) -> tuple[Space, ...]:
        """All spaces, by their numbers."""
        paned = {space.number: space for space in self.panes}
        windows = (
            paned.get(number, Space(number, 1 if window is None else 2 * window.live, (), (), Closing.WINDOW))
            for number, window in enumerate(self.windows)
        )
        return (*windows, *(region.space for region in self.regions), *(span.space for span in self.spans))


@dataclass(frozen=True, slots=True)
class Layout:
    """How the rows of a pool's events are laid out, by position: the columns that results are grouped
    by, further columns that tell partitions apart, the number of the chunk if keys are cut into chunks of
    time, the time, words of `CLASSES_PER_WORD` class bits, and one column per ``KernelPlan.columns``.

    Attributes:
        group_keys: Number of columns that results are grouped by.
        other_keys: Number of further key columns; when there are any, rows of one group are combined.
        chunk: Length of a chunk, a multiple of the slides of all windows: chunk k answers for the windows that
            start from k times this on and before k + 1 times it. None when keys are not cut.
    """

    group_keys: int
    other_keys: int
    chunk: int | None = None

    @property
    def keys(self) -> int:
        """Number of columns that tell apart what is computed by itself."""
        return self.group_keys + self.other_keys + (self.chunk is not None)


CLASSES_PER_WORD = 63
"""Class bits in one 64-bit integer; the sign is left alone."""


def class_words(classes: int) -> int:
    """How many words hold the bits of so many classes."""
    return -(-classes // CLASSES_PER_WORD)


@dataclass(frozen=True, slots=True)
class StateTotal:
    """What is added up of the trends that come to a state.

    Attributes:
        arithmetic: How it is held.
        event: Number of the class that events must be of to pass it on.
        starts: Whether it counts a trend that starts there.
        start_event: Class that an event must also be of for that; None for no further one.
        count: Which total of the same state, earlier in order, counts the trends that the event contributes to; None if
            it contributes nothing.
        column: What it contributes; None for being there.
        weighted: Whether the column's value counts, or only that it is not NULL.
        addend: Of an extreme, the column of a part of a difference that an event adds to whatever comes with it; None
            for none.
        sources: Links of the state, each with the total of the state before that comes over it.
    """

    arithmetic: Arithmetic
    event: int
    starts: bool
    start_event: int | None
    count: int | None
    column: int | None
    weighted: bool
    addend: int | None
    sources: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class CompletionState:
    """A state of some queries whose trends come there alike.

    Attributes:
        event: Number of the event class.
        label: Number of its variable in the order of the pattern's text.
        start: Whether a trend may start there.
        start_event: Class that an event must also be of to start a trend; None for no further one.
        start_condition: Which guards must be intact since the start of the key for that.
        links: The states before; ``Link.cell`` is a state.
        cuts: What empties it when the time of those events is over.
        is_taken: Whether an event leaves that another has gone on from, when the time of that is over.
        is_open: Whether it holds a trend for each latest event of an earlier variable, the anchor.
        is_scanned: Whether some link from there has a comparison or goes on with anchors, so that all events are held.
        is_guarded: Whether some link from there, or cut of it, has a condition.
        is_read: Whether any link leads from there.
        totals: What is added up there.
    """

    event: int
    label: int
    start: bool
    start_event: int | None = None
    start_condition: Condition = ALWAYS
    links: tuple[Link, ...] = ()
    cuts: tuple[Cut, ...] = ()
    is_taken: bool = False
    is_open: bool = False
    is_scanned: bool = False
    is_guarded: bool = False
    is_read: bool = False
    totals: tuple[StateTotal, ...] = ()


@dataclass(frozen=True, slots=True)
class Register:
    """Which event of a witness is remembered: the first or the last at some states; at any, if there are none."""

    side: Side
    states: frozenset[int]


@dataclass(frozen=True, slots=True)
class CompletionEnd:
    """A state at which trends of a query end.

    Attributes:
        state: Its number.
        condition: Which guards must be intact after the event.
        variable: What the query calls the events there.
        totals: Which totals of the state are added to the fields of a row; None where that is nothing.
    """

    state: int
    condition: Condition
    variable: str
    totals: tuple[int | None, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownSlot:
    """What a slot of a query's rows is filled with.

    Attributes:
        slot: Number of the slot.
        register: Number of the register; None for all events, the last event, or the variable.
        is_last: Whether it is of the last event.
    """

    slot: int
    register: int | None = None
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """A column of result rows.

    Attributes:
        column: Number of the shown attribute; None for the variable of the last event.
        is_list: Whether it holds a value for each event of the witness.
        number: Tells apart slots that are otherwise equal.
    """

    column: int | None
    is_list: bool
    number: int

    @property
    def name(self) -> str:
        """Name of the column."""
        kind = "variable" if self.column is None else f"{'list' if self.is_list else 'value'}_{self.column}"
        return f"shown_{kind}_{self.number}"


@dataclass(frozen=True, slots=True)
class CompletionQuery:
    """Completions of one query.

    Attributes:
        bank: Number of the bank of its rows.
        window: That it is reported in.
        span: How much less than that a last event is after its first; None for any time.
        wait: How long after the last event its condition is about; None for up to the end of the window.
        ends: Where its trends end.
        has_rows: Whether each completion is a row.
        shown: What such a row shows.
        values: Fields of a row in which totals are added up.
        counted: Field for each thing that is counted once.
        counted_in: Number of the bank of these.
    """

    bank: int
    window: Window | None
    span: int | None
    wait: int | None
    ends: tuple[CompletionEnd, ...]
    has_rows: bool
    shown: tuple[ShownSlot, ...] = ()
    values: tuple[int, ...] = ()
    counted: tuple[tuple[Distinct, int], ...] = ()
    counted_in: int | None = None

    @property
    def waits(self) -> bool:
        """Whether what comes after a last event decides if it is a completion."""
        return any(end.condition != ALWAYS for end in self.ends)

    @property
    def reach(self) -> int | None:
        """How much less than that a trend may be long, or its first event before its last; None for any time."""
        return self.span if self.span is not None else None if self.window is None else self.window.within


@dataclass(frozen=True, slots=True)
class Completions:
    """How the completions of some queries are found in one pass.

    Attributes:
        states: In an order in which equal ones are one.
        queries: Those that ask for completions.
        registers: Of all nodes.
        slots: Of all rows.
        shown: Attributes that are shown, each with the numbers of the classes of events that it is asked of.
        orders: Number of further expressions of ORDER BY.
        guards: Number of guards.
        guard_states: States of all guards.
        comparisons: Conditions on events and earlier ones, each a program.
        keys: Positions of the PARTITION BY expressions among the key columns.
        windows: Windows that are gone through one by one, each as if it were a key; None where windows are told apart
            by when trends have begun.
        most: Most nodes at once. If more are needed, queries are given up, each with a row whose bank is `too_many` of
            its own.
    """

    states: tuple[CompletionState, ...]
    queries: tuple[CompletionQuery, ...]
    registers: tuple[Register, ...]
    slots: tuple[ShownColumn, ...]
    shown: tuple[tuple[Attribute, tuple[int, ...]], ...]
    orders: int
    guards: int
    guard_states: tuple[GuardState, ...]
    keys: tuple[int, ...]
    comparisons: tuple[Comparison, ...] = ()
    windows: Window | None = None
    most: int = MOST_NODES

    @property
    def needs_starts_alone(self) -> bool:
        """Whether the latest start of the trends of each state says all that is asked: how many completions there are.

        That is so if nothing is shown or added up of them, and no condition tells trends of a state apart.
        """
        conditions = [state.start_condition for state in self.states]
        conditions += [link.condition for state in self.states for link in state.links]
        conditions += [cut.condition for state in self.states for cut in state.cuts]
        conditions += [end.condition for query in self.queries for end in query.ends]
        held_apart = any(state.is_open or state.is_scanned or state.is_taken or state.totals for state in self.states)
        plain = all(not query.has_rows and not query.values for query in self.queries)
        return plain and not held_apart and all(condition == ALWAYS for condition in conditions)

    def has_lists(self, query: CompletionQuery) -> bool:
        """Whether a query asks for all events of witnesses."""
        return any(self.slots[measure.slot].is_list for measure in query.shown)

    def states_of(self, query: CompletionQuery) -> frozenset[int]:
        """The states that trends of a query come through."""
        states: set[int] = set()
        todo = [end.state for end in query.ends]
        while todo:
            state = todo.pop()
            if state not in states:
                states.add(state)
                todo += (link.cell for link in self.states[state].links)
        return frozenset(states)
