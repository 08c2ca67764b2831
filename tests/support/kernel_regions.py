"""Random regions on top of random kernel plans: forms over cells of the plan, and cells that read their totals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from sparkext.planner.kernel_plan.kernel_plan import (
    NO_EVENT,
    Arithmetic,
    Bank,
    Cell,
    Closing,
    Column,
    Encoding,
    Evaluation,
    Field,
    KernelPlan,
    Product,
    Region,
    Slot,
    Space,
)


@dataclass(frozen=True, slots=True)
class _Component:
    """What is counted: trends, or a column, maybe weighted with its values."""

    arithmetic: Arithmetic
    counts: Arithmetic
    column: int | None = None
    trends: bool = False
    weighted: bool = False

    def field(self, columns: tuple[Column, ...]) -> Field:
        """An output field that holds it."""
        if self.arithmetic is not Arithmetic.EXTREME or self.column is None:
            return Field(self.arithmetic)
        return Field(self.arithmetic, columns[self.column].encoding, columns[self.column].attribute.type)


def with_regions(random: Random, plan: KernelPlan, counts: int, families: dict[int, int]) -> KernelPlan:
    """``plan`` with a region or two, over any of its cells.

    Args:
        random: What chance does.
        plan: A plan without regions.
        counts: How many of its first cells are counts, by turns of either arithmetic.
        families: Of which column the cells for extremes are.
    """
    for _ in range(random.choice((1, 1, 2))):
        plan = _Drawer(random, plan, counts, families).plan()
    return plan


class _Drawer:
    """Draws one region. State 0 is where snapshots are taken."""

    def __init__(self, random: Random, plan: KernelPlan, counts: int, families: dict[int, int]) -> None:
        self._random = random
        self._plan = plan
        self._counts = counts
        self._families = families
        self._cells = list(plan.cells)
        self._window = plan.numbering.of_regions.stop
        self._events = [NO_EVENT, *(random.randrange(min(4, len(plan.classes))) for _ in range(random.randint(1, 3)))]
        derived = range(1, len(self._events))
        kept = [state for state in derived if random.random() < 0.8]
        self._columns = {state: column for column, state in enumerate((0, *kept))}
        self._constant = len(self._columns)
        self._sources = {state: [s for s in self._columns if random.random() < 0.5] for state in derived}
        self._starts = {state for state in derived if random.random() < 0.3}
        exact, number = Arithmetic.EXACT, Arithmetic.NUMBER
        self._components = [_Component(exact, exact, trends=True), _Component(number, number, trends=True)]
        self._components += (self._contributed(column) for column in range(len(plan.columns)) if random.random() < 0.6)
        self._forms: dict[tuple[int, _Component], int] = {}

    def plan(self) -> KernelPlan:
        """The plan with the region."""
        random, plan = self._random, self._plan
        units: list[tuple[int, int]] = []
        unit_of: dict[Arithmetic, int] = {}
        for component in self._components:
            if component.trends:
                self._forms[0, component] = self._add(_passive(component.arithmetic, self._window))
                unit_of[component.arithmetic] = self._add(_passive(component.arithmetic, self._window))
                units += [(self._forms[0, component], 0), (unit_of[component.arithmetic], self._constant)]
            for state in range(1, len(self._events)):
                self._forms[state, component] = len(self._cells) + state - 1
                if component.trends and state in self._columns:
                    units.append((self._forms[state, component], self._columns[state]))
            self._cells += [self._form(state, component, unit_of) for state in range(1, len(self._events))]
        fields, banks = list(plan.fields), list(plan.banks)
        evaluations: list[Evaluation] = []
        for _ in range(random.randint(1, 3)):
            window = random.randrange(len(plan.windows))
            of_window = self._query(window)
            read = [(component, e.cell) for component, e in of_window]
            read += ((component, self._reader(component, e.view)) for component, e in of_window if e.view is not None)
            chosen = random.sample(read, min(len(read), random.randint(1, 8)))
            banks.append(Bank(window, tuple(Slot(len(fields) + n, (cell,)) for n, (_, cell) in enumerate(chosen))))
            fields += (component.field(plan.columns) for component, _ in chosen)
            evaluations += (evaluation for _, evaluation in of_window)
        region = Region(Space(self._window, self._constant + 1, tuple(units), tuple(evaluations), Closing.BASE))
        return replace(
            plan,
            cells=tuple(self._cells),
            fields=tuple(fields),
            banks=tuple(banks),
            regions=(*plan.regions, region),
        )

    def _contributed(self, column: int) -> _Component:
        encoding = self._plan.columns[column].encoding
        exact, number, extreme = Arithmetic.EXACT, Arithmetic.NUMBER, Arithmetic.EXTREME
        if encoding in (Encoding.LEAST, Encoding.GREATEST):
            return _Component(extreme, self._random.choice((exact, number)), column)
        if encoding is Encoding.NUMBER:
            return _Component(number, number, column, weighted=self._random.random() < 0.7)
        return _Component(exact, exact, column)

    def _add(self, cell: Cell) -> int:
        self._cells.append(cell)
        return len(self._cells) - 1

    def _trends(self, component: _Component) -> _Component:
        return _Component(component.counts, component.counts, trends=True)

    def _form(self, state: int, component: _Component, unit_of: dict[Arithmetic, int]) -> Cell:
        sources = [self._forms[s, component] for s in self._sources[state] if (s, component) in self._forms]
        if component.trends and state in self._starts:
            sources.append(unit_of[component.arithmetic])
        contributes = not component.trends and self._random.random() < 0.7
        count = self._forms[state, self._trends(component)] if contributes else None
        column = component.column if contributes else None
        event = self._events[state]
        return Cell(component.arithmetic, event, self._window, False, tuple(sources), count, column, component.weighted)

    def _query(self, window: int) -> list[tuple[_Component, Evaluation]]:
        """The totals of one query in a window, over cells that others add to."""
        cells: dict[tuple[int, _Component], int] = {}
        for component in self._components:
            alike = [n for n, cell in enumerate(self._plan.cells) if self._may_be_base(n, cell, window, component)]
            if alike:
                cells[0, component] = self._random.choice(alike)
            for state in range(1, len(self._events)):
                cells[state, component] = self._add(_passive(component.arithmetic, window))
        evaluations: list[tuple[_Component, Evaluation]] = []
        for (state, component), cell in cells.items():
            if state:
                view = self._add(_passive(component.arithmetic, window)) if self._random.random() < 0.5 else None
                evaluations.append((component, Evaluation(cell, view, self._products(state, component, cells))))
        return evaluations

    def _may_be_base(self, number: int, cell: Cell, window: int, component: _Component) -> bool:
        if (cell.arithmetic, cell.window) != (component.arithmetic, window) or cell.event == NO_EVENT:
            return False
        if component.arithmetic is Arithmetic.EXTREME:
            return number < len(self._plan.cells) and self._families.get(number) == component.column
        return (number < self._counts) == component.trends

    def _products(
        self, state: int, component: _Component, cells: dict[tuple[int, _Component], int]
    ) -> tuple[Product, ...]:
        trends = self._trends(component)
        products = [Product(self._forms[state, component], self._constant, None)]
        for source, column in self._columns.items():
            for form, total in dict.fromkeys(((trends, component), (component, trends))):
                if (source, total) in cells:
                    products.append(Product(self._forms[state, form], column, cells[source, total]))
        if state not in self._columns:
            products.append(Product(self._forms[0, trends], 0, cells[state, component]))
        return tuple(products)

    def _reader(self, component: _Component, view: int) -> int:
        """A cell whose events read a total; for counts of trends, maybe one of those that were there."""
        window = self._cells[view].window
        if component.trends and self._random.random() < 0.5:
            number = self._random.choice(
                [n for n in range(self._counts) if self._cells[n].arithmetic is component.arithmetic]
            )
            if self._cells[number].window == window:
                cell = self._cells[number]
                self._cells[number] = replace(cell, sources=(*cell.sources, view))
                return number
        event = self._random.randrange(min(4, len(self._plan.classes)))
        return self._add(Cell(component.arithmetic, event, window, False, (view,), None, None, False))


def _passive(arithmetic: Arithmetic, window: int) -> Cell:
    return Cell(arithmetic, NO_EVENT, window, False, (), None, None, False)
