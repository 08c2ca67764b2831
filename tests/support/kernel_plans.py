"""Random kernel plans and rows, wilder than what the planner makes: any sources, any order, any slots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from functools import partial
from random import Random
from typing import Any

from sparkext.planner.automata.guards import ALWAYS, NEVER, Condition, of
from sparkext.planner.conditions.access import compile_comparison
from sparkext.planner.kernel_plan.kernel_plan import (
    Access,
    Arithmetic,
    Bank,
    Cell,
    Column,
    Comparison,
    Cut,
    Encoding,
    Field,
    GuardState,
    Instruction,
    KernelPlan,
    Link,
    Order,
    Slot,
    Term,
)
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.query import EventClass, Window
from tests.support.instruction_twin import GREATEST, LEAST
from tests.support.kernel_regions import with_regions
from tests.support.kernel_twin import KernelRow
from tests.support.random_conditions import random_adjacent

EXTREME_TYPES = (
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "float",
    "double",
    "decimal(10,2)",
    "decimal(38,0)",
    "decimal(38,38)",
    "date",
    "timestamp",
    "timestamp_ntz",
)
"""Types that MIN and MAX take."""

_EXTREMES = (Encoding.LEAST, Encoding.GREATEST)


def random_attribute(random: Random, column: Column) -> Any:
    """A value of a column; every so often one at the end of its range, or NULL."""
    match column.encoding:
        case Encoding.NUMBER:
            return random.choice((None, 0, 1, -3, 2.5, 1.5, -0.0, -2.0, math.nan, math.inf, -math.inf))
        case Encoding.PRESENT:
            return random.choice((None, True))
        case Encoding.IDENTITY:
            return random.choice((None, "x", "y", "z"))
        case Encoding.LEAST | Encoding.GREATEST:
            return random_value(random, column.attribute.type)


def random_value(random: Random, kind: str) -> Any:
    """A value of a Spark type; every so often one at the end of its range, or NULL."""
    if random.random() < 0.15:
        return None
    edge = random.random() < 0.2
    small = random.randint(-5, 5)
    if kind in ("tinyint", "smallint", "int", "bigint"):
        bits = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}[kind]
        return random.choice((-(1 << bits - 1), (1 << bits - 1) - 1)) if edge else small
    if kind in ("float", "double"):
        return random.choice((math.inf, -math.inf, math.nan, 0.0)) if edge else small / 4
    if kind.startswith("decimal"):
        precision, scale = map(int, kind[len("decimal(") : -1].split(","))
        largest = 10**precision - 1
        return Decimal((0, tuple(map(int, str(largest))), -scale)).copy_sign(small) if edge else _decimal(small, scale)
    if kind == "date":
        return date(1970, 1, 1) + timedelta(days=small * (100_000 if edge else 1))
    zone = timezone.utc if kind == "timestamp" else None
    return datetime(1970, 1, 1, tzinfo=zone) + timedelta(microseconds=small * (10**15 if edge else 1))


def _decimal(number: int, scale: int) -> Decimal:
    return Decimal((int(number < 0), tuple(map(int, str(abs(number)))), -scale))


def random_plan(random: Random, windows: tuple[Window | None, ...]) -> KernelPlan:
    """A random plan over ``windows``. Its fields and banks obey the rules; its cells are any."""
    classes = random.choice((1, 2, 3, 3, 4, 70))
    drawn_columns = [_column(random) for _ in range(random.randint(0, 4))]
    guards = random.choice((0, 0, 1, 2, 3))
    guard_states = _guard_states(random, guards, classes)
    comparisons = tuple(random_comparison(random, drawn_columns) for _ in range(random.choice((0, 0, 1, 2, 3))))
    columns = tuple(drawn_columns)
    cells: list[Cell] = []
    states: list[tuple[int, int]] = []
    for _ in range(random.randint(1, 6)):
        states.append((random.choice((0, classes - 1, random.randrange(classes))), random.randrange(len(windows))))
        event, window = states[-1]
        start = random.random() < 0.5
        counts = (Arithmetic.EXACT, Arithmetic.NUMBER)
        cells += (Cell(kind, event, window, start, (), None, None, False) for kind in counts)
    families: dict[int, int] = {}
    for _ in range(random.randint(0, 8)):
        state = random.randrange(len(states))
        _add_component(random, states[state], 2 * state, columns, cells, families)
    if random.random() < 0.4:
        scans = any(comparison.is_scan for comparison in comparisons)
        cells = [_with_leaving(random, cell, classes, guards, scans) for cell in cells]
    linker = _Linker(random, cells, families, 2 * len(states), guards, comparisons)
    linked, comparisons = _without_unused([linker.linked(number, classes) for number in range(len(cells))], comparisons)
    fields, banks = _banks(random, linked, columns, families, len(windows), guards)
    named = tuple(EventClass(None, None, str(number)) for number in range(classes))
    plan = KernelPlan(named, columns, windows, linked, fields, banks, (), guards, guard_states, comparisons)
    has_regions = random.random() < 0.5 and not plan.is_cut
    return with_regions(random, plan, 2 * len(states), families) if has_regions else plan


def _with_leaving(random: Random, cell: Cell, classes: int, guards: int, scans: bool) -> Cell:
    """A cell that events leave, or not."""
    kind = random.choice(("stay", "cut", "cut", "cut in parts", "taken"))
    if kind == "taken" and scans and cell.arithmetic is not Arithmetic.EXTREME:
        return replace(cell, taken=2 * cell.event + random.randrange(2))
    if kind == "stay" or kind == "taken":
        return cell
    parts = guards if kind == "cut in parts" else 0
    cuts = (Cut(random.randrange(classes), random_condition(random, parts)) for _ in range(random.randint(1, 2)))
    return replace(cell, cuts=tuple(dict.fromkeys(cuts)))


def _is_whole(cell: Cell) -> bool:
    """Whether no events leave a cell in which others stay."""
    return cell.taken is None and all(cut.condition == ALWAYS for cut in cell.cuts)


def _without_unused(
    cells: list[Cell], comparisons: tuple[Comparison, ...]
) -> tuple[tuple[Cell, ...], tuple[Comparison, ...]]:
    """Only the comparisons that some link has, and cells with their new numbers."""
    used = sorted({link.comparison for cell in cells for link in cell.links if link.comparison is not None})

    def renumbered(link: Link) -> Link:
        return link if link.comparison is None else replace(link, comparison=used.index(link.comparison))

    numbered = tuple(replace(cell, links=tuple(map(renumbered, cell.links))) for cell in cells)
    return numbered, tuple(comparisons[number] for number in used)


class _Linker:
    """Gives random cells what comes before them, and what may start there."""

    def __init__(
        self,
        random: Random,
        cells: list[Cell],
        families: dict[int, int],
        counts: int,
        guards: int,
        comparisons: tuple[Comparison, ...],
    ) -> None:
        self._random = random
        self._cells = cells
        self._families = families
        self._counts = counts
        self._guards = guards
        self._comparisons = comparisons
        self._reached: set[int] = set()
        self._always: set[int] = set()

    def linked(self, number: int, classes: int) -> Cell:
        """The cell with its sources and links."""
        random, cell = self._random, self._cells[number]
        alike = [position for position in range(len(self._cells)) if self._kind(position) == self._kind(number)]
        whole = [position for position in alike if _is_whole(self._cells[position])]
        links = [self._link(random.choice(alike)) for _ in range(random.choice((0, 1, 1, 2, 3)))]
        narrow = cell.start and random.random() < 0.2
        guarded = cell.start and random.random() < 0.3
        if cell.start and not (narrow or guarded):
            self._always.add(number)
        return replace(
            cell,
            sources=tuple(random.choice(whole) for _ in range(random.choice((0, 0, 1, 1, 2)) if whole else 0)),
            links=tuple(
                link
                for link in links
                if link.condition != ALWAYS or link.comparison is not None or not _is_whole(self._cells[link.cell])
            ),
            start_event=random.randrange(classes) if narrow else None,
            start_condition=random_condition(random, self._guards) if guarded else ALWAYS,
        )

    def _kind(self, position: int) -> tuple[object, ...]:
        """Cells of one kind can come before each other; counts, which are the first cells, add up counts."""
        cell = self._cells[position]
        return cell.arithmetic, cell.window, self._families.get(position), position < self._counts

    def _link(self, source: int) -> Link:
        random = self._random
        condition = random_condition(random, self._guards) if random.random() < 0.6 else ALWAYS
        cell, numbers = self._cells[source], list(range(len(self._comparisons)))
        if cell.cuts or cell.taken is not None:
            numbers = [number for number in numbers if self._comparisons[number].is_scan]
        in_parts = cell.taken is None and not _is_whole(cell)
        never = in_parts or (cell.taken is None and random.random() < 0.4)
        if not numbers or never or not self._may_be_compared(source):
            return Link(source, condition)
        comparison = random.choice(numbers)
        scanned = self._comparisons[comparison].is_scan
        self._reached.add(source)
        return Link(source, condition if scanned else ALWAYS, comparison)

    def _may_be_compared(self, source: int) -> bool:
        """Whether the kernel remembers all events of a cell that hold something.

        It forgets those that count nothing at all, which have no extreme either in what the planner makes of
        a query. Here they may have, unless there is a count of the same events that is never zero.
        """
        cell = self._cells[source]
        return cell.arithmetic is not Arithmetic.EXTREME or any(
            _history(self._cells[reached]) == _history(cell) for reached in self._reached & self._always
        )


def _history(cell: Cell) -> tuple[object, ...]:
    """What cells have in common whose events the kernel keeps together."""
    return cell.event, cell.window, cell.cuts, cell.taken


def random_condition(random: Random, guards: int) -> Condition:
    """A random condition on some of so many guards; not that it never holds."""
    some = random.sample(range(guards), min(guards, random.choice((1, 1, 2, 3))))
    condition = of(some, lambda _: random.random() < 0.5)
    return ALWAYS if condition == NEVER else condition


def _guard_states(random: Random, guards: int, classes: int) -> tuple[GuardState, ...]:
    states: list[GuardState] = []
    for guard in range(guards):
        of_guard = range(len(states), len(states) + random.choice((1, 1, 2, 3)))
        for _ in of_guard:
            sources = tuple(sorted(random.sample(of_guard, random.randint(0, len(of_guard)))))
            start, end = random.random() < 0.6, random.random() < 0.6
            states.append(GuardState(guard, random.randrange(min(classes, 4)), start, end, sources))
    return tuple(states)


def random_comparison(random: Random, columns: list[Column]) -> Comparison:
    """A random comparison; the columns that it needs are added to ``columns``."""
    chosen = random.random()
    if chosen < 0.2:
        return Comparison((), random_program(random, columns))
    if chosen < 0.6:
        return compile_comparison(random_adjacent(random), False, partial(_number, columns))
    access = random.choice((Access.HASH, Access.FENWICK))
    equal = [_compared(random, columns) for _ in range(random.randint(0 if access is Access.FENWICK else 1, 2))]
    order = None
    if access is Access.FENWICK:
        here, prev = _compared(random, columns, ordered=True)
        order = Order(here, prev, *(random.random() < 0.5 for _ in range(3)))
    return Comparison((Term(access, tuple(sorted(set(equal))), order),))


def _number(columns: list[Column], column: Column) -> int:
    if column not in columns:
        columns.append(column)
    return columns.index(column)


def _compared(random: Random, columns: list[Column], ordered: bool = False) -> tuple[int, int]:
    """Numbers of two columns, or twice of one, whose values can be compared."""
    if not ordered and random.random() < 0.4:
        kind, encoding = "string", Encoding.IDENTITY
    else:
        kind, encoding = random.choice(("int", "double", *EXTREME_TYPES)), Encoding.LEAST
    return (_some_column(random, columns, kind, encoding), _some_column(random, columns, kind, encoding))


def _some_column(random: Random, columns: list[Column], kind: str, encoding: Encoding) -> int:
    """Number of a column, which may be a new one."""
    alike = [n for n, column in enumerate(columns) if (column.attribute.type, column.encoding) == (kind, encoding)]
    if not alike or random.random() < 0.3:
        alike = [len(columns)]
        columns.append(Column(Attribute(f"a{random.randrange(10**6)}", kind), encoding))
    return random.choice(alike)


def random_program(random: Random, columns: list[Column]) -> tuple[Instruction, ...]:
    """A random program; the columns that it needs are added to ``columns``."""
    return _Programmer(random, columns).program()


class _Programmer:
    """Writes random programs: loads, then operations on registers of their kind, then a flag."""

    def __init__(self, random: Random, columns: list[Column]) -> None:
        self._random = random
        self._columns = columns
        self._rows: list[Instruction] = []
        self._kinds: list[str] = []

    def program(self) -> tuple[Instruction, ...]:
        """The instructions."""
        for _ in range(self._random.randint(1, 3)):
            self._load()
        for _ in range(self._random.randint(1, 7)):
            self._operate(self._random.choice(self._kinds))
        if self._kinds[-1] != "flag":
            self._compare(self._kinds[-1], len(self._kinds) - 1)
        return tuple(self._rows)

    def _load(self) -> None:
        """An attribute of the event, one of the same type of the event before, and maybe a constant."""
        random = self._random
        load = random.choice(("whole", "whole", "number", "key", "digits", "identity"))
        kind = {
            "whole": random.choice(("int", "bigint", "bigint", "date", "timestamp")),
            "number": "int",
            "key": random.choice(EXTREME_TYPES),
            "digits": "decimal(10,2)",
            "identity": "string",
        }[load]
        encoding = {"number": Encoding.NUMBER, "identity": Encoding.IDENTITY}.get(load, Encoding.LEAST)
        held = {"digits": "whole", "key": f"key {kind}"}.get(load, load)
        suffix = "whole" if load == "identity" else load
        for side in random.sample(("here", "prev"), random.choice((1, 2, 2, 2))):
            column = _some_column(random, self._columns, kind, encoding)
            self._add(held, f"{side}_{suffix}", column=column)
        if held == "whole":
            value = random.choice((0, 1, -1, 2, 7, LEAST, GREATEST))
            self._add(held, "constant", value=(value, random.random() < 0.9))
        if held == "number":
            number = random.choice((0.0, -0.0, 1.5, -2.0, math.inf, math.nan))
            self._add(held, "constant_number", value=(number, random.random() < 0.9))

    def _operate(self, kind: str) -> None:
        """An operation on some register of a kind."""
        random, family = self._random, _family(kind)
        left, right = self._any(kind), self._any(kind)
        chosen = random.random()
        if chosen < 0.3:
            self._compare(kind, left)
        elif chosen < 0.4 and "flag" in self._kinds:
            self._add(kind, f"choose_{family}", self._any("flag"), left, right)
        elif kind == "flag":
            name = random.choice(("and", "or", "not"))
            self._add(kind, f"{name}_whole", *((left,) if name == "not" else (left, right)))
        elif kind in ("whole", "number"):
            names = ("add", "subtract", "multiply", "divide", "remainder")
            unary = ("negate", "abs", "to_number" if kind == "whole" else "to_single")
            name = random.choice((*names, *unary))
            held = "number" if name == "to_number" else kind
            self._add(held, f"{name}_{family}", *((left, right) if name in names else (left,)))

    def _compare(self, kind: str, left: int) -> None:
        names = ("equal", "same", "is_null") if kind == "identity" else ("equal", "same", "less", "at_most", "is_null")
        name = self._random.choice(names)
        self._add("flag", f"{name}_{_family(kind)}", *((left,) if name == "is_null" else (left, self._any(kind))))

    def _any(self, kind: str) -> int:
        """A register of a kind."""
        return self._random.choice([position for position, held_kind in enumerate(self._kinds) if held_kind == kind])

    def _add(
        self, kind: str, code: str, *operands: int, column: int = -1, value: tuple[int | float, bool] = (0, False)
    ) -> None:
        self._rows.append(Instruction(code, operands, column, value))
        self._kinds.append(kind)


def _family(kind: str) -> str:
    """How the instructions on registers of a kind end."""
    return kind if kind == "number" else "key" if kind.startswith("key") else "whole"


def _column(random: Random) -> Column:
    encoding = random.choice((Encoding.NUMBER, Encoding.PRESENT, *_EXTREMES, *_EXTREMES))
    kind = random.choice(EXTREME_TYPES) if encoding in _EXTREMES else "int"
    return Column(Attribute(f"a{random.randrange(10**6)}", kind), encoding)


def _add_component(
    random: Random,
    state: tuple[int, int],
    exact: int,
    columns: tuple[Column, ...],
    cells: list[Cell],
    families: dict[int, int],
) -> None:
    """Add a cell to a state whose counts are cells ``exact`` and ``exact + 1``.

    ``families`` says of which column the cells for extremes are, also of those that only pass it on.
    """
    position = random.randrange(len(columns) + 1)
    contributes = random.random() < 0.7
    if position == len(columns):
        cells.append(Cell(Arithmetic.EXACT, *state, False, (), exact if contributes else None, None, False))
        return
    encoding = columns[position].encoding
    column = position if contributes else None
    if encoding in (Encoding.PRESENT, Encoding.IDENTITY):
        cells.append(Cell(Arithmetic.EXACT, *state, False, (), exact if contributes else None, column, False))
    elif encoding is Encoding.NUMBER:
        count = exact + 1 if contributes else None
        cells.append(Cell(Arithmetic.NUMBER, *state, False, (), count, column, random.random() < 0.7))
    else:
        families[len(cells)] = position
        count = exact + random.randint(0, 1) if contributes else None
        cells.append(Cell(Arithmetic.EXTREME, *state, False, (), count, column, True))


def _banks(
    random: Random,
    cells: tuple[Cell, ...],
    columns: tuple[Column, ...],
    families: dict[int, int],
    windows: int,
    guards: int,
) -> tuple[tuple[Field, ...], tuple[Bank, ...]]:
    fields: list[Field] = []
    banks: list[Bank] = []
    for _ in range(random.randint(1, 4)):
        window = random.randrange(windows)
        of_window = [number for number, cell in enumerate(cells) if cell.window == window and _is_whole(cell)]
        used: set[int] = set()
        slots: list[Slot] = []
        for number in random.sample(of_window, min(len(of_window), random.randint(1, 5))):
            arithmetic, family = cells[number].arithmetic, families.get(number)
            held = Field(arithmetic)
            if family is not None:
                held = Field(arithmetic, columns[family].encoding, columns[family].attribute.type)
            free = [position for position, field in enumerate(fields) if field == held and position not in used]
            if not free:
                fields.append(held)
                free = [len(fields) - 1]
            used.add(free[0])
            alike = [n for n in of_window if cells[n].arithmetic is arithmetic and families.get(n) == family]
            some = random.sample(alike, random.randint(0, min(2, len(alike))))
            ends = [Link(cell, random_condition(random, guards)) for cell in (number, *some) if random.random() < 0.4]
            links = tuple(link for link in ends if link.condition != ALWAYS)
            slots.append(Slot(free[0], tuple(some) if links and random.random() < 0.5 else (number, *some), links))
        banks.append(Bank(window, tuple(slots)))
    return tuple(fields), tuple(banks)


def random_rows(random: Random, plan: KernelPlan, most: int, finite: bool = False) -> list[KernelRow]:
    """Rows of a few keys, many of them at the same time; ``finite`` numbers of one sign on demand."""
    group, other_key = random.choice((0, 1, 2)), random.choice((0, 0, 1))
    span = random.choice((3, most, 4 * most))
    start = random.choice((0, -span, 10**6))
    classes = len(plan.classes)
    likely = random.choice((0.3, 0.9))
    rows: list[KernelRow] = []
    for _ in range(random.randint(1, most)):
        some = {event for event in (0, 1, 2, 3, classes - 1) if event < classes and random.random() < likely}
        values = random_values(random, plan.columns, finite)
        rows.append(
            KernelRow(
                tuple(random.choice((1, 2, None)) for _ in range(group)),
                tuple(random.choice((1, 2, None)) for _ in range(other_key)),
                start + random.randint(0, span),
                frozenset(some),
                values,
            )
        )
    return rows


def random_values(random: Random, columns: Sequence[Column], finite: bool = False) -> tuple[Any, ...]:
    """What an event has in each column; an attribute may be in two, in order and as a number."""
    drawn = {column.attribute: _attribute(random, column, finite) for column in columns}
    return tuple(drawn[column.attribute] for column in columns)


def _attribute(random: Random, column: Column, finite: bool) -> Any:
    if finite and column.encoding is Encoding.NUMBER and column.attribute.type != "float":
        return random.choice((None, 0, 1.5, 2.0**-300, 1e300, 1e-300, 7, 0.1))
    return random_attribute(random, column)
