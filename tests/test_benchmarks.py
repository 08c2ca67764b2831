"""The benchmarks work: each runs with few events, finds equal results by all ways, and its figures can be shown."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from benchmarks.__main__ import main, parser
from benchmarks.bench import Bench
from benchmarks.kernel import MINUTE, Stream, check_plans, compiled, problem, query
from benchmarks.kernel_plans import SharingIsFree
from benchmarks.page import (
    FIGURES,
    NOTES,
    RESULTS,
    TARGETS,
    Recorded,
    blocks,
    blocks_of_notes,
    merged,
    read_documents,
    with_blocks,
    write_documents,
    write_notes,
)
from benchmarks.peers.trends import KEYS
from benchmarks.plots import Bars, Lines
from benchmarks.report import TIMES, Result, Row, Table, Target, aligned, markdown
from benchmarks.same import ResultsDifferError, check_same
from benchmarks.suite import BENCHMARKS, measure
from benchmarks.user_page import BY_OTHERS, COSTS, INSTEAD, PAGE, TABLES, Line, blocks_for_users
from sparkext.planner.optimizers import OPTIMIZERS
from sparkext.planner.patterns.query import Window
from sparkext.planner.sharing.template import template_of
from tests.sql.test_docs import PLAIN
from tests.support.sql_cases import settings

NAMES = {benchmark.name: benchmark for benchmark in BENCHMARKS}


@pytest.mark.parametrize("name", NAMES)
def test_each_benchmark(spark: SparkSession, tmp_path: Path, name: str) -> None:
    """A result that differs is an error."""
    with settings(spark, **PLAIN):
        (run,) = measure(Bench("toy", tmp_path / "events", spark), [NAMES[name]])
    assert run.result.rows or run.result.tables
    for row in run.result.rows:
        assert row.value > 0 or row.what.endswith("what it takes more")
        assert row.base is None or row.base > 0
    assert all(aligned(table.cells()) for table in run.result.tables)
    write_documents(tmp_path / "bench.json", [run])
    (document,) = read_documents(tmp_path / "bench.json")
    assert json.dumps(document.document()) == json.dumps(run.document())
    page = tmp_path / "page.md"
    page.write_text(f"Before.\n<!-- figures: {name} -->\n<!-- end -->\nAfter.\n")
    write_notes([document], page)
    text = page.read_text()
    assert all(row.what.replace("|", r"\|") in text for row in run.result.rows)
    assert (text.startswith("Before.\n"), text.endswith("After.\n")) == (True, True)
    for picture in run.result.plots:
        ElementTree.parse(tmp_path / RESULTS / f"{picture}.svg")


def test_notes_show_what_was_measured() -> None:
    """A block for each benchmark, with the figures that are kept, and the plots of them."""
    text, runs = NOTES.read_text(), read_documents(FIGURES)
    assert blocks(text) == [TARGETS, *NAMES]
    measured = [run.name for run in runs]
    assert measured == [name for name in NAMES if name in measured]
    assert with_blocks(text, blocks_of_notes(runs)) == text
    for run in runs:
        for name, plot in run.result.plots.items():
            assert (NOTES.parent / RESULTS / f"{name}.svg").read_text() == plot.svg(), name


def test_page_for_users_shows_what_was_measured() -> None:
    """Its tables are those of the figures that are kept; a row that no benchmark has is an error."""
    text, runs = PAGE.read_text(), read_documents(FIGURES)
    fresh = blocks_for_users(runs)
    assert blocks(text) == [*TABLES, INSTEAD, COSTS]
    assert with_blocks(text, fresh) == text
    compared = [run.result.rows for run in runs if run.name in {line.benchmark for line in BY_OTHERS}]
    assert all(row.what in fresh[INSTEAD] for rows in compared for row in rows if row.against == "sparkext")
    whole = {name: run.result.tables for name, wanted in TABLES.items() for run in runs if run.name == wanted}
    assert all(cell in fresh[name] for name in whole for table in whole[name] for row in table.cells() for cell in row)
    with pytest.raises(LookupError, match="small has no row"):
        Line("?", "small", "a row of nobody").rows(runs)


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Runs what is named, prints it and writes it down; the form is the quick one unless another is asked for."""
    file = tmp_path / "bench.json"
    assert main(["kernel-sliding", "--size", "toy", "--json", str(file), "--directory", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    (run,) = read_documents(file)
    assert (run.name, run.size) == ("kernel-sliding", "toy")
    assert all(cell in printed for row in run.result.rows for cell in row.cells())
    assert parser({}).parse_args([]).size == "quick"
    assert parser({}).parse_args(["--full"]).size == "full"
    with pytest.raises(SystemExit):
        main(["nothing"])
    assert "unknown: nothing; known are spark-alone," in capsys.readouterr().err


def test_results_that_differ() -> None:
    rows = pd.DataFrame({"query": [0, 1], "district": [3, 3], "window_start": [5, 5], "n": [7.0, 8.0]})
    check_same("turned", rows, rows[::-1], KEYS)
    with pytest.raises(ResultsDifferError, match=r"^fewer: 1 rows instead of 2$"):
        check_same("fewer", rows, rows[:1], KEYS)
    with pytest.raises(ResultsDifferError, match=r"^off: other values of n$"):
        check_same("off", rows, rows.assign(n=[7.0, 8.1]), KEYS)
    with pytest.raises(ResultsDifferError, match=r"^other: other values of district$"):
        check_same("other", rows, rows.assign(district=[3, 4]), KEYS)


def test_plans_that_differ() -> None:
    """Plans of the same query agree, those of others do not."""
    stream = Stream(2_000, 20)
    travelling, picking_up = ([query("q", f"Request {middle} Delivery")] for middle in ("Travel+", "Pickup+"))
    check_plans({"one": compiled(travelling), "again": compiled(travelling)}, stream)
    with pytest.raises(ResultsDifferError, match=r"^one and other have different results for query 0$"):
        check_plans({"one": compiled(travelling), "other": compiled(picking_up)}, stream)


def test_all_shared() -> None:
    """Shares a Kleene part that three queries go round, where nothing would be."""
    template = template_of([query(f"q{i}", f"{first} (Pickup Travel)+ Delivery") for i, first in enumerate("XYZ")])
    stream = Stream(1_000, 5, mix=dict.fromkeys(("X", "Y", "Z", "Pickup", "Travel", "Delivery"), 1.0))
    plan = OPTIMIZERS["gloria"].plan(problem(template, stream), SharingIsFree()).plan
    round_it = [
        t for t in plan.transitions if {str(template.states[s]) for s in (t.source, t.target)} == {"Pickup", "Travel"}
    ]
    assert round_it
    assert all([qset.queries for qset in transition.qsets] == [(0, 1, 2)] for transition in round_it)


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        (Row("a", 3.0, "s", "b", 2.0, Target(1.3)), ("a", "3 s", "b: 2 s", "1.5 x", "≤ 1.3 x", "not met")),
        (Row("a", 3.0, "s", "b", 2.0, Target(1.5, True)), ("a", "3 s", "b: 2 s", "1.5 x", "≥ 1.5 x", "met")),
        (Row("a", 1234.5, "MB", target=Target(500)), ("a", "1,234 MB", "", "", "≤ 500 MB", "not met")),
        (Row("a", 0.01234, "s"), ("a", "0.0123 s", "", "", "", "")),
    ],
)
def test_rows(row: Row, cells: tuple[str, ...]) -> None:
    assert row.cells() == tuple(cell.replace(" x", f" {TIMES}") for cell in cells)


def test_tables() -> None:
    cells = [("what", "n"), ("a | b", "1")]
    assert aligned(cells) == "what   n\na | b  1"
    assert markdown(cells) == "| what | n |\n|---|---|\n| a \\| b | 1 |"
    assert Table("t", [{"x": None, "y": 1234, "z": 0.5}]).cells() == [("x", "y", "z"), ("-", "1,234", "0.5")]


def test_plots() -> None:
    """Hold all their labels; a line through one point is no error."""
    lines = Lines("ms", "queries", {"one, a": [(10, 1.5), (100, 20)], "one, b": [(10, 3)], "<two>": [(100, 5)]}).svg()
    assert [name for name in ("ms", "queries", "one, a", "one, b", "&lt;two&gt;") if f">{name}<" not in lines] == []
    bars = Bars("Seconds", [("ours", 0.5), ("theirs", 2.0)], ["ours"]).svg()
    assert [name for name in ("Seconds", "ours", "theirs", "0.5", "2") if f">{name}<" not in bars] == []
    for svg in (lines, bars):
        ElementTree.fromstring(svg)


def test_streams() -> None:
    """Have the share of types and the bursts that they should, and come sorted by key and time."""
    pool = compiled([query("q", "A B", window=Window(MINUTE, MINUTE))])
    position = [str(event) for event in pool.classes].index("A")
    rows = Stream(20_000, 10, mix={"A": 3.0, "B": 1.0}, burst=5.0).rows(pool).to_pandas()
    is_a = rows["c3"] == 1 << position
    assert is_a.mean() == pytest.approx(0.75, abs=0.05)
    stays = (is_a == is_a.shift()) & (rows["c1"] == rows["c1"].shift())
    assert stays.mean() == pytest.approx(1 - 0.2 * 2 * 0.75 * 0.25, abs=0.02)
    assert rows.sort_values(["c0", "c1", "c2"], kind="stable").index.equals(rows.index)


def test_bursts_in_odd_keys() -> None:
    """Are as long as is said of these; those in others stay as they are."""
    pool = compiled([query("q", "A B", window=Window(MINUTE, MINUTE))])
    rows = Stream(20_000, 10, mix={"A": 1.0, "B": 1.0}, burst_in_odd_keys=50.0).rows(pool).to_pandas()
    stays = (rows["c3"] == rows["c3"].shift()) & (rows["c1"] == rows["c1"].shift())
    odd = rows["c1"] % 2 == 1
    assert stays[~odd].mean() == pytest.approx(0.5, abs=0.02)
    assert stays[odd].mean() == pytest.approx(0.99, abs=0.005)


def test_a_run_takes_the_place_of_an_older_one() -> None:
    old = Recorded("b", "", "quick", 1.0, {}, Result([], "", ""))
    new = replace(old, seconds=2.0)
    renamed = replace(old, name="a")
    assert merged([old, replace(old, name="gone")], [new, renamed], ["a", "b"]) == [renamed, new]
