"""One enabled Spark session for all tests that need a JVM."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# Costs that tests show are those of the defaults, whatever has been measured on the machine.
os.environ["SPARKEXT_CALIBRATION"] = os.devnull


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that uses the session."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session")
def spark_session() -> Iterator[SparkSession]:
    """The enabled session; tests use `spark`, which cleans up after each."""
    from tests.sql_harness import start_session

    session = start_session()
    yield session
    session.stop()


@pytest.fixture
def spark(spark_session: SparkSession) -> Iterator[SparkSession]:
    """The enabled session, without the views and settings of other tests."""
    before = {name: value for name, value in spark_session.conf.getAll.items() if name.startswith("spark.sparkext.")}
    yield spark_session
    for table in spark_session.catalog.listTables():
        if table.isTemporary:
            spark_session.catalog.dropTempView(table.name)
    for name, value in spark_session.conf.getAll.items():
        if name.startswith("spark.sparkext.") and before.get(name) != value:
            spark_session.conf.unset(name)
    for name, value in before.items():
        spark_session.conf.set(name, value)


@pytest.fixture(scope="module")
def plain(spark_session: SparkSession) -> SparkSession:
    """A session of the same application without the extension."""
    from pyspark.sql import SparkSession

    context = spark_session.sparkContext
    assert context._jvm is not None
    made = context._jvm.org.apache.spark.sql.classic.SparkSession(context._jsc.sc())
    return SparkSession(context, made)
