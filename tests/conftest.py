"""One enabled Spark session for all tests that need a JVM."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from sparkext.sql.quoting import identifier
from tests.support.class_archive import options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

os.environ["SPARK_SUBMIT_OPTS"] = options()


LONG = ("clients", "test_benchmarks.py", "test_python_workers.py")
"""Folders and files whose tests all take long, or start programs of their own."""

_began = time.monotonic()


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Send what pytest-rerunfailures asks before each test at once.

    It writes without an answer and then again, and the system holds the second write back for 40 ms.
    """
    asked = getattr(getattr(config, "failures_db", None), "sock", None)
    if asked is not None:
        asked.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that uses the session, and those that take long."""
    for item in items:
        if "spark_session" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
        if any(part in LONG for part in item.path.parts):
            item.add_marker(pytest.mark.long)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Say so when the tests have taken longer than ``SPARKEXT_TEST_SECONDS``, which `make` gives to each tier."""
    limit = os.environ.get("SPARKEXT_TEST_SECONDS")
    took = time.monotonic() - _began
    if limit is not None and took > float(limit) and not hasattr(session.config, "workerinput"):
        print(
            f"\nSLOW: the tests took {took:.0f} s, and are to take {limit} s; --durations=30 shows which take how long."
        )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the tests that failed and passed the next time: each is a defect, of the test or of what it tests."""
    passed = {report.nodeid for report in terminalreporter.stats.get("passed", ())}
    for nodeid in dict.fromkeys(report.nodeid for report in terminalreporter.stats.get("rerun", ())):
        if nodeid in passed:
            terminalreporter.write_line(f"FLAKY {nodeid}")


@pytest.fixture(scope="session")
def spark_session() -> Iterator[SparkSession]:
    """The enabled session; tests use `spark`, which cleans up after each."""
    from tests.support.sql_harness import start_session

    session = start_session()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def settings(spark_session: SparkSession) -> tuple[str, dict[str, str]]:
    """All settings of the session as Spark writes them in one call, and those of the extension by name."""
    confs = {name: value for name, value in spark_session.conf.getAll.items() if name.startswith(_OURS)}
    return _all_settings(spark_session), confs


@pytest.fixture
def spark(spark_session: SparkSession, settings: tuple[str, dict[str, str]]) -> Iterator[SparkSession]:
    """The enabled session, without the views and settings of other tests."""
    yield spark_session
    for view in spark_session._jsparkSession.sessionState().catalog().getTempViewNames().mkString("\0").split("\0"):
        if view and not view.startswith("__"):
            spark_session.sql(f"DROP VIEW IF EXISTS {identifier(view)}")  # of which the session is told
    text, confs = settings
    if _all_settings(spark_session) != text:
        for name, value in spark_session.conf.getAll.items():
            if name.startswith(_OURS) and confs.get(name) != value:
                spark_session.conf.unset(name)
        for name, value in confs.items():
            spark_session.conf.set(name, value)
    from sparkext.workload.shared_runs import shared_runs

    shared_runs(spark_session).withdraw()


_OURS = "spark.sparkext."


def _all_settings(session: SparkSession) -> str:
    return str(session._jsparkSession.sessionState().conf().settings())


@pytest.fixture(scope="module")
def plain(spark_session: SparkSession) -> SparkSession:
    """A session of the same application without the extension."""
    from pyspark.sql import SparkSession

    context = spark_session.sparkContext
    assert context._jvm is not None
    created = context._jvm.org.apache.spark.sql.classic.SparkSession(context._jsc.sc())
    return SparkSession(context, created)
