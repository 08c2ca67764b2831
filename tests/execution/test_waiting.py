"""What people who wait are told."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from sparkext.execution import waiting
from sparkext.planner.compiler.compile import compile_plan
from sparkext.planner.kernel_plan.kernel_plan import KernelPlan
from sparkext.planner.patterns.pattern import variables
from sparkext.planner.patterns.pattern_grammar import lexemes, parse_pattern
from sparkext.planner.patterns.query import Aggregate, EventClass, Function, Query, Window
from sparkext.planner.sharing.prefixes import share_nothing
from sparkext.planner.sharing.template import template_of
from tests.support.sql_cases import stream, trends, values


class Bar:
    """Spark's context, with a progress bar on the console or without one."""

    def __init__(self, is_shown: bool, master: str = "local[2]") -> None:
        self.master, self._is_shown = master, is_shown
        self.sparkContext = self._jsc = self

    def sc(self) -> Bar:
        """The context of the JVM."""
        return self

    def progressBar(self) -> Bar:  # noqa: N802
        """The bar, which may be missing."""
        return self

    def isDefined(self) -> bool:  # noqa: N802
        """Whether it is there."""
        return self._is_shown


def test_planning_is_logged(spark: SparkSession, caplog: pytest.LogCaptureFixture) -> None:
    stream(spark, {"x": "a1 b2"})
    spark.sql("REFRESH SHARING")  # of what other tests have asked
    with caplog.at_level(logging.INFO, "sparkext"):
        assert values(spark.sql(trends("A B"))) == [("x", 1)]
    assert "planning 1 query" in caplog.messages


@pytest.mark.parametrize("queries", [2, 100])
@pytest.mark.parametrize("is_shown", [True, False])
def test_planning_many_is_said_where_spark_shows_progress(
    queries: int, is_shown: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    waiting.say_planning(Bar(is_shown), queries)  # type: ignore[arg-type]
    said = "sparkext: planning 100 queries\n" if is_shown and queries == 100 else ""
    assert capsys.readouterr().err == said


COMPILING = "compiling the {} kernel, once on this machine; until then queries that need it run more slowly"


def plan_of(pattern: str) -> KernelPlan:
    """A plan of a query with that pattern."""
    parsed = parse_pattern(lexemes(pattern, 0), 0, len(pattern))
    classes = tuple((name, EventClass("type", name, None)) for name in variables(parsed))
    template = template_of([Query("q", parsed, classes, (Aggregate(Function.COUNT),), None)])
    return compile_plan(template, share_nothing(template))


@pytest.mark.parametrize(
    ("has_been_compiled", "master", "is_said"),
    [(False, "local[2]", True), (True, "local[2]", True), (False, "spark://master:7077", False)],
)
def test_compiling_is_said_once(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    has_been_compiled: bool,
    master: str,
    is_said: bool,
) -> None:
    """On a machine whose kernels are yet to be compiled, by workers of its own, of which one may be at it."""
    (tmp_path / "plain.variant").write_text("compiled\n" if has_been_compiled else "")
    monkeypatch.setattr(waiting, "cache_directory", lambda: tmp_path)
    monkeypatch.setattr(waiting, "_looked_for", set())
    (tmp_path / "full.variant").write_text("")
    plans = {kernel: plan_of(pattern) for kernel, pattern in (("plain", "A B"), ("full", "A NOT C B"))}
    with caplog.at_level(logging.INFO, "sparkext"):
        for _ in range(2):
            for plan in plans.values():
                waiting.say_compiling(Bar(True, master), plan)  # type: ignore[arg-type]
    said = [COMPILING.format(kernel) for kernel in plans if kernel == "full" or not has_been_compiled] * is_said
    assert caplog.messages == said
    assert capsys.readouterr().err == "".join(f"sparkext: {text}\n" for text in said)


def test_how_kernels_ran_is_said_once(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(waiting, "_told", set())
    caplog.set_level(logging.INFO)
    for interpreted, alone in ((0, False), (7, False), (9, True), (0, True)):
        waiting.say_how_kernels_ran(interpreted, alone)
    assert [record.levelname for record in caplog.records] == ["INFO", "WARNING"]
    assert "are interpreted" in caplog.messages[0]
    assert "docs/cluster.md" in caplog.messages[1]


def test_windows_that_overlap_much_are_said_once(caplog: pytest.LogCaptureFixture) -> None:
    minute = 60_000_000
    caplog.set_level(logging.INFO)
    waiting.say_recomputed(Window(15 * minute, minute), is_carried=False)
    assert [(record.levelname, "up to 16 times" in record.message) for record in caplog.records] == [("INFO", True)]
    caplog.clear()
    for _ in range(2):
        waiting.say_recomputed(Window(60 * minute, minute), is_carried=False)
    (told,) = caplog.messages
    assert told.startswith("windows of 3600 s that slide by 60 s: each event of the stream is computed up to 61 times")
    caplog.clear()
    waiting.say_recomputed(Window(60 * minute, minute), is_carried=True)
    assert [(record.levelname, "up to 2 times" in record.message) for record in caplog.records] == [("INFO", True)]
    assert "With a trigger longer than 450 s it is" in caplog.messages[0]
