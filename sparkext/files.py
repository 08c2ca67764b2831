"""The files that relations are made of, by which it is known that they have changed.

To Spark, two relations over one directory are equal, whatever files are in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from sparkext.source import kind_of

_OF_FILES = "HadoopFsRelation"
_READ = re.compile(r" access_time=\d+;")
"""What changes in the status of a file when somebody reads it."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What is known of the files of a relation at some time.

    Attributes:
        places: Directories and files that it is made of.
        present: Files, with times and sizes, that are there.
        known: Those that Spark will read, as it has seen them; None where it looks when it reads.
    """

    places: tuple[str, ...]
    present: str
    known: str | None

    @property
    def is_current(self) -> bool:
        """Whether Spark reads what is there."""
        return self.known in (None, self.present)


def listings(frame: DataFrame) -> tuple[Listing, ...]:
    """The files below each relation that ``frame`` reads. Directories are listed, and no file is opened."""
    return tuple(_listings(frame))


def _listings(frame: DataFrame) -> Iterator[Listing]:
    for leaf in _leaves(frame):
        match kind_of(leaf):
            case "LogicalRelation" if kind_of(leaf.relation()) == _OF_FILES:
                index = leaf.relation().location()
                places = tuple(_each(index.rootPaths()))
                known = _statuses(index.allFiles()) if hasattr(index, "allFiles") else None
            case "HiveTableRelation":
                places, known = (str(leaf.tableMeta().location()),), None
            case _:
                continue
        yield Listing(places, _present(frame.sparkSession, places), known)


def not_followed(frame: DataFrame) -> tuple[str, ...]:
    """Relations that ``frame`` reads and whose changes nothing tells of, such as tables of another database."""
    return tuple(_not_followed(frame))


def _not_followed(frame: DataFrame) -> Iterator[str]:
    for leaf in _leaves(frame):
        match kind_of(leaf):
            case "LogicalRelation" if kind_of(leaf.relation()) != _OF_FILES:
                yield str(leaf.relation().toString())
            case "DataSourceV2Relation":
                yield str(leaf.name())
            case _:
                pass


def _leaves(frame: DataFrame) -> Iterator[Any]:
    leaves = frame._jdf.queryExecution().analyzed().collectLeaves()
    return (leaves.apply(place) for place in range(leaves.size()))


def _each(texts: Any) -> Iterator[str]:
    return (str(texts.apply(place).toString()) for place in range(texts.size()))


def _present(spark: SparkSession, places: tuple[str, ...]) -> str:
    try:
        found = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(list(places))
    except PySparkException:
        return ""  # some are gone; Spark says so when it is to read them
    return next((_statuses(leaf.relation().location().allFiles()) for leaf in _leaves(found)), "")


def _statuses(files: Any) -> str:
    return "\n".join(sorted(_READ.sub("", str(files.mkString("\n"))).split("\n")))
