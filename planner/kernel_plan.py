"""The compiled kernel plan: what the kernels on the executors are told, as plain immutable data.

Terms:

- A **cell** holds one running total per live window: of one template state and one intermediate
  aggregate. An event adds to the cells of its classes: what it starts, what the source cells hold,
  and its own contribution.
- A **form** is a cell of a region: instead of one total per live window it holds one coefficient per
  total of the region's base, which is the same for all queries and windows. A region is **rebased** when
  the totals of its base are made anew from the forms, which then start over.
- A **pane** is the time from the start of a window to that of the next. Where very many windows are open at a time,
  their cells have a lane per row of a matrix instead of one per window: of what the pane under way does to
  totals, and of what all panes since some window did. A **stretch** is a pane of a window without bounds: a part
  of the time of a key, which a task computes.
- A **bank** is a row layout for the results of some queries with one window. All banks have the same
  output fields, so that the results of a pool are one table.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from importlib.resources import files

from planner.attribute import Attribute
from planner.guards import ALWAYS, Condition
from planner.query import EventClass, Window

SOURCE = files("planner") / "kernel_plan.py"
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
    of all such columns have in common.
    """

    NUMBER = "number"
    PRESENT = "present"
    LEAST = "least"
    GREATEST = "greatest"
    IDENTITY = "identity"


@dataclass(frozen=True, slots=True)
class Column:
    """An attribute of the events, in one encoding."""

    attribute: Attribute
    encoding: Encoding


class Access(Enum):
    """How the events before are found that go with an event.

    HASH: by equal values. FENWICK: by rank, in a Fenwick tree over the values in order. SCAN: by
    evaluating the condition for each of them.
    """

    HASH = "hash"
    FENWICK = "Fenwick tree"
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
        code: What to do; see `udfs.scan`.
        operands: Numbers of registers.
        column: The column that is read, if any.
        value: The constant, if any, and whether it is not NULL.
    """

    code: str
    operands: tuple[int, ...] = ()
    column: int = -1
    value: tuple[float | int, bool] = (0, False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A condition on an event and the one before it in a trend.

    Attributes:
        access: How the events before are found.
        equal: Columns of the event and of the one before that must be equal; empty for SCAN.
        order: What else must hold; None for HASH and SCAN.
        program: The whole condition, for SCAN.
    """

    access: Access
    equal: tuple[tuple[int, int], ...]
    order: Order | None
    program: tuple[Instruction, ...]


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

    Attributes:
        arithmetic: How the total is held.
        event: Number of the event class that adds to it; `NO_EVENT` when it is evaluated, or never changes.
        window: Number of the window it is kept for. Regions are numbered on from the windows: a form's
            lanes are the columns of its region.
        start: Whether an event starts a trend here, which counts 1.
        sources: Cells, of the same arithmetic, of the states before; one may occur several times.
        count: The cell of the same state that counts trends, when an event contributes here by
            itself; else None. It comes earlier in the plan.
        column: The column that an event contributes; None when it contributes by being there.
        weighted: Whether the column's value counts, or only that it is not NULL.
        start_event: Class that an event must also be of to start a trend; None for no further one.
        start_condition: Which guards must be intact since the start of the window for that.
        links: Further cells of the states before, of which not all events count.
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


@dataclass(frozen=True, slots=True)
class Region:
    """States to which linear forms over the same totals come.

    Attributes:
        columns: Number of totals in the base, of which coefficients are kept.
        units: Forms, all of counts, that hold 1 in one column and 0 in the others when the region has been
            rebased. All other forms are empty then.
        evaluations: All cells of its forms' values.
    """

    columns: int
    units: tuple[tuple[int, int], ...]
    evaluations: tuple[Evaluation, ...]


@dataclass(frozen=True, slots=True)
class Panes:
    """How the totals of a window are made from what happens in its panes.

    Cells with forms in other cells' place: a lane holds a coefficient of one row.

    Attributes:
        window: Number of the window.
        rows: Number of rows, of which row 0 is the constant 1.
        units: Cells, all of counts, that hold 1 in one row and 0 in the others when a pane begins. All others of
            the window are empty then. Those with row 0 are the constant 1 itself, and no event adds to them.
        evaluations: What the total of a cell is after a pane, of coefficients after it and totals before it;
            none has a view. Those whose coefficients others need come after these.
    """

    window: int
    rows: int
    units: tuple[tuple[int, int], ...]
    evaluations: tuple[Evaluation, ...]


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
        values: Per aggregate its fields: SUM and AVG have the sum and the number of values, all
            others have one.
    """

    bank: int
    presence: int
    values: tuple[tuple[int, ...], ...]


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
        panes: Of the windows that are computed by them.
        fallback: A plan of the same classes, columns, fields and rows without regions, for parts of a stream
            on which it turns out to be faster; None when there is none.
        handover: Of a fallback, cells of the plan that it is of, each with a cell of its own that holds the same
            total between two times. With them one plan can take over from the other while a key is under way.
            Empty when it cannot.
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
    panes: tuple[Panes, ...] = ()
    fallback: KernelPlan | None = None
    handover: tuple[tuple[int, int], ...] = ()

    @property
    def is_stretched(self) -> bool:
        """Whether keys are computed in stretches of time, whose matrices are multiplied."""
        return any(self.windows[panes.window] is None for panes in self.panes)


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
