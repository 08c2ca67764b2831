"""Temporary views that sparkext makes for itself, and those of the user that read them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession

_numbers = itertools.count(1)

_ANY = "(?s)*"
"""Matches all names of views. Spark makes it a regular expression, which shall not stop at the end of a line."""


@contextmanager
def named(frame: DataFrame) -> Iterator[str]:
    """Give a frame a name by which statements can read it, as long as they are written."""
    name = f"sparkext_results_{next(_numbers)}"
    frame.createOrReplaceTempView(name)
    try:
        yield name
    finally:
        drop_view(frame.sparkSession, name)


def drop_view(spark: SparkSession, name: str) -> None:
    """Drop a temporary view if there is one, but not as users do: Spark would parse what it holds, here, in another
    thread, and would no longer keep the rows of a data frame that is kept and also has this name.
    """
    spark._jsparkSession.sessionState().catalog().dropTempView(name)


def view_text(spark: SparkSession, name: str, is_global: bool) -> str:
    """Text of a temporary view; empty when there is no such view, or it has none."""
    catalog = spark._jsparkSession.sessionState().catalog()
    found = catalog.getRawGlobalTempView(name) if is_global else catalog.getRawTempView(name)
    text = None if found.isEmpty() else found.get().tableMeta().viewText()
    return "" if text is None or text.isEmpty() else str(text.get())


def view_texts(spark: SparkSession) -> str:
    """Texts of all temporary views with what else is known of them; the JVM is asked once."""
    catalog = spark._jsparkSession.sessionState().catalog()
    return str(catalog.listTempViews(catalog.globalTempDatabase(), _ANY).mkString())
