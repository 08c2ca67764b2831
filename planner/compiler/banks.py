"""Banks: in which row and field the results of each query are found."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sparkext.planner.automata.guards import ALWAYS
from sparkext.planner.kernel_plan.kernel_plan import Arithmetic, Bank, Field, Link, QueryResult, Slot
from sparkext.planner.patterns.query import Query
from sparkext.planner.totals.components import Component, components, needed

MAX_FIELDS = 24
"""Most output fields of a bank that holds more than one query. Narrow rows keep Spark's generated
code small and let a view read few columns; measured with ``benchmarks/``."""


Ends: TypeAlias = Callable[[int, Component], tuple[Link, ...]]
"""The cells that make the result of a query, by number, for one of its components."""


@dataclass(frozen=True, slots=True)
class Banks:
    """The rows that results are written in, and which row and fields of it each query has.

    Attributes:
        fields: Output fields of every bank.
        banks: Row layouts.
        results: Per query.
        meant: Per bank and slot, a query and the component of it that the slot holds.
    """

    fields: tuple[Field, ...]
    banks: tuple[Bank, ...]
    results: tuple[QueryResult, ...]
    meant: tuple[tuple[tuple[int, Component], ...], ...]

    def of_cells(self, window_of: Sequence[int], ends: Ends) -> tuple[Bank, ...] | None:
        """The same rows, made by the cells of another plan; None when it has queries of one bank in several windows.

        Args:
            window_of: Per query its window in the other plan.
            ends: Cells of the other plan.
        """
        banks: list[Bank] = []
        for number, (bank, meant) in enumerate(zip(self.banks, self.meant, strict=True)):
            windows = {window_of[query] for query, result in enumerate(self.results) if result.bank == number}
            if len(windows) > 1:
                return None
            slots = zip(bank.slots, meant, strict=True)
            banks.append(Bank(windows.pop(), tuple(_slot(slot.field, ends(*total)) for slot, total in slots)))
        return tuple(banks)


def lay_out(
    queries: Sequence[Query], window_of: Sequence[int], ends: Ends, apart: Container[int] = frozenset()
) -> Banks:
    """Fill banks with queries of the same window, in order, until `MAX_FIELDS` are in use.

    Args:
        queries: Of the pool.
        window_of: Per query its window in the plan.
        ends: Cells of the plan.
        apart: Queries that have a bank of their own.
    """
    open_banks: dict[int, int] = {}
    builders: list[_BankBuilder] = []
    located: list[_Located] = []
    for number, query in enumerate(queries):
        presence, values = components(query)
        window = window_of[number]
        if number in apart:
            at = len(builders)
            builders.append(_BankBuilder(window))
        else:
            if window not in open_banks or not builders[open_banks[window]].has_room(len(needed(query))):
                open_banks[window] = len(builders)
                builders.append(_BankBuilder(window))
            at = open_banks[window]
        bank = builders[at]
        slots = {
            component: bank.slot(_field(component), ends(number, component), (number, component))
            for component in dict.fromkeys([presence, *(item for value in values for item in value)])
        }
        in_slots = tuple(tuple(slots[item] for item in value) for value in values)
        located.append(_Located(at, slots[presence], in_slots))
    return _with_fields(builders, located)


@dataclass(frozen=True, slots=True)
class _Located:
    """Where the results of a query are found, by slot of its bank instead of field."""

    bank: int
    presence: int
    values: tuple[tuple[int, ...], ...]


class _BankBuilder:
    """Slots of a bank, each by its kind of field and its number among those of that kind."""

    def __init__(self, window: int) -> None:
        self.window = window
        self.slots: dict[tuple[Field, tuple[Link, ...]], tuple[Field, int]] = {}
        self.meant: list[tuple[int, Component]] = []
        self._numbers: dict[tuple[Field, tuple[Link, ...]], int] = {}
        self._used: dict[Field, int] = {}

    def has_room(self, wanted: int) -> bool:
        return not self.slots or len(self.slots) + wanted <= MAX_FIELDS

    def slot(self, kind: Field, ends: tuple[Link, ...], meant: tuple[int, Component]) -> int:
        """Number of the slot, among the slots of this bank."""
        key = (kind, ends)
        if key not in self.slots:
            self.slots[key] = (kind, self._used.get(kind, 0))
            self._used[kind] = self._used.get(kind, 0) + 1
            self._numbers[key] = len(self._numbers)
            self.meant.append(meant)
        return self._numbers[key]


def _with_fields(builders: list[_BankBuilder], located: list[_Located]) -> Banks:
    """Give every slot its field: the i-th slot of a kind in each bank is the i-th field of that kind."""
    wanted = dict.fromkeys(pair for builder in builders for pair in builder.slots.values())
    order = sorted(
        wanted, key=lambda pair: (pair[0].arithmetic.value, str(pair[0].type), str(pair[0].encoding), pair[1])
    )
    field = {pair: number for number, pair in enumerate(order)}
    banks = tuple(
        Bank(b.window, tuple(_slot(field[pair], ends) for (_, ends), pair in b.slots.items())) for b in builders
    )
    results = tuple(
        QueryResult(
            bank=where.bank,
            presence=banks[where.bank].slots[where.presence].field,
            values=tuple(tuple(banks[where.bank].slots[slot].field for slot in value) for value in where.values),
        )
        for where in located
    )
    return Banks(tuple(kind for kind, _ in order), banks, results, tuple(tuple(b.meant) for b in builders))


def _field(component: Component) -> Field:
    if component.arithmetic is not Arithmetic.EXTREME or component.column is None:
        return Field(component.arithmetic)
    return Field(component.arithmetic, component.column.encoding, component.column.attribute.type)


def _slot(field: int, ends: tuple[Link, ...]) -> Slot:
    free, guarded = (tuple(end for end in ends if is_free(end) is wanted) for wanted in (True, False))
    return Slot(field, tuple(end.cell for end in free), guarded)


def is_free(link: Link) -> bool:
    """Whether all events of the cell count."""
    return link.condition == ALWAYS and link.comparison is None
