"""The completion plan: how the events that end a trend are found, and one trend of each, its witness.

Terms:

- A **state** holds, of the trends that have come so far, the best begun one: that with the latest first event.
- A **node** is an event at a state, with the node before it in the best trend that has come there.
- A **register** is an event of the witness that is asked for by name, as FIRST or LAST of a variable. Each node holds
  the rows of all registers, inherited from the node before it.
- A **slot** is a column of the result rows for what is shown of witnesses.
"""

from __future__ import annotations

from dataclasses import dataclass

from sparkext.planner.automata.guards import ALWAYS, Condition
from sparkext.planner.kernel_plan.kernel_plan import Comparison, Cut, GuardState, KernelPlan, Link
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.query import Distinct, Side, Window


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
    """

    state: int
    condition: Condition
    variable: str


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
class Slot:
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
        """Of the column."""
        what = "variable" if self.column is None else f"{'list' if self.is_list else 'value'}_{self.column}"
        return f"shown_{what}_{self.number}"


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
        values: Per field of a row, the cells of the plan that counts beside which are added up in it; see
            `Completions.counting`.
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
    values: tuple[tuple[int, tuple[int, ...]], ...] = ()
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
        counting: A plan of the aggregates of rows, whose cells are read at each completion; None if there are none.
    """

    states: tuple[CompletionState, ...]
    queries: tuple[CompletionQuery, ...]
    registers: tuple[Register, ...]
    slots: tuple[Slot, ...]
    shown: tuple[tuple[Attribute, tuple[int, ...]], ...]
    orders: int
    guards: int
    guard_states: tuple[GuardState, ...]
    keys: tuple[int, ...]
    comparisons: tuple[Comparison, ...] = ()
    counting: KernelPlan | None = None

    @property
    def has_lists(self) -> bool:
        """Whether all events of witnesses are asked for."""
        return any(slot.is_list for slot in self.slots)
