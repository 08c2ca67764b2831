"""Random kernel plans and rows, wilder than what the planner makes: any sources, any order, any slots."""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from random import Random
from typing import Any

from planner.kernel_plan import (
    Arithmetic,
    Bank,
    Cell,
    Column,
    Encoding,
    Field,
    KernelPlan,
    Slot,
)
from planner.attribute import Attribute
from planner.query import EventClass, Window
from tests.kernel_twin import KernelRow

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
    columns = tuple(_column(random) for _ in range(random.randint(0, 4)))
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
    linked = tuple(
        Cell(
            cell.arithmetic,
            cell.event,
            cell.window,
            cell.start,
            _sources(random, number, cells, families, 2 * len(states)),
            cell.count,
            cell.column,
            cell.weighted,
        )
        for number, cell in enumerate(cells)
    )
    fields, banks = _banks(random, linked, columns, families, len(windows))
    named = tuple(EventClass(None, None, str(number)) for number in range(classes))
    return KernelPlan(named, columns, windows, linked, fields, banks, ())


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
    place = random.randrange(len(columns) + 1)
    contributes = random.random() < 0.7
    if place == len(columns):
        cells.append(Cell(Arithmetic.EXACT, *state, False, (), exact if contributes else None, None, False))
        return
    encoding = columns[place].encoding
    column = place if contributes else None
    if encoding is Encoding.PRESENT:
        cells.append(Cell(Arithmetic.EXACT, *state, False, (), exact if contributes else None, column, False))
    elif encoding is Encoding.NUMBER:
        count = exact + 1 if contributes else None
        cells.append(Cell(Arithmetic.NUMBER, *state, False, (), count, column, random.random() < 0.7))
    else:
        families[len(cells)] = place
        count = exact + random.randint(0, 1) if contributes else None
        cells.append(Cell(Arithmetic.EXTREME, *state, False, (), count, column, True))


def _sources(random: Random, number: int, cells: list[Cell], families: dict[int, int], counts: int) -> tuple[int, ...]:
    """Some cells of the same arithmetic, window and column; counts, which are the first cells, add up counts."""

    def kind(place: int) -> tuple[object, ...]:
        return cells[place].arithmetic, cells[place].window, families.get(place), place < counts

    alike = [place for place in range(len(cells)) if kind(place) == kind(number)]
    return tuple(random.choice(alike) for _ in range(random.choice((0, 1, 1, 2, 3))))


def _banks(
    random: Random, cells: tuple[Cell, ...], columns: tuple[Column, ...], families: dict[int, int], windows: int
) -> tuple[tuple[Field, ...], tuple[Bank, ...]]:
    fields: list[Field] = []
    banks: list[Bank] = []
    for _ in range(random.randint(1, 4)):
        window = random.randrange(windows)
        mine = [number for number, cell in enumerate(cells) if cell.window == window]
        used: set[int] = set()
        slots: list[Slot] = []
        for number in random.sample(mine, min(len(mine), random.randint(1, 5))):
            arithmetic, family = cells[number].arithmetic, families.get(number)
            held = Field(arithmetic)
            if family is not None:
                held = Field(arithmetic, columns[family].encoding, columns[family].attribute.type)
            free = [place for place, field in enumerate(fields) if field == held and place not in used]
            if not free:
                fields.append(held)
                free = [len(fields) - 1]
            used.add(free[0])
            alike = [n for n in mine if cells[n].arithmetic is arithmetic and families.get(n) == family]
            slots.append(Slot(free[0], (number, *random.sample(alike, random.randint(0, min(2, len(alike)))))))
        banks.append(Bank(window, tuple(slots)))
    return tuple(fields), tuple(banks)


def random_rows(random: Random, plan: KernelPlan, most: int, finite: bool = False) -> list[KernelRow]:
    """Rows of a few keys, many of them at the same time; ``finite`` numbers of one sign on demand."""
    group, other = random.choice((0, 1, 2)), random.choice((0, 0, 1))
    span = random.choice((3, most, 4 * most))
    start = random.choice((0, -span, 10**6))
    classes = len(plan.classes)
    likely = random.choice((0.3, 0.9))
    rows: list[KernelRow] = []
    for _ in range(random.randint(1, most)):
        some = {event for event in (0, 1, 2, 3, classes - 1) if event < classes and random.random() < likely}
        values = tuple(_attribute(random, column, finite) for column in plan.columns)
        rows.append(
            KernelRow(
                tuple(random.choice((1, 2, None)) for _ in range(group)),
                tuple(random.choice((1, 2, None)) for _ in range(other)),
                start + random.randint(0, span),
                frozenset(some),
                values,
            )
        )
    return rows


def _attribute(random: Random, column: Column, finite: bool) -> Any:
    match column.encoding:
        case Encoding.NUMBER if finite:
            return random.choice((None, 0, 1.5, 2.0**-300, 1e300, 1e-300, 7, 0.1))
        case Encoding.NUMBER:
            return random.choice((None, 0, 1, -3, 2.5, math.nan, math.inf, -math.inf))
        case Encoding.PRESENT:
            return random.choice((None, True))
        case Encoding.LEAST | Encoding.GREATEST:
            return random_value(random, column.attribute.type)
