"""What comparisons reach back to, numbered for the program: histories of events, trees over them, scans of them."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from planner.guards import Condition
from planner.kernel_plan import Access, Instruction, KernelPlan, Link
from udfs.codes import CODES

NO_HISTORY = [-1, -1, -1, -1, -1]
"""End of a row of ``Program.links`` for a link without a comparison."""


TreeSource: TypeAlias = tuple[int, tuple[int, ...]]
"""A comparison, and the cells whose events are in one tree for it, since they are always asked for together."""


def is_in_tree(plan: KernelPlan, link: Link) -> bool:
    """Whether the events of a link's cell are looked up in a tree."""
    return link.comparison is not None and plan.comparisons[link.comparison].access is not Access.SCAN


def tree_links(plan: KernelPlan, links: Iterable[Link]) -> list[tuple[TreeSource, Link]]:
    """Those of a cell's ``links`` that are looked up in trees, put together by comparison; each with one of them."""
    cells: dict[int, list[Link]] = {}
    for link in links:
        if link.comparison is not None and is_in_tree(plan, link):
            cells.setdefault(link.comparison, []).append(link)
    return [((comparison, tuple(sorted(link.cell for link in mine))), mine[0]) for comparison, mine in cells.items()]


@dataclass(slots=True)
class _History:
    """Cells of one event class and window; a row holds the live lanes of each, one after another."""

    event: int
    window: int
    lanes: int
    cells: list[int] = field(default_factory=list)

    def at(self, cell: int) -> int:
        if cell not in self.cells:
            self.cells.append(cell)
        return self.cells.index(cell) * self.lanes


class Histories:
    """Collects the histories, trees and scans of a plan's links.

    Histories are numbered by class, so that those of an event are found at once: they are known from
    the start, as all cells that links with comparisons lead from.
    """

    def __init__(self, plan: KernelPlan) -> None:
        self._plan = plan
        links = [link for cell in plan.cells for link in cell.links if link.comparison is not None]
        places = sorted({(plan.cells[link.cell].event, plan.cells[link.cell].window) for link in links})
        self._index = {place: number for number, place in enumerate(places)}
        self._histories = [_History(event, window, self._lanes(window)) for event, window in places]
        for link in links:
            self._history(link.cell).at(link.cell)
        self._tree_of: dict[tuple[int, tuple[int, ...]], int] = {}
        for cell in plan.cells:
            for source, _ in tree_links(plan, cell.links):
                self._tree_of.setdefault(source, len(self._tree_of))
        self.scans: list[list[int]] = []
        self._scan_of: dict[tuple[int, int, Condition], int] = {}
        self.code: list[list[int]] = []

    def place(self, link: Link, row: int) -> list[int]:
        """The end of the row in ``Program.links`` of a link that is not looked up in a tree."""
        if link.comparison is None:
            return NO_HISTORY
        history = self._number(link.cell)
        scan = self._scan(link, history, row)
        return [link.comparison, -1, scan, history, self._histories[history].at(link.cell)]

    def place_tree(self, source: TreeSource) -> list[int]:
        """The end of the row in ``Program.links`` of cells that are looked up in a tree."""
        comparison, cells = source
        return [comparison, self._tree_of[source], -1, self._number(cells[0]), -1]

    def trees(self) -> list[list[int]]:
        """Rows of ``Program.trees``."""
        return [[comparison, self._histories[self._number(cells[0])].lanes] for comparison, cells in self._tree_of]

    def feeds(self) -> tuple[list[tuple[list[int], int]], list[int]]:
        """Rows of ``Program.feeds``, each with the cell it is about, and ``Program.feed_ends``."""
        found: list[tuple[int, int, int]] = sorted(
            (self._number(cell), tree, cell) for (_, cells), tree in self._tree_of.items() for cell in cells
        )
        rows = [([tree, self._history(cell).at(cell)], cell) for _, tree, cell in found]
        return rows, [sum(h < number for h, _, _ in found) for number in range(len(self._histories) + 1)]

    def rows(self) -> list[list[int]]:
        """Rows of ``Program.histories``."""
        rows: list[list[int]] = []
        begin = 0
        for history in self._histories:
            end = begin + len(history.cells)
            rows.append([history.window, history.lanes, len(history.cells), begin, end])
            begin = end
        return rows

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
            self._scan_of[key] = len(self.scans)
            self.scans.append([row, history, begin, len(self.code)])
        return self._scan_of[key]

    def _number(self, cell: int) -> int:
        return self._index[self._plan.cells[cell].event, self._plan.cells[cell].window]

    def _history(self, cell: int) -> _History:
        return self._histories[self._number(cell)]

    def _lanes(self, window: int) -> int:
        known = self._plan.windows[window]
        return 1 if known is None else known.live


def _instruction(instruction: Instruction) -> list[int]:
    """A row of ``Program.code``: code, up to three registers, column, constant, whether that is a value."""
    registers = [*instruction.operands, -1, -1, -1][:3]
    value, known = instruction.value
    word = float_bits(value) if isinstance(value, float) else value
    return [CODES[instruction.code], *registers, instruction.column, word, int(known)]


def float_bits(value: float) -> int:
    """The bits of a double, as a 64-bit integer."""
    return int(struct.unpack("<q", struct.pack("<d", value))[0])
