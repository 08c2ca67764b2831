"""Pages with the figures of the last runs: the tables and plots of ``NOTES.md``, and those of ``docs/performance.md``.

Figures stand in blocks between two marks; what stands outside of the blocks is left alone. The notes have a block for
each benchmark, the page for users has those of `benchmarks.user_page`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.record import ROOT
from benchmarks.report import COLUMNS, Result, markdown, result_of

NOTES = ROOT / "benchmarks" / "NOTES.md"
RESULTS = "results"
"""Name of the folder beside the notes that has the figures as JSON, and the plots."""
FIGURES = NOTES.parent / RESULTS / "results.json"
TARGETS = "targets"
"""Name of the block with all targets."""

_BLOCK = re.compile(r"<!-- figures: ([\w-]+) -->\n(.*?)<!-- end -->", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run of a benchmark.

    Attributes:
        name: Of the benchmark.
        about: What it asks.
        size: Quick or full.
        seconds: How long it took in all.
        circumstances: See `benchmarks.record`.
        result: What it found.
    """

    name: str
    about: str
    size: str
    seconds: float
    circumstances: dict[str, Any]
    result: Result

    def document(self) -> dict[str, Any]:
        """For JSON."""
        head = {"name": self.name, "about": self.about, "size": self.size, "seconds": round(self.seconds, 1)}
        return {**head, **self.circumstances, **self.result.document()}

    def where(self) -> str:
        """When and where it was run, in a line."""
        at = self.circumstances
        machine = at["machine"]
        when = f"{self.size.capitalize()} form, {at['date'][:10]}, commit {at['commit'] or 'unknown'}"
        return f"{when}, {machine['cores']} cores of {machine['processor']}, load {at['load']} at the start"


def write_documents(path: Path, runs: Sequence[Recorded]) -> None:
    """Write runs as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([run.document() for run in runs], indent=1, ensure_ascii=False) + "\n")


def read_documents(path: Path) -> list[Recorded]:
    """The runs that `write_documents` wrote; none if there is no file."""
    if not path.exists():
        return []
    known = ("date", "commit", "machine", "versions", "load")
    return [
        Recorded(
            run["name"],
            run["about"],
            run["size"],
            run["seconds"],
            {name: run[name] for name in known},
            result_of(run),
        )
        for run in json.loads(path.read_text())
    ]


def merged(old: Sequence[Recorded], new: Sequence[Recorded], order: Sequence[str]) -> list[Recorded]:
    """The last run of each benchmark that there still is."""
    runs = {run.name: run for run in (*old, *new)}
    return [runs[name] for name in order if name in runs]


def write_notes(runs: Sequence[Recorded], notes: Path = NOTES) -> None:
    """Write the blocks of the notes anew, and the plots in the folder beside them."""
    plots = notes.parent / RESULTS
    plots.mkdir(exist_ok=True)
    for run in runs:
        for name, plot in run.result.plots.items():
            (plots / f"{name}.svg").write_text(plot.svg())
    notes.write_text(with_blocks(notes.read_text(), blocks_of_notes(runs)))


def blocks_of_notes(runs: Sequence[Recorded]) -> dict[str, str]:
    """What stands in the blocks of the notes, by their names."""
    return {run.name: block(run) for run in runs} | {TARGETS: targets(runs)}


def with_blocks(text: str, fresh: Mapping[str, str]) -> str:
    """A page with new contents in the blocks of these names; others stay."""

    def replaced(mark: re.Match[str]) -> str:
        inside = fresh.get(mark[1], mark[2])
        return f"<!-- figures: {mark[1]} -->\n{inside}<!-- end -->"

    return _BLOCK.sub(replaced, text)


def blocks(text: str) -> list[str]:
    """Names of the blocks of a page."""
    return [mark[1] for mark in _BLOCK.finditer(text)]


def block(run: Recorded) -> str:
    """What stands in the notes about a benchmark."""
    result = run.result
    parts = [f'`make bench ARGS="{run.name} --full"`. {_sentence(result.sizes)} {_sentence(result.method)}']
    if result.rows:
        parts.append(markdown([COLUMNS, *(row.cells() for row in result.rows)]))
    for table in result.tables:
        parts += [f"{table.title}:", markdown(table.cells())]
    parts += [f"![{plot.title}]({RESULTS}/{name}.svg)" for name, plot in result.plots.items()]
    return "\n\n".join([*parts, f"*{run.where()}.*"]) + "\n"


def targets(runs: Sequence[Recorded]) -> str:
    """All rows that have a target."""
    cells: list[tuple[str, ...]] = [("benchmark", *COLUMNS)]
    for run in runs:
        name = f"[{run.name}](#{run.name})"
        cells += [(name, *row.cells()) for row in run.result.rows if row.target is not None]
    return markdown(cells) + "\n"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else ""
