"""What a benchmark reports: rows with a ratio each, tables of anything else, and plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.plots import Bars, Lines


@dataclass(frozen=True, slots=True)
class Target:
    """What the project wants to reach.

    Attributes:
        limit: Of the ratio, or of the measured value if there is nothing to compare it with.
        at_least: Whether more is better.
    """

    limit: float
    at_least: bool = False

    def met(self, reached: float) -> bool:
        """Whether a ratio or value is good enough."""
        return reached >= self.limit if self.at_least else reached <= self.limit


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison.

    Attributes:
        what: Was measured.
        value: How much of ``unit`` it took.
        unit: ``s``, ``ns`` (an event), ``MB``, or nothing for a plain ratio.
        against: What it is compared with; nothing for a value that stands for itself.
        base: How much that took in the same run.
        target: None if the project has none for this.
    """

    what: str
    value: float
    unit: str = "s"
    against: str = ""
    base: float | None = None
    target: Target | None = None

    @property
    def reached(self) -> float:
        """The ratio; the value itself if there is nothing to compare it with."""
        return self.value if self.base is None else self.value / self.base

    @property
    def met(self) -> bool | None:
        """Whether the target is; None without one."""
        return None if self.target is None else self.target.met(self.reached)

    def cells(self) -> tuple[str, ...]:
        """As shown in a table, see `COLUMNS`."""
        against = "" if self.base is None else f"{self.against}: {amount(self.base, self.unit)}"
        ratio = "" if self.base is None else f"{significant(self.reached)} {TIMES}"
        target = verdict = ""
        if self.target is not None:
            unit = self.unit if self.base is None else TIMES
            target = f"{'≥' if self.target.at_least else '≤'} {self.target.limit:g} {unit}".strip()
            verdict = "met" if self.met else "not met"
        return self.what, amount(self.value, self.unit), against, ratio, target, verdict

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "reached": self.reached, "met": self.met}


TIMES = "\N{MULTIPLICATION SIGN}"

COLUMNS = ("what", "measured", "against", "ratio", "target", "")


@dataclass(frozen=True, slots=True)
class Table:
    """Figures that are no comparison of two.

    Attributes:
        title: What they are.
        rows: Each with the same columns.
    """

    title: str
    rows: Sequence[dict[str, Any]]

    def cells(self) -> list[tuple[str, ...]]:
        """The header and the rows, as shown."""
        header = tuple(self.rows[0]) if self.rows else ()
        return [header, *(tuple(shown(value) for value in row.values()) for row in self.rows)]


@dataclass(frozen=True, slots=True)
class Result:
    """What a benchmark has found.

    Attributes:
        rows: Comparisons.
        sizes: What was measured on, in words.
        method: How times were taken, in words.
        tables: Other figures.
        plots: By the name of their file.
    """

    rows: Sequence[Row]
    sizes: str
    method: str
    tables: Sequence[Table] = ()
    plots: dict[str, Bars | Lines] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "sizes": self.sizes,
            "method": self.method,
            "rows": [row.document() for row in self.rows],
            "tables": [asdict(table) for table in self.tables],
            "plots": {name: {"kind": type(plot).__name__, **asdict(plot)} for name, plot in self.plots.items()},
        }


def result_of(document: dict[str, Any]) -> Result:
    """The result that became a JSON document."""
    kinds = {"Bars": Bars, "Lines": Lines}
    rows = []
    for row in document["rows"]:
        known = {name: value for name, value in row.items() if name not in ("reached", "met")}
        rows.append(Row(**{**known, "target": None if row["target"] is None else Target(**row["target"])}))
    plots = {}
    for name, plot in document["plots"].items():
        plots[name] = kinds[plot["kind"]](**{key: value for key, value in plot.items() if key != "kind"})
    tables = [Table(**table) for table in document["tables"]]
    return Result(rows, document["sizes"], document["method"], tables, plots)


def amount(value: float, unit: str) -> str:
    """A measured value with its unit."""
    return f"{significant(value)} {unit}".strip()


def significant(value: float) -> str:
    """A number with three digits, or all before the point."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 0.001 else f"{value:.1e}"


def shown(value: object) -> str:
    """A cell of a table."""
    if value is None:
        return "-"
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, float):
        return significant(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def aligned(cells: Sequence[tuple[str, ...]]) -> str:
    """A table for a terminal."""
    widths = [max(len(row[index]) for row in cells) for index in range(len(cells[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells)
    return "\n".join(lines)


def markdown(cells: Sequence[tuple[str, ...]]) -> str:
    """A table for a page."""
    head, *rest = (f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in cells)
    return "\n".join([head, "|---" * len(cells[0]) + "|", *rest])
