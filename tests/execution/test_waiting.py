"""What people who wait are told."""

from __future__ import annotations

import inspect
import logging
from fnmatch import fnmatch
from pathlib import Path

import numba
import pytest
from numba.core.caching import FunctionCache
from pyspark.sql import SparkSession

from sparkext.execution import waiting
from sparkext.udfs.kernels.event_loop import advance
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


COMPILING = "compiling kernels, once on this machine; this takes up to a minute"


@pytest.mark.parametrize(
    ("has_been_compiled", "master", "is_said"),
    [(False, "local[2]", True), (True, "local[2]", False), (False, "spark://master:7077", False)],
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
    """On a machine whose kernels are yet to be compiled, by workers of its own; numba has made the directories."""
    place = tmp_path / "kernels" / "kernels_1f"
    place.mkdir(parents=True)
    if has_been_compiled:
        (place / "event_loop.advance-96.py311.nbi").touch()
    monkeypatch.setattr(waiting, "cache_directory", lambda: place.parent)
    monkeypatch.setattr(waiting, "_has_looked", False)
    with caplog.at_level(logging.INFO, "sparkext"):
        for _ in range(2):
            waiting.say_compiling(Bar(True, master))  # type: ignore[arg-type]
    assert caplog.messages == [COMPILING] * is_said
    assert capsys.readouterr().err == f"sparkext: {COMPILING}\n" * is_said


def test_numba_keeps_the_event_loop_where_it_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    kept = Path(FunctionCache(inspect.unwrap(advance))._cache_file._index_path)
    assert kept.parent.parent == tmp_path
    assert fnmatch(kept.name, "event_loop.*.nbi")
