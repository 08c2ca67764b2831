"""The workloads that the GLORIA authors published: trend queries on stock data, as texts."""

from __future__ import annotations

import os
import re
from pathlib import Path
from random import Random

from planner.attribute import Attribute
from planner.gloria.problem import Problem
from planner.pattern import variables
from planner.pattern_grammar import lexemes, parse_pattern
from planner.query import Aggregate, EventClass, Function, Query, Window
from planner.template import template

FOLDER = Path(
    os.environ.get("SPARKEXT_WORKLOADS")
    or Path(__file__).parent.parent.parent / "shared" / "data" / "workloads" / "stock"
)
"""Where the files may be found; they are not part of this project. ``SPARKEXT_WORKLOADS`` may name the folder."""

_MINUTE = 60_000_000


def workload(name: str) -> list[Query]:
    """The queries of a file, whose types are tickers."""
    blocks = (FOLDER / name).read_text().strip().split("\n\n")
    return [_query(block) for block in blocks]


def names() -> list[str]:
    """Of the files; none when they are not there."""
    return sorted(path.name for path in FOLDER.glob("*.txt"))


def drawn(name: str, seed: int = 1) -> Problem:
    """A workload with numbers of events drawn for its states, from 1 to 100."""
    machine, random = template(workload(name)), Random(seed)
    return Problem(machine, tuple(random.uniform(1, 100) for _ in machine.states))


def _query(block: str) -> Query:
    lines = dict(line.split(" ", 1) for line in block.splitlines()[1:])
    text = re.sub(r",", " ", lines["PATTERN"]).replace("SEQ", "")
    pattern = parse_pattern(lexemes(text, 0), 0, len(text))
    attribute = re.fullmatch(r"(\w+)\.(\w+) *> *(\d+)", lines["WHERE"].strip())
    assert attribute is not None
    classes = tuple(
        (name, EventClass("ticker", name, f"vol > {attribute[3]}" if name == attribute[1] else None))
        for name in variables(pattern)
    )
    within, slide = (int(number) * _MINUTE for number in re.findall(r"(\d+) min", lines["WITHIN"]))
    wanted = lines["RETURN"].split(", ")[1]
    return Query(block.splitlines()[0], pattern, classes, (_aggregate(wanted),), Window(within, slide))


def _aggregate(text: str) -> Aggregate:
    found = re.fullmatch(r"(\w+)\((?:\*|(\w+)(?:\.(\w+))?)\)", text.strip())
    assert found is not None, text
    attribute = Attribute(found[3], "double") if found[3] else None
    return Aggregate(Function(found[1]), found[2], attribute)
