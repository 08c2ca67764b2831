"""Small relations and statements for tests that go through ``spark.sql``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from sparkext.cli.explain_command import define
from sparkext.cli.sql_file import statements
from sparkext.confs_for import confs_for

EXAMPLES = Path(__file__).parents[2] / "examples"

KEYED = "PARTITION BY k ORDER BY t TYPE BY ty"
"""The beginning of a clause over a relation that `stream` makes."""


def clause(pattern: str, measures: str = "COUNT(*) AS n", more: str = "", keys: str = KEYED) -> str:
    """A clause with that pattern; ``more`` is DEFINE, WITHIN, …"""
    return f"MATCH_TREND ({keys} MEASURES {measures} PATTERN ({pattern}) {more})"


def trends(pattern: str, measures: str = "COUNT(*) AS n", more: str = "", keys: str = KEYED, source: str = "e") -> str:
    """A statement with the trends of ``pattern`` in the relation ``source``."""
    return f"SELECT * FROM {source} {clause(pattern, measures, more, keys)}"


def relation(spark: SparkSession, name: str, columns: str, rows: Iterable[str]) -> None:
    """Make a temporary view of rows that are written in SQL."""
    values = ", ".join(f"({row})" for row in rows)
    spark.sql(f"CREATE OR REPLACE TEMP VIEW {name} AS SELECT * FROM VALUES {values} AS r({columns})")


def stream(spark: SparkSession, events: Mapping[str, str], name: str = "e") -> None:
    """Make a view of events that are written ``a1 b2``: type and time.

    Its columns are the key k STRING, the time t INT, the type ty STRING and v DOUBLE, ten times the time.
    """
    relation(
        spark,
        name,
        "k, t, ty, v",
        (
            f"'{key}', {event[1:]}, '{event[0].upper()}', {event[1:]} * 10D"
            for key, written in events.items()
            for event in written.split()
        ),
    )


def values(frame: DataFrame) -> list[tuple[Any, ...]]:
    """The rows, sorted, as tuples."""
    return sorted((tuple(row) for row in frame.collect()), key=lambda row: tuple(map(_sortable, row)))


def _sortable(value: object) -> tuple[bool, str, Any]:
    return (value is not None, "number" if isinstance(value, int | float) else type(value).__name__, value)


def results(spark: SparkSession, statements: Sequence[str], columns: Sequence[str] = ("n",)) -> list[list[Any]]:
    """The rows of each of ``statements``, computed by one statement that unites them.

    A row of one column is given as its value.
    """
    shown = ", ".join(columns)
    united = " UNION ALL ".join(f"SELECT {i} AS i, {shown} FROM ({text})" for i, text in enumerate(statements))
    answers: list[list[Any]] = [[] for _ in statements]
    for row in values(spark.sql(united)):
        answers[row[0]].append(row[1] if len(columns) == 1 else row[1:])
    return answers


def fails(spark: SparkSession, statement: str, condition: str) -> AnalysisException:
    """The error of a statement that cannot even be analysed."""
    with pytest.raises(AnalysisException) as caught:
        spark.sql(statement)
    assert caught.value.getCondition() == condition, str(caught.value)
    return caught.value


def position(error: AnalysisException) -> tuple[int, int]:
    """Line and column, both from 1, that the error of one of sparkext's conditions names."""
    match = re.search(r"== SQL(?: of \w+ \S+)? \(line (\d+), position (\d+)\) ==", str(error))
    assert match is not None, str(error)
    return int(match[1]), int(match[2])


def settings(spark: SparkSession, **confs: str) -> AbstractContextManager[None]:
    """Spark confs for some time, with ``_`` in their names in place of dots."""
    return confs_for(spark, {name.replace("_", "."): value for name, value in confs.items()})


def deliveries(spark: SparkSession) -> None:
    """Register the views of examples/deliveries.sql."""
    for statement in statements((EXAMPLES / "deliveries.sql").read_text()):
        define(spark, statement)
