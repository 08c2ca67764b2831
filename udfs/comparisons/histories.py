"""What comparisons reach back to, numbered for the program: histories of events, trees over them, scans of them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sparkext.planner.automata.guards import Condition
from sparkext.planner.kernel_plan.kernel_plan import Access, Cell, Cut, Instruction, KernelPlan, Link, Term
from sparkext.udfs.comparisons.codes import CODES

NO_HISTORY = [-1, -1, -1, -1, -1]
"""End of a row of ``Program.links`` for a link without a comparison."""


TreeSource: TypeAlias = tuple[int, tuple[int, ...]]
"""A term, and the cells whose events are in one tree for it, since they are always asked for together."""


def terms_of(plan: KernelPlan) -> list[tuple[int, Term]]:
    """The terms of all comparisons, each with the number of its comparison."""
    return [(number, term) for number, comparison in enumerate(plan.comparisons) for term in comparison.terms]


def is_in_tree(plan: KernelPlan, link: Link) -> bool:
    """Whether the events of the cell of a link, which is not one of a cell with anchors, are looked up in trees."""
    if link.comparison is None or plan.cells[link.cell].anchor is not None:
        return False
    return not plan.comparisons[link.comparison].is_scan


def tree_links(plan: KernelPlan, links: Iterable[Link]) -> list[tuple[TreeSource, Link]]:
    """Those of a cell's ``links`` that are looked up in trees, put together by term; each with one of them."""
    cells: dict[int, list[Link]] = {}
    for link in links:
        if link.comparison is not None and is_in_tree(plan, link):
            cells.setdefault(link.comparison, []).append(link)
    return [
        ((number, tuple(sorted(link.cell for link in cells[comparison]))), cells[comparison][0])
        for number, (comparison, _) in enumerate(terms_of(plan))
        if comparison in cells
    ]


_HistoryKey: TypeAlias = tuple[int, int, int | None, tuple[Cut, ...]]
"""Event class and window of a cell, and how events leave it: what tells its history from others."""


@dataclass(slots=True)
class _History:
    """Cells of one event class and window, which an event leaves together; a row holds the live lanes of each, one
    after another. Cells with anchors of the class are among them twice: what they hold, and what is pending."""

    event: int
    window: int
    taken: int | None
    cuts: tuple[Cut, ...]
    lanes: int
    cells: list[int] = field(default_factory=list)

    def at(self, cell: int, times: int = 1) -> int:
        if cell not in self.cells:
            self.cells += [cell] * times
        return self.cells.index(cell) * self.lanes


class Histories:
    """Collects the histories, trees and scans of a plan's links.

    Histories are numbered by class, so that those of an event are found at once: they are known from
    the start, as all cells that links with comparisons lead from.
    """

    def __init__(self, plan: KernelPlan) -> None:
        self._plan = plan
        anchored = [cell for cell in plan.cells if cell.anchor is not None]
        links = [link for cell in plan.cells for link in cell.links if link.comparison is not None]
        links += [link for cell in anchored for link in cell.links]
        keys = dict.fromkeys(_history_key(plan.cells[link.cell]) for link in links)
        self._index = {key: number for number, key in enumerate(sorted(keys, key=lambda history_key: history_key[:2]))}
        self._histories = [_History(*key, self._lanes(key[1])) for key in self._index]
        for link in links:
            self._history(link.cell).at(link.cell, 1 if plan.cells[link.cell].anchor is None else 2)
        self._tree_of: dict[tuple[int, tuple[int, ...]], int] = {}
        for cell in plan.cells:
            for source, _ in tree_links(plan, cell.links) if cell.anchor is None else ():
                self._tree_of.setdefault(source, len(self._tree_of))
        self.scans: list[list[int]] = []
        self._scan_of: dict[tuple[int, int, Condition], int] = {}
        self._terms = [comparison for comparison, _ in terms_of(plan)]
        self.code: list[list[int]] = []

    def row_end(self, link: Link, row: int) -> list[int]:
        """The end of the row in ``Program.links`` of a link that is not looked up in a tree."""
        if link.comparison is None:
            return NO_HISTORY
        history = self._number(link.cell)
        scan = self._scan(link, history, row)
        return [-1, -1, scan, history, self._histories[history].at(link.cell)]

    def anchored_row_end(self, link: Link, row: int) -> list[int]:
        """The end of the row in ``Program.links`` of a link to a cell with anchors."""
        history = self._number(link.cell)
        scan = -1 if link.comparison is None else self._scan(link, history, row)
        return [-1, -1, scan, history, self._histories[history].at(link.cell)]

    def anchored(self, cell: int) -> tuple[int, int, int]:
        """Of a cell with anchors, the history of these, and the begins of its lanes there: held, and pending."""
        history = self._history(cell)
        return self._number(cell), history.at(cell), history.at(cell) + history.lanes

    def tree_row_end(self, source: TreeSource) -> list[int]:
        """The end of the row in ``Program.links`` of cells that are looked up in a tree."""
        term, cells = source
        return [term, self._tree_of[source], -1, self._number(cells[0]), -1]

    def trees(self) -> list[list[int]]:
        """Rows of ``Program.trees``."""
        terms = terms_of(self._plan)
        prefix = (Access.HASH, Access.FENWICK)
        return [
            [
                term,
                self._history(cells[0]).lanes,
                int(terms[term][1].access not in prefix),
                self._plan.cells[cells[0]].arithmetic.value,
                self._plan.cells[cells[0]].window,
            ]
            for term, cells in self._tree_of
        ]

    def feeds(self) -> tuple[list[tuple[list[int], int]], list[int]]:
        """Rows of ``Program.feeds``, each with the cell it is about, and ``Program.feed_ends``."""
        ordered: list[tuple[int, int, int]] = sorted(
            (self._number(cell), tree, cell) for (_, cells), tree in self._tree_of.items() for cell in cells
        )
        rows = [([tree, self._history(cell).at(cell)], cell) for _, tree, cell in ordered]
        return rows, [sum(h < number for h, _, _ in ordered) for number in range(len(self._histories) + 1)]

    def rows(self) -> list[list[int]]:
        """Rows of ``Program.histories``."""
        rows: list[list[int]] = []
        begin = 0
        for history in self._histories:
            end = begin + len(history.cells)
            rows.append([history.window, history.lanes, len(history.cells), begin, end])
            begin = end
        return rows

    def leaving(self) -> list[tuple[int, int | None, tuple[Cut, ...]]]:
        """Histories that events leave before their windows end: number, and `Cell.taken` and `Cell.cuts`."""
        numbered = enumerate(self._histories)
        return [(number, h.taken, h.cuts) for number, h in numbered if h.taken is not None or h.cuts]

    def cells(self) -> list[int]:
        """Cells of all histories, one history after another."""
        return [cell for history in self._histories for cell in history.cells]

    def ends(self, classes: int) -> list[int]:
        """``Program.history_ends``."""
        events = [history.event for history in self._histories]
        return [sum(event < number for event in events) for number in range(classes + 1)]

    def _scan(self, link: Link, history: int, row: int) -> int:
        assert link.comparison is not None
        key = (link.comparison, history, link.condition)
        if key not in self._scan_of:
            begin = len(self.code)
            self.code += map(_instruction, self._plan.comparisons[link.comparison].program)
            first = sum(number < link.comparison for number in self._terms)
            terms = self._terms.count(link.comparison)
            self._scan_of[key] = len(self.scans)
            self.scans.append([row, history, begin, len(self.code), first, first + terms])
        return self._scan_of[key]

    def _number(self, cell: int) -> int:
        return self._index[_history_key(self._plan.cells[cell])]

    def _history(self, cell: int) -> _History:
        return self._histories[self._number(cell)]

    def _lanes(self, window: int) -> int:
        space = self._plan.windows[window]
        return 1 if space is None else space.live


def _history_key(cell: Cell) -> _HistoryKey:
    return cell.event if cell.anchor is None else cell.anchor, cell.window, cell.taken, cell.cuts


def coded(program: Sequence[Instruction]) -> NDArray[np.int64]:
    """A program as rows of ``Program.code``."""
    return np.array([_instruction(instruction) for instruction in program], np.int64).reshape(-1, 7)


def _instruction(instruction: Instruction) -> list[int]:
    """A row of ``Program.code``: code, up to three registers, column, constant, whether that is a value."""
    registers = [*instruction.operands, -1, -1, -1][:3]
    value, is_known = instruction.value
    word = float_bits(value) if isinstance(value, float) else value
    return [CODES[instruction.code], *registers, instruction.column, word, int(is_known)]


def float_bits(value: float) -> int:
    """The bits of a double, as a 64-bit integer."""
    return int(struct.unpack("<q", struct.pack("<d", value))[0])
